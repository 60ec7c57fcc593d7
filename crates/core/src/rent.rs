//! Family *rent*: cut results once keeping them has cost more than removing them.
//!
//! Keeping a result costs a cached read of it at every later request: its *rent*. Cutting it costs once: everything after
//! it has to be written to the provider's cache again. Which is more depends on the future, so the rule for renting or
//! buying skis applies: pay rent until it adds up to the price, then buy.
//!
//! Results become *eligible* at an age that depends on what they are: files are quoted for a long time, outputs of
//! commands hardly ever. From then on each accrues rent. When the rent of all eligible results reaches a multiple of the
//! cost of writing again what follows the oldest of them, all are cut together, so the cache breaks once for many cuts.
//! When the cache has gone cold anyway, cutting is free. When a request would not fit, the cost does not matter:
//! everything goes that may go while the cache is cold, because a compaction would cost more and lose more.
//!
//! Where the whole request gets dearer above a length, staying below it is worth more than any rent: near that length, what
//! may go while the cache is cold goes, if that keeps the request below.
//!
//! No recent tokens are protected and there is no minimum: ages and prices do both. With a cache that is nearly free
//! the rule hardly ever cuts, without a cache it cuts at once.

mod ages;
mod decide;
mod index;

use serde::{Deserialize, Serialize};

pub use ages::Ages;
pub(crate) use decide::{keep, plan};
pub(crate) use index::RentIndex;

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
    /// The rent must reach this multiple of the cost. With 1, cuts begin as soon as the rent has paid for them; more
    /// waits longer and loses less.
    pub margin: f64,
    /// The tokens that cuts must save together while the cache is cold.
    pub cold_gain: u64,
    /// From which share of the limit of a price band on cuts keep requests below it; none if bands do not matter.
    #[serde(default)]
    pub band: Option<f64>,
    /// The tokens of output that a model thinks again for each signed block that a cut invalidates.
    #[serde(default = "Rent::default_rethink")]
    pub rethink: u64,
    /// The tokens of a placeholder, without its excerpt.
    pub placeholder_tokens: u64,
    /// Cuts to avoid a compaction; none if there are none.
    #[serde(default)]
    pub pressure: Option<Pressure>,
    /// Trims of long results when they arrive; none if there are none.
    #[serde(default)]
    pub cap: Option<Cap>,
    /// Cuts of tool inputs, together with the results; none if there are none.
    #[serde(default)]
    pub inputs: Option<Inputs>,
    /// The tools whose results may be cut.
    #[serde(default)]
    pub tools: ToolFilter,
}

impl Rent {
    /// What was measured: where a model without its earlier thinking had answered in 13 tokens, it now took 51 to 95.
    fn default_rethink() -> u64 {
        60
    }
}

/// When a full window is a reason to cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pressure {
    /// The share of the window that must be full.
    pub fill: f64,
    /// The tokens that the cuts must save.
    pub gain: u64,
}

/// How long results are trimmed when they arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cap {
    /// The most characters that stay.
    pub chars: u64,
    /// The share of them that is taken from the beginning; the rest is taken from the end.
    pub head: f64,
    /// Whether texts of files are trimmed, too.
    pub reads: bool,
}

/// When the input of a tool is cut. A cold cache does not lower this age.
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
