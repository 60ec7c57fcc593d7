//! A schedule: the calls before which everything that is no longer needed is cut.
//!
//! Which results are cut between two flushes depends on the first of the two alone: those that were dead by then. So
//! the last flush is all that the future has to know of the past, and the best schedule is found by trying, for every
//! call, every flush that could have come before: some 100,000 steps for a session of 500 calls.

use crate::needs::TextNeed;
use crate::optimum::{PLACEHOLDER_TOKENS, is_worth_it, newest_uses};
use crate::pricing::Pricing;
use crate::replay::ReplayTerms;
use crate::trace::Trace;

/// When to flush, and what the session costs then.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Schedule {
    /// The bill, input and output.
    pub cost: f64,
    /// The calls before whose requests everything dead is cut, oldest first.
    pub flushes: Vec<u32>,
}

/// The best schedule of flushes that misses nothing.
///
/// A flush cuts every result of at least [`LEAST_TOKENS`](super::LEAST_TOKENS) that was seen before and that no later
/// action needs, and leaves [`PLACEHOLDER_TOKENS`] of it. Where several results would do, the newest is kept.
pub fn best_schedule(trace: &Trace, needs: &[TextNeed], terms: &ReplayTerms<'_>) -> Schedule {
    if trace.calls.is_empty() {
        return Schedule::default();
    }
    let search = ScheduleSearch::new(trace, needs, terms.pricing());
    let (cost, flushes) = search.run();
    Schedule { cost, flushes }
}

struct ScheduleSearch<'a> {
    trace: &'a Trace,
    bill: Pricing<'a>,
    /// For each part, the first call at which a flush cuts it; none does if that is no call.
    due: Vec<usize>,
    /// For each call, the oldest part that is due from there on.
    oldest: Vec<usize>,
    /// For each call, what a flush there has taken off the requests in total.
    saved: Vec<f64>,
}

/// The cheapest way to send the requests up to a call before which there is a flush.
#[derive(Clone, Copy)]
struct CheapestPath {
    cost: f64,
    /// The flush before; 0 stands for none.
    from: usize,
}

const NEVER: usize = usize::MAX;

impl<'a> ScheduleSearch<'a> {
    fn new(trace: &'a Trace, needs: &[TextNeed], bill: Pricing<'a>) -> Self {
        let last_use = newest_uses(trace, needs);
        let mut due = vec![NEVER; trace.outline.part_count()];
        let mut oldest = vec![NEVER; trace.calls.len()];
        let mut saved = vec![0.0; trace.calls.len()];
        for part in trace.results().filter(|&part| is_worth_it(trace, part)) {
            let index = part.0 as usize;
            let call = trace.first_call_with(part).max(last_use[index]) + 1;
            if call < trace.calls.len() {
                due[index] = call;
                oldest[call] = oldest[call].min(index);
                saved[call] += trace.tokens(part) - PLACEHOLDER_TOKENS;
            }
        }
        let mut sum = 0.0;
        for saved in &mut saved {
            sum += *saved;
            *saved = sum;
        }
        Self { trace, bill, due, oldest, saved }
    }

    /// The cost, and the flushes.
    fn run(&self) -> (f64, Vec<u32>) {
        let calls = self.trace.calls.len();
        let mut ways = vec![CheapestPath { cost: f64::INFINITY, from: 0 }; calls];
        let mut best = CheapestPath { cost: f64::INFINITY, from: 0 };
        // Nothing has been seen at the first call, so that a flush there would cut nothing: it stands for the start.
        let start = self.context(0, 0);
        ways[0].cost = self.bill.call(self.trace, 0, start, start).whole();
        for flush in 0..calls {
            if ways[flush].cost < f64::INFINITY {
                let cost = self.follow(flush, &mut ways);
                if cost < best.cost {
                    best = CheapestPath { cost, from: flush };
                }
            }
        }
        let earlier = |&flush: &usize| Some(ways[flush].from).filter(|&flush| flush > 0);
        let last = Some(best.from).filter(|&flush| flush > 0);
        let mut flushes: Vec<u32> = std::iter::successors(last, earlier).map(|flush| flush as u32).collect();
        flushes.reverse();
        (best.cost, flushes)
    }

    /// Goes on from a flush: offers what it costs to flush next at each later call, and gives what it costs never to
    /// flush again.
    fn follow(&self, flush: usize, ways: &mut [CheapestPath]) -> f64 {
        let sent = self.sent(flush);
        let mut cost = ways[flush].cost;
        let mut last = self.context(flush, flush);
        let mut first = NEVER;
        for (call, way) in ways.iter_mut().enumerate().skip(flush + 1) {
            first = first.min(self.oldest[call]);
            if first != NEVER {
                let end = self.trace.calls[call - 1].parts as usize;
                let kept = (last - (sent[end] - sent[first])).max(0.0);
                let flushed = self.bill.call(self.trace, call, self.context(call, call), kept).whole();
                if cost + flushed < way.cost {
                    *way = CheapestPath { cost: cost + flushed, from: flush };
                }
            }
            let context = self.context(call, flush);
            cost += self.bill.call(self.trace, call, context, last).whole();
            last = context;
        }
        cost
    }

    /// Tokens of a request when the last flush was at a call.
    fn context(&self, call: usize, flush: usize) -> f64 {
        (self.trace.calls[call].context - self.saved[flush]).max(1.0)
    }

    /// The tokens before each part, and before the end, as they are sent after a flush.
    fn sent(&self, flush: usize) -> Vec<f64> {
        let mut sum = 0.0;
        let mut sums = Vec::with_capacity(self.due.len() + 1);
        sums.push(sum);
        for part in self.trace.outline.parts() {
            let is_cut = self.due[part.0 as usize] <= flush;
            sum += if is_cut { PLACEHOLDER_TOKENS } else { self.trace.tokens(part) };
            sums.push(sum);
        }
        sums
    }
}
