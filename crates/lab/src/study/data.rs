//! The data of the page that shows a study, as `study/data.js` of the page components declares them.
//!
//! One line for each session and policy is a lot of numbers. So only the most costly sessions have their contexts in
//! the data, tokens are in hundreds, each number is the difference to the one before, and a line that equals an earlier
//! one is only its number.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{ALL, Study, StudyRow};
use crate::replayed_session::{PolicyResult, ReplayedSession};

/// Secateur's own policies; all others are what other systems do, or rules of thumb.
const OWN_POLICIES: [&str; 3] = ["careful", "balanced", "frugal"];

/// The policy that never cuts.
const NONE: &str = "none";

/// How many sessions have their contexts in the data.
const MOST_CONTEXTS: usize = 12;

/// What tokens are counted in.
const UNIT: f32 = 100.0;

/// Everything that the page of a study shows. Numbers that cannot be known are NaN, which JSON writes as `null`.
#[derive(Clone, Debug, Serialize)]
pub struct StudyData {
    /// The heading of the page.
    pub title: String,
    /// The program that made the study: name and version.
    pub generator: String,
    /// The policies, in their order.
    pub policies: Vec<StudyPolicy>,
    /// The sessions.
    pub sessions: Vec<StudySession>,
    /// All agents together first, if there are several, then each.
    pub views: Vec<StudyView>,
    /// The tokens of every request of the most costly sessions.
    pub contexts: ContextLines,
}

/// A policy of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudyPolicy {
    /// Its name.
    pub name: String,
    /// Whether it is one of Secateur's own.
    pub own: bool,
}

/// A session of a study.
#[derive(Clone, Debug, Serialize)]
pub struct StudySession {
    /// Its name.
    pub name: String,
    /// The agent that wrote it.
    pub agent: String,
    /// Its model calls.
    pub calls: usize,
    /// Its cost without pruning, in tokens of plain input.
    pub unpruned_cost: f64,
    /// Its cost under each policy, in percent of that.
    pub cost_pct: Vec<f64>,
}

/// What the page shows at once: all agents, or one.
#[derive(Clone, Debug, Serialize)]
pub struct StudyView {
    /// The agent; none for all together.
    pub agent: Option<String>,
    /// One row for each policy, in their order.
    pub rows: Vec<StudyRow>,
    /// The cost of the best schedule in hindsight, in percent of no pruning.
    pub best_pct: f64,
    /// The lower bound of the cost, in percent of no pruning.
    pub bound_pct: f64,
    /// What the replay without pruning charges for input, in percent of what was billed; none without usage.
    pub replayed_pct: Option<f64>,
    /// How often sessions were compacted without pruning.
    pub compactions: u32,
    /// The price sheets that sessions were charged by.
    pub sheets: Vec<SheetUse>,
}

/// A price sheet, and how many sessions were charged by it.
#[derive(Clone, Debug, Serialize)]
pub struct SheetUse {
    /// Its name.
    pub name: String,
    /// Whose prices these are.
    pub about: String,
    /// The sessions.
    pub sessions: usize,
}

/// The tokens of every request of the most costly sessions.
#[derive(Clone, Debug, Serialize)]
pub struct ContextLines {
    /// What tokens are counted in.
    pub unit: f32,
    /// The policies that have lines: no pruning first, whether it was asked for or not.
    pub policies: Vec<StudyPolicy>,
    /// The sessions, the most costly first.
    pub sessions: Vec<ContextSession>,
}

/// The contexts of one session.
#[derive(Clone, Debug, Serialize)]
pub struct ContextSession {
    /// Its name.
    pub name: String,
    /// The agent that wrote it.
    pub agent: String,
    /// Its model calls.
    pub calls: usize,
    /// The calls that found the cache cold.
    pub cold: Vec<u32>,
    /// One line for each policy.
    pub lines: Vec<ContextLine>,
    /// For each policy, the calls at which a cut invalidated a warm cache.
    pub broke: Vec<Vec<u32>>,
}

/// How the context of a session grows under a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum ContextLine {
    /// By how much from call to call.
    Growth(Vec<i64>),
    /// As under the policy of this number.
    SameAs(usize),
}

