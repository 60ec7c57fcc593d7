//! What a provider's prompt cache is worth: prices relative to plain input, and how long it keeps a prefix.
//!
//! Whether a cut pays depends only on these three numbers. Everything after a cut is new to the cache, so a cut costs one
//! rewrite and saves a cached read at every later request.
//!
//! How long a cache really lives shows in the reported usage of a session, not in the price list. A [`Lifetime`] learns
//! it from one report after the other.

use serde::{Deserialize, Serialize};

use crate::catalogue::ModelInfo;
use crate::outline::ModelCall;
use crate::usage::Usage;

/// A prompt cache: its prices, and how long it keeps a prefix.
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

/// The shortest life that is assumed for a cache. A shorter pause says nothing.
const SHORT: i64 = 300_000;

/// How many pauses are remembered: a provider's behaviour changes over time.
const PAUSES: usize = 32;

impl Cache {
    /// A provider without a cache: every token costs the same at every request.
    pub const NONE: Cache = Cache { read: 1.0, write: 1.0, ttl_ms: 0 };

    /// The cache of a model in the catalogue; none without a price. A model without a price for cached input has no
    /// cache; without a price for writing, writing costs as much as plain input. Writing for an hour may cost more, so
    /// the session's reports count.
    ///
    /// ```
    /// use secateur::{Cache, Catalogue, Lifetime};
    ///
    /// let catalogue = Catalogue::builtin();
    /// let of = |name| catalogue.find(name).and_then(|model| Cache::of(model, &Lifetime::default()));
    /// assert_eq!(of("claude-haiku-4-5"), Some(Cache::default()));
    /// assert_eq!(of("gpt-4"), Some(Cache::NONE));
    /// ```
    pub fn of(model: &ModelInfo, lifetime: &Lifetime) -> Option<Self> {
        let price = model.price.filter(|price| price.input > 0.0)?;
        let Some(read) = price.cache_read else {
            return Some(Self::NONE);
        };
        let write = price.cache_write_1h.filter(|_| lifetime.is_hourly()).or(price.cache_write);
        let ttl = model.cache_ttl.and_then(|seconds| i64::try_from(seconds).ok());
        Some(Self {
            read: read / price.input,
            write: write.unwrap_or(price.input) / price.input,
            ttl_ms: ttl.map_or(SHORT, |seconds| seconds.saturating_mul(1_000)),
        })
    }

    /// Whether there is a cache at all.
    pub fn exists(&self) -> bool {
        self.read < self.write
    }

