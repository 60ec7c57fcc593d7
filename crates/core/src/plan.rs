//! A plan: what to cut and why, as data.
//!
//! A plan changes nothing by itself. It has the cuts, each with its reason; the bounds from which the
//! [verdict](crate::Policy::verdict) on every other part follows; the totals; and, if nothing is cut, why not.
//! Renderers, `explain`, stores and tests all read the same value.

use serde::{Deserialize, Serialize};

use crate::measure::SurrogatePairs;
use crate::outline::{PartIx, ToolStatus};

/// What happens to a part that is cut. The text itself always stays in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The content is replaced by the placeholder, media with it.
    Clear,
    /// Head and tail stay, with a note on what is missing.
    Trim {
        /// UTF-16 units kept from the beginning.
        head: u64,
        /// UTF-16 units kept from the end.
        tail: u64,
        /// What happens to a surrogate pair at an edge.
        pairs: SurrogatePairs,
    },
    /// The text stays; images are replaced by a line that says so.
    DropMedia,
    /// A signed block of thinking is left out. Policies never do this; a session does, where a model binds its thinking.
    DropThinking,
}

/// Why a part is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is older than the protected recent tool output.
    BeyondProtected,
    /// The context exceeds the soft limit, and the part is long.
    OverSoftRatio,
    /// The context exceeds the hard limit.
    OverHardRatio,
    /// The policy clears everything before the newest turns.
    Aggressive,
    /// It belongs to a tool use older than those that are kept.
    OlderThanKept,
    /// The context has more bytes than its budget.
    ByteBudget,
    /// The context has more media than its budget.
    MediaBudget,
    /// Keeping it has cost as much as removing it.
    Rent,
    /// The provider's cache was cold, so that cutting was free.
    CacheCold,
    /// The whole request would have cost more, because it would have been longer than the limit of a price band.
    PriceBand,
    /// The window is nearly full.
    Pressure,
    /// It is longer than its cap.
    TooLong,
    /// It is thinking that was made behind other messages than those that are sent now.
    BoundThinking,
}

/// One cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Cut {
    /// Which part.
    pub part: PartIx,
    /// What happens to it.
    pub action: Action,
    /// Why.
    pub reason: Reason,
    /// Its size, in the plan's [`Scale`].
    pub before: u64,
    /// Its size after the cut, in the same scale.
    pub after: u64,
}

/// Why a part is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Pruning is off.
    Disabled,
    /// It is not a tool result.
    NotResult,
    /// The tool has not finished, or has a status that the policy does not cut.
    Unfinished(ToolStatus),
    /// The tool is protected by name.
    ProtectedTool,
    /// It belongs to the active turns.
    ActiveTurn,
    /// It belongs to the newest tool output, which is protected.
    ProtectedWindow,
    /// All that could be cut together is too little to be worth it.
    BelowMinimum,
    /// It belongs to a summary.
    Summary,
    /// It lies before a summary.
    BehindSummary,
    /// It lies before an earlier cut, where the scan stops.
    BehindCut,
    /// It was cut before.
    AlreadyCut,
    /// Its cut was undone.
    Undone,
    /// It comes before the first user message.
    BeforeFirstUser,
    /// It has an image.
    HasImage,
    /// It is short enough to stay whole.
    ShortEnough,
    /// Enough was cut before its turn came.
    Enough,
    /// The policy did not get to it.
    NoOccasion,
    /// It is not old enough.
    TooYoung,
    /// Keeping it has cost less than removing it.
    RentBelowCost,
}

/// What a plan says about one part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It is cut.
    Cut(Cut),
    /// It is kept.
    Kept(Keep),
}

/// Why a plan cuts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "why")]
pub enum Idle {
    /// The profile does not prune.
    Disabled,
    /// The caller asked for earlier cuts only.
    ReplayOnly,
    /// The policy needs the size of the model's window, which is unknown.
    NoWindow,
    /// There are fewer user turns than the policy keeps active.
    TooFewTurns {
        /// User turns.
        have: u64,
        /// User turns that are needed.
        need: u64,
    },
    /// There are fewer assistant messages than the policy keeps.
    TooFewAssistants {
        /// Assistant messages.
        have: u64,
        /// Assistant messages that are kept.
        need: u64,
    },
    /// There is no user message.
    NoUser,
    /// The provider's cache is still warm, and a new cut would invalidate it.
    CacheWarm {
        /// Milliseconds since the last request; none if there was no request.
        age: Option<i64>,
        /// The cache's time-to-live in milliseconds.
        ttl: i64,
    },
    /// No part may be cut.
    NothingEligible,
    /// All tool output that may be cut is protected as recent.
    WithinProtected {
        /// Tokens of tool output that may be cut.
        total: u64,
        /// Tokens that are protected.
        protect: i64,
    },
    /// What may be cut is too little to be worth it.
    BelowMinimum {
        /// Tokens that may be cut.
        candidates: u64,
        /// Tokens that must be exceeded.
        minimum: i64,
    },
    /// The context is below the limit.
    BelowRatio {
        /// The share of the window that is filled.
        ratio: f64,
        /// The share from which on something is cut.
        limit: f64,
    },
    /// Keeping what could be cut has cost less than writing what follows it to the cache again would.
    RentBelowCost {
        /// What keeping it has cost, in tokens of plain input.
        rent: f64,
        /// What that must reach.
        cost: f64,
    },
    /// The trigger of the policy has not been reached.
    BelowTrigger {
        /// The count.
        value: u64,
        /// What it must exceed.
        trigger: u64,
    },
}

/// The unit of a plan's numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Estimated tokens.
    #[default]
    Tokens,
    /// Characters.
    Characters,
}

/// Sizes of what the policy looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// The unit.
    pub scale: Scale,
    /// Everything that the policy counted.
    pub before: u64,
    /// The same after the plan's cuts.
    pub after: u64,
    /// What could be cut, whether or not it is.
    pub candidates: u64,
}

/// Why parts before [`Bounds::floor`] are out of reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// There are none.
    #[default]
    None,
    /// They lie before a summary.
    Summary,
    /// They lie before an earlier cut.
    Cut,
    /// They lie before the first user message.
    FirstUser,
}

/// The zones of a plan. From the oldest part on: out of reach, prunable, protected, active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Why parts before `floor` are out of reach.
    pub floor_kind: Floor,
    /// The first part within reach.
    pub floor: u32,
    /// The first part after the prunable zone: from here on parts are protected as recent.
    pub protected: u32,
    /// The first part of the active turns.
    pub active: u32,
}

/// What to cut and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The cuts, oldest part first, each part at most once.
    pub cuts: Vec<Cut>,
    /// Why there are none, if there are none.
    pub idle: Option<Idle>,
    /// Sizes before and after.
    pub totals: Totals,
    /// The zones.
    pub bounds: Bounds,
}

impl Plan {
    /// A plan that cuts nothing, for this reason.
    pub fn idle(why: Idle) -> Self {
        Self { idle: Some(why), ..Self::default() }
    }

    /// The cut of `part`, if it is cut.
    pub fn cut(&self, part: PartIx) -> Option<&Cut> {
        let index = self.cuts.binary_search_by_key(&part, |cut| cut.part).ok()?;
        self.cuts.get(index)
    }

    /// Whether nothing is cut.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty()
    }
}
