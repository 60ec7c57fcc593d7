//! One session of a study: what happened to it under each policy.

use std::collections::BTreeMap;

use secateur::{Profile, Reason};

use crate::needs::TextNeed;
use crate::optimum::{best_schedule, lower_bound};
use crate::price_sheet::PriceSheet;
use crate::replay::{ReplayRun, ReplayStep, ReplayTerms, replay};
use crate::trace::Trace;

/// One session under one policy.
#[derive(Clone, Debug, PartialEq)]
pub struct PolicyResult {
    /// The whole bill, in tokens of plain input.
    pub cost: f64,
    /// Input tokens of all requests.
    pub tokens: f64,
    /// Actions that did not find what they needed.
    pub misses: usize,
    /// Those of them that were edits.
    pub edit_misses: usize,
    /// How often a cut invalidated a warm cache.
    pub breaks: usize,
    /// Results that were cut, or shortened, before any call had seen them.
    pub unseen: u32,
    /// How often the session was compacted.
    pub compactions: u32,
    /// The largest request.
    pub peak: f64,
    /// Input tokens that a cache served.
    pub cached: f64,
    /// How often cuts broke a warm cache, by the reason of the first of them.
    pub causes: BTreeMap<String, usize>,
    /// Tokens of each request.
    pub contexts: Vec<f32>,
    /// The calls at which a cut invalidated a warm cache.
    pub broke: Vec<u32>,
}

/// One session under all policies.
#[derive(Clone, Debug)]
pub struct ReplayedSession {
    /// The session.
    pub trace: Trace,
    /// What its actions need.
    pub needs: Vec<TextNeed>,
    /// The sheet that it was charged by.
    pub sheet: PriceSheet,
    /// What happened without any policy.
    pub none: PolicyResult,
    /// What the provider charged for input, by the same sheet.
    pub recorded: f64,
    /// What the replay without a policy charges for input.
    pub replayed: f64,
    /// What no run without a miss can be cheaper than.
    pub bound: f64,
    /// The best schedule of flushes without a miss.
    pub best_schedule: f64,
    /// What happened under each policy, in their order.
    pub by_policy: Vec<PolicyResult>,
    /// The calls that found the cache cold.
    pub cold: Vec<u32>,
}

impl ReplayedSession {
    /// Replays one session under all profiles.
    pub(crate) fn of(
        trace: Trace,
        needs: Vec<TextNeed>,
        terms: &ReplayTerms<'_>,
        none: &Profile,
        profiles: &[Profile],
    ) -> Self {
        let sheet = terms.sheet;
        let outcome = |run: &ReplayRun| PolicyResult::of(run, &needs);
        let unpruned = replay(&trace, none, &needs, terms);
        let by_policy =
            profiles.iter().map(|profile| outcome(&replay(&trace, profile, &needs, terms))).collect();
        let cache = &sheet.cache;
        let input = |usage: secateur::Usage| {
            usage.input as f64 + cache.read * usage.cache_read as f64 + cache.write * usage.cache_write as f64
        };
        Self {
            bound: lower_bound(&trace, &needs, terms),
            best_schedule: best_schedule(&trace, &needs, terms).cost,
            none: outcome(&unpruned),
            recorded: trace.calls.iter().filter_map(|call| call.usage).map(input).sum(),
            replayed: unpruned.input_cost,
            cold: calls(&unpruned, |step| step.cold),
            by_policy,
            needs,
            sheet: sheet.clone(),
            trace,
        }
    }
}

impl PolicyResult {
    fn of(run: &ReplayRun, needs: &[TextNeed]) -> Self {
        let is_edit = |index: usize| needs.get(index).is_some_and(|need| need.is_edit);
        Self {
            cost: run.cost(),
            tokens: run.tokens(),
            misses: run.misses.len(),
            edit_misses: run.misses.iter().filter(|miss| is_edit(miss.need)).count(),
            breaks: run.breaks(),
            unseen: run.unseen(),
            compactions: run.compactions,
            peak: run.steps.iter().map(|step| step.context).fold(0.0, f64::max),
            cached: run.steps.iter().map(|step| step.cached).sum(),
            causes: causes(run),
            contexts: run.steps.iter().map(|step| step.context as f32).collect(),
            broke: calls(run, |step| step.broke),
        }
    }
}

/// The calls whose requests are such, by number.
fn calls(run: &ReplayRun, is_such: fn(&ReplayStep) -> bool) -> Vec<u32> {
    (0..).zip(&run.steps).filter(|(_, step)| is_such(step)).map(|(call, _)| call).collect()
}

/// The cause of a break if there is no cut where the prefix changed: one was taken back.
const TAKEN_BACK: &str = "taken-back";

fn causes(run: &ReplayRun) -> BTreeMap<String, usize> {
    let mut causes = BTreeMap::new();
    for step in run.steps.iter().filter(|step| step.broke) {
        *causes.entry(name(step.cause)).or_default() += 1;
    }
    causes
}

/// A reason as it is written.
fn name(reason: Option<Reason>) -> String {
    let written = reason.and_then(|reason| serde_json::to_value(reason).ok());
    written.and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_else(|| TAKEN_BACK.to_owned())
}
