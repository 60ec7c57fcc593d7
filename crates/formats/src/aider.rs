//! aider's chat history: Markdown, text only.

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
    Draft::new(text, measures).finish(Format::Aider, text)
}
