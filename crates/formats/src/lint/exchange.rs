//! Which result answers which call.
//!
//! Every provider has its own place for a result, but the question behind it is the same everywhere. A
//! result in the right place answers its call. One elsewhere belongs to a call that is still waiting, if one
//! of that id is. Else it is a second answer, or an answer to nothing.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A call, in the order of the body.
pub(super) struct Call<'b> {
    pub(super) id: Cow<'b, str>,
    /// The batch it is part of.
    pub(super) batch: usize,
}

/// A result, in the order of the body.
pub(super) struct Answer<'b> {
    pub(super) id: Option<Cow<'b, str>>,
    /// The batch whose results belong where this one is.
    pub(super) batch: Option<usize>,
    /// What it says, as it is spelled.
    pub(super) said: &'b str,
    /// How many calls come before it.
    pub(super) calls_before: usize,
}

/// What a result is to the calls. Calls are named by their index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It answers this call and is where it belongs.
    Placed(usize),
    /// It answers this call but is somewhere else.
    Astray(usize),
    /// Its call has an answer already, and it says the same.
    Repeated,
    /// Its call has an answer already that says something else.
    Contradicting,
    /// There is no such call.
    Orphaned,
}

/// Says what each result is to the calls, and of each call which result answers it.
pub(super) fn settle(calls: &[Call<'_>], answers: &[Answer<'_>]) -> (Vec<Standing>, Vec<Option<usize>>) {
    let mut waiting: HashMap<&str, BTreeSet<usize>> = HashMap::with_capacity(calls.len());
    let mut in_batch: HashMap<(&str, usize), BTreeSet<usize>> = HashMap::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        waiting.entry(&call.id).or_default().insert(index);
        in_batch.entry((&call.id, call.batch)).or_default().insert(index);
    }
    let mut answered = vec![None; calls.len()];
    let mut standings = vec![Standing::Orphaned; answers.len()];
    // Those in their place have the first claim, whatever comes before them.
    for (number, (answer, standing)) in answers.iter().zip(&mut standings).enumerate() {
        let (Some(id), Some(batch)) = (answer.id.as_deref(), answer.batch) else { continue };
        let Some(call) = in_batch.get_mut(&(id, batch)).and_then(BTreeSet::pop_first) else { continue };
        waiting.entry(id).or_default().remove(&call);
        *standing = Standing::Placed(call);
        if let Some(slot) = answered.get_mut(call) {
            *slot = Some(number);
        }
    }
    for (number, (answer, standing)) in answers.iter().zip(&mut standings).enumerate() {
        let Some(id) = answer.id.as_deref().filter(|_| *standing == Standing::Orphaned) else { continue };
        let Some(open) = waiting.get_mut(id) else { continue };
        let nearest = open.range(..answer.calls_before).next_back().or_else(|| open.first()).copied();
        *standing = match nearest {
            Some(call) => {
                open.remove(&call);
                if let Some(slot) = answered.get_mut(call) {
                    *slot = Some(number);
                }
                Standing::Astray(call)
            }
            None => Standing::Repeated,
        };
    }
    tell_apart(answers, &mut standings);
    (standings, answered)
}

/// Finds those second answers that say something new: a copy can go, news cannot.
fn tell_apart(answers: &[Answer<'_>], standings: &mut [Standing]) {
    if !standings.contains(&Standing::Repeated) {
        return;
    }
    let accepted = answers.iter().zip(standings.iter());
    let accepted =
        accepted.filter(|(_, standing)| matches!(standing, Standing::Placed(_) | Standing::Astray(_)));
    let mut said: HashSet<(Option<&str>, &str)> =
        accepted.map(|(answer, _)| (answer.id.as_deref(), answer.said)).collect();
    for (answer, standing) in answers.iter().zip(standings) {
        if *standing == Standing::Repeated && said.insert((answer.id.as_deref(), answer.said)) {
            *standing = Standing::Contradicting;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, batch: usize) -> Call<'_> {
        Call { id: id.into(), batch }
    }

    fn answer(id: &str, batch: Option<usize>, calls_before: usize) -> Answer<'_> {
        Answer { id: Some(id.into()), batch, said: "x", calls_before }
    }

    #[test]
    fn results_find_their_calls() {
        let calls = [call("a", 0), call("b", 0), call("a", 1)];
        let answers = [
            answer("b", Some(0), 2),
            answer("a", None, 2),
            answer("x", Some(1), 3),
            answer("b", Some(1), 3),
            Answer { id: None, batch: Some(1), said: "x", calls_before: 3 },
            Answer { said: "y", ..answer("b", Some(1), 3) },
        ];
        let (standings, answered) = settle(&calls, &answers);
        use Standing::{Astray, Contradicting, Orphaned, Placed, Repeated};
        assert_eq!(standings, [Placed(1), Astray(0), Orphaned, Repeated, Orphaned, Contradicting]);
        assert_eq!(answered, [Some(1), Some(0), None]);
    }

    #[test]
    fn a_result_in_its_place_comes_before_one_that_is_not() {
        let (standings, _) = settle(&[call("a", 0)], &[answer("a", None, 0), answer("a", Some(0), 1)]);
        assert_eq!(standings, [Standing::Repeated, Standing::Placed(0)]);
    }
}
