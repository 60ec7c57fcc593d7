//! The counters at one moment.

use super::{Labelled, Metrics};
use crate::outcome::{Outcome, PassReason};

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// Requests that arrived.
    pub requests: u64,
    /// How many of them were for a path that takes conversations.
    pub conversation_requests: u64,
    /// How many of those were not managed as usual, by reason. Reasons that did not occur are left out.
    pub passed_through: Vec<(&'static str, u64)>,
    /// Bytes of bodies sent to providers.
    pub bytes_in: u64,
    /// Bytes of bodies sent to clients.
    pub bytes_out: u64,
    /// Overflows that the proxy solved, so that no client saw them.
    pub overflows: u64,
    /// Requests that no provider answered.
    pub failures: u64,
    /// Responses that are being sent now.
    pub open: u64,
    /// Responses with usage in them.
    pub reports: u64,
    /// Prompt tokens that were not read from a cache, as providers counted them.
    pub tokens_in: u64,
    /// Prompt tokens that were read from a cache.
    pub tokens_cached: u64,
    /// Tokens of responses, thinking included.
    pub tokens_out: u64,
}

impl Metrics {
    pub(crate) fn snapshot(&self) -> Snapshot {
        let of =
            |family: &Labelled, name, value| family.get(&[(name, value)]).map_or(0, |counter| counter.get());
        let outcomes =
            Outcome::ALL.iter().map(|outcome| of(&self.conversations, "outcome", outcome.as_str()));
        let passed = PassReason::ALL
            .iter()
            .map(|reason| (reason.as_str(), of(&self.passed_through, "reason", reason.as_str())));
        Snapshot {
            requests: self.requests.get(),
            conversation_requests: outcomes.sum(),
            passed_through: passed.filter(|(_, count)| *count > 0).collect(),
            bytes_in: self.upstream_bytes.get(),
            bytes_out: self.response_bytes.get(),
            overflows: self.overflows.get(),
            failures: self.failures.get(),
            open: self.open.get(),
            reports: self.reports.get(),
            tokens_in: of(&self.tokens, "kind", "fresh"),
            tokens_cached: of(&self.tokens, "kind", "cached"),
            tokens_out: of(&self.tokens, "kind", "output"),
        }
    }
}
