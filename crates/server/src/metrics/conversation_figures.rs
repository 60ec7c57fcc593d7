//! A conversation that passes through this proxy, in figures.

use std::time::{SystemTime, UNIX_EPOCH};

use secateur::Usage;
use serde::Serialize;
use utoipa::ToSchema;

use crate::conversation::Note;
use crate::metrics::savings::Savings;

/// A conversation in figures, since this proxy was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct Figures {
    /// The session's id.
    pub session: String,
    /// The model that was asked last.
    pub model: String,
    /// Its window in tokens; 0 if that is not known.
    pub window: i64,
    /// Tokens of the last prompt, as the provider counted them; 0 if it did not.
    pub tokens: i64,
    /// What was done to the last request: `kept`, `replayed`, `pruned`, `compacted` or `passed`.
    pub did: String,
    /// What was last done that changed what is sent, `pruned` or `compacted`; empty if nothing was.
    pub operation: String,
    /// When it was heard of last, in milliseconds since 1970.
    pub time: i64,
    /// What was saved in it.
    #[serde(flatten)]
    pub savings: Savings,
}

impl Figures {
    /// Adds a request that was answered, and what it saved.
    pub(crate) fn add(&mut self, note: &Note, usage: Option<&Usage>, saved: &Savings) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
        self.session = note.session.clone().unwrap_or_default();
        self.model.clone_from(&note.model);
        self.window = note.window;
        self.tokens = usage.map_or(self.tokens, Usage::context);
        note.did.clone_into(&mut self.did);
        if matches!(note.did, "pruned" | "compacted") {
            note.did.clone_into(&mut self.operation);
        }
        self.time = i64::try_from(now).unwrap_or(i64::MAX);
        self.savings.add(saved);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::savings::Sent;

    #[test]
    fn a_conversation_is_told_by_its_last_request_and_the_sum_of_all() {
        let note = |did| Note { did, session: Some("s".to_owned()), ..Note::default() };
        let saved = Savings::of(Sent { bytes_in: 100, bytes_out: 60, ..Sent::default() });
        let usage = Usage { input: 7, ..Usage::default() };
        let mut figures = Figures::default();
        figures.add(&note("pruned"), Some(&usage), &saved);
        figures.add(&note("replayed"), None, &saved);
        assert_eq!((figures.did.as_str(), figures.operation.as_str()), ("replayed", "pruned"));
        assert_eq!((figures.tokens, figures.savings.requests, figures.savings.tokens_saved), (7, 2, 20));
    }
}
