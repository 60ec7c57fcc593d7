//! A study: many sessions under many policies, and what that says together.
//!
//! Sessions are replayed one by one and pooled: costs are added up before they are compared, so that long sessions
//! count for what they cost. How much a result depends on the sessions at hand is said by an interval.

pub(crate) mod data;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use secateur::{Profile, ProfileError};
use serde::Serialize;

use crate::bootstrap;
use crate::needs::{CommonWords, find_needs};
use crate::policies::none;
use crate::price_sheet::{PriceSheet, PriceSheetError, PriceSheets};
use crate::replay::ReplayTerms;
use crate::replayed_session::{PolicyResult, ReplayedSession};
use crate::trace::Trace;

/// Sessions of fewer calls say nothing about pruning.
pub const LEAST_CALLS: usize = 10;

/// What all agents together are called.
pub const ALL: &str = "all";

/// Why a study could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// A price sheet is missing.
    #[error(transparent)]
    PriceSheet(#[from] PriceSheetError),
    /// A policy is missing.
    #[error(transparent)]
    Profile(#[from] ProfileError),
}

/// How a study is made.
#[derive(Clone, Debug, Default)]
pub struct StudyOptions {
    /// The price sheet for all sessions; none for the one that each was billed by.
    pub sheet: Option<PriceSheet>,
    /// The window at which sessions are compacted; none if they never are.
    pub window: Option<f64>,
}

impl StudyOptions {
    /// The terms under which a session is replayed.
    pub fn terms<'s>(
        &'s self,
        sheets: &'s PriceSheets,
        trace: &Trace,
    ) -> Result<ReplayTerms<'s>, PriceSheetError> {
        let sheet = match &self.sheet {
            Some(sheet) => sheet,
            None => sheets.billed(trace)?,
        };
        Ok(ReplayTerms { sheet, as_billed: self.sheet.is_none(), window: self.window })
    }
}

/// One agent, or all, under one policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StudyRow {
    /// The agent.
    pub agent: String,
    /// The policy.
    pub policy: String,
    /// Sessions that were replayed.
    pub sessions: usize,
    /// Model calls in them.
    pub calls: usize,
    /// The bill as a share of what it is without a policy, in percent.
    pub cost_pct: f64,
    /// Where that lies in 95 of 100 draws of sessions.
    pub cost_interval: (f64, f64),
    /// Input tokens as a share of what they are without a policy, in percent.
    pub tokens_pct: f64,
    /// Misses per 100 calls.
    pub miss100: f64,
    /// Misses of edits per 100 calls.
    pub editmiss100: f64,
    /// Warm caches that a cut invalidated, per 100 calls.
    pub breaks100: f64,
    /// Results that were cut before any call had seen them, per 100 calls.
    pub unseen100: f64,
    /// Those breaks by the reason of the cut that came first; `taken-back` where a policy sent again what it had cut.
    pub break_causes: BTreeMap<String, usize>,
    /// The share of input tokens that a cache served, in percent.
    pub cached_pct: f64,
    /// The largest request of all, in tokens.
    pub peak_tokens: f64,
    /// How often sessions were compacted.
    pub compactions: u32,
    /// How much more it costs than the best schedule in hindsight, in percent.
    pub pct_over_optimum: f64,
    /// How much more it costs than the lower bound, in percent.
    pub pct_over_bound: f64,
}

/// How near the replay without a policy comes to what was billed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReplayAccuracy {
    /// The agent.
    pub agent: String,
    /// Replayed input cost as a share of the recorded one, in percent; none without recorded usage.
    pub replayed_pct: Option<f64>,
}

/// Many sessions under many policies.
#[derive(Clone, Debug)]
pub struct Study {
    /// The sessions.
    pub sessions: Vec<ReplayedSession>,
    /// The names of the policies.
    pub policies: Vec<String>,
}

impl Study {
    /// Replays every trace of enough calls under every profile. `done` gets after each session how many are done
    /// of how many.
    pub fn of(
        traces: Vec<Trace>,
        profiles: &[Profile],
        sheets: &PriceSheets,
        options: &StudyOptions,
        done: impl Fn(usize, usize) + Sync,
    ) -> Result<Self, StudyError> {
        let traces: Vec<Trace> =
            traces.into_iter().filter(|trace| trace.calls.len() >= LEAST_CALLS).collect();
        let none = none()?;
        let needs = find_needs(&traces, &CommonWords::of(&traces));
        let mut work = Vec::with_capacity(traces.len());
        for (trace, needs) in traces.into_iter().zip(needs) {
            work.push((options.terms(sheets, &trace)?, trace, needs));
        }
        let (count, finished) = (work.len(), AtomicUsize::new(0));
        let replay_all = |(terms, trace, needs)| {
            let session = ReplayedSession::of(trace, needs, &terms, &none, profiles);
            done(finished.fetch_add(1, Ordering::Relaxed) + 1, count);
            session
        };
        let sessions = work.into_par_iter().map(replay_all).collect();
        let policies = profiles.iter().map(|profile| profile.name.clone()).collect();
        Ok(Self { sessions, policies })
    }

