//! What happens in a session, told in order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
        /// Why, and how many for each reason. Events that were stored before this was have none.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        reasons: BTreeMap<Reason, u32>,
        /// Estimated tokens of the context before,
        before: i64,
        /// and after.
        after: i64,
    },
    /// A summary was asked for.
    CompactionStarted {
        /// The task.
        task: u64,
        /// Why.
        trigger: Trigger,
        /// Who makes the summary.
        means: Means,
        /// How many messages it is to replace.
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
        /// Who made the summary.
        means: Means,
        /// How many messages it replaced.
        messages: u32,
        /// Estimated tokens of the context before,
        before: i64,
        /// and after.
        after: i64,
    },
    /// There is no summary, or none that may be used. Nothing changed.
    CompactionFailed {
        /// The task.
        task: u64,
        /// Who was to make it.
        means: Means,
        /// Which attempt it was.
        attempt: u32,
        /// Why.
        why: CompactionFailure,
    },
    /// A compaction was not begun, or given up.
    CompactionRefused {
        /// Why.
        why: CompactionFailure,
    },
    /// The summariser failed too often and is left alone for a while.
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
        /// How many bytes that were.
        bytes: u64,
    },
}

/// How it was noticed that something must go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The provider's report on the last request.
    Usage,
    /// The estimate of the next request.
    Estimate,
    /// The provider refused the request as too long.
    Refusal,
    /// Somebody asked for it.
    Manual,
    /// It will be too much soon.
    Ahead,
}

impl Trigger {
    /// Whether nobody asked for it.
    pub fn is_automatic(self) -> bool {
        self != Trigger::Manual
    }
}

/// Who makes a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// A model.
    Model,
    /// Nobody: a digest of what is known for certain.
    Digest,
}

/// Why there is no summary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CompactionFailure {
    /// A hook does not want it.
    Vetoed,
    /// There is nothing that could be summarised.
    NothingToSummarise,
    /// The model could not be asked, or did not answer.
    Model {
        /// What happened, without any content.
        message: String,
    },
    /// The summary did not pass a check.
    Flawed {
        /// Which one.
        message: String,
    },
    /// With the summary the context would not be smaller enough.
    NoProgress {
        /// Estimated tokens before,
        before: i64,
        /// and after.
        after: i64,
        /// The most that would count as progress.
        limit: i64,
    },
    /// Somebody called it off.
    Cancelled,
}

/// A request that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoRoom {
    /// Its estimated tokens.
    pub tokens: i64,
    /// What is usable.
    pub usable: i64,
    /// The largest message that cannot go.
    pub largest: Option<Seq>,
    /// Why no compaction helps.
    pub why: Option<CompactionFailure>,
}
