//! The search: which setting of the dials is cheapest without missing more than is allowed.
//!
//! One dial after the other is put where it does best while the others stay, until none moves any more. That finds a
//! valley, not always the lowest one, so the search starts from every preset. It sees only the sessions that it is
//! given; what it finds there is a guess that others have to judge.

use std::collections::HashMap;

use secateur::{Profile, Rent};

use super::bench::{Bench, Played};
use super::dial::{DIALS, Point};

/// What a move has to save, in points of the bill without a policy. Less is chance.
const WORTH: f64 = 0.05;

/// How often all dials are gone through from one start.
const ROUNDS: usize = 4;

/// How good a point is: how many misses per 100 calls above what is allowed, and the bill in percent of the bill
/// without a policy.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Score {
    excess: f64,
    cost: f64,
}

impl Score {
    /// Whether this is better than another by more than so many points of cost.
    fn beats(self, other: Self, worth: f64) -> bool {
        if (self.excess - other.excess).abs() > 1e-9 {
            return self.excess < other.excess;
        }
        self.cost + worth < other.cost
    }
}

/// What a search works on.
pub(super) struct Search<'a, P> {
    pub(super) bench: &'a Bench<'a>,
    /// The traces that it may look at.
    pub(super) traces: &'a [usize],
    /// The profile whose dials are turned, and its rule.
    pub(super) base: &'a Profile,
    pub(super) rent: &'a Rent,
    /// The most misses per 100 calls.
    pub(super) most_misses: f64,
    /// The most points that are tried.
    pub(super) most_trials: usize,
    pub(super) progress: P,
}

impl<P: Fn(usize, usize)> Search<'_, P> {
    /// The best point that was found from these starts, and how many were tried.
    pub(super) fn run(&self, starts: &[Point]) -> (Point, usize) {
        let mut known = HashMap::new();
        let home = Point::of(self.rent);
        let mut best: Option<(Point, Score)> = None;
        for (number, &start) in starts.iter().enumerate() {
            // What one start leaves over is there for the next.
            let left = self.most_trials.saturating_sub(known.len());
            let most = known.len() + left / (starts.len() - number);
            let Some(found) = self.descend(start, most, &mut known) else { continue };
            if best.is_none_or(|(_, score)| found.1.beats(score, WORTH)) {
                best = Some(found);
            }
        }
        let point = best.map_or(home, |best| self.simplify(best, home, &mut known));
        (point, known.len())
    }

    /// Turns one dial after the other until nothing gets better.
    fn descend(
        &self,
        start: Point,
        most: usize,
        known: &mut HashMap<Point, Score>,
    ) -> Option<(Point, Score)> {
        let mut here = *self.scores(&[start], most, known).first()?;
        for _ in 0..ROUNDS {
            let before = here.0;
            for (number, dial) in DIALS.iter().enumerate() {
                let line: Vec<Point> = dial.grid().iter().map(|&value| here.0.with(number, value)).collect();
                let better = |best: (Point, Score), next: (Point, Score)| {
                    if next.1.beats(best.1, 0.0) { next } else { best }
                };
                let best = self.scores(&line, most, known).into_iter().fold(here, better);
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

    /// Puts back every dial whose move did nothing for the result.
    fn simplify(&self, best: (Point, Score), home: Point, known: &mut HashMap<Point, Score>) -> Point {
        let (mut here, score) = best;
        for number in (0..DIALS.len()).rev().filter(|&number| best.0.at(number) != home.at(number)) {
            let back = here.with(number, home.at(number));
            let is_as_good = |(_, back): &(Point, Score)| !score.beats(*back, WORTH);
            if self.scores(&[back], usize::MAX, known).first().is_some_and(is_as_good) {
                here = back;
            }
        }
        here
    }

    /// The scores of points, without those that would be one trial too many.
    fn scores(
        &self,
        points: &[Point],
        most: usize,
        known: &mut HashMap<Point, Score>,
    ) -> Vec<(Point, Score)> {
        let mut new: Vec<Point> = points.iter().filter(|point| !known.contains_key(point)).copied().collect();
        new.truncate(most.saturating_sub(known.len()));
        let profiles: Vec<Profile> = new.iter().map(|point| point.profile(self.base, self.rent)).collect();
        for (point, played) in new.iter().zip(self.bench.play(&profiles, self.traces)) {
            known.insert(*point, self.score(&played));
        }
        (self.progress)(known.len().min(self.most_trials), self.most_trials);
        points.iter().filter_map(|point| Some((*point, *known.get(point)?))).collect()
    }

    fn score(&self, played: &[Played]) -> Score {
        let all = played.iter().copied().fold(Played::default(), Played::and);
        let samples = || self.traces.iter().map(|&trace| &self.bench.samples[trace]);
        let uncut: f64 = samples().map(|sample| sample.uncut).sum();
        let calls: usize = samples().map(|sample| sample.trace.calls.len()).sum();
        Score {
            excess: (100.0 * all.misses / calls.max(1) as f64 - self.most_misses).max(0.0),
            cost: 100.0 * all.cost / uncut.max(f64::MIN_POSITIVE),
        }
    }
}