    /// The agents, in order.
    pub fn agents(&self) -> Vec<&str> {
        let agents: BTreeSet<&str> = self.sessions.iter().map(|session| &*session.trace.agent).collect();
        agents.into_iter().collect()
    }

    /// The sessions of an agent, or of [`ALL`].
    pub fn of_agent<'s>(&'s self, agent: &'s str) -> impl Iterator<Item = &'s ReplayedSession> + Clone {
        self.sessions.iter().filter(move |session| agent == ALL || session.trace.agent == agent)
    }

    /// One row for each agent and policy; with several agents, also for all together.
    pub fn rows(&self) -> Vec<StudyRow> {
        let mut agents = self.agents();
        if agents.len() > 1 {
            agents.push(ALL);
        }
        let policies = || self.policies.iter().enumerate();
        agents
            .iter()
            .flat_map(|agent| policies().map(|(index, policy)| self.row(agent, index, policy)))
            .collect()
    }

    fn row(&self, agent: &str, index: usize, policy: &str) -> StudyRow {
        let sessions = || self.of_agent(agent);
        let outcomes = || sessions().filter_map(|session| session.by_policy.get(index));
        let sum = |of: fn(&PolicyResult) -> f64| outcomes().map(of).sum::<f64>();
        let pairs: Vec<(f64, f64)> =
            sessions().zip(outcomes()).map(|(session, outcome)| (outcome.cost, session.none.cost)).collect();
        let share = |part: f64, whole: f64| if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
        let calls: usize = sessions().map(|session| session.trace.calls.len()).sum();
        let per_100 = |count: f64| share(count, calls as f64);
        let cost = sum(|outcome| outcome.cost);
        let mut causes = BTreeMap::new();
        for (cause, count) in outcomes().flat_map(|outcome| &outcome.causes) {
            *causes.entry(cause.clone()).or_default() += count;
        }
        StudyRow {
            agent: agent.to_owned(),
            policy: policy.to_owned(),
            sessions: pairs.len(),
            calls,
            cost_pct: share(cost, sessions().map(|session| session.none.cost).sum()),
            cost_interval: bootstrap::interval(&pairs, bootstrap::ROUNDS, bootstrap::SEED),
            tokens_pct: share(
                sum(|outcome| outcome.tokens),
                sessions().map(|session| session.none.tokens).sum(),
            ),
            miss100: per_100(sum(|outcome| outcome.misses as f64)),
            editmiss100: per_100(sum(|outcome| outcome.edit_misses as f64)),
            breaks100: per_100(sum(|outcome| outcome.breaks as f64)),
            unseen100: per_100(sum(|outcome| f64::from(outcome.unseen))),
            break_causes: causes,
            cached_pct: share(sum(|outcome| outcome.cached), sum(|outcome| outcome.tokens)),
            peak_tokens: outcomes().map(|outcome| outcome.peak).fold(0.0, f64::max),
            compactions: outcomes().map(|outcome| outcome.compactions).sum(),
            pct_over_optimum: share(cost, sessions().map(|session| session.best_schedule).sum()) - 100.0,
            pct_over_bound: share(cost, sessions().map(|session| session.bound).sum()) - 100.0,
        }
    }

    /// How near the replay without a policy comes to what was billed, for each agent and for all.
    pub fn replay_accuracy(&self) -> Vec<ReplayAccuracy> {
        let mut agents = self.agents();
        agents.push(ALL);
        let near = |agent: &str| {
            let recorded: f64 = self.of_agent(agent).map(|session| session.recorded).sum();
            let known = self.of_agent(agent).filter(|session| session.recorded > 0.0);
            let replayed: f64 = known.map(|session| session.replayed).sum();
            let replayed_pct = (recorded > 0.0).then(|| 100.0 * replayed / recorded);
            ReplayAccuracy { agent: agent.to_owned(), replayed_pct }
        };
        agents.into_iter().map(near).collect()
    }
}
