//! Who wants to hear how a request went.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use crate::conversation::{Note, Talk};
use crate::metrics::Tally;
use crate::metrics::conversation_figures::Figures;
use crate::metrics::recent::Recent;
use crate::metrics::savings::{Savings, Sent};
use crate::usage::Reader;

/// Listens to an answer, and tells its conversation how it went: when all is heard, or when this is dropped. Exactly
/// once, whatever becomes of the answer.
pub(crate) struct Ear {
    reader: Option<Reader>,
    talk: Option<Talk>,
    /// What was done to the request, and the run that it belongs to.
    note: Note,
    run: Option<String>,
    books: Books,
}

/// Where it is noted what a request saved.
#[derive(Clone, Default)]
pub(crate) struct Books {
    pub tally: Arc<Tally>,
    pub runs: Arc<Recent<Savings>>,
    pub conversations: Arc<Recent<Figures>>,
}

impl Ear {
    pub(crate) fn new(
        reader: Option<Reader>,
        talk: Option<Talk>,
        note: Note,
        run: Option<String>,
        books: Books,
    ) -> Self {
        Self { reader, talk, note, run, books }
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
        let Books { tally, runs, conversations } = &self.books;
        let (&Note { bytes_in, bytes_out, price, .. }, usage) = (&self.note, report.usage.as_ref());
        if let Some(usage) = usage {
            tally.usage(usage);
        }
        let saved = Savings::of(Sent { bytes_in, bytes_out, usage, price });
        tally.saved(saved.tokens_saved);
        if let Some(session) = &self.note.session {
            conversations.hear(session, |figures| figures.add(&self.note, usage, &saved));
        }
        if let Some(run) = &self.run {
            runs.hear(run, |savings| savings.add(&saved));
        }
        let Some(talk) = self.talk.take() else { return };
        // The answer must reach the client whatever becomes of the conversation's books.
        match catch_unwind(AssertUnwindSafe(|| talk.answered(report))) {
            Ok(Some(missed)) => self.books.tally.missed(missed),
            Ok(None) => {}
            Err(_) => tracing::error!("a conversation could not take in how its request went"),
        }
    }
}
