//! What an answer says about itself: how many tokens it took, and whether the model has more to do.

pub(crate) mod decode;

use http::HeaderMap;
use secateur_formats::Wire;

use crate::conversation::Report;

/// Reads an answer that passes by.
pub(crate) struct Reader {}

impl Reader {
    /// A reader for an answer with these headers; none if it cannot be read.
    pub(crate) fn new(_wire: Wire, _headers: &HeaderMap) -> Option<Self> {
        None
    }

    /// More of the answer.
    pub(crate) fn push(&mut self, _data: &[u8]) {}

    /// Whether there is nothing more to learn from it.
    pub(crate) fn has_all(&self) -> bool {
        false
    }

    /// What was learned.
    pub(crate) fn report(self) -> Report {
        Report::default()
    }
}
