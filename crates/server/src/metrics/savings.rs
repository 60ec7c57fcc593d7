//! Savings of a request, of a run of an agent, or of a conversation.

use secateur::{PriceList, Usage};
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
    /// Tokens that were left out: what the client's own requests had grown to, by the provider's count of what was added
    /// each time. What would not have fitted into the model's window does not count, because it could not have been sent.
    pub tokens_saved: u64,
    /// How often a cut made the provider read again what it had in its cache,
    pub cache_breaks: u64,
    /// and how many tokens that were.
    pub tokens_rewritten: u64,
    /// What the provider would have billed for the client's own requests less what it billed, in US dollars, at the prices of
    /// the catalogue and from the usage that it reported; negative if cuts cost more than they saved. What would have been
    /// read from its cache is cheap, and what a cut makes it read or think again is subtracted. Where a longer prompt
    /// makes the whole request dearer, that counts. Summaries that the client's model wrote are subtracted. 0 for models without a price, and
    /// without reported usage.
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
    /// What it would have counted for the client's own request; none if that was sent.
    pub whole: Option<Usage>,
    /// Tokens that were in its cache and were read again because of a cut.
    pub rewritten: u64,
    /// What summaries cost that were made for it.
    pub summaries: &'r [Usage],
    /// What the model costs.
    pub prices: Option<&'r PriceList>,
    /// The model's window in tokens; 0 if it is unknown.
    pub window: i64,
}

impl Savings {
    /// What one request saved.
    pub(crate) fn of(sent: SentRequest<'_>) -> Self {
        let SentRequest { bytes_in, bytes_out, usage, whole, rewritten, summaries, prices, window } = sent;
        let counted =
            usage.and_then(|usage| u64::try_from(usage.context()).ok()).filter(|tokens| *tokens > 0);
        let saved = bytes_in.saturating_sub(bytes_out);
        let tokens_in = counted.unwrap_or((bytes_out as f64 / BYTES_PER_TOKEN) as u64);
        let tokens = i64::try_from(tokens_in).unwrap_or(i64::MAX);
        let left_out = match whole {
            Some(whole) => whole.context().saturating_sub(tokens),
            None => left_out_tokens(bytes_in, bytes_out, tokens),
        };
        let room = if window > 0 { window.saturating_sub(tokens).max(0) } else { i64::MAX };
        let tokens_saved = u64::try_from(left_out.min(room)).unwrap_or(0);
        let spent = |prices| summaries.iter().map(|summary| dollars(prices, summary)).sum::<f64>();
        let money = prices
            .zip(usage)
            .zip(whole)
            .map(|((prices, usage), whole)| dollars(prices, &whole) - dollars(prices, usage) - spent(prices));
        Self {
            requests: 1,
            cut_requests: u64::from(saved > 0),
            bytes_in,
            bytes_out,
            tokens_in,
            tokens_cached: usage.map_or(0, |usage| u64::try_from(usage.cache_read).unwrap_or(0)),
            tokens_saved,
            cache_breaks: u64::from(rewritten > 0),
            tokens_rewritten: rewritten,
            money_saved: money.unwrap_or(0.0),
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
        self.cache_breaks += other.cache_breaks;
        self.tokens_rewritten += other.tokens_rewritten;
        self.money_saved += other.money_saved;
    }
}

/// Tokens that were left out of a request: the bytes that were left out, at the bytes per token of the rest.
pub(crate) fn left_out_tokens(bytes_in: u64, bytes_out: u64, tokens: i64) -> i64 {
    let per_token = if tokens > 0 { bytes_out as f64 / tokens as f64 } else { BYTES_PER_TOKEN };
    let left_out = bytes_in.saturating_sub(bytes_out) as f64 / per_token.max(f64::MIN_POSITIVE);
    left_out.round() as i64
}

/// What a provider bills for a request, in US dollars.
fn dollars(prices: &PriceList, usage: &Usage) -> f64 {
    let price = prices.at(u64::try_from(usage.context()).unwrap_or(0));
    let kinds = [
        (usage.input, price.input),
        (usage.cache_read, price.cache_read.unwrap_or(price.input)),
        (usage.cache_write, price.cache_write.unwrap_or(price.input)),
        (usage.output.saturating_add(usage.reasoning), price.output),
    ];
    kinds.iter().map(|(tokens, price)| *tokens as f64 * price).sum::<f64>() / 1e6
}

#[cfg(test)]
mod tests {
    use secateur::Price;

    use super::*;

    #[test]
    fn tokens_are_saved_at_the_rate_at_which_the_provider_counted() {
        let mut savings = Savings::default();
        let usage = Usage { input: 100, cache_read: 150, ..Usage::default() };
        let whole = Usage { input: 100, cache_read: 650, ..Usage::default() };
        let base = Price { input: 5.0, cache_read: Some(0.5), ..Price::default() };
        let prices = PriceList { base, bands: Vec::new() };
        let sent = |bytes_in, bytes_out| SentRequest { bytes_in, bytes_out, ..SentRequest::default() };
        let prices = Some(&prices);
        let (usage, whole) = (Some(&usage), Some(whole));
        savings.add(&Savings::of(SentRequest { usage, whole, prices, ..sent(3_000, 1_000) }));
        savings.add(&Savings::of(sent(400, 400)));
        assert_eq!((savings.requests, savings.cut_requests), (2, 1));
        assert_eq!((savings.tokens_in, savings.tokens_saved), (250 + 100, 500));
        // All of them would have been read from the cache.
        assert!((savings.money_saved - 500.0 * 0.5e-6).abs() < 1e-12, "{}", savings.money_saved);
        savings.add(&Savings::of(SentRequest { usage: Some(&Usage::default()), ..sent(80, 40) }));
        assert_eq!(savings.tokens_saved, 510);
    }

    #[test]
    fn a_cut_that_costs_more_than_it_saves_saves_less_than_nothing() {
        let usage = Usage { cache_write: 1_000, ..Usage::default() };
        let whole = Usage { cache_read: 1_500, ..Usage::default() };
        let base = Price { input: 4.0, cache_read: Some(0.4), cache_write: Some(5.0), ..Price::default() };
        let prices = PriceList { base, bands: Vec::new() };
        let sent = SentRequest {
            usage: Some(&usage),
            whole: Some(whole),
            rewritten: 900,
            prices: Some(&prices),
            ..SentRequest::default()
        };
        let saved = Savings::of(sent);
        assert!((saved.money_saved + 4.4e-3).abs() < 1e-12, "{}", saved.money_saved);
        assert_eq!((saved.cache_breaks, saved.tokens_rewritten), (1, 900));
        let summaries = [Usage { input: 2_000, ..Usage::default() }];
        let with_summary = Savings::of(SentRequest { summaries: &summaries, ..sent }).money_saved;
        assert!((with_summary + 12.4e-3).abs() < 1e-12, "{with_summary}");
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
        let saved = |input| {
            let whole = Some(Usage { input, ..usage });
            let request = SentRequest { whole, usage: Some(&usage), ..SentRequest::default() };
            Savings::of(SentRequest { prices: Some(&prices), ..request }).money_saved
        };
        // Within the band it is what the tokens cost, above it the whole request and its response.
        assert!((saved(100_000) - 0.01).abs() < 1e-9, "{}", saved(100_000));
        assert!((saved(120_000) - (0.6 + 0.025 - 0.09 - 0.005)).abs() < 1e-9, "{}", saved(120_000));
    }
}
