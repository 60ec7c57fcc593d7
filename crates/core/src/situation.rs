//! The moment in which a plan is made: everything that is neither history nor policy.
//!
//! The kernel reads no clock and knows no model; what it needs of either is handed in.

use crate::cache::Cache;

/// What is known about the request that is about to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Situation {
    /// Now, in milliseconds since 1970.
    pub now: i64,
    /// When the provider's cache was last touched, in milliseconds since 1970; none if never.
    pub last_request: Option<i64>,
    /// The model's window in tokens, if known.
    pub window: Option<f64>,
    /// What the provider reported as input of the last request, if it did.
    pub input_tokens: Option<u64>,
    /// What the provider's prompt cache is worth.
    pub cache: Cache,
    /// What cuts are wanted for.
    pub purpose: CutPurpose,
    /// Whether new cuts may be made at all.
    pub pass: Pass,
    /// Whether thinking is sent back to the model.
    pub thinking: Thinking,
}

/// What cuts are wanted for. Only the family *rent* asks: the others weigh sizes, not prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutPurpose {
    /// A request that costs less: what pays is cut.
    #[default]
    SaveCost,
    /// A request that fits: whatever may go goes, whether it pays or not. A compaction would cost more and would lose
    /// more.
    MakeRoom,
}

/// Whether a pass may make new cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// New cuts may be made.
    #[default]
    Full,
    /// Earlier cuts are replayed, nothing new is cut.
    ReplayOnly,
}

/// Whether the model's earlier thinking is part of the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// It is sent.
    #[default]
    Sent,
    /// It is dropped before sending and counts for nothing.
    Dropped,
}
