//! Which result belongs to which call.
//!
//! Every provider has its own place for a result, but the rule is the same everywhere. A result in the right place
//! belongs to its call. One elsewhere belongs to a call of that id that still has no result, if there is one. Otherwise
//! it is a second result of its call, or there is no such call.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// A call, in the order of the body.
pub(crate) struct LintCall<'b> {
    pub(crate) id: Cow<'b, str>,
    /// The batch it is part of.
    pub(crate) batch: usize,
}

/// A result, in the order of the body.
pub(crate) struct LintResult<'b> {
    pub(crate) id: Option<Cow<'b, str>>,
    /// The batch whose results belong where this one is.
    pub(crate) batch: Option<usize>,
    /// Its content, as it is written in the body.
    pub(crate) said: &'b str,
    /// How many calls come before it.
    pub(crate) calls_before: usize,
}

/// What a result is to the calls. Calls are given by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultStanding {
    /// It belongs to this call and is in the right place.
    Placed(usize),
    /// It belongs to this call but is somewhere else.
    Astray(usize),
    /// Its call has a result already, with the same content.
    Repeated,
    /// Its call has a result already, with other content.
    Contradicting,
    /// There is no such call.
    Orphaned,
}

/// Pairs results with calls: what each result is, and the result of each call.
pub(crate) fn pair(
    calls: &[LintCall<'_>],
    answers: &[LintResult<'_>],
) -> (Vec<ResultStanding>, Vec<Option<usize>>) {
    let mut waiting: HashMap<&str, BTreeSet<usize>> = HashMap::with_capacity(calls.len());
    let mut in_batch: HashMap<(&str, usize), BTreeSet<usize>> = HashMap::with_capacity(calls.len());
    for (index, call) in calls.iter().enumerate() {
        waiting.entry(&call.id).or_default().insert(index);
        in_batch.entry((&call.id, call.batch)).or_default().insert(index);
    }
    let mut answered = vec![None; calls.len()];
    let mut standings = vec![ResultStanding::Orphaned; answers.len()];
    // Results in the right place come first, wherever others are.
    for (number, (answer, standing)) in answers.iter().zip(&mut standings).enumerate() {
        let (Some(id), Some(batch)) = (answer.id.as_deref(), answer.batch) else { continue };
        let Some(call) = in_batch.get_mut(&(id, batch)).and_then(BTreeSet::pop_first) else { continue };
        waiting.entry(id).or_default().remove(&call);
        *standing = ResultStanding::Placed(call);
        if let Some(slot) = answered.get_mut(call) {
            *slot = Some(number);
        }
    }
    for (number, (answer, standing)) in answers.iter().zip(&mut standings).enumerate() {
        let Some(id) = answer.id.as_deref().filter(|_| *standing == ResultStanding::Orphaned) else {
            continue;
        };
        let Some(open) = waiting.get_mut(id) else { continue };
        let nearest = open.range(..answer.calls_before).next_back().or_else(|| open.first()).copied();
        *standing = match nearest {
            Some(call) => {
                open.remove(&call);
                if let Some(slot) = answered.get_mut(call) {
                    *slot = Some(number);
                }
                ResultStanding::Astray(call)
            }
            None => ResultStanding::Repeated,
        };
    }
    tell_apart(answers, &mut standings);
    (standings, answered)
}

/// Finds second results with other content: a copy can be removed, other content cannot.
fn tell_apart(answers: &[LintResult<'_>], standings: &mut [ResultStanding]) {
    if !standings.contains(&ResultStanding::Repeated) {
        return;
    }
    let accepted = answers.iter().zip(standings.iter());
    let accepted = accepted
        .filter(|(_, standing)| matches!(standing, ResultStanding::Placed(_) | ResultStanding::Astray(_)));
    let mut said: HashSet<(Option<&str>, &str)> =
        accepted.map(|(answer, _)| (answer.id.as_deref(), answer.said)).collect();
    for (answer, standing) in answers.iter().zip(standings) {
        if *standing == ResultStanding::Repeated && said.insert((answer.id.as_deref(), answer.said)) {
            *standing = ResultStanding::Contradicting;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, batch: usize) -> LintCall<'_> {
        LintCall { id: id.into(), batch }
    }

    fn answer(id: &str, batch: Option<usize>, calls_before: usize) -> LintResult<'_> {
        LintResult { id: Some(id.into()), batch, said: "x", calls_before }
    }

    #[test]
    fn results_find_their_calls() {
        let calls = [call("a", 0), call("b", 0), call("a", 1)];
        let answers = [
            answer("b", Some(0), 2),
            answer("a", None, 2),
            answer("x", Some(1), 3),
            answer("b", Some(1), 3),
            LintResult { id: None, batch: Some(1), said: "x", calls_before: 3 },
            LintResult { said: "y", ..answer("b", Some(1), 3) },
        ];
        let (standings, answered) = pair(&calls, &answers);
        use ResultStanding::{Astray, Contradicting, Orphaned, Placed, Repeated};
        assert_eq!(standings, [Placed(1), Astray(0), Orphaned, Repeated, Orphaned, Contradicting]);
        assert_eq!(answered, [Some(1), Some(0), None]);
    }

    #[test]
    fn a_result_in_its_place_comes_before_one_that_is_not() {
        let (standings, _) = pair(&[call("a", 0)], &[answer("a", None, 0), answer("a", Some(0), 1)]);
        assert_eq!(standings, [ResultStanding::Repeated, ResultStanding::Placed(0)]);
    }
}
