//! The bench: sessions laid out so that one policy after another can be played on them.
//!
//! What does not depend on the policy is done once: what the actions of a session need, by which sheet it is charged
//! and what it costs if nothing is cut. What is left is a replay for each session and policy, and those know nothing
//! of each other, so all cores work on them. Results are put back in order: how many cores there are changes nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use secateur::Profile;

use super::TuneError;
use super::split::Split;
use crate::harm::{General, Need, needs};
use crate::policies::none;
use crate::replay::{Terms, replay};
use crate::sheet::{Sheet, Sheets};
use crate::study::Options;
use crate::trace::Trace;

/// One session, or several, under one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Played {
    pub(super) cost: f64,
    pub(super) misses: f64,
    pub(super) unseen: f64,
}

impl Played {
    /// Both together.
    pub(super) fn and(self, other: Self) -> Self {
        Self {
            cost: self.cost + other.cost,
            misses: self.misses + other.misses,
            unseen: self.unseen + other.unseen,
        }
    }
}

/// A trace with everything that does not depend on a policy.
pub(super) struct Sample<'a> {
    pub(super) trace: &'a Trace,
    pub(super) sheet: Sheet,
    needs: Vec<Need>,
    /// Its cost if nothing is cut.
    pub(super) uncut: f64,
}

/// Sessions, ready to be played.
pub(super) struct Bench<'a> {
    pub(super) samples: Vec<Sample<'a>>,
    pub(super) split: Split,
    options: &'a Options,
}

impl<'a> Bench<'a> {
    /// Lays out sessions.
    pub(super) fn of(
        traces: Vec<&'a Trace>,
        general: &General,
        split: Split,
        sheets: &Sheets,
        options: &'a Options,
    ) -> Result<Self, TuneError> {
        let mut samples = Vec::with_capacity(traces.len());
        for trace in traces {
            let sheet = match &options.sheet {
                Some(sheet) => sheet.clone(),
                None => sheets.billed(trace)?.clone(),
            };
            samples.push(Sample { trace, sheet, needs: Vec::new(), uncut: 0.0 });
        }
        let mut bench = Self { samples, split, options };
        let found = bench.each(bench.samples.len(), |index| {
            let of_one = needs(std::slice::from_ref(bench.samples[index].trace), general);
            of_one.into_iter().flatten().collect::<Vec<Need>>()
        });
        bench.samples.iter_mut().zip(found).for_each(|(sample, needs)| sample.needs = needs);
        let all: Vec<usize> = (0..bench.samples.len()).collect();
        let uncut = bench.play(&[none()?], &all);
        let uncut = uncut.into_iter().flatten().map(|played| played.cost);
        bench.samples.iter_mut().zip(uncut).for_each(|(sample, cost)| sample.uncut = cost);
        Ok(bench)
    }

    /// Plays some of the traces under profiles: for each profile what came of each trace.
    pub(super) fn play(&self, profiles: &[Profile], traces: &[usize]) -> Vec<Vec<Played>> {
        let played = self.each(profiles.len() * traces.len(), |work| {
            let sample = &self.samples[traces[work % traces.len()]];
            let as_billed = self.options.sheet.is_none();
            let terms = Terms { sheet: &sample.sheet, as_billed, window: self.options.window };
            let run = replay(sample.trace, &profiles[work / traces.len()], &sample.needs, &terms);
            Played { cost: run.cost(), misses: run.misses.len() as f64, unseen: f64::from(run.unseen()) }
        });
        played.chunks(traces.len().max(1)).map(<[Played]>::to_vec).collect()
    }

    /// How many sessions are charged by which price sheet.
    pub(super) fn prices(&self) -> BTreeMap<&str, usize> {
        let sheets = self.samples.iter().map(|sample| &*sample.sheet.name);
        let pairs: BTreeSet<(&str, usize)> = sheets.zip(self.split.session.iter().copied()).collect();
        let mut prices = BTreeMap::new();
        pairs.into_iter().for_each(|(sheet, _)| *prices.entry(sheet).or_default() += 1);
        prices
    }

    /// Does so many pieces of work on all cores; the results in the order of their numbers.
    fn each<T: Send>(&self, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
        let threads = self.options.threads.or_else(|| thread::available_parallelism().ok().map(Into::into));
        let (taken, done) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(count)));
        thread::scope(|scope| {
            for _ in 0..threads.unwrap_or(1).clamp(1, count.max(1)) {
                scope.spawn(|| {
                    let mut own = Vec::new();
                    loop {
                        let index = taken.fetch_add(1, Ordering::Relaxed);
                        if index >= count {
                            break;
                        }
                        own.push((index, work(index)));
                    }
                    done.lock().unwrap_or_else(PoisonError::into_inner).extend(own);
                });
            }
        });
        let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.sort_unstable_by_key(|(index, _)| *index);
        done.into_iter().map(|(_, result)| result).collect()
    }
}
