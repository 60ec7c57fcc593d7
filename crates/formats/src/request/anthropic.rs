//! Requests to Anthropic's Messages API.

use secateur::Measures;

use crate::draft::Draft;
use crate::format::Format;
use crate::transcript::Transcript;
use crate::wire::Wire;

/// Reads a request; what cannot be read is passed over with a warning.
pub(crate) fn read<'a>(text: &'a str, measures: &Measures) -> Transcript<'a> {
    Draft::new(text, measures).finish(Format::Request(Wire::Anthropic), text)
}
