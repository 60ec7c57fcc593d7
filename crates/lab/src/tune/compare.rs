//! The comparison: how a tuned policy and the one that it came from do on the same sessions.
//!
//! A difference between two policies is not a gain before chance is ruled out. Sessions are what is drawn again, the
//! same ones for both, and only a difference whose whole interval is on one side of zero is called one.

use std::collections::BTreeSet;

use serde::Serialize;

use super::prepared::{PreparedSessions, ReplayTotals};
use super::split::LEAST_PART;
use crate::bootstrap::{ROUNDS, SEED, difference};

/// Two numbers, what lies between them, and how sure that is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ComparedValue {
    /// The tuned policy's.
    pub tuned: f64,
    /// `balanced`'s.
    pub balanced: f64,
    /// The first less the second.
    pub difference: f64,
    /// Where the difference lies in 95 of 100 draws of sessions.
    pub interval: (f64, f64),
}

/// The tuned policy and `balanced` on the sessions of one part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuningComparison {
    /// Sessions.
    pub sessions: usize,
    /// Projects that they are of, in order.
    pub projects: Vec<String>,
    /// Model calls in them.
    pub calls: usize,
    /// The bill, in percent of what it is without a policy. What was missed and read again is in it.
    pub cost: ComparedValue,
    /// Misses per 100 calls.
    pub misses: ComparedValue,
    /// Results that were cut, or shortened, before any call had seen them, per 100 calls.
    pub unseen: ComparedValue,
}

/// What the held-out sessions allow to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Claim {
    /// It is cheaper: the interval of the difference in cost lies below zero.
    Cheaper,
    /// It is cheaper, but it surely misses more than was allowed.
    Traded,
    /// It is not cheaper, but it misses less, and the caller had set a limit to misses.
    Safer,
    /// It may be cheaper or not.
    NotShown,
    /// The search found nothing that is better than `balanced`.
    Unchanged,
}

impl TuningComparison {
    /// Compares what came of traces under two policies. Traces of one session are added up before they are drawn.
    pub(super) fn of(
        prepared: &PreparedSessions<'_>,
        traces: &[usize],
        tuned: &[ReplayTotals],
        balanced: &[ReplayTotals],
    ) -> Self {
        let mut sessions: Vec<usize> = traces.iter().map(|&trace| prepared.split.session[trace]).collect();
        sessions.sort_unstable();
        sessions.dedup();
        let gather = |of: &dyn Fn(usize) -> f64| {
            let mut sums = vec![0.0; sessions.len()];
            for (place, &trace) in traces.iter().enumerate() {
                if let Ok(session) = sessions.binary_search(&prepared.split.session[trace]) {
                    sums[session] += of(place);
                }
            }
            sums
        };
        let calls = gather(&|place| prepared.samples[traces[place]].trace.calls.len() as f64);
        let uncut = gather(&|place| prepared.samples[traces[place]].uncut);
        let compared = |of: fn(&ReplayTotals) -> f64, base: &[f64]| {
            let ours = gather(&|place| of(&tuned[place]));
            let theirs = gather(&|place| of(&balanced[place]));
            ComparedValue::of(&ours, &theirs, base)
        };
        let projects: BTreeSet<&str> =
            traces.iter().map(|&trace| &*prepared.samples[trace].trace.project).collect();
        Self {
            sessions: sessions.len(),
            projects: projects.into_iter().map(str::to_owned).collect(),
            calls: calls.iter().sum::<f64>() as usize,
            cost: compared(|played| played.cost, &uncut),
            misses: compared(|played| played.misses, &calls),
            unseen: compared(|played| played.unseen, &calls),
        }
    }

    /// What this shows if `allowed` more misses per 100 calls were allowed. Fewer misses are a gain only if the caller
    /// set a limit to them.
    pub(super) fn claim(&self, allowed: f64, has_limit: bool) -> Claim {
        let is_cheaper = self.sessions >= LEAST_PART && self.cost.interval.1 < 0.0;
        let is_safer = self.sessions >= LEAST_PART && self.misses.interval.1 < 0.0;
        match is_cheaper {
            true if self.misses.interval.0 > allowed => Claim::Traded,
            true => Claim::Cheaper,
            false if is_safer && has_limit => Claim::Safer,
            false => Claim::NotShown,
        }
    }
}

impl ComparedValue {
    fn of(tuned: &[f64], balanced: &[f64], base: &[f64]) -> Self {
        let whole: f64 = base.iter().sum();
        let share = |part: &[f64]| if whole > 0.0 { 100.0 * part.iter().sum::<f64>() / whole } else { 0.0 };
        let (ours, theirs) = (share(tuned), share(balanced));
        Self {
            tuned: ours,
            balanced: theirs,
            difference: ours - theirs,
            interval: difference(tuned, balanced, base, ROUNDS, SEED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comparison(cost: &[f64], misses: &[f64]) -> TuningComparison {
        let (base, balanced) = (vec![100.0; cost.len()], vec![0.0; cost.len()]);
        let of = |tuned: &[f64]| ComparedValue::of(tuned, &balanced, &base);
        let (cost, misses) = (of(cost), of(misses));
        let projects = vec!["a".to_owned()];
        TuningComparison { sessions: balanced.len(), projects, calls: 500, cost, misses, unseen: misses }
    }

    #[test]
    fn only_an_interval_below_zero_is_a_gain() {
        let sure = comparison(&[-5.0, -4.0, -6.0, -5.0, -3.0, -8.0], &[0.0; 6]);
        assert_eq!(sure.claim(0.25, false), Claim::Cheaper);
        let unsure = comparison(&[-20.0, 3.0, 2.0, 4.0, 1.0, 5.0], &[0.0; 6]);
        assert!(unsure.cost.difference < 0.0 && unsure.cost.interval.1 > 0.0);
        assert_eq!(unsure.claim(0.25, false), Claim::NotShown);
        assert_eq!(comparison(&[0.0; 6], &[0.0; 6]).claim(0.25, false), Claim::NotShown);
    }

    #[test]
    fn few_sessions_show_nothing() {
        let few = comparison(&[-5.0, -4.0, -6.0, -5.0], &[0.0; 4]);
        assert!(few.cost.interval.1 < 0.0);
        assert_eq!(few.claim(0.25, false), Claim::NotShown);
        assert_eq!(comparison(&[], &[]).claim(0.25, false), Claim::NotShown);
    }

    #[test]
    fn what_is_bought_with_misses_is_no_gain() {
        let cost = [-5.0, -4.0, -6.0, -5.0, -3.0, -8.0];
        let traded = comparison(&cost, &[2.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
        assert_eq!(traded.claim(0.25, false), Claim::Traded);
        assert_eq!(traded.claim(3.0, true), Claim::Cheaper);
        let unsure = comparison(&cost, &[2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(unsure.claim(0.25, false), Claim::Cheaper);
    }

    #[test]
    fn fewer_misses_count_for_who_asked_for_them() {
        let safer = comparison(&[1.0; 6], &[-2.0, -1.0, -2.0, -1.0, -2.0, -1.0]);
        assert_eq!(safer.claim(0.25, false), Claim::NotShown);
        assert_eq!(safer.claim(0.0, true), Claim::Safer);
    }
}
