//! Sessions that are prepared to be replayed under one policy after another.
//!
//! What does not depend on the policy is done once: what the actions of a session need, its price sheet, and its cost
//! if nothing is cut. The replays are independent and run in parallel; the number of threads does not change results.

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;
use secateur::Profile;

use super::TuneError;
use super::split::SessionSplit;
use crate::needs::{CommonWords, TextNeed, find_needs};
use crate::policies::none;
use crate::price_sheet::PriceSheets;
use crate::replay::{ReplayTerms, replay};
use crate::study::StudyOptions;
use crate::trace::Trace;

/// One session, or several, under one policy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ReplayTotals {
    pub(super) cost: f64,
    pub(super) misses: f64,
    pub(super) unseen: f64,
}

impl ReplayTotals {
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
pub(super) struct PreparedTrace<'a> {
    pub(super) trace: &'a Trace,
    terms: ReplayTerms<'a>,
    needs: Vec<TextNeed>,
    /// Its cost if nothing is cut.
    pub(super) uncut: f64,
}

/// Sessions, ready to be replayed.
pub(super) struct PreparedSessions<'a> {
    pub(super) samples: Vec<PreparedTrace<'a>>,
    pub(super) split: SessionSplit,
}

impl<'a> PreparedSessions<'a> {
    /// Prepares sessions.
    pub(super) fn of(
        traces: Vec<&'a Trace>,
        common: &CommonWords,
        split: SessionSplit,
        sheets: &'a PriceSheets,
        options: &'a StudyOptions,
    ) -> Result<Self, TuneError> {
        let mut samples = Vec::with_capacity(traces.len());
        for trace in traces {
            let terms = options.terms(sheets, trace)?;
            samples.push(PreparedTrace { trace, terms, needs: Vec::new(), uncut: 0.0 });
        }
        let found: Vec<Vec<TextNeed>> = samples
            .par_iter()
            .map(|sample| find_needs(std::slice::from_ref(sample.trace), common).concat())
            .collect();
        samples.iter_mut().zip(found).for_each(|(sample, needs)| sample.needs = needs);
        let mut bench = Self { samples, split };
        let all: Vec<usize> = (0..bench.samples.len()).collect();
        let uncut = bench.play(&[none()?], &all);
        let uncut = uncut.into_iter().flatten().map(|played| played.cost);
        bench.samples.iter_mut().zip(uncut).for_each(|(sample, cost)| sample.uncut = cost);
        Ok(bench)
    }

    /// Plays some of the traces under profiles: for each profile what came of each trace.
    pub(super) fn play(&self, profiles: &[Profile], traces: &[usize]) -> Vec<Vec<ReplayTotals>> {
        let replay_one = |work: usize| {
            let sample = &self.samples[traces[work % traces.len()]];
            let run = replay(sample.trace, &profiles[work / traces.len()], &sample.needs, &sample.terms);
            ReplayTotals {
                cost: run.cost(),
                misses: run.misses.len() as f64,
                unseen: f64::from(run.unseen()),
            }
        };
        let played: Vec<ReplayTotals> =
            (0..profiles.len() * traces.len()).into_par_iter().map(replay_one).collect();
        played.chunks(traces.len().max(1)).map(<[ReplayTotals]>::to_vec).collect()
    }

    /// How many sessions are charged by which price sheet.
    pub(super) fn prices(&self) -> BTreeMap<&str, usize> {
        let sheets = self.samples.iter().map(|sample| &*sample.terms.sheet.name);
        let pairs: BTreeSet<(&str, usize)> = sheets.zip(self.split.session.iter().copied()).collect();
        let mut prices = BTreeMap::new();
        pairs.into_iter().for_each(|(sheet, _)| *prices.entry(sheet).or_default() += 1);
        prices
    }
}
