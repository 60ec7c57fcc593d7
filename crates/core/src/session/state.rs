//! What a session remembers beside its messages: where it pivots, what it learned, how often it failed.
//!
//! A state is small and serialisable. It is written together with what changed it, in one transaction, so that a
//! process that dies and one that goes on agree about it.

use serde::{Deserialize, Serialize};

use super::effect::RequestFacts;
use super::message::{Seq, SessionMessage};
use crate::cache::Lifetime;
use crate::calibration::Calibration;
use crate::compaction::CompactionSettings;

/// What a session remembers beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The compaction that holds; none if the session was never compacted.
    pub pivot: Option<Pivot>,
    /// Failures of the summariser.
    pub breaker: Breaker,
    /// What was learned about characters and tokens.
    pub calibration: Calibration,
    /// What was learned about the life of the provider's cache. It is kept here and not as calls in the window, because
    /// a window is made anew at each compaction and in each process.
    pub lifetime: Lifetime,
    /// The last request that was wanted: how full a window is depends on the model.
    pub request: RequestFacts,
    /// When the last request was made.
    pub last_request: Option<i64>,
    /// The newest message that a model has been sent.
    pub sent_to: Seq,
    /// Characters of the request that was let through last, until somebody reports on it.
    pub sent_chars: Option<u64>,
    /// The number of the newest compaction task.
    pub last_task: u64,
}

/// A compaction that holds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pivot {
    /// The message that asked for it; none if it is not sent.
    pub marker: Option<Seq>,
    /// The summary.
    pub summary: Seq,
    /// The first message that lives on behind the summary, if it was said before.
    pub live_from: Seq,
    /// Earlier messages that stay verbatim behind the summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Seq>,
}

impl Pivot {
    /// Where a living message stands: what always stays, marker and summary, what the compaction kept, and the rest
    /// as it was said.
    pub fn rank(pivot: Option<&Pivot>, seq: Seq, entry: &SessionMessage) -> (u8, Seq) {
        let is = |test: fn(&Pivot, Seq) -> bool| pivot.is_some_and(|pivot| test(pivot, seq));
        let rank = if entry.is_fixed() && is(|pivot, seq| seq < pivot.live_from) {
            0
        } else if is(|pivot, seq| pivot.marker == Some(seq) || pivot.summary == seq) {
            1
        } else if is(|pivot, seq| pivot.kept.contains(&seq)) {
            2
        } else {
            3
        };
        (rank, seq)
    }
}

/// Counts failures, so that a broken summariser is not asked for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Failures in a row.
    pub failures: u32,
    /// When it opened, if it is open.
    pub opened: Option<i64>,
}

impl Breaker {
    /// Whether a model may be asked. After its time an open breaker lets one question through.
    pub fn allows(&self, settings: &CompactionSettings, now: i64) -> bool {
        self.opened.is_none_or(|opened| {
            let age = now.saturating_sub(opened);
            // A clock that jumped back must not keep it open for ever.
            age < 0 || age >= settings.cooldown_ms
        })
    }

    /// Takes in a failure. Says whether it opened just now.
    pub(super) fn fail(&mut self, settings: &CompactionSettings, now: i64) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures < settings.breaker.max(1) {
            return false;
        }
        let opened = self.opened.is_none();
        self.opened = Some(now);
        opened
    }

    /// Takes in a success. Says whether it closed just now.
    pub(super) fn succeed(&mut self) -> bool {
        std::mem::take(self).opened.is_some()
    }
}
