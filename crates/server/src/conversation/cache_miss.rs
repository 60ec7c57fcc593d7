//! Why a provider did not find a prompt in its cache.

use std::time::{Duration, Instant};

use secateur::Usage;
use xxhash_rust::xxh3::Xxh3;

use super::recognition::Received;

/// Providers forget a prompt that was not used for so long.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// A prompt, as far as it tells why it was cached or not.
#[derive(Clone, Debug)]
pub(crate) struct Prompt {
    model: String,
    /// Of all that stands beside the messages: instructions and tools.
    frame: u64,
    /// What was done to it.
    did: &'static str,
    asked: Instant,
    /// Its tokens, and how many of them were in the cache.
    tokens: i64,
    cached: i64,
}

impl Prompt {
    pub(crate) fn new(received: &Received, model: &str, did: &'static str) -> Self {
        let list = &received.frame.list;
        let mut frame = Xxh3::new();
        frame.update(received.body.get(..list.start).unwrap_or_default());
        frame.update(received.body.get(list.end..).unwrap_or_default());
        let (model, frame) = (model.to_owned(), frame.digest());
        Self { model, frame, did, asked: Instant::now(), tokens: 0, cached: 0 }
    }

    /// The prompt with what the provider said about it.
    pub(crate) fn counted(self, usage: Usage) -> Self {
        Self { tokens: usage.context(), cached: usage.cache_read, ..self }
    }

    /// Why most of what was there before was not in the cache, given the prompt before; none if it was.
    pub(crate) fn missed(&self, last: Option<&Prompt>) -> Option<&'static str> {
        let Some(last) = last else {
            return (self.cached.saturating_mul(2) < self.tokens).then_some("first");
        };
        if self.cached.saturating_mul(2) >= last.tokens.min(self.tokens) {
            return None;
        }
        Some(if self.model != last.model {
            "model"
        } else if matches!(self.did, "pruned" | "compacted") {
            "cut"
        } else if self.asked.duration_since(last.asked) > LIFETIME {
            "expired"
        } else if self.frame != last.frame {
            "client"
        } else {
            "provider"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(tokens: i64, cached: i64) -> Prompt {
        let asked = Instant::now();
        Prompt { model: "m".to_owned(), frame: 1, did: "kept", asked, tokens, cached }
    }

    #[test]
    fn every_miss_has_a_cause() {
        let last = prompt(1_000, 0);
        assert_eq!(prompt(1_000, 0).missed(None), Some("first"));
        assert_eq!(prompt(1_000, 900).missed(None), None);
        assert_eq!(prompt(1_100, 990).missed(Some(&last)), None);
        assert_eq!(prompt(300, 200).missed(Some(&last)), None, "the little that is left was there");
        let missed = prompt(1_100, 10);
        assert_eq!(missed.missed(Some(&last)), Some("provider"));
        assert_eq!(Prompt { did: "pruned", ..missed.clone() }.missed(Some(&last)), Some("cut"));
        assert_eq!(Prompt { frame: 2, ..missed.clone() }.missed(Some(&last)), Some("client"));
        assert_eq!(Prompt { model: "n".to_owned(), ..missed.clone() }.missed(Some(&last)), Some("model"));
        let asked = last.asked + LIFETIME + Duration::from_secs(1);
        assert_eq!(Prompt { asked, ..missed }.missed(Some(&last)), Some("expired"));
    }
}