impl StudyData {
    /// The data of a study. `title` is the heading of its page.
    ///
    /// ```
    /// use secateur_lab::{Study, StudyData};
    ///
    /// let data = StudyData::of(&Study { sessions: Vec::new(), policies: Vec::new() }, "Nothing yet");
    /// assert_eq!((data.title.as_str(), data.views.len()), ("Nothing yet", 0));
    /// ```
    pub fn of(study: &Study, title: &str) -> Self {
        Self {
            title: title.to_owned(),
            generator: concat!("secateur ", env!("CARGO_PKG_VERSION")).to_owned(),
            policies: study.policies.iter().map(|name| policy(name)).collect(),
            sessions: study.sessions.iter().map(session).collect(),
            views: views(study),
            contexts: contexts(study),
        }
    }
}

fn policy(name: &str) -> StudyPolicy {
    StudyPolicy { name: name.to_owned(), own: OWN_POLICIES.contains(&name) }
}

fn session(session: &ReplayedSession) -> StudySession {
    let unpruned_cost = session.none.cost;
    StudySession {
        name: session.trace.name.clone(),
        agent: session.trace.agent.clone(),
        calls: session.trace.calls.len(),
        unpruned_cost,
        cost_pct: session.by_policy.iter().map(|result| 100.0 * result.cost / unpruned_cost).collect(),
    }
}

fn views(study: &Study) -> Vec<StudyView> {
    let mut rows = study.rows();
    let accuracy = study.replay_accuracy();
    let mut agents = study.agents();
    if agents.len() > 1 {
        agents.insert(0, ALL);
    }
    let view = |agent: &str| {
        let sessions = || study.of_agent(agent);
        let none: f64 = sessions().map(|session| session.none.cost).sum();
        let share = |cost: fn(&ReplayedSession) -> f64| 100.0 * sessions().map(cost).sum::<f64>() / none;
        let mut sheets: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
        for session in sessions() {
            sheets.entry(&session.sheet.name).or_insert((&session.sheet.about, 0)).1 += 1;
        }
        let sheet = |(name, (about, sessions)): (&str, (&str, usize))| SheetUse {
            name: name.to_owned(),
            about: about.to_owned(),
            sessions,
        };
        StudyView {
            agent: (agent != ALL).then(|| agent.to_owned()),
            rows: rows.extract_if(.., |row| row.agent == agent).collect(),
            best_pct: share(|session| session.best_schedule),
            bound_pct: share(|session| session.bound),
            replayed_pct: accuracy.iter().find(|near| near.agent == agent).and_then(|near| near.replayed_pct),
            compactions: sessions().map(|session| session.none.compactions).sum(),
            sheets: sheets.into_iter().map(sheet).collect(),
        }
    };
    agents.into_iter().map(view).collect()
}

fn contexts(study: &Study) -> ContextLines {
    let shown: Vec<usize> =
        (0..study.policies.len()).filter(|&index| study.policies[index] != NONE).collect();
    let names = shown.iter().map(|&index| &*study.policies[index]);
    let mut sessions: Vec<&ReplayedSession> = study.sessions.iter().collect();
    sessions.sort_by(|a, b| b.none.cost.total_cmp(&a.none.cost));
    ContextLines {
        unit: UNIT,
        policies: std::iter::once(NONE).chain(names).map(policy).collect(),
        sessions: sessions.into_iter().take(MOST_CONTEXTS).map(|session| context(session, &shown)).collect(),
    }
}

fn context(session: &ReplayedSession, shown: &[usize]) -> ContextSession {
    let by_policy = shown.iter().filter_map(|&index| session.by_policy.get(index));
    let results: Vec<&PolicyResult> = std::iter::once(&session.none).chain(by_policy).collect();
    let mut lines: Vec<ContextLine> = Vec::with_capacity(results.len());
    for result in &results {
        let line = growth(result);
        let same = lines.iter().position(|other| *other == line);
        lines.push(same.map_or(line, ContextLine::SameAs));
    }
    ContextSession {
        name: session.trace.name.clone(),
        agent: session.trace.agent.clone(),
        calls: session.trace.calls.len(),
        cold: session.cold.clone(),
        lines,
        broke: results.iter().map(|result| result.broke.clone()).collect(),
    }
}

fn growth(result: &PolicyResult) -> ContextLine {
    let mut last = 0;
    let grown = |&tokens: &f32| {
        let now = (tokens / UNIT).round() as i64;
        now - std::mem::replace(&mut last, now)
    };
    ContextLine::Growth(result.contexts.iter().map(grown).collect())
}
