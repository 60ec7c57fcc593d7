//! tau-bench's result files: many runs in one file, each a list of chat messages.

use secateur::Measures;

use crate::probe::Probe;
use crate::transcript::Transcript;

/// Whether a text is in this format.
pub(crate) fn matches(_probe: &Probe<'_>) -> bool {
    false
}

/// Reads every run of a file.
pub(crate) fn read_all<'a>(_text: &'a str, _measures: &Measures) -> Vec<Transcript<'a>> {
    Vec::new()
}
