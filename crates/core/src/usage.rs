//! The usage that a provider reports for one model call.

use serde::{Deserialize, Serialize};

/// Tokens of one model call, as the provider counted them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input that was neither read from nor written to a cache.
    pub input: i64,
    /// Output, without reasoning if the provider reports that separately.
    pub output: i64,
    /// Reasoning.
    pub reasoning: i64,
    /// Input read from the provider's cache.
    pub cache_read: i64,
    /// Input written to the provider's cache.
    pub cache_write: i64,
    /// How much of that was written to a cache that lives an hour, if the provider reports it.
    #[serde(skip_serializing_if = "is_none")]
    pub cache_write_1h: i64,
    /// The provider's own total, if it reports one.
    pub total: Option<i64>,
}

fn is_none(tokens: &i64) -> bool {
    *tokens == 0
}

impl Usage {
    /// All input tokens: the size of the call's context.
    ///
    /// ```
    /// let usage = secateur::Usage { input: 10, cache_read: 80, cache_write: 5, ..Default::default() };
    /// assert_eq!(usage.context(), 95);
    /// ```
    pub fn context(&self) -> i64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}
