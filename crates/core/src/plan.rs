//! A plan: what to cut and why, as data.
//!
//! A plan changes nothing by itself. It lists the cuts, each with its reason; the boundaries from
//! which the [verdict](crate::Policy::verdict) on every other part follows; what was weighed; and, if
//! nothing is to be cut, why not. Renderers, `explain`, stores and tests all read the same value.

use serde::{Deserialize, Serialize};

use crate::measure::SurrogatePairs;
use crate::outline::{PartIx, ToolStatus};

/// What happens to a part that is cut. The text itself always stays in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// The content is replaced by the placeholder, media with it.
    Clear,
    /// Head and tail stay, with a note on what is missing between them.
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
}

/// Why a part is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// It is older than the protected window of recent tool output.
    BeyondProtected,
    /// The context fills more of the window than the soft limit, and the part is long.
    OverSoftRatio,
    /// The context fills more of the window than the hard limit.
    OverHardRatio,
    /// The policy clears everything before the newest turns.
    Aggressive,
    /// It belongs to a tool use older than those that are kept.
    OlderThanKept,
    /// The context has more bytes than its budget.
    ByteBudget,
    /// The context has more media than its budget.
    MediaBudget,
    /// What it cost to keep has reached what it costs to let it go.
    Rent,
    /// The provider's cache was cold, so that cutting was free.
    CacheCold,
    /// The window is nearly full.
    Pressure,
    /// It is longer than what is let in.
    TooLong,
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
    /// What it weighed, in the plan's [`Scale`].
    pub before: u64,
    /// What is left of it, in the same scale.
    pub after: u64,
}

/// Why a part is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Keep {
    /// Pruning is switched off.
    Disabled,
    /// Not a tool result: this policy never touches it.
    NotResult,
    /// The tool has not finished, or failed in a way that the policy does not count.
    Unfinished(ToolStatus),
    /// The tool is protected by name.
    ProtectedTool,
    /// It belongs to the turns that are still being worked on.
    ActiveTurn,
    /// It is among the newest tool output, which is protected.
    ProtectedWindow,
    /// It could be cut, but all that could be cut together is too little to be worth it.
    BelowMinimum,
    /// It belongs to a summary.
    Summary,
    /// It lies before a summary, which already stands for it.
    BehindSummary,
    /// It lies before an earlier cut, where the scan stops.
    BehindCut,
    /// It was cut before.
    AlreadyCut,
    /// Its cut was undone, so it stays.
    Pinned,
    /// It comes before the first user message.
    BeforeFirstUser,
    /// It holds an image.
    HasImage,
    /// It is short enough to stay whole.
    ShortEnough,
    /// Enough was cut before its turn came.
    Enough,
    /// The policy had no occasion to look at it.
    NoOccasion,
    /// It has not been there long enough.
    TooYoung,
    /// Keeping it still costs less than letting it go.
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
    /// Pruning is switched off in the profile.
    Disabled,
    /// The caller asked to replay earlier cuts only.
    ReplayOnly,
    /// The policy needs the size of the model's window and got none.
    NoWindow,
    /// There are fewer user turns than the policy keeps active.
    TooFewTurns {
        /// User turns there are.
        have: u64,
        /// User turns that must be there.
        need: u64,
    },
    /// There are fewer assistant messages than the policy keeps.
    TooFewAssistants {
        /// Assistant messages there are.
        have: u64,
        /// Assistant messages that are kept.
        need: u64,
    },
    /// No user has spoken yet.
    NoUser,
    /// The provider's cache is still warm: a new cut would throw it away.
    CacheWarm {
        /// Milliseconds since the last request; none if there was no request.
        age: Option<i64>,
        /// The cache's time-to-live in milliseconds.
        ttl: i64,
    },
    /// No part may be cut.
    NothingEligible,
    /// All tool output that may be cut fits into the protected window.
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
    /// The context fills less of the window than the limit.
    BelowRatio {
        /// The share of the window that is filled.
        ratio: f64,
        /// The share from which something is cut.
        limit: f64,
    },
    /// Keeping what could be cut still costs less than writing what lies behind it to the cache again.
    RentBelowCost {
        /// What keeping has cost, in tokens of plain input.
        rent: f64,
        /// What must be reached.
        cost: f64,
    },
    /// The trigger of the policy has not been reached.
    BelowTrigger {
        /// What was counted.
        value: u64,
        /// What must be exceeded.
        trigger: u64,
    },
}

/// What the numbers of a plan count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Estimated tokens.
    #[default]
    Tokens,
    /// Characters.
    Characters,
}

/// What a plan weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Totals {
    /// What the numbers count.
    pub scale: Scale,
    /// All that the policy weighed.
    pub before: u64,
    /// The same after the plan's cuts.
    pub after: u64,
    /// What could have been cut, whether or not it was.
    pub candidates: u64,
}

/// What lies before [`Bounds::floor`] and why it is out of reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Floor {
    /// Nothing does.
    #[default]
    None,
    /// A summary stands for it.
    Summary,
    /// It lies before an earlier cut.
    Cut,
    /// It comes before the first user message.
    FirstUser,
}

/// The zones of a plan. From the oldest part on: out of reach, prunable, protected, active.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Bounds {
    /// Why parts before `floor` are out of reach.
    pub floor_kind: Floor,
    /// The first part within reach.
    pub floor: u32,
    /// The first part behind the prunable zone: from here on parts are protected as recent.
    pub protected: u32,
    /// The first part of the active turns.
    pub active: u32,
}

/// What to cut and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Plan {
    /// The cuts, oldest part first, each part at most once.
    pub cuts: Vec<Cut>,
    /// Why there is none, if there is none.
    pub idle: Option<Idle>,
    /// What was weighed.
    pub totals: Totals,
    /// Where the zones lie.
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
