//! Savings of a request, of a run of an agent, or of a conversation.

use secateur::{Price, Usage};
use serde::Serialize;
use utoipa::ToSchema;

/// Bytes per token, where the provider does not report its count.
const BYTES_PER_TOKEN: f64 = 4.0;

/// What was saved in a run of an agent, or in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[non_exhaustive]
pub struct Savings {
    /// Requests with a conversation that a provider answered.
    pub requests: u64,
    /// How many of them were sent shorter than they arrived.
    pub cut_requests: u64,
    /// Bytes of those requests as the client sent them,
    pub bytes_in: u64,
    /// and as the provider received them.
    pub bytes_out: u64,
    /// Prompt tokens as the provider counted them; where it did not, a quarter of the bytes.
    pub tokens_in: u64,
    /// How many of them the provider read from its cache.
    pub tokens_cached: u64,
    /// Tokens that were left out: the bytes that were left out, at the bytes per token of the rest of the same request.
    pub tokens_saved: u64,
    /// What those would have cost in US dollars, at the average price of the rest of the same request: tokens that would
    /// have been read from the cache are cheap. 0 for models without a price in the catalogue.
    pub money_saved: f64,
}

/// A request that was sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SentRequest<'r> {
    /// Its bytes as the client sent them,
    pub bytes_in: u64,
    /// and as the provider received them.
    pub bytes_out: u64,
    /// What the provider counted.
    pub usage: Option<&'r Usage>,
    /// What the model costs.
    pub price: Option<Price>,
}

impl Savings {
    /// What one request saved.
    pub(crate) fn of(sent: SentRequest<'_>) -> Self {
        let SentRequest { bytes_in, bytes_out, usage, price } = sent;
        let counted =
            usage.and_then(|usage| u64::try_from(usage.context()).ok()).filter(|tokens| *tokens > 0);
        let per_token =
            counted.map_or(BYTES_PER_TOKEN, |tokens| bytes_out as f64 / tokens as f64).max(f64::MIN_POSITIVE);
        let saved = bytes_in.saturating_sub(bytes_out);
        let tokens_saved = (saved as f64 / per_token).round() as u64;
        Self {
            requests: 1,
            cut_requests: u64::from(saved > 0),
            bytes_in,
            bytes_out,
            tokens_in: counted.unwrap_or((bytes_out as f64 / BYTES_PER_TOKEN) as u64),
            tokens_cached: usage.map_or(0, |usage| u64::try_from(usage.cache_read).unwrap_or(0)),
            tokens_saved,
            money_saved: price.map_or(0.0, |price| tokens_saved as f64 * dollars(price, usage)),
        }
    }

    /// Adds other savings.
    pub(crate) fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.cut_requests += other.cut_requests;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.tokens_in += other.tokens_in;
        self.tokens_cached += other.tokens_cached;
        self.tokens_saved += other.tokens_saved;
        self.money_saved += other.money_saved;
    }
}

/// The average price of a prompt token, in US dollars.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_saved_at_the_rate_at_which_the_provider_counted() {
        let mut savings = Savings::default();
        let usage = Usage { input: 100, cache_read: 150, ..Usage::default() };
        let price = Price { input: 5.0, cache_read: Some(0.5), ..Price::default() };
        let sent = |bytes_in, bytes_out| SentRequest { bytes_in, bytes_out, ..SentRequest::default() };
        savings.add(&Savings::of(SentRequest {
            usage: Some(&usage),
            price: Some(price),
            ..sent(3_000, 1_000)
        }));
        savings.add(&Savings::of(sent(400, 400)));
        assert_eq!((savings.requests, savings.cut_requests), (2, 1));
        assert_eq!((savings.tokens_in, savings.tokens_saved), (250 + 100, 500));
        // 500 tokens, of which two fifths would have been fresh.
        assert!((savings.money_saved - 500.0 * 2.3e-6).abs() < 1e-12, "{}", savings.money_saved);
        savings.add(&Savings::of(SentRequest { usage: Some(&Usage::default()), ..sent(80, 40) }));
        assert_eq!(savings.tokens_saved, 510);
    }
}
