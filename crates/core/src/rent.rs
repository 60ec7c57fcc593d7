//! Family *rent*: results pay rent while they stay, and all go at once when the rent exceeds what their going costs.
//!
//! Cutting a result saves a cached read of it at every later request, and costs writing everything behind it to the
//! provider's cache once more. Which is more depends on the future, which nobody knows. So the rule of the ski rental
//! is followed: pay rent until it adds up to the price, then buy. Results become *eligible* at an age that depends on
//! what they are, because files are quoted for a long time and outputs of commands hardly ever. From then on each
//! accrues rent, the price of its cached read. When the rent of all that are eligible reaches a multiple of the cost of
//! writing again what lies behind the oldest of them, all are cut together: one break of the cache for many cuts. When
//! the cache has gone cold anyway, cutting is free. And when the request would not fit, nobody asks what it costs:
//! whatever may go while the cache is cold goes, because a compaction would cost more and lose more.
//!
//! No tail of recent tokens is protected and no minimum is set: ages and prices do both. With a cache that is nearly
//! free the rule hardly ever cuts, without a cache it cuts at once.

mod ages;
mod books;
mod judge;

use serde::{Deserialize, Serialize};

pub use ages::Ages;
pub(crate) use books::Books;
pub(crate) use judge::{keep, plan};

use crate::tool_filter::ToolFilter;

/// Parameters of the family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rent {
    /// From which age on results may be cut, in model calls.
    pub ages: Ages,
    /// Results of fewer characters stay.
    pub least_chars: u64,
    /// Results of fewer tokens stay.
    pub least_tokens: u64,
    /// How often the cost of writing the rest again has to be reached. One is the rule of the ski rental; more waits
    /// longer and misses less.
    pub margin: f64,
    /// When the cache is cold, a cut has to save at least so many tokens.
    pub cold_gain: u64,
    /// What stands in the place of a cut result, without its excerpt, in tokens.
    pub placeholder_tokens: u64,
    /// Cutting to keep out of a compaction; none if that is not done.
    #[serde(default)]
    pub pressure: Option<Pressure>,
    /// Results that are shortened when they arrive; none if none is.
    #[serde(default)]
    pub cap: Option<Cap>,
    /// Inputs of tools that are cut as well, with the results; none if none is.
    #[serde(default)]
    pub inputs: Option<Inputs>,
    /// Tools that may be touched.
    #[serde(default)]
    pub tools: ToolFilter,
}

/// When a full window is a reason to cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pressure {
    /// The share of the window that has to be filled.
    pub fill: f64,
    /// The tokens that have to go.
    pub gain: u64,
}

/// How results are shortened when they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// The most characters that are let in.
    pub chars: u64,
    /// The share of them that is taken from the beginning; the rest is taken from the end.
    pub head: f64,
    /// Whether texts of files are shortened, too.
    pub reads: bool,
}

/// When the input of a tool is cut. A cold cache does not shorten this age: what a model wrote itself it takes for known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Inputs {
    /// The age in model calls.
    pub age: u32,
    /// Inputs of fewer characters stay.
    pub least_chars: u64,
}

#[cfg(test)]
mod tests;
