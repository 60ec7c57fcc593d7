//! What passed through, counted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use secateur::Usage;

/// Why a request with a conversation was passed through unread. What is not in this list counts as `other`.
const CAUSES: [&str; 9] =
    ["large", "encoded", "type", "signed", "internal", "slow", "unreadable", "store", "other"];

/// Counters, each for itself: what is read of them at one moment need not add up.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    requests: AtomicU64,
    talks: AtomicU64,
    passed: [AtomicU64; CAUSES.len()],
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    overflows: AtomicU64,
    failures: AtomicU64,
    open: AtomicU64,
    reports: AtomicU64,
    tokens_in: AtomicU64,
    tokens_cached: AtomicU64,
    tokens_out: AtomicU64,
}

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
    pub(crate) fn request(&self) {
        self.requests.fetch_add(1, Relaxed);
    }

    pub(crate) fn talk(&self) {
        self.talks.fetch_add(1, Relaxed);
    }

    pub(crate) fn passed(&self, cause: &str) {
        let place = CAUSES.iter().position(|known| *known == cause).unwrap_or(CAUSES.len() - 1);
        self.passed[place].fetch_add(1, Relaxed);
    }

    pub(crate) fn sent(&self, bytes: u64) {
        self.bytes_in.fetch_add(bytes, Relaxed);
    }

    pub(crate) fn answered(&self, bytes: usize) {
        self.bytes_out.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn overflow(&self) {
        self.overflows.fetch_add(1, Relaxed);
    }

    pub(crate) fn failure(&self) {
        self.failures.fetch_add(1, Relaxed);
    }

    pub(crate) fn usage(&self, usage: &Usage) {
        let add = |counter: &AtomicU64, tokens: i64| {
            counter.fetch_add(u64::try_from(tokens).unwrap_or(0), Relaxed);
        };
        self.reports.fetch_add(1, Relaxed);
        add(&self.tokens_in, usage.input.saturating_add(usage.cache_write));
        add(&self.tokens_cached, usage.cache_read);
        add(&self.tokens_out, usage.output.saturating_add(usage.reasoning));
    }

    pub(crate) fn open(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Relaxed);
        Open(Arc::clone(self))
    }

    pub(crate) fn snapshot(&self) -> Snapshot {
        let read = |counter: &AtomicU64| counter.load(Relaxed);
        let passed = CAUSES.iter().zip(&self.passed).map(|(cause, count)| (*cause, read(count)));
        Snapshot {
            requests: read(&self.requests),
            talks: read(&self.talks),
            passed: passed.filter(|(_, count)| *count > 0).collect(),
            bytes_in: read(&self.bytes_in),
            bytes_out: read(&self.bytes_out),
            overflows: read(&self.overflows),
            failures: read(&self.failures),
            open: read(&self.open),
            reports: read(&self.reports),
            tokens_in: read(&self.tokens_in),
            tokens_cached: read(&self.tokens_cached),
            tokens_out: read(&self.tokens_out),
        }
    }
}

/// An answer on its way, counted for as long as this lives.
#[derive(Debug)]
pub(crate) struct Open(Arc<Tally>);

impl Open {
    pub(crate) fn tally(&self) -> &Arc<Tally> {
        &self.0
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_cause_counts_as_another_and_an_open_answer_only_while_it_is() {
        let tally = Arc::new(Tally::default());
        tally.passed("large");
        tally.passed("never heard of");
        let open = tally.open();
        assert_eq!(tally.snapshot().passed, [("large", 1), ("other", 1)]);
        assert_eq!(tally.snapshot().open, 1);
        drop(open);
        assert_eq!(tally.snapshot().open, 0);
    }
}
