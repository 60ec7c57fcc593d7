//! The hindsight optimum: what a policy that knew the future would have paid.
//!
//! A policy that saves 30 % may be good or poor, depending on what there was to save. Two numbers frame it. No run can
//! cost less than the *lower bound*: there every result is in the context exactly as long as it is still needed, and
//! taking it out is free. It cannot be had, for a cut makes everything behind it new to the cache. The best *schedule*
//! of flushes can be had, by a policy that knows which results will be needed again.
//!
//! Both speak of runs that miss nothing, that let every result be seen whole once, that cut results whole and for
//! good, and that leave everything else alone. A policy that trims results when they arrive, or leaves an excerpt that
//! holds what is needed later, follows other rules and may cost less. Nothing is compacted here: the window of
//! the terms is ignored. Nor is thinking charged that a model does again.

use secateur::PartIx;

use crate::needs::TextNeed;
use crate::replay::ReplayTerms;
use crate::trace::Trace;

mod schedule;

pub use schedule::{Schedule, best_schedule};

/// What a flush leaves of a result, in tokens.
pub const PLACEHOLDER_TOKENS: f64 = 20.0;

/// Results of fewer tokens are not cut by a flush.
pub const LEAST_TOKENS: f64 = 100.0;

/// A bill, input and output, that no run without a miss undercuts.
///
/// A need that several results could have met holds none of them here. To charge for any of them might be too much.
pub fn lower_bound(trace: &Trace, needs: &[TextNeed], terms: &ReplayTerms<'_>) -> f64 {
    let bill = terms.pricing();
    let last_use = sole_uses(trace, needs);
    let mut leaving = vec![0.0; trace.calls.len()];
    for part in trace.results() {
        let last = trace.first_call_with(part).max(last_use[part.0 as usize]);
        if let Some(sum) = leaving.get_mut(last + 1) {
            *sum += trace.tokens(part);
        }
    }
    let (mut cost, mut gone) = (0.0, 0.0);
    for (number, call) in trace.calls.iter().enumerate() {
        gone += leaving[number];
        let context = (call.context - gone).max(1.0);
        let before = trace.call_before(number).map_or(0.0, |last| last.context);
        // What came since the last call is new to the cache, whatever was cut. Where estimates took more off a request
        // than it held, less of that may be left.
        let new = (call.context - before).clamp(0.0, context - 1.0);
        cost += bill.call(trace, number, context, context - new).whole();
    }
    cost
}

/// For each part, the last call that needs it and nothing else would do.
fn sole_uses(trace: &Trace, needs: &[TextNeed]) -> Vec<usize> {
    let sole = |need: &TextNeed| match *need.sources {
        [source] => Some(source),
        _ => None,
    };
    last_uses(trace, needs, sole)
}

/// For each part, the last call for which a schedule keeps it: of several results that would do, the newest. A need
/// that is met by something that is never cut keeps nothing.
fn newest_uses(trace: &Trace, needs: &[TextNeed]) -> Vec<usize> {
    let mut may_go = vec![false; trace.outline.part_count()];
    trace.results().for_each(|part| may_go[part.0 as usize] = is_worth_it(trace, part));
    let may_go = |part: &PartIx| may_go.get(part.0 as usize) == Some(&true);
    let newest =
        |need: &TextNeed| need.sources.iter().max().copied().filter(|_| need.sources.iter().all(may_go));
    last_uses(trace, needs, newest)
}

fn last_uses(trace: &Trace, needs: &[TextNeed], source: impl Fn(&TextNeed) -> Option<PartIx>) -> Vec<usize> {
    let mut uses = vec![0; trace.outline.part_count()];
    for need in needs {
        if let Some(last) = source(need).and_then(|source| uses.get_mut(source.0 as usize)) {
            *last = (need.call as usize).max(*last);
        }
    }
    uses
}

/// Whether a flush cuts a result once it is no longer needed.
fn is_worth_it(trace: &Trace, part: PartIx) -> bool {
    trace.tokens(part) >= LEAST_TOKENS
}
