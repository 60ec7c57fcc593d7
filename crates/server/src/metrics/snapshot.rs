//! What was counted, at a moment.

use super::labels::{CAUSES, DID};
use super::{By, Label, Tally};

/// The counters at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Requests that came.
    pub requests: u64,
    /// How many of them were for a place where conversations go.
    pub talks: u64,
    /// How many of those were passed through unread, by cause. Causes that did not occur are left out.
    pub passed: Vec<(&'static str, u64)>,
    /// Bytes of bodies that went to providers.
    pub bytes_in: u64,
    /// Bytes of bodies that went to clients.
    pub bytes_out: u64,
    /// Refusals of a prompt as too long that no client saw.
    pub overflows: u64,
    /// Requests that no provider answered.
    pub failures: u64,
    /// Answers that are on their way now.
    pub open: u64,
    /// Answers that said how many tokens they took.
    pub reports: u64,
    /// Tokens of prompts that were not read from a cache, as providers counted them.
    pub tokens_in: u64,
    /// Tokens of prompts that were.
    pub tokens_cached: u64,
    /// Tokens of answers, thinking included.
    pub tokens_out: u64,
}

impl Tally {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let of = |family: &By, label: Label| family.get(&label).map_or(0, |counter| counter.get());
        let passed = CAUSES.iter().map(|cause| (*cause, of(&self.passed, [("cause", cause)])));
        Snapshot {
            requests: self.requests.get(),
            talks: DID.iter().map(|did| of(&self.talks, [("did", did)])).sum(),
            passed: passed.filter(|(_, count)| *count > 0).collect(),
            bytes_in: self.sent_bytes.get(),
            bytes_out: self.answered_bytes.get(),
            overflows: self.overflows.get(),
            failures: self.failures.get(),
            open: self.open.get(),
            reports: self.reports.get(),
            tokens_in: of(&self.tokens, [("kind", "fresh")]),
            tokens_cached: of(&self.tokens, [("kind", "cached")]),
            tokens_out: of(&self.tokens, [("kind", "output")]),
        }
    }
}
