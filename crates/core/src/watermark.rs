//! Family *watermark*: protect the newest tool output, cut the rest if it is worth it.
//!
//! Walk back from the newest message. Leave out the turns that are still being worked on; add up the
//! tool results met; from where the sum passes a watermark, everything older is a candidate; cut the
//! candidates if they are worth it together. OpenCode, openagentic-sdk and Qwery all do this and
//! differ in each comparison: those differences are the fields of [`Watermark`].
//!
//! [`scan`] is the plain walk: no allocation unless something is cut, and the oracle for the
//! [incremental](crate::Tally) plan.

mod sieve;
mod walk;

use serde::{Deserialize, Serialize};

pub(crate) use sieve::{Meaning, Sieve};
pub(crate) use walk::{Ground, Sums, scan};

use crate::memory::Memory;
use crate::meter::Meter;
use crate::outline::{MessageIx, Outline, PartIx, PartKind, ToolStatus};
use crate::plan::{Action, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::tool_filter::ToolFilter;

/// What to do when an obstacle is met on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// End the walk.
    Stop,
    /// Leave it out and walk on.
    Skip,
}

/// What a summary means to the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtSummary {
    /// The walk ends when it meets one.
    Stop,
    /// Its own parts are left out; the walk goes on.
    Skip,
    /// History begins with the last one, before turns are even counted.
    Begin,
}

/// What becomes of the part whose size carries the sum to the watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// It is a candidate when the sum, its own size included, exceeds the watermark.
    Cut,
    /// It is still protected; what follows is a candidate once the sum is at least the watermark.
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
    /// What the candidates must exceed together, in tokens.
    pub minimum: i64,
    /// How results are measured.
    pub meter: Meter,
    /// How many of the newest user turns are left out.
    pub active_turns: u64,
    /// Whether the user message that opens the oldest active turn is scanned itself.
    pub turn_message: TurnMessage,
    /// What is scanned while there are fewer user turns than that.
    pub too_few_turns: Extent,
    /// The part that reaches the watermark.
    pub crossing: Crossing,
    /// What is a candidate if the watermark is never reached (with `crossing = "keep"`).
    pub unreached: Extent,
    /// Whether older parts of the message in which the watermark was reached are candidates
    /// (with `crossing = "keep"`).
    pub rest_of_message: Extent,
    /// A summary on the way back.
    pub summary: AtSummary,
    /// A result that was cut before.
    pub earlier_cut: Obstacle,
    /// Results of these states count.
    pub statuses: Vec<ToolStatus>,
    /// Tools that may be touched.
    pub tools: ToolFilter,
    /// Which of two checks comes first: matters for a protected tool's result that was cut before.
    pub first_check: FirstCheck,
}

/// Whether the message that opens the oldest active turn is itself scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnMessage {
    /// It is, and the walk begins with it.
    Scanned,
    /// It is not; the walk begins with the message before it.
    Active,
}

/// The order of two checks on a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCheck {
    /// A protected tool is passed over even if its result was cut before.
    Tool,
    /// A result that was cut before ends the walk even if its tool is protected.
    EarlierCut,
}

impl Watermark {
    /// The reach of the walk by turns: messages before this number are scanned; none if there are too few
    /// turns. Turns are counted among `users`, the user messages from the newest on.
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

    /// Whether a sum of protected and candidate tokens makes the part that brought it there a
    /// candidate (`Cut`), or what follows it (`Keep`).
    #[inline]
    pub(crate) fn reached(&self, sum: u64) -> bool {
        let sum = i64::try_from(sum).unwrap_or(i64::MAX);
        match self.crossing {
            Crossing::Cut => sum > self.protect,
            Crossing::Keep => sum >= self.protect,
        }
    }

    /// Turns the sums of a walk into a plan without cuts, or none if cuts are due.
    pub(crate) fn judge(&self, sums: Sums) -> Option<Idle> {
        if sums.total == 0 && sums.counted == 0 {
            return Some(Idle::NothingEligible);
        }
        if sums.candidate_count == 0 {
            return Some(Idle::WithinProtected { total: sums.total, protect: self.protect });
        }
        let worth = i64::try_from(sums.candidates).unwrap_or(i64::MAX) > self.minimum;
        (!worth).then_some(Idle::BelowMinimum { candidates: sums.candidates, minimum: self.minimum })
    }

    pub(crate) fn totals(&self, sums: Sums, cut: u64) -> Totals {
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
    /// Whether the walk passes over this message because it is a summary.
    pub(crate) fn is_passed_summary(&self, outline: &Outline, message: MessageIx) -> bool {
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
        if self.is_passed_summary(outline, outline.owner(part)) {
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
