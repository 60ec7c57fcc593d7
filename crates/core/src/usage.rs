//! What a provider reports about one model call.

use serde::{Deserialize, Serialize};

/// Tokens of one model call as the provider counted them. `input` is what was not read from a cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Input that was neither read from nor written to a cache.
    pub input: i64,
    /// Output, without reasoning where the provider tells them apart.
    pub output: i64,
    /// Reasoning.
    pub reasoning: i64,
    /// Input read from the provider's cache.
    pub cache_read: i64,
    /// Input written to the provider's cache.
    pub cache_write: i64,
    /// How much of that was written to a cache that lives an hour, where the provider tells.
    #[serde(skip_serializing_if = "is_none")]
    pub cache_write_1h: i64,
    /// A total of the provider's own, if it gave one.
    pub total: Option<i64>,
}

fn is_none(tokens: &i64) -> bool {
    *tokens == 0
}

impl Usage {
    /// Everything that the model was given: what the call's context weighed.
    ///
    /// ```
    /// let usage = secateur::Usage { input: 10, cache_read: 80, cache_write: 5, ..Default::default() };
    /// assert_eq!(usage.context(), 95);
    /// ```
    pub fn context(&self) -> i64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }
}
