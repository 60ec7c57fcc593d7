//! What was saved, by runs: a request may say in front of its path which run of an agent it belongs to.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use secateur::Usage;
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
    /// Tokens that were left out: the bytes that were, at as many bytes to a token as in the rest of the same request.
    pub tokens_saved: u64,
}

impl Savings {
    /// Adds a request that came and went with so many bytes, and what the provider counted.
    pub(crate) fn add(&mut self, bytes_in: u64, bytes_out: u64, usage: Option<&Usage>) {
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
        self.tokens_saved += (saved as f64 / per_token).round() as u64;
    }
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
    pub(crate) fn add(&self, name: &str, bytes: (u64, u64), usage: Option<&Usage>) {
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
        savings.add(bytes.0, bytes.1, usage);
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
        savings.add(3_000, 1_000, Some(&usage));
        savings.add(400, 400, None);
        assert_eq!((savings.requests, savings.cut_requests), (2, 1));
        assert_eq!((savings.tokens_in, savings.tokens_saved), (250 + 100, 500));
        savings.add(80, 40, Some(&Usage::default()));
        assert_eq!(savings.tokens_saved, 510);
    }

    #[test]
    fn only_so_many_runs_are_remembered() {
        let runs = Runs::default();
        for n in 0..MOST + 10 {
            runs.add(&n.to_string(), (8, 4), None);
            runs.add("0", (8, 4), None);
        }
        assert_eq!(runs.get("0").unwrap().requests, MOST as u64 + 11);
        assert_eq!(runs.get("1"), None);
        assert!(runs.get(&(MOST + 9).to_string()).is_some());
    }
}
