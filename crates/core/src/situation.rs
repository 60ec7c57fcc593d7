//! What a plan depends on beside history and policy: time, model and cache.
//!
//! The kernel reads no clock and knows no model; both are handed in.

use crate::cache::Cache;
use crate::price::BandLimits;

/// What is known about the request that is about to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Situation {
    /// Now, in milliseconds since 1970.
    pub now: i64,
    /// When the provider's cache was last used, in milliseconds since 1970; none if never.
    pub last_request: Option<i64>,
    /// The model's window in tokens, if known.
    pub window: Option<f64>,
    /// The input tokens of the request, as far as they are known: an estimate, or what the provider reported last.
    pub input_tokens: Option<u64>,
    /// The limits of price bands around them. Only the family *rent* uses them.
    pub bands: BandLimits,
    /// What the provider's prompt cache is worth.
    pub cache: Cache,
    /// What cuts cost beside the cache, because the model binds its thinking.
    pub rethinking: Rethinking,
    /// What cuts are for.
    pub purpose: CutPurpose,
    /// Whether new cuts may be made at all.
    pub pass: Pass,
    /// Whether thinking is sent back to the model.
    pub thinking: Thinking,
}

/// Thinking that the model would have to do again after a cut. Only the family *rent* uses it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rethinking {
    /// Signed blocks that a cut may invalidate.
    pub blocks: u32,
    /// What a token of output costs, where plain input costs one.
    pub output_price: f64,
}

/// What cuts are for. Only the family *rent* uses it: the others compare sizes, not prices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CutPurpose {
    /// To make requests cheaper: only what pays is cut.
    #[default]
    SaveCost,
    /// To make a request fit: everything that may be cut is cut, because a compaction would cost more and lose more.
    MakeRoom,
}

/// Whether a pass may make new cuts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pass {
    /// New cuts may be made.
    #[default]
    Full,
    /// Earlier cuts are repeated, nothing new is cut.
    ReplayOnly,
}

/// Whether the model's earlier thinking is part of the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Thinking {
    /// It is sent.
    #[default]
    Sent,
    /// It is dropped before sending and does not count.
    Dropped,
}
