//! Who wants to hear how a request went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::conversation::Talk;
use crate::tally::Tally;
use crate::usage::Reader;

/// Listens to an answer, and tells its conversation how it went: when all is heard, or when this is dropped. Exactly
/// once, whatever becomes of the answer.
pub(crate) struct Ear {
    reader: Option<Reader>,
    talk: Option<Talk>,
    tally: Arc<Tally>,
}

impl Ear {
    pub(crate) fn new(reader: Option<Reader>, talk: Option<Talk>, tally: Arc<Tally>) -> Self {
        Self { reader, talk, tally }
    }

    pub(crate) fn hear(&mut self, data: &[u8]) {
        if let Some(reader) = &mut self.reader {
            reader.push(data);
        }
    }

    /// Whether nothing more is to be heard.
    pub(crate) fn has_all(&self) -> bool {
        self.reader.as_ref().is_some_and(Reader::has_all)
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let report = self.reader.take().map(Reader::report).unwrap_or_default();
        if let Some(usage) = &report.usage {
            self.tally.usage(usage);
        }
        if let Some(talk) = self.talk.take()
            // The answer must reach the client whatever becomes of the conversation's books.
            && catch_unwind(AssertUnwindSafe(|| talk.answered(report))).is_err()
        {
            tracing::error!("a conversation could not take in how its request went");
        }
    }
}
