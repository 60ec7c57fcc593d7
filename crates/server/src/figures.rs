//! The conversations that pass through this proxy, in figures.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use utoipa::ToSchema;

use crate::conversation::Note;
use crate::runs::{Savings, Sent};

/// So many conversations are remembered. The one that was heard of last stays longest.
const MOST: usize = 1_000;

/// A conversation in figures, since this proxy was started.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub(crate) struct Talk {
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

/// All of them.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    talks: Mutex<HashMap<String, Talk>>,
}

impl Figures {
    /// Adds a request that was answered.
    pub(crate) fn add(&self, note: &Note, sent: Sent<'_>) {
        let Some(session) = &note.session else { return };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis());
        let mut talks = self.talks.lock().unwrap_or_else(PoisonError::into_inner);
        if talks.len() >= MOST && !talks.contains_key(session) {
            let oldest = talks.values().min_by_key(|talk| talk.time).map(|talk| talk.session.clone());
            oldest.map(|oldest| talks.remove(&oldest));
        }
        let talk = talks.entry(session.clone()).or_default();
        talk.session.clone_from(session);
        talk.model.clone_from(&note.model);
        talk.window = note.window;
        if let Some(usage) = sent.usage {
            talk.tokens = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
        }
        note.did.clone_into(&mut talk.did);
        if matches!(note.did, "pruned" | "compacted") {
            note.did.clone_into(&mut talk.operation);
        }
        talk.time = i64::try_from(now).unwrap_or(i64::MAX);
        talk.savings.add(sent);
    }

    /// The conversations, the one that was heard of last first.
    pub(crate) fn all(&self) -> Vec<Talk> {
        let talks = self.talks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<Talk> = talks.values().cloned().collect();
        all.sort_by(|one, other| (other.time, &one.session).cmp(&(one.time, &other.session)));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_told_by_its_last_request_and_the_sum_of_all() {
        let figures = Figures::default();
        let note =
            |did| Note { did, session: Some("s".to_owned()), model: "m".to_owned(), ..Note::default() };
        let sent = Sent { bytes_in: 100, bytes_out: 60, ..Sent::default() };
        figures.add(&note("pruned"), sent);
        figures.add(&note("replayed"), sent);
        figures.add(&Note { session: None, ..note("passed") }, sent);
        let all = figures.all();
        assert_eq!(all.len(), 1);
        assert_eq!((all[0].did.as_str(), all[0].operation.as_str()), ("replayed", "pruned"));
        assert_eq!((all[0].savings.requests, all[0].savings.tokens_saved), (2, 20));
    }
}
