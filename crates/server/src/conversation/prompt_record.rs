//! What a prompt cost, and what it would have cost as the client sent it.
//!
//! Each prompt is compared with the one before it on its branch. What the provider read from its cache shows how warm
//! that is; a client that is not cut would have found its own last prompt there just as warm. A new cut says nothing about
//! that, because it changes the prefix itself: then the cache counts as it was last seen, unless it has expired meanwhile.

use std::time::{Duration, Instant};

use secateur::Usage;
use xxhash_rust::xxh3::Xxh3;

use super::recognition::ReceivedRequest;
use crate::metrics::savings::left_out_tokens;
use crate::outcome::{CacheMiss, ExchangeReport, Outcome, PromptEffect};

/// Providers drop a prompt from their cache after this time without use.
const LIFETIME: Duration = Duration::from_secs(5 * 60);

/// What a model thinks again in place of a block that was dropped, in tokens: what was seen.
const RETHOUGHT: i64 = 60;

/// A prompt as it was sent, and what of it decides whether it is found in the cache.
#[derive(Clone, Debug)]
pub(crate) struct PromptRecord {
    model: String,
    /// A hash of the envelope.
    envelope: u64,
    outcome: Outcome,
    sent: Instant,
    bytes_in: u64,
    bytes_out: u64,
    window: i64,
}

/// A prompt that was answered.
#[derive(Clone, Debug)]
pub(crate) struct AnsweredPrompt {
    prompt: PromptRecord,
    usage: Usage,
    /// The blocks of thinking that the provider dropped from it.
    dropped: u64,
    /// Its tokens as the client sent it.
    whole: i64,
    /// How much of the prompt before it was in the cache.
    warmth: Warmth,
}

/// How much of a prompt that was sent before a provider has in its cache.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Warmth {
    /// All but its end, which is in no full block or behind the last mark: that does not grow with the prompt.
    AllBut(i64),
    /// A share of it.
    Share(f64),
}

impl Warmth {
    /// How many of these tokens are in the cache.
    fn of(self, tokens: i64) -> i64 {
        match self {
            Self::AllBut(missing) => tokens.saturating_sub(missing).max(0),
            Self::Share(share) => (tokens as f64 * share) as i64,
        }
    }
}

impl PromptRecord {
    pub(crate) fn new(received: &ReceivedRequest, report: &ExchangeReport) -> Self {
        let list = &received.envelope.list;
        let mut envelope = Xxh3::new();
        envelope.update(received.body.get(..list.start).unwrap_or_default());
        envelope.update(received.body.get(list.end..).unwrap_or_default());
        let &ExchangeReport { outcome, bytes_in, bytes_out, window, .. } = report;
        let (model, envelope) = (report.model.clone(), envelope.digest());
        Self { model, envelope, outcome, sent: Instant::now(), bytes_in, bytes_out, window }
    }

    /// The prompt after the provider has answered, and what became of it. `dropped` blocks of thinking were dropped from
    /// it; `last` is the prompt before it.
    pub(crate) fn answered(
        self,
        usage: Usage,
        dropped: u64,
        last: Option<&AnsweredPrompt>,
    ) -> (AnsweredPrompt, PromptEffect) {
        let tokens = usage.context();
        let whole = self.whole(tokens, last);
        let miss = self.miss(usage, last);
        let warmth = self.warmth(usage, last);
        let (mut cached, mut rewritten) = (usage.cache_read, 0);
        if let Some(last) = last {
            cached = warmth.of(last.whole.min(whole)).max(cached);
            if self.outcome.is_new_decision() {
                rewritten =
                    warmth.of(last.usage.context().min(tokens)).saturating_sub(usage.cache_read).max(0);
            }
        }
        let lost = dropped.saturating_sub(last.map_or(0, |last| last.dropped));
        let rethought = RETHOUGHT.saturating_mul(i64::try_from(lost).unwrap_or(0)).min(usage.output);
        let output = usage.output - rethought;
        let effect = PromptEffect {
            miss,
            whole: Usage { output, ..with_prompt(usage, self.sendable(whole, tokens), cached) },
            rewritten: u64::try_from(rewritten).unwrap_or(0),
            summaries: Vec::new(),
        };
        (AnsweredPrompt { prompt: self, usage, dropped, whole, warmth }, effect)
    }

