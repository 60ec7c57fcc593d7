//! The context over time: the tokens of every request, as data that a script draws.
//!
//! One line for each session and policy is a lot of numbers. So only the dearest sessions are in the page, tokens are
//! in hundreds, each number is the difference to the one before, and a line that is the same as an earlier one is only
//! its number.

use serde::Serialize;

use super::views::{NONE, is_own};
use super::words::shown;
use crate::replayed_session::{PolicyResult, ReplayedSession};
use crate::study::Study;

/// So many sessions have lines.
const SESSIONS: usize = 12;

/// What tokens are counted in.
const UNIT: f32 = 100.0;

#[derive(Serialize)]
struct Data {
    unit: f32,
    /// How many sessions there are in all.
    of: usize,
    policies: Vec<Policy>,
    sessions: Vec<Session>,
}

#[derive(Serialize)]
struct Policy {
    name: String,
    /// Whether it is one of Secateur's own.
    own: bool,
}

#[derive(Serialize)]
struct Session {
    name: String,
    agent: String,
    calls: usize,
    /// The calls that found the cache cold.
    cold: Vec<u32>,
    /// One for each policy.
    lines: Vec<Line>,
    /// The calls at which a cut made a warm cache useless, for each policy.
    broke: Vec<Vec<u32>>,
}

/// How the context of a session grows under a policy.
#[derive(PartialEq, Serialize)]
#[serde(untagged)]
enum Line {
    /// By how much more than at the call before.
    Growth(Vec<i64>),
    /// As under an earlier policy.
    As(usize),
}

/// The data as JSON that can lie inside a `script` element: without a `<`, nothing in it can end the element.
pub(super) fn data(study: &Study) -> String {
    // No pruning comes first, whether it was asked for or not.
    let kept: Vec<usize> = (0..study.policies.len()).filter(|&index| study.policies[index] != NONE).collect();
    let mut policies = vec![Policy { name: NONE.to_owned(), own: false }];
    policies.extend(kept.iter().map(|&index| {
        let name = &study.policies[index];
        Policy { name: shown(name), own: is_own(name) }
    }));
    let mut cases: Vec<&ReplayedSession> = study.sessions.iter().collect();
    cases.sort_by(|a, b| b.none.cost.total_cmp(&a.none.cost));
    let sessions = cases.into_iter().take(SESSIONS).map(|case| session(case, &kept)).collect();
    let data = Data { unit: UNIT, of: study.sessions.len(), policies, sessions };
    // Structs of strings and numbers always have a JSON form.
    serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c")
}

fn session(case: &ReplayedSession, kept: &[usize]) -> Session {
    let outcomes =
        || std::iter::once(&case.none).chain(kept.iter().filter_map(|&index| case.by_policy.get(index)));
    let mut lines: Vec<Line> = Vec::with_capacity(kept.len() + 1);
    for outcome in outcomes() {
        let line = growth(outcome);
        let same = lines.iter().position(|other| *other == line);
        lines.push(same.map_or(line, Line::As));
    }
    Session {
        name: shown(&case.trace.name),
        agent: shown(&case.trace.agent),
        calls: case.trace.calls.len(),
        cold: case.cold.clone(),
        lines,
        broke: outcomes().map(|outcome| outcome.broke.clone()).collect(),
    }
}

fn growth(outcome: &PolicyResult) -> Line {
    let mut last = 0;
    let grown = |&tokens: &f32| {
        let now = (tokens / UNIT).round() as i64;
        now - std::mem::replace(&mut last, now)
    };
    Line::Growth(outcome.contexts.iter().map(grown).collect())
}
