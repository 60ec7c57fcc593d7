//! What was saved: in each run of an agent, which a request may name in front of its path, and in each conversation.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use secateur::{Price, Usage};
use serde::Serialize;
use utoipa::ToSchema;

/// So many runs are remembered. The one that was heard of last stays longest.
const MOST: usize = 1_000;

/// A token has about so many bytes, where the provider does not say better.
const USUAL: f64 = 4.0;

/// What was saved in a run of an agent, or in all of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[non_exhaustive]
pub struct Savings {
    /// Requests with a conversation that a provider answered.
    pub requests: u64,
    /// How many of them were sent shorter than they came.
    pub cut_requests: u64,
    /// Bytes of those requests as the client sent them,
    pub bytes_in: u64,
    /// and as the provider received them.
    pub bytes_out: u64,
    /// Tokens of the prompts as the provider received and counted them; where it did not count, a quarter of the bytes.
    pub tokens_in: u64,
    /// How many of them the provider read from its cache.
    pub tokens_cached: u64,
    /// Tokens that were left out: the bytes that were, at as many bytes to a token as in the rest of the same request.
    pub tokens_saved: u64,
    /// What those would have cost in US dollars, at what the rest of the same request cost by the catalogue's prices:
    /// tokens that would have been read from the cache are cheap. 0 for models without a price.
    pub money_saved: f64,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent<'r> {
    /// Its bytes as they came,
    pub bytes_in: u64,
    /// and as they went.
    pub bytes_out: u64,
    /// What the provider counted.
    pub usage: Option<&'r Usage>,
    /// What the model costs.
    pub price: Option<Price>,
}

impl Savings {
    /// Adds a request.
    pub(crate) fn add(&mut self, sent: Sent<'_>) {
        let Sent { bytes_in, bytes_out, usage, price } = sent;
        let counted =
            usage.map(|usage| usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write));
        let tokens = counted.and_then(|tokens| u64::try_from(tokens).ok()).filter(|tokens| *tokens > 0);
        let per_token =
            tokens.map_or(USUAL, |tokens| bytes_out as f64 / tokens as f64).max(f64::MIN_POSITIVE);
        let saved = bytes_in.saturating_sub(bytes_out);
        self.requests += 1;
        self.cut_requests += u64::from(saved > 0);
        self.bytes_in += bytes_in;
        self.bytes_out += bytes_out;
        self.tokens_in += tokens.unwrap_or((bytes_out as f64 / USUAL) as u64);
        let tokens_saved = (saved as f64 / per_token).round() as u64;
        self.tokens_saved += tokens_saved;
        self.tokens_cached += usage.map_or(0, |usage| u64::try_from(usage.cache_read).unwrap_or(0));
        self.money_saved += price.map_or(0.0, |price| tokens_saved as f64 * dollars(price, usage));
    }
}

/// What a token of a prompt cost on average, in US dollars.
fn dollars(price: Price, usage: Option<&Usage>) -> f64 {
    let Usage { input, cache_read, cache_write, .. } = usage.copied().unwrap_or_default();
    let kinds = [
        (input, price.input),
        (cache_read, price.cache_read.unwrap_or(price.input)),
        (cache_write, price.cache_write.unwrap_or(price.input)),
    ];
    let tokens: i64 = kinds.iter().map(|(tokens, _)| *tokens).sum();
    let cost: f64 = kinds.iter().map(|(tokens, price)| *tokens as f64 * price).sum();
    (if tokens > 0 { cost / tokens as f64 } else { price.input }) / 1e6
}

/// The runs that were heard of.
#[derive(Debug, Default)]
pub(crate) struct Runs {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    clock: u64,
    by_name: HashMap<String, (u64, Savings)>,
}

impl Runs {
    /// Adds a request of a run.
    pub(crate) fn add(&self, name: &str, sent: Sent<'_>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.clock += 1;
        let now = known.clock;
        if known.by_name.len() >= MOST && !known.by_name.contains_key(name) {
            let oldest =
                known.by_name.iter().min_by_key(|(_, (used, _))| *used).map(|(name, _)| name.clone());
            oldest.map(|oldest| known.by_name.remove(&oldest));
        }
        let (used, savings) = known.by_name.entry(name.to_owned()).or_default();
        *used = now;
        savings.add(sent);
    }

    /// What was saved in a run; none if nothing was heard of it.
    pub(crate) fn get(&self, name: &str) -> Option<Savings> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.by_name.get(name).map(|(_, savings)| savings.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_saved_at_the_rate_at_which_the_provider_counted() {
        let mut savings = Savings::default();
        let usage = Usage { input: 100, cache_read: 150, ..Usage::default() };
        let price = Price { input: 5.0, cache_read: Some(0.5), ..Price::default() };
        let sent = |bytes_in, bytes_out| Sent { bytes_in, bytes_out, ..Sent::default() };
        savings.add(Sent { usage: Some(&usage), price: Some(price), ..sent(3_000, 1_000) });
        savings.add(sent(400, 400));
        assert_eq!((savings.requests, savings.cut_requests), (2, 1));
        assert_eq!((savings.tokens_in, savings.tokens_saved), (250 + 100, 500));
        // 500 tokens, of which two fifths would have been fresh.
        assert!((savings.money_saved - 500.0 * 2.3e-6).abs() < 1e-12, "{}", savings.money_saved);
        savings.add(Sent { usage: Some(&Usage::default()), ..sent(80, 40) });
        assert_eq!(savings.tokens_saved, 510);
    }

    #[test]
    fn only_so_many_runs_are_remembered() {
        let runs = Runs::default();
        for n in 0..MOST + 10 {
            runs.add(&n.to_string(), Sent::default());
            runs.add("0", Sent::default());
        }
        assert_eq!(runs.get("0").unwrap().requests, MOST as u64 + 11);
        assert_eq!(runs.get("1"), None);
        assert!(runs.get(&(MOST + 9).to_string()).is_some());
    }
}
