//! The search: which setting of the parameters is cheapest without missing more than is allowed.
//!
//! One parameter after the other is put where it does best while the others stay, until none moves any more. That finds a
//! valley, not always the lowest one, so the search starts from every preset. It sees only the sessions that it is
//! given; what it finds there is a guess that others have to judge.

use std::collections::HashMap;

use secateur::{Profile, Rent};

use super::parameter::{PARAMETERS, ParameterPoint};
use super::prepared::{PreparedSessions, ReplayTotals};

/// What a move has to save, in points of the bill without a policy. Less is chance.
const WORTH: f64 = 0.05;

/// How often all parameters are gone through from one start.
const ROUNDS: usize = 4;

/// How good a point is: how many misses per 100 calls above what is allowed, and the bill in percent of the bill
/// without a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Score {
    excess: f64,
    cost: f64,
}

impl Score {
    /// Whether this is better than another by more than `worth` points of cost.
    fn beats(self, other: Self, worth: f64) -> bool {
        if (self.excess - other.excess).abs() > 1e-9 {
            return self.excess < other.excess;
        }
        self.cost + worth < other.cost
    }
}

/// What a search works on.
pub(super) struct ParameterSearch<'a, P> {
    pub(super) prepared: &'a PreparedSessions<'a>,
    /// The traces that it may look at.
    pub(super) traces: &'a [usize],
    /// The profile whose parameters are turned, and its rule.
    pub(super) base: &'a Profile,
    pub(super) rent: &'a Rent,
    /// The most misses per 100 calls.
    pub(super) most_misses: f64,
    /// The most points that are tried.
    pub(super) most_trials: usize,
    pub(super) progress: P,
    /// The points that were tried.
    pub(super) known: HashMap<ParameterPoint, Score>,
}

type ScoredPoint = (ParameterPoint, Score);

impl<P: Fn(usize, usize)> ParameterSearch<'_, P> {
    /// The best point that was found from these starts.
    pub(super) fn run(&mut self, starts: &[ParameterPoint]) -> ParameterPoint {
        let home = ParameterPoint::of(self.rent);
        let mut best: Option<ScoredPoint> = None;
        for (number, &start) in starts.iter().enumerate() {
            // What one start leaves over is there for the next.
            let left = self.most_trials.saturating_sub(self.known.len());
            let most = self.known.len() + left / (starts.len() - number);
            let Some(found) = self.descend(start, most) else { continue };
            if best.is_none_or(|(_, score)| found.1.beats(score, WORTH)) {
                best = Some(found);
            }
        }
        best.map_or(home, |best| self.simplify(best, home))
    }

    /// Turns one parameter after the other until nothing gets better.
    fn descend(&mut self, start: ParameterPoint, most: usize) -> Option<ScoredPoint> {
        let mut here = *self.scores(&[start], most).first()?;
        for _ in 0..ROUNDS {
            let before = here.0;
            for (number, parameter) in PARAMETERS.iter().enumerate() {
                let line: Vec<ParameterPoint> =
                    parameter.grid().iter().map(|&value| here.0.with(number, value)).collect();
                let better = |best: ScoredPoint, next: ScoredPoint| {
                    if next.1.beats(best.1, 0.0) { next } else { best }
                };
                let best = self.scores(&line, most).into_iter().fold(here, better);
                if best.1.beats(here.1, WORTH) {
                    here = best;
                }
            }
            if here.0 == before {
                break;
            }
        }
        Some(here)
    }

    /// Puts back every parameter whose move did nothing for the result.
    fn simplify(&mut self, best: ScoredPoint, home: ParameterPoint) -> ParameterPoint {
        let (mut here, score) = best;
        for number in (0..PARAMETERS.len()).rev().filter(|&number| best.0.at(number) != home.at(number)) {
            let back = here.with(number, home.at(number));
            let is_as_good = |(_, back): &ScoredPoint| !score.beats(*back, WORTH);
            if self.scores(&[back], usize::MAX).first().is_some_and(is_as_good) {
                here = back;
            }
        }
        here
    }

    /// The scores of points, without those that would be one trial too many.
    fn scores(&mut self, points: &[ParameterPoint], most: usize) -> Vec<ScoredPoint> {
        let mut new: Vec<ParameterPoint> =
            points.iter().filter(|point| !self.known.contains_key(point)).copied().collect();
        new.truncate(most.saturating_sub(self.known.len()));
        let profiles: Vec<Profile> = new.iter().map(|point| point.profile(self.base, self.rent)).collect();
        for (point, played) in new.iter().zip(self.prepared.play(&profiles, self.traces)) {
            self.known.insert(*point, self.score(&played));
        }
        (self.progress)(self.known.len().min(self.most_trials), self.most_trials);
        points.iter().filter_map(|point| Some((*point, *self.known.get(point)?))).collect()
    }

    fn score(&self, played: &[ReplayTotals]) -> Score {
        let all = played.iter().copied().fold(ReplayTotals::default(), ReplayTotals::and);
        let samples = || self.traces.iter().map(|&trace| &self.prepared.samples[trace]);
        let uncut: f64 = samples().map(|sample| sample.uncut).sum();
        let calls: usize = samples().map(|sample| sample.trace.calls.len()).sum();
        Score {
            excess: (100.0 * all.misses / calls.max(1) as f64 - self.most_misses).max(0.0),
            cost: 100.0 * all.cost / uncut.max(f64::MIN_POSITIVE),
        }
    }
}
