//! What a provider's prompt cache is worth: prices relative to plain input, and how long it keeps a prefix.
//!
//! Whether a cut pays depends on these three numbers and on nothing else about a provider. A cut makes everything
//! behind it new to the cache, so it costs a rewrite once and saves a cached read at every later request.

use serde::{Deserialize, Serialize};

use crate::outline::Call;

/// A prompt cache: what it charges and how long it keeps what it was given.
///
/// ```
/// use secateur::Cache;
///
/// let cache = Cache::default();
/// assert_eq!((cache.read, cache.write), (0.1, 1.25));
/// assert!(cache.exists() && !Cache::NONE.exists());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cache {
    /// The price of reading a token from the cache, where plain input costs one.
    pub read: f64,
    /// The price of writing a token to it.
    pub write: f64,
    /// How long it keeps a prefix after its last use, in milliseconds.
    pub ttl_ms: i64,
}

/// Caches that live longer than advertised live about an hour.
const HOUR: i64 = 3_600_000;

/// The shortest life that a cache is believed to have.
const SHORT: i64 = 300_000;

impl Cache {
    /// A provider without a cache: every token costs the same at every request.
    pub const NONE: Cache = Cache { read: 1.0, write: 1.0, ttl_ms: 0 };

    /// Whether there is a cache at all.
    pub fn exists(&self) -> bool {
        self.read < self.write
    }

    /// The same cache with the life that a session's calls show. A call after a longer pause that was still mostly
    /// cached proves a longer life, one after a shorter pause that was not proves a shorter one.
    #[must_use]
    pub fn learned(mut self, calls: &[Call]) -> Self {
        let (mut hour, mut all) = (0, 0);
        let mut last: Option<i64> = None;
        for call in calls {
            hour += call.usage.cache_write_1h;
            all += call.usage.cache_write;
            if hour.saturating_mul(2) > all {
                self.ttl_ms = self.ttl_ms.max(HOUR);
            }
            let gap = call.time.zip(last).map(|(now, last)| now.saturating_sub(last));
            last = call.time.or(last);
            let Some(gap) = gap.filter(|_| call.usage.context() > 0) else { continue };
            let is_cached = call.usage.cache_read.saturating_mul(2) >= call.usage.context();
            if gap > self.ttl_ms && is_cached {
                self.ttl_ms = gap.max(HOUR);
            } else if gap > SHORT && gap <= self.ttl_ms && !is_cached {
                self.ttl_ms = SHORT;
            }
        }
        self
    }
}

/// Anthropic's cache of five minutes.
impl Default for Cache {
    fn default() -> Self {
        Self { read: 0.1, write: 1.25, ttl_ms: SHORT }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{MessageIx, Usage};

    fn call(minute: i64, cache_read: i64, input: i64) -> Call {
        let usage = Usage { input, cache_read, ..Usage::default() };
        Call { message: MessageIx(0), time: Some(minute * 60_000), usage }
    }

    #[test]
    fn a_pause_that_was_survived_proves_a_longer_life() {
        let cache = Cache::default();
        assert_eq!(cache.learned(&[call(0, 0, 100), call(4, 90, 10)]), cache);
        assert_eq!(cache.learned(&[call(0, 0, 100), call(8, 90, 10)]).ttl_ms, HOUR);
        assert_eq!(cache.learned(&[call(0, 0, 100), call(90, 90, 10)]).ttl_ms, 90 * 60_000);
        assert_eq!(cache.learned(&[call(0, 0, 100), call(8, 90, 10), call(20, 0, 100)]).ttl_ms, SHORT);
    }

    #[test]
    fn writes_for_an_hour_say_so() {
        let usage = Usage { cache_write: 100, cache_write_1h: 60, ..Usage::default() };
        let call = Call { message: MessageIx(0), time: None, usage };
        assert_eq!(Cache::default().learned(&[call]).ttl_ms, HOUR);
    }
}