    /// The same cache with the lifetime that the session's reports show. Writes show what was asked for, pauses what was
    /// given: a longer pause after which most was still cached proves a longer life, a shorter pause after which it was
    /// not proves a shorter one.
    #[must_use]
    pub fn lasting(mut self, lifetime: &Lifetime) -> Self {
        if lifetime.is_hourly() {
            self.ttl_ms = self.ttl_ms.max(HOUR);
        }
        for pause in &lifetime.pauses {
            if pause.cached && pause.ms > self.ttl_ms {
                self.ttl_ms = pause.ms.max(HOUR);
            } else if !pause.cached && pause.ms <= self.ttl_ms {
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

/// How long a session's cache lives, as its reports show.
///
/// ```
/// use secateur::{Cache, Lifetime, Usage};
///
/// let mut lifetime = Lifetime::default();
/// lifetime.observe(Some(0), &Usage { cache_write: 100, ..Default::default() });
/// // Twelve minutes later nearly everything still comes from the cache.
/// lifetime.observe(Some(720_000), &Usage { cache_read: 100, input: 5, ..Default::default() });
/// assert_eq!(Cache::default().lasting(&lifetime).ttl_ms, 3_600_000);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Lifetime {
    /// When the last request was made.
    last: Option<i64>,
    /// Tokens written to the cache.
    written: i64,
    /// Tokens written to a cache of an hour.
    written_1h: i64,
    /// Pauses that are long enough to matter, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pauses: Vec<Pause>,
}

/// A pause between two requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Pause {
    /// How long it was.
    ms: i64,
    /// Whether most of the context still came from the cache.
    cached: bool,
}

impl Lifetime {
    /// The lifetime that these calls show.
    pub fn of(calls: &[ModelCall]) -> Self {
        let mut lifetime = Self::default();
        for call in calls {
            lifetime.observe(call.time, &call.usage);
        }
        lifetime
    }

    /// Whether most of what was written to the cache was written for an hour.
    pub fn is_hourly(&self) -> bool {
        self.written_1h.saturating_mul(2) > self.written
    }

    /// Learns from the usage of a request that was made at this time.
    pub fn observe(&mut self, time: Option<i64>, usage: &Usage) {
        self.written = self.written.saturating_add(usage.cache_write);
        self.written_1h = self.written_1h.saturating_add(usage.cache_write_1h);
        let pause = time.zip(self.last).map(|(now, last)| now.saturating_sub(last));
        self.last = time.or(self.last);
        if let Some(ms) = pause.filter(|&ms| ms > SHORT && usage.context() > 0) {
            let cached = usage.cache_read.saturating_mul(2) >= usage.context();
            if self.pauses.len() >= PAUSES {
                self.pauses.remove(0);
            }
            self.pauses.push(Pause { ms, cached });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MessageIx;

    fn call(minute: i64, cache_read: i64, input: i64) -> ModelCall {
        let usage = Usage { input, cache_read, ..Usage::default() };
        ModelCall { message: MessageIx(0), time: Some(minute * 60_000), usage }
    }

    fn ttl(cache: Cache, calls: &[ModelCall]) -> i64 {
        cache.lasting(&Lifetime::of(calls)).ttl_ms
    }

    #[test]
    fn a_pause_that_was_survived_proves_a_longer_life() {
        let cache = Cache::default();
        assert_eq!(ttl(cache, &[call(0, 0, 100), call(4, 90, 10)]), SHORT);
        assert_eq!(ttl(cache, &[call(0, 0, 100), call(8, 90, 10)]), HOUR);
        assert_eq!(ttl(cache, &[call(0, 0, 100), call(90, 90, 10)]), 90 * 60_000);
        assert_eq!(ttl(cache, &[call(0, 0, 100), call(8, 40, 60)]), SHORT);
    }

    #[test]
    fn a_pause_that_was_not_survived_proves_a_shorter_one() {
        let hour = Cache { ttl_ms: HOUR, ..Cache::default() };
        assert_eq!(ttl(hour, &[call(0, 0, 100), call(20, 0, 100)]), SHORT);
        assert_eq!(ttl(hour, &[call(0, 0, 100), call(4, 0, 100)]), HOUR, "a short pause says nothing");
        assert_eq!(ttl(hour, &[call(0, 0, 100), call(61, 0, 100)]), HOUR, "nothing else was to be expected");
        assert_eq!(ttl(Cache::default(), &[call(0, 0, 100), call(8, 90, 10), call(20, 0, 100)]), SHORT);
    }

    #[test]
    fn writes_for_an_hour_say_so_until_a_pause_says_otherwise() {
        let usage = |cache_write_1h| Usage { cache_write: 100, cache_write_1h, ..Usage::default() };
        let write = |share| ModelCall { message: MessageIx(0), time: Some(0), usage: usage(share) };
        assert_eq!(ttl(Cache::default(), &[write(60)]), HOUR);
        assert_eq!(ttl(Cache::default(), &[write(50)]), SHORT);
        assert_eq!(ttl(Cache::default(), &[write(60), call(30, 0, 100), call(31, 90, 10)]), SHORT);
    }

    #[test]
    fn calls_without_a_time_or_a_report_say_nothing() {
        let silent = ModelCall { time: None, ..call(0, 90, 10) };
        assert_eq!(ttl(Cache::default(), &[call(0, 0, 100), silent, call(4, 90, 10)]), SHORT);
        assert_eq!(ttl(Cache::default(), &[call(0, 0, 100), call(50, 0, 0)]), SHORT);
        let mut lifetime = Lifetime::default();
        for hour in 0..1_000 {
            lifetime.observe(Some(hour * HOUR), &Usage { cache_read: 1, ..Usage::default() });
        }
        assert_eq!(lifetime.pauses.len(), PAUSES);
    }

    #[test]
    fn a_price_list_gives_shares_of_plain_input() {
        let catalogue = crate::Catalogue::builtin();
        let sonnet = catalogue.find("claude-sonnet-4-5").unwrap();
        let hourly = Lifetime { written: 10, written_1h: 10, ..Lifetime::default() };
        assert_eq!(Cache::of(sonnet, &Lifetime::default()).map(|cache| cache.write), Some(1.25));
        assert_eq!(Cache::of(sonnet, &hourly).map(|cache| cache.write), Some(2.0));
        let gpt = Cache::of(catalogue.find("gpt-4o").unwrap(), &hourly).unwrap();
        assert_eq!(gpt, Cache { read: 0.5, write: 1.0, ttl_ms: SHORT });
        let unpriced = ModelInfo { price: None, ..sonnet.clone() };
        assert_eq!(Cache::of(&unpriced, &hourly), None);
    }
}
