//! Family *watermark*: protect the newest tool output, cut the rest if it is worth it.
//!
//! Scan back from the newest message, without the active turns, and add up the tool results. From where the sum passes a
//! watermark, everything older is a candidate. Cut the candidates if they are worth it together. OpenCode,
//! openagentic-sdk and Qwery all do this and differ in each comparison: those differences are the fields of
//! [`Watermark`].
//!
//! [`scan`] is the plain scan. It allocates only if something is cut, and it defines what the
//! [incremental](crate::PlanIndex) plan must give.

mod classify;
mod walk;

use serde::{Deserialize, Serialize};

pub(crate) use classify::{Classifier, ResultClass};
pub(crate) use walk::{WalkRange, WalkSums, scan};

use crate::memory::Memory;
use crate::meter::Meter;
use crate::outline::{MessageIx, Outline, PartIx, PartKind, ToolStatus};
use crate::plan::{Action, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::tool_filter::ToolFilter;

/// What to do at a result that was cut before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// End the scan.
    Stop,
    /// Leave it out and go on.
    Skip,
}

/// What to do at a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtSummary {
    /// End the scan.
    Stop,
    /// Leave out its parts and go on.
    Skip,
    /// History begins with the last summary; turns before it do not count.
    Begin,
}

/// What happens to the part with which the sum reaches the watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// It is a candidate if the sum with it exceeds the watermark.
    Cut,
    /// It is protected; older parts are candidates once the sum is at least the watermark.
    Keep,
}

/// A choice between everything and nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Nothing.
    Nothing,
    /// Everything.
    Everything,
}

/// Parameters of the family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watermark {
    /// Tokens of the newest tool output that stay.
    pub protect: i64,
    /// Tokens that the candidates must exceed together.
    pub minimum: i64,
    /// How results are measured.
    pub meter: Meter,
    /// How many of the newest user turns are active and left out.
    pub active_turns: u64,
    /// Whether the user message that opens the oldest active turn is scanned itself.
    pub turn_message: TurnMessage,
    /// What is scanned if there are fewer user turns.
    pub too_few_turns: Extent,
    /// What happens to the part that reaches the watermark.
    pub crossing: Crossing,
    /// What is a candidate if the watermark is never reached (with `crossing = "keep"`).
    pub unreached: Extent,
    /// Whether older parts of the message in which the watermark was reached are candidates
    /// (with `crossing = "keep"`).
    pub rest_of_message: Extent,
    /// What happens at a summary.
    pub summary: AtSummary,
    /// What happens at a result that was cut before.
    pub earlier_cut: Obstacle,
    /// Results with these statuses count.
    pub statuses: Vec<ToolStatus>,
    /// The tools whose results may be cut.
    pub tools: ToolFilter,
    /// Which check comes first; that matters for a protected tool's result that was cut before.
    pub first_check: FirstCheck,
}

/// Whether the message that opens the oldest active turn is scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnMessage {
    /// It is; the scan begins with it.
    Scanned,
    /// It is not; the scan begins with the message before it.
    Active,
}

/// The order of two checks on a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCheck {
    /// A protected tool's result is left out even if it was cut before.
    Tool,
    /// A result that was cut before ends the scan even if its tool is protected.
    EarlierCut,
}

impl Watermark {
    /// Messages before this number are scanned; none if there are too few turns. `users` are the user messages, newest
    /// first.
    pub(crate) fn reach(&self, mut users: impl Iterator<Item = MessageIx>, messages: u32) -> Option<u32> {
        if self.active_turns == 0 {
            return Some(messages);
        }
        match usize::try_from(self.active_turns - 1).ok().and_then(|skip| users.nth(skip)) {
            Some(user) if self.turn_message == TurnMessage::Scanned => Some(user.0 + 1),
            Some(user) => Some(user.0),
            None if self.too_few_turns == Extent::Everything => Some(messages),
            None => None,
        }
    }

    /// Whether a sum reaches the watermark.
    #[inline]
    pub(crate) fn reached(&self, sum: u64) -> bool {
        let sum = i64::try_from(sum).unwrap_or(i64::MAX);
        match self.crossing {
            Crossing::Cut => sum > self.protect,
            Crossing::Keep => sum >= self.protect,
        }
    }

    /// Why nothing is cut, by the sums of a scan; none if something is.
    pub(crate) fn idle(&self, sums: WalkSums) -> Option<Idle> {
        if sums.total == 0 && sums.counted == 0 {
            return Some(Idle::NothingEligible);
        }
        if sums.candidate_count == 0 {
            return Some(Idle::WithinProtected { total: sums.total, protect: self.protect });
        }
        let worth = i64::try_from(sums.candidates).unwrap_or(i64::MAX) > self.minimum;
        (!worth).then_some(Idle::BelowMinimum { candidates: sums.candidates, minimum: self.minimum })
    }

    pub(crate) fn totals(&self, sums: WalkSums, cut: u64) -> Totals {
        Totals {
            scale: Scale::Tokens,
            before: sums.total,
            after: sums.total.saturating_sub(cut),
            candidates: sums.candidates,
        }
    }

    pub(crate) fn cut(&self, part: PartIx, before: u64) -> Cut {
        Cut { part, action: Action::Clear, reason: Reason::BeyondProtected, before, after: 0 }
    }
}

impl Watermark {
    /// Whether this message is left out because it is a summary.
    pub(crate) fn is_skipped_summary(&self, outline: &Outline, message: MessageIx) -> bool {
        self.summary == AtSummary::Skip && outline.is_summary(message)
    }

    /// Why a part that the plan does not cut is kept.
    pub(crate) fn keep(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
        let bounds = plan.bounds;
        let status = outline.status(part);
        if outline.kind(part) != PartKind::Result {
            return Keep::NotResult;
        }
        if outline.is_cut(part) || memory.cut(outline, part).is_some() {
            return Keep::AlreadyCut;
        }
        if part.0 >= bounds.active {
            return Keep::ActiveTurn;
        }
        if self.is_skipped_summary(outline, outline.owner(part)) {
            return Keep::Summary;
        }
        if part.0 < bounds.floor {
            return if bounds.floor_kind == Floor::Cut { Keep::BehindCut } else { Keep::BehindSummary };
        }
        if !self.statuses.contains(&status) {
            return Keep::Unfinished(status);
        }
        if !outline.tool(part).map_or_else(|| self.tools.allows(""), |tool| self.tools.allows(tool)) {
            return Keep::ProtectedTool;
        }
        if part.0 < bounds.protected {
            return Keep::BelowMinimum;
        }
        Keep::ProtectedWindow
    }
}