    /// The tokens of the prompt as the client sent it. A prompt that was cut like the one before grows by as much as that
    /// would have grown; otherwise its bytes tell.
    fn whole(&self, tokens: i64, last: Option<&AnsweredPrompt>) -> i64 {
        if self.bytes_out >= self.bytes_in {
            return tokens;
        }
        let Some(last) = last.filter(|last| last.prompt.bytes_in > 0 && last.prompt.model == self.model)
        else {
            return tokens.saturating_add(left_out_tokens(self.bytes_in, self.bytes_out, tokens));
        };
        let is_same = !self.outcome.is_new_decision() && self.bytes_in >= last.prompt.bytes_in;
        if is_same && last.prompt.bytes_out < last.prompt.bytes_in {
            return last.whole.saturating_add(tokens.saturating_sub(last.usage.context())).max(tokens);
        }
        let per_byte = last.whole as f64 / last.prompt.bytes_in as f64;
        ((self.bytes_in as f64 * per_byte) as i64).max(tokens)
    }

    /// As much of the client's own prompt as fits into the window: more could not have been sent.
    fn sendable(&self, whole: i64, tokens: i64) -> i64 {
        if self.window > 0 { whole.min(self.window.max(tokens)) } else { whole }
    }

    /// How much of the last prompt is in the cache.
    fn warmth(&self, usage: Usage, last: Option<&AnsweredPrompt>) -> Warmth {
        let Some(last) = last else { return Warmth::AllBut(0) };
        if self.outcome.is_new_decision() {
            let is_warm = self.model == last.prompt.model
                && self.envelope == last.prompt.envelope
                && self.sent.duration_since(last.prompt.sent) <= LIFETIME;
            return if is_warm { last.warmth } else { Warmth::Share(0.0) };
        }
        let shared = last.usage.context().min(usage.context()).max(1);
        let missing = shared.saturating_sub(usage.cache_read).max(0);
        if missing <= shared / 2 {
            Warmth::AllBut(missing)
        } else {
            Warmth::Share(usage.cache_read as f64 / shared as f64)
        }
    }

    /// Why most of what it shares with the prompt before it was not read from the cache; none if it was.
    fn miss(&self, usage: Usage, last: Option<&AnsweredPrompt>) -> Option<CacheMiss> {
        let (tokens, cached) = (usage.context(), usage.cache_read);
        let Some(last) = last else {
            return (cached.saturating_mul(2) < tokens).then_some(CacheMiss::First);
        };
        if cached.saturating_mul(2) >= last.usage.context().min(tokens) {
            return None;
        }
        Some(if self.model != last.prompt.model {
            CacheMiss::Model
        } else if self.outcome.is_new_decision() {
            CacheMiss::Cut
        } else if self.sent.duration_since(last.prompt.sent) > LIFETIME {
            CacheMiss::Expired
        } else if self.envelope != last.prompt.envelope {
            CacheMiss::Client
        } else {
            CacheMiss::Provider
        })
    }
}

