//! Cline's session files: one document of messages in Anthropic's blocks.

use secateur::Measures;

use crate::draft::Draft;
use crate::format::Format;
use crate::probe::Probe;
use crate::transcript::Transcript;

/// Whether a text is in this format.
pub(crate) fn matches(_probe: &Probe<'_>) -> bool {
    false
}

/// Reads a session; what cannot be read is passed over with a warning.
pub(crate) fn read<'a>(text: &'a str, measures: &Measures) -> Transcript<'a> {
    Draft::new(text, measures).finish(Format::Cline, text)
}
