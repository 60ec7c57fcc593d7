//! Who wants to hear how a request went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::conversation::Talk;
use crate::runs::{Runs, Savings};
use crate::tally::Tally;
use crate::usage::Reader;

/// Listens to an answer, and tells its conversation how it went: when all is heard, or when this is dropped. Exactly
/// once, whatever becomes of the answer.
pub(crate) struct Ear {
    reader: Option<Reader>,
    talk: Option<Talk>,
    sent: Sent,
    tally: Arc<Tally>,
    runs: Arc<Runs>,
}

/// A request that was sent: its bytes as they came and as they went, and the run that it belongs to.
pub(crate) struct Sent {
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub run: Option<String>,
}

impl Ear {
    pub(crate) fn new(
        reader: Option<Reader>,
        talk: Option<Talk>,
        sent: Sent,
        tally: Arc<Tally>,
        runs: Arc<Runs>,
    ) -> Self {
        Self { reader, talk, sent, tally, runs }
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
        let Sent { bytes_in, bytes_out, run } = &self.sent;
        let mut savings = Savings::default();
        savings.add(*bytes_in, *bytes_out, report.usage.as_ref());
        self.tally.saved(savings.tokens_saved);
        if let Some(run) = run {
            self.runs.add(run, (*bytes_in, *bytes_out), report.usage.as_ref());
        }
        let Some(talk) = self.talk.take() else { return };
        // The answer must reach the client whatever becomes of the conversation's books.
        match catch_unwind(AssertUnwindSafe(|| talk.answered(report))) {
            Ok(Some(missed)) => self.tally.missed(missed),
            Ok(None) => {}
            Err(_) => tracing::error!("a conversation could not take in how its request went"),
        }
    }
}