/// Usage with a prompt of another length, of which so much is read from the cache. The rest is fresh or written to the
/// cache in the same proportions.
fn with_prompt(usage: Usage, tokens: i64, cache_read: i64) -> Usage {
    let cache_read = cache_read.clamp(0, tokens);
    let (rest, sent) = (tokens - cache_read, usage.input.saturating_add(usage.cache_write));
    let share = |part: i64| if sent > 0 { (rest as f64 * (part as f64 / sent as f64)) as i64 } else { 0 };
    let (cache_write, cache_write_1h) = (share(usage.cache_write), share(usage.cache_write_1h));
    Usage { input: rest - cache_write, cache_read, cache_write, cache_write_1h, ..usage }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prompt(outcome: Outcome) -> PromptRecord {
        let (model, sent) = ("m".to_owned(), Instant::now());
        PromptRecord { model, envelope: 1, outcome, sent, bytes_in: 0, bytes_out: 0, window: 0 }
    }

    fn usage(tokens: i64, cached: i64) -> Usage {
        Usage { cache_read: cached, cache_write: tokens - cached, ..Usage::default() }
    }

    fn first(tokens: i64) -> AnsweredPrompt {
        prompt(Outcome::Unchanged).answered(usage(tokens, 0), 0, None).0
    }

    #[test]
    fn every_miss_has_a_reason() {
        let last = first(1_000);
        let miss = |prompt: PromptRecord, tokens, cached, last| {
            prompt.answered(usage(tokens, cached), 0, last).1.miss
        };
        let same = || prompt(Outcome::Unchanged);
        assert_eq!(miss(same(), 1_000, 0, None), Some(CacheMiss::First));
        assert_eq!(miss(same(), 1_000, 900, None), None);
        assert_eq!(miss(same(), 1_100, 990, Some(&last)), None);
        assert_eq!(miss(same(), 300, 200, Some(&last)), None, "most of what is left was cached");
        let missed = |prompt| miss(prompt, 1_100, 10, Some(&last));
        assert_eq!(missed(same()), Some(CacheMiss::Provider));
        assert_eq!(missed(prompt(Outcome::Pruned)), Some(CacheMiss::Cut));
        assert_eq!(missed(PromptRecord { envelope: 2, ..same() }), Some(CacheMiss::Client));
        assert_eq!(missed(PromptRecord { model: "n".to_owned(), ..same() }), Some(CacheMiss::Model));
        let sent = last.prompt.sent + LIFETIME + Duration::from_secs(1);
        assert_eq!(missed(PromptRecord { sent, ..same() }), Some(CacheMiss::Expired));
    }

    #[test]
    fn a_cut_is_compared_with_what_the_cache_would_have_had() {
        let cut = |outcome| PromptRecord { bytes_in: 4_400, bytes_out: 2_200, ..prompt(outcome) };
        // Half of the prompt goes, and all that is left but 100 tokens is written again.
        let (last, effect) = cut(Outcome::Pruned).answered(usage(550, 100), 0, Some(&first(1_000)));
        assert_eq!(effect.whole, usage(1_100, 1_000));
        assert_eq!((effect.rewritten, effect.miss), (450, Some(CacheMiss::Cut)));
        // From then on it is shorter and as warm as it would have been.
        let (_, effect) = cut(Outcome::Replayed).answered(usage(550, 540), 0, Some(&last));
        assert_eq!(effect.whole.context(), 1_100);
        assert_eq!(effect.whole.cache_read, 1_090);
        assert_eq!((effect.rewritten, effect.miss), (0, None));
    }

    #[test]
    fn a_cold_cache_would_have_been_cold_without_a_cut() {
        let last = first(1_000);
        let sent = last.prompt.sent + LIFETIME + Duration::from_secs(1);
        let cut = PromptRecord { bytes_in: 2_000, bytes_out: 1_000, sent, ..prompt(Outcome::Pruned) };
        let (_, effect) = cut.answered(usage(500, 0), 0, Some(&last));
        assert_eq!((effect.whole, effect.rewritten), (usage(1_000, 0), 0));
    }

    #[test]
    fn what_a_model_thinks_again_would_not_have_been_billed() {
        let thinking = Usage { output: 500, ..usage(1_000, 0) };
        let same = || prompt(Outcome::Replayed);
        let (last, effect) = same().answered(thinking, 3, Some(&first(1_000)));
        assert_eq!(effect.whole.output, 500 - 3 * RETHOUGHT);
        // The same blocks are dropped again with each request.
        assert_eq!(same().answered(thinking, 3, Some(&last)).1.whole.output, 500);
    }
}
