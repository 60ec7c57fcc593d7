//! Why a provider did not find a prompt in its cache.

use std::time::{Duration, Instant};

use secateur::Usage;
use xxhash_rust::xxh3::Xxh3;

use super::recognition::ReceivedRequest;
use crate::outcome::{CacheMiss, Outcome};

/// Providers drop a prompt from their cache after this time without use.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// What of a prompt decides whether it is found in the cache.
#[derive(Clone, Debug)]
pub(crate) struct PromptRecord {
    model: String,
    /// A hash of the envelope.
    envelope: u64,
    outcome: Outcome,
    sent: Instant,
    /// Its tokens, and how many of them were read from the cache.
    tokens: i64,
    cached: i64,
}

impl PromptRecord {
    pub(crate) fn new(received: &ReceivedRequest, model: &str, outcome: Outcome) -> Self {
        let list = &received.envelope.list;
        let mut envelope = Xxh3::new();
        envelope.update(received.body.get(..list.start).unwrap_or_default());
        envelope.update(received.body.get(list.end..).unwrap_or_default());
        let (model, envelope) = (model.to_owned(), envelope.digest());
        Self { model, envelope, outcome, sent: Instant::now(), tokens: 0, cached: 0 }
    }

    /// The prompt with its usage.
    pub(crate) fn counted(self, usage: Usage) -> Self {
        Self { tokens: usage.context(), cached: usage.cache_read, ..self }
    }

    /// Why most of what it shares with the prompt before it was not read from the cache; none if it was.
    pub(crate) fn miss(&self, last: Option<&PromptRecord>) -> Option<CacheMiss> {
        let Some(last) = last else {
            return (self.cached.saturating_mul(2) < self.tokens).then_some(CacheMiss::First);
        };
        if self.cached.saturating_mul(2) >= last.tokens.min(self.tokens) {
            return None;
        }
        Some(if self.model != last.model {
            CacheMiss::Model
        } else if self.outcome.is_new_decision() {
            CacheMiss::Cut
        } else if self.sent.duration_since(last.sent) > LIFETIME {
            CacheMiss::Expired
        } else if self.envelope != last.envelope {
            CacheMiss::Client
        } else {
            CacheMiss::Provider
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(tokens: i64, cached: i64) -> PromptRecord {
        let (model, outcome, sent) = ("m".to_owned(), Outcome::Unchanged, Instant::now());
        PromptRecord { model, envelope: 1, outcome, sent, tokens, cached }
    }

    #[test]
    fn every_miss_has_a_reason() {
        let last = prompt(1_000, 0);
        assert_eq!(prompt(1_000, 0).miss(None), Some(CacheMiss::First));
        assert_eq!(prompt(1_000, 900).miss(None), None);
        assert_eq!(prompt(1_100, 990).miss(Some(&last)), None);
        assert_eq!(prompt(300, 200).miss(Some(&last)), None, "most of what is left was cached");
        let missed = prompt(1_100, 10);
        assert_eq!(missed.miss(Some(&last)), Some(CacheMiss::Provider));
        assert_eq!(
            PromptRecord { outcome: Outcome::Pruned, ..missed.clone() }.miss(Some(&last)),
            Some(CacheMiss::Cut)
        );
        assert_eq!(PromptRecord { envelope: 2, ..missed.clone() }.miss(Some(&last)), Some(CacheMiss::Client));
        assert_eq!(
            PromptRecord { model: "n".to_owned(), ..missed.clone() }.miss(Some(&last)),
            Some(CacheMiss::Model)
        );
        let sent = last.sent + LIFETIME + Duration::from_secs(1);
        assert_eq!(PromptRecord { sent, ..missed }.miss(Some(&last)), Some(CacheMiss::Expired));
    }
}
