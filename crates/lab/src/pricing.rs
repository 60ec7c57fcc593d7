//! Pricing: what a request of a session costs.
//!
//! Policies are compared with each other and with what hindsight could have saved. That is only fair if all are charged
//! by one rule, so the rule is separate from everything that decides about cuts.

use crate::price_sheet::PriceSheet;
use crate::trace::Trace;

/// The rule by which requests are charged.
#[derive(Clone, Copy, Debug)]
pub struct Pricing<'a> {
    /// What tokens cost.
    pub sheet: &'a PriceSheet,
    /// Whether calls are cold as they were recorded; otherwise by the sheet's time-to-live.
    pub as_billed: bool,
}

/// What one request was charged.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// Tokens of the request that the cache held.
    pub cached: f64,
    /// The cache had expired.
    pub cold: bool,
    /// Cost of the input, in tokens of plain input.
    pub cost: f64,
    /// Cost of the response.
    pub output: f64,
}

impl Charge {
    /// Cost of the whole call.
    pub fn whole(&self) -> f64 {
        self.cost + self.output
    }
}

impl Pricing<'_> {
    /// Charges a call whose request holds `context` tokens, of which the first `kept` are as they were sent
    /// last. For the first call of a trace that is not known: what the cache held then was written before the trace
    /// began.
    pub fn call(&self, trace: &Trace, number: usize, context: f64, kept: f64) -> Charge {
        let cache = &self.sheet.cache;
        let cold = self.is_cold(trace, number);
        let recorded = || trace.calls[number].usage.map_or(0.0, |usage| usage.cache_read.max(0) as f64);
        let held = match (cold, self.as_billed) {
            _ if !cache.exists() => 0.0,
            (false, _) => kept,
            (true, true) => recorded(),
            (true, false) => 0.0,
        };
        let kept = if number == 0 { context } else { kept };
        let cached = held.min(kept).min(context);
        let prices = self.sheet.prices(context);
        let cost = prices.read * cached + prices.write * (context - cached);
        Charge { cached, cold, cost, output: prices.output * trace.calls[number].output }
    }

    /// Charges one more call, which reads a context from the cache and writes this many tokens.
    pub fn extra_call(&self, context: f64, output: f64) -> f64 {
        let prices = self.sheet.prices(context);
        prices.read * context + prices.output * output
    }

    /// Whether the cache had expired when a call was made.
    pub fn is_cold(&self, trace: &Trace, number: usize) -> bool {
        let Some(before) = trace.call_before(number) else { return true };
        let call = trace.calls[number];
        match (self.as_billed, call.usage) {
            (true, Some(usage)) => {
                let last = before.usage.map_or(i64::MAX, |usage| usage.context());
                usage.cache_read.saturating_mul(2) < usage.context().min(last)
            }
            _ => {
                let pause = call.time.zip(before.time).map(|(now, then)| now - then);
                pause.is_some_and(|pause| pause > self.sheet.cache.ttl_ms)
            }
        }
    }
}
