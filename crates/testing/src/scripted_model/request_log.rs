//! What the model records of the requests that came.

use std::collections::BTreeMap;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::ModelSettings;
use super::prompt_cache::{PromptCache, Reuse};
use super::request::ClientRequest;
use super::scenario::Purpose;

/// The requests that came, and the settings that they are checked against.
#[derive(Debug)]
pub(super) struct RequestLog {
    pub settings: ModelSettings,
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    cache: PromptCache,
    requests: Vec<Entry>,
    /// Requests that hold no conversation, by method and path.
    others: BTreeMap<String, u64>,
    recorded: usize,
}

#[derive(Debug)]
struct Entry {
    path: String,
    model: String,
    purpose: &'static str,
    bytes: u64,
    tokens: u64,
    reuse: Reuse,
    /// Blocks of thinking that were dropped.
    dropped_blocks: u64,
    /// Tool results that were cleared.
    cleared_results: u64,
    outcome: Outcome,
}

/// How a request was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was answered.
    Answered,
    /// It did not fit.
    TooLong,
    /// Something was wrong with it.
    Malformed(String),
    /// Its thinking was made behind other content, or it asks for something that the provider does not know.
    Unbound(String),
}

impl RequestLog {
    pub(super) fn new(settings: ModelSettings) -> Self {
        Self { settings, entries: Mutex::default() }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a request of a conversation; what the cache knew of it comes back.
    pub(super) fn enter(
        &self,
        path: &str,
        request: &ClientRequest,
        purpose: Purpose,
        outcome: Outcome,
    ) -> Reuse {
        let mut entries = self.entries();
        let reuse = entries.cache.enter(request);
        let (bytes, tokens) = (request.text.len() as u64, request.tokens());
        let (path, model, purpose) = (path.to_owned(), request.model.clone(), purpose.name());
        let judgement = request.judgement.clone().unwrap_or_default();
        let (dropped_blocks, cleared_results) = (judgement.dropped.len() as u64, judgement.cleared);
        entries.requests.push(Entry {
            path,
            model,
            purpose,
            bytes,
            tokens,
            reuse,
            dropped_blocks,
            cleared_results,
            outcome,
        });
        reuse
    }

    /// Enters any other request.
    pub(super) fn enter_other(&self, method: &str, path: &str) {
        *self.entries().others.entry(format!("{method} {path}")).or_default() += 1;
    }

    /// Writes a request down where the settings say so: a line with method and path, the headers, the body.
    pub(super) fn record(&self, head: &str, body: &[u8]) {
        let Some(folder) = &self.settings.record else { return };
        let number = {
            let mut entries = self.entries();
            entries.recorded += 1;
            entries.recorded
        };
        let file = folder.join(format!("{number:04}.txt"));
        if let Err(error) = fs::write(&file, [head.as_bytes(), b"\n\n", body].concat()) {
            eprintln!("cannot write {}: {error}", file.display());
        }
    }

    /// All that was entered.
    pub(super) fn stats(&self) -> Value {
        let entries = self.entries();
        let requests = &entries.requests;
        let count =
            |wanted: fn(&Outcome) -> bool| requests.iter().filter(|entry| wanted(&entry.outcome)).count();
        let sum = |of: fn(&Entry) -> u64| requests.iter().map(of).sum::<u64>();
        json!({
            "requests": requests.len(),
            "violations": count(|outcome| *outcome == Outcome::TooLong),
            "malformed": count(|outcome| matches!(outcome, Outcome::Malformed(_))),
            "unbound": count(|outcome| matches!(outcome, Outcome::Unbound(_))),
            "largest": requests.iter().map(|entry| entry.tokens).max().unwrap_or(0),
            "input": sum(|entry| entry.tokens),
            "cached": sum(|entry| entry.reuse.cached),
            "broken": requests.iter().filter(|entry| entry.reuse.is_broken()).count(),
            "dropped_blocks": sum(|entry| entry.dropped_blocks),
            "cleared_results": requests.iter().map(|entry| entry.cleared_results).max().unwrap_or(0),
            "others": entries.others,
            "log": requests.iter().map(Entry::json).collect::<Vec<_>>(),
        })
    }
}

impl Entry {
    fn json(&self) -> Value {
        let outcome = match &self.outcome {
            Outcome::Answered => json!("answered"),
            Outcome::TooLong => json!("too long"),
            Outcome::Malformed(why) | Outcome::Unbound(why) => json!(why),
        };
        json!({
            "path": self.path,
            "model": self.model,
            "purpose": self.purpose,
            "outcome": outcome,
            "bytes": self.bytes,
            "tokens": self.tokens,
            "cached": self.reuse.cached,
            "kept": self.reuse.kept,
            "keepable": self.reuse.keepable,
            "prefix_broken": self.reuse.is_broken(),
        })
    }
}
