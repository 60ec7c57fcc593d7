//! What a model costs, and how that depends on the length of the prompt.
//!
//! Many models have price *bands*: once a prompt is longer than a limit, the whole request costs more, not only what lies
//! above the limit. So the last token that crosses a limit is the dearest of all.

use serde::{Deserialize, Serialize};

/// US dollars per million tokens; none where the price is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is not read from a cache.
    pub input: f64,
    /// Output.
    pub output: f64,
    /// Input read from the cache.
    pub cache_read: Option<f64>,
    /// Input written to the cache.
    pub cache_write: Option<f64>,
    /// Input written to a cache that lives an hour.
    pub cache_write_1h: Option<f64>,
}

/// The prices of requests whose prompt is longer than a limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PriceBand {
    /// The limit, in tokens of the prompt. Cached tokens count.
    pub above: u64,
    /// What the whole request costs then.
    pub price: Price,
}

/// All prices of a model.
///
/// ```
/// use secateur::{Price, PriceBand, PriceList};
///
/// let price = |input| Price { input, ..Price::default() };
/// let list = PriceList { base: price(1.0), bands: vec![PriceBand { above: 100_000, price: price(5.0) }] };
/// assert_eq!((list.at(100_000).input, list.at(100_001).input), (1.0, 5.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriceList {
    /// The prices of the shortest prompts.
    pub base: Price,
    /// The prices of longer ones, in any order.
    pub bands: Vec<PriceBand>,
}

impl PriceList {
    /// The prices of a request with a prompt of this many tokens.
    pub fn at(&self, prompt: u64) -> Price {
        let reached = self.bands.iter().filter(|band| prompt > band.above);
        reached.max_by_key(|band| band.above).map_or(self.base, |band| band.price)
    }

    /// The lengths of a prompt above which requests get dearer.
    pub fn limits(&self) -> Vec<u64> {
        let dearer = self.bands.iter().filter(|band| band.price.input > self.base.input);
        dearer.map(|band| band.above).collect()
    }
}

/// The limits of price bands around the length of a prompt.
///
/// ```
/// use secateur::BandLimits;
///
/// let around = BandLimits::around(&[32_000, 128_000], 40_000);
/// assert_eq!(around, BandLimits { crossed: Some(32_000), next: Some(128_000) });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BandLimits {
    /// The highest limit that the prompt is above.
    pub crossed: Option<u64>,
    /// The lowest limit that it is not above.
    pub next: Option<u64>,
}

impl BandLimits {
    /// Those of these limits that are next to a prompt of this many tokens.
    pub fn around(limits: &[u64], prompt: u64) -> Self {
        let limits = || limits.iter().copied();
        let crossed = limits().filter(|limit| prompt > *limit).max();
        Self { crossed, next: limits().filter(|limit| prompt <= *limit).min() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn price(input: f64) -> Price {
        Price { input, ..Price::default() }
    }

    #[test]
    fn the_highest_band_that_a_prompt_reaches_counts() {
        let band = |above, input| PriceBand { above, price: price(input) };
        let list = PriceList { base: price(1.0), bands: vec![band(256, 6.0), band(32, 1.8), band(128, 3.0)] };
        let inputs = [32, 33, 128, 129, 256, 257].map(|prompt| list.at(prompt).input);
        assert_eq!(inputs, [1.0, 1.8, 1.8, 3.0, 3.0, 6.0]);
        assert_eq!(list.limits(), [256, 32, 128]);
    }

    #[test]
    fn a_band_that_is_not_dearer_is_no_limit() {
        let cheaper = PriceBand { above: 10, price: price(0.5) };
        assert_eq!(PriceList { base: price(1.0), bands: vec![cheaper] }.limits(), [] as [u64; 0]);
    }

    #[test]
    fn without_bands_there_are_no_limits() {
        assert_eq!(BandLimits::around(&[], 5), BandLimits::default());
        assert_eq!(BandLimits::around(&[5], 5), BandLimits { crossed: None, next: Some(5) });
        assert_eq!(BandLimits::around(&[5], 6), BandLimits { crossed: Some(5), next: None });
    }
}
