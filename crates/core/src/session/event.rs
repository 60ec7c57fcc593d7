//! The events of a session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::effect::ProviderReport;
use super::message::Seq;
use crate::compaction::Occasion;
use crate::plan::Reason;

/// Something that happened in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// The context no longer fits.
    Overflow {
        /// How that was noticed.
        trigger: Trigger,
        /// What was counted, in tokens.
        tokens: i64,
        /// What is usable.
        usable: i64,
    },
    /// Tool results were cut.
    Pruned {
        /// When.
        occasion: Occasion,
        /// How many results.
        cuts: u32,
        /// How many for each reason; empty for events from before reasons were stored.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        reasons: BTreeMap<Reason, u32>,
        /// Estimated tokens of the context before.
        before: i64,
        /// Estimated tokens of the context after.
        after: i64,
    },
    /// The provider reported that it cleared tool results or dropped thinking, other than at the request before.
    ProviderEdited(ProviderReport),
    /// A compaction began.
    CompactionStarted {
        /// The task.
        task: u64,
        /// Why.
        trigger: Trigger,
        /// How the summary is made.
        means: Means,
        /// How many messages it will replace.
        messages: u32,
        /// Their estimated tokens.
        tokens: i64,
        /// Whether the conversation goes on meanwhile.
        background: bool,
    },
    /// A summary took the place of older messages.
    CompactionCompleted {
        /// The task.
        task: u64,
        /// How the summary was made.
        means: Means,
        /// How many messages it replaced.
        messages: u32,
        /// Estimated tokens of the context before.
        before: i64,
        /// Estimated tokens of the context after.
        after: i64,
    },
    /// There is no usable summary. Nothing changed.
    CompactionFailed {
        /// The task.
        task: u64,
        /// How it was to be made.
        means: Means,
        /// Which attempt it was.
        attempt: u32,
        /// Why.
        why: CompactionFailure,
    },
    /// A compaction did not begin, or was given up.
    CompactionRefused {
        /// Why.
        why: CompactionFailure,
    },
    /// A compaction that was undone is not made again until no request fits without one.
    CompactionWaits {
        /// The operation that was undone.
        operation: u64,
    },
    /// The summariser failed too often and is not called for a while.
    BreakerOpened {
        /// Failures in a row.
        failures: u32,
    },
    /// The summariser works again.
    BreakerClosed,
    /// An operation was undone.
    Undone {
        /// Its number.
        operation: u64,
    },
    /// An operation was done again.
    Redone {
        /// Its number.
        operation: u64,
    },
    /// Originals were deleted.
    Forgotten {
        /// How many messages lost theirs.
        messages: u64,
        /// How many bytes they had.
        bytes: u64,
    },
}

/// What started a compaction, or showed an overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The provider's report on the last request.
    Usage,
    /// The estimate of the next request.
    Estimate,
    /// The provider refused the request as too long.
    Refusal,
    /// A user or a client asked for it.
    Manual,
    /// The context will overflow soon.
    Ahead,
}

impl Trigger {
    /// Whether it came without being asked for.
    pub fn is_automatic(self) -> bool {
        self != Trigger::Manual
    }
}

/// How a summary is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// By a model.
    Model,
    /// By rules, without a model.
    Digest,
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CompactionFailure {
    /// A hook refused it.
    Vetoed,
    /// There is nothing to summarise.
    NothingToSummarise,
    /// No model writes summaries, or none is asked for a while, and the profile makes no digest.
    NoSummariser,
    /// The model call failed.
    Model {
        /// What happened, without any content.
        message: String,
    },
    /// The summary did not pass a check.
    Flawed {
        /// Which one.
        message: String,
    },
    /// The summary would not shrink the context enough.
    NoProgress {
        /// Estimated tokens before.
        before: i64,
        /// Estimated tokens after.
        after: i64,
        /// The most that would count as progress.
        limit: i64,
    },
    /// It was cancelled.
    Cancelled,
    /// The right to compact could not be had from the store. No model is asked; a digest follows, whatever the profile
    /// falls back to, so that the request fits.
    NoLease,
    /// The turn that is still going on has thinking that is bound to what would be summarised, and the provider wants it
    /// back.
    BoundThinking,
}

/// A request that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoRoom {
    /// Its estimated tokens.
    pub tokens: i64,
    /// What is usable.
    pub usable: i64,
    /// The largest message in the context.
    pub largest: Option<Seq>,
    /// Why no compaction helped.
    pub why: Option<CompactionFailure>,
}
