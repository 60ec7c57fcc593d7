//! Savings of a request, of a run of an agent, or of a conversation.

use secateur::{Price, PriceList, Usage};
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
    /// What would not have fitted into the model's window does not count, because it could not have been sent.
    pub tokens_saved: u64,
    /// What the requests would have cost more with those tokens, in US dollars, at the average price of the rest of the same
    /// request: tokens that would have been read from the cache are cheap. Where a longer prompt makes the whole
    /// request dearer, that counts. 0 for models without a price in the catalogue.
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
    pub prices: Option<&'r PriceList>,
    /// The model's window in tokens; 0 if it is unknown.
    pub window: i64,
}

impl Savings {
    /// What one request saved.
    pub(crate) fn of(sent: SentRequest<'_>) -> Self {
        let SentRequest { bytes_in, bytes_out, usage, prices, window } = sent;
        let counted =
            usage.and_then(|usage| u64::try_from(usage.context()).ok()).filter(|tokens| *tokens > 0);
        let per_token =
            counted.map_or(BYTES_PER_TOKEN, |tokens| bytes_out as f64 / tokens as f64).max(f64::MIN_POSITIVE);
        let saved = bytes_in.saturating_sub(bytes_out);
        let tokens_in = counted.unwrap_or((bytes_out as f64 / BYTES_PER_TOKEN) as u64);
        let window = u64::try_from(window).ok().filter(|window| *window > 0).unwrap_or(u64::MAX);
        let left_out = (saved as f64 / per_token).round() as u64;
        let tokens_saved = left_out.min(window.saturating_sub(tokens_in));
        let cost = |prices: &PriceList, prompt: u64| dollars(prices.at(prompt), prompt, usage);
        let money = |prices| cost(prices, tokens_in.saturating_add(tokens_saved)) - cost(prices, tokens_in);
        Self {
            requests: 1,
            cut_requests: u64::from(saved > 0),
            bytes_in,
            bytes_out,
            tokens_in,
            tokens_cached: usage.map_or(0, |usage| u64::try_from(usage.cache_read).unwrap_or(0)),
            tokens_saved,
            money_saved: prices.map_or(0.0, money),
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

/// What a request with a prompt of this many tokens costs in US dollars, if as much of it is fresh, read from the cache and
/// written to it as was reported.
fn dollars(price: Price, prompt: u64, usage: Option<&Usage>) -> f64 {
    let Usage { input, cache_read, cache_write, output, .. } = usage.copied().unwrap_or_default();
    let kinds = [
        (input, price.input),
        (cache_read, price.cache_read.unwrap_or(price.input)),
        (cache_write, price.cache_write.unwrap_or(price.input)),
    ];
    let tokens: i64 = kinds.iter().map(|(tokens, _)| *tokens).sum();
    let cost: f64 = kinds.iter().map(|(tokens, price)| *tokens as f64 * price).sum();
    let average = if tokens > 0 { cost / tokens as f64 } else { price.input };
    (prompt as f64 * average + output as f64 * price.output) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_saved_at_the_rate_at_which_the_provider_counted() {
        let mut savings = Savings::default();
        let usage = Usage { input: 100, cache_read: 150, ..Usage::default() };
        let base = Price { input: 5.0, cache_read: Some(0.5), ..Price::default() };
        let prices = PriceList { base, bands: Vec::new() };
        let sent = |bytes_in, bytes_out| SentRequest { bytes_in, bytes_out, ..SentRequest::default() };
        savings.add(&Savings::of(SentRequest {
            usage: Some(&usage),
            prices: Some(&prices),
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

    #[test]
    fn what_could_not_have_been_sent_is_not_saved() {
        let usage = Usage { input: 1_000, ..Usage::default() };
        let request =
            SentRequest { bytes_in: 40_000, bytes_out: 4_000, usage: Some(&usage), ..Default::default() };
        let saved = |window| Savings::of(SentRequest { window, ..request }).tokens_saved;
        assert_eq!([saved(0), saved(12_000), saved(3_000), saved(500)], [9_000, 9_000, 2_000, 0]);
    }

    #[test]
    fn a_request_that_stays_below_a_band_saves_the_dearer_prices_of_all_of_it() {
        let price = |input: f64| Price { input, output: 5.0 * input, ..Price::default() };
        let band = secateur::PriceBand { above: 100_000, price: price(5.0) };
        let prices = PriceList { base: price(1.0), bands: vec![band] };
        let usage = Usage { input: 90_000, output: 1_000, ..Usage::default() };
        let saved = |bytes_in| {
            let request =
                SentRequest { bytes_in, bytes_out: 360_000, usage: Some(&usage), ..Default::default() };
            Savings::of(SentRequest { prices: Some(&prices), ..request }).money_saved
        };
        // Within the band it is what the tokens cost, above it the whole request and its response.
        assert!((saved(400_000) - 0.01).abs() < 1e-9, "{}", saved(400_000));
        assert!((saved(480_000) - (0.6 + 0.025 - 0.09 - 0.005)).abs() < 1e-9, "{}", saved(480_000));
    }
}
