//! What a session keeps beside its messages: the pivot, what was learned, how often the summariser failed.
//!
//! The state is small and serialisable. It is stored in one transaction with what changed it, so a process that restarts
//! finds exactly what the last one knew.

use serde::{Deserialize, Serialize};

use super::effect::{ProviderReport, RequestFacts};
use super::message::{Seq, SessionMessage};
use crate::cache::Lifetime;
use crate::calibration::Calibration;
use crate::compaction::CompactionSettings;

/// What a session keeps beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SessionState {
    /// The compaction in effect; none if the session was never compacted.
    pub pivot: Option<Pivot>,
    /// Failures of the summariser.
    pub breaker: Breaker,
    /// What was learned about characters and tokens.
    pub calibration: Calibration,
    /// What was learned about how long the provider's cache lives. It is kept here, because the context is built anew
    /// after each compaction and in each process.
    pub lifetime: Lifetime,
    /// The last request: how full the context is depends on its model.
    pub request: RequestFacts,
    /// When the last request was made.
    pub last_request: Option<i64>,
    /// The newest message that was sent to a model.
    pub sent_to: Seq,
    /// Something before the end of the context changed since then, so thinking that answers that request is not valid.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub changed_since_sent: bool,
    /// Characters of the last request that was sent, until its response is reported.
    pub sent_chars: Option<u64>,
    /// The number of the newest compaction task.
    pub last_task: u64,
    /// The compaction that was undone, until it is redone or another one is made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_compaction: Option<UndoneCompaction>,
    /// What the provider did to the last request.
    #[serde(skip_serializing_if = "is_default")]
    pub provider: ProviderReport,
}

fn is_default(report: &ProviderReport) -> bool {
    *report == ProviderReport::default()
}

/// A compaction that the user undid. Another one waits until no request fits without one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct UndoneCompaction {
    /// The number of its operation.
    pub operation: u64,
    /// An event said that another one waits.
    pub is_told: bool,
}

/// A compaction in effect.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pivot {
    /// The message that asked for it; none if it is not sent.
    pub marker: Option<Seq>,
    /// The summary.
    pub summary: Seq,
    /// From this message on, everything that is not replaced follows the summary as it is.
    pub live_from: Seq,
    /// Earlier messages that stay verbatim after the summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<Seq>,
}

impl Pivot {
    /// The sort key of a message in the context: first what always stays, then marker and summary, then what the
    /// compaction kept, then the rest in order.
    pub fn rank(pivot: Option<&Pivot>, seq: Seq, facts: &SessionMessage) -> (u8, Seq) {
        let is = |test: fn(&Pivot, Seq) -> bool| pivot.is_some_and(|pivot| test(pivot, seq));
        let rank = if facts.is_fixed() && is(|pivot, seq| seq < pivot.live_from) {
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

/// Counts failures, so that a broken summariser is not called for ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Breaker {
    /// Failures in a row.
    pub failures: u32,
    /// When it opened, if it is open.
    pub opened: Option<i64>,
}

impl Breaker {
    /// Whether a model may be called. After its cooldown an open breaker lets one call through.
    pub fn allows(&self, settings: &CompactionSettings, now: i64) -> bool {
        self.opened.is_none_or(|opened| {
            let age = now.saturating_sub(opened);
            // A clock that jumped back must not keep it open for ever.
            age < 0 || age >= settings.cooldown_ms
        })
    }

    /// Counts a failure. Returns whether that opened the breaker.
    pub(super) fn fail(&mut self, settings: &CompactionSettings, now: i64) -> bool {
        self.failures = self.failures.saturating_add(1);
        if self.failures < settings.breaker.max(1) {
            return false;
        }
        let opened = self.opened.is_none();
        self.opened = Some(now);
        opened
    }

    /// Resets the breaker after a success. Returns whether it was open.
    pub(super) fn succeed(&mut self) -> bool {
        std::mem::take(self).opened.is_some()
    }
}
