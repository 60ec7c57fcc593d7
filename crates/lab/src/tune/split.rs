//! The split: which sessions a search may look at, and which judge it afterwards.
//!
//! Sessions of one project resemble each other: the same files are read, the same commands are run. If some of them
//! were searched and others judged, the search would know the judges already. So projects stay together wherever there are
//! enough of them. A hash of the name decides, so that the split is not a choice, and a
//! second run splits alike.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::trace::Trace;

/// Fewer sessions than this in either part, and an interval over them would be narrow by chance.
pub(super) const LEAST_PART: usize = 5;

/// What stays together in a split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SplitUnit {
    /// Projects.
    Projects,
    /// Sessions: there were too few projects.
    Sessions,
}

/// Sessions in two parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SessionSplit {
    pub(super) together: SplitUnit,
    /// For each trace, the number of its session.
    pub(super) session: Vec<usize>,
    /// For each session, whether it is held out.
    pub(super) held_out: Vec<bool>,
}

impl SessionSplit {
    /// Splits traces. Those of one session always stay together.
    pub(super) fn of(traces: &[&Trace], share: f64) -> Self {
        let mut keys: Vec<(&str, &str, &str)> = traces.iter().map(|trace| key(trace)).collect();
        keys.sort_unstable();
        keys.dedup();
        let session =
            traces.iter().map(|trace| keys.binary_search(&key(trace)).unwrap_or_default()).collect();
        let by_project = divide(keys.iter().map(|&(project, ..)| project.to_owned()), share);
        let counts = |held_out: &[bool]| {
            let held = held_out.iter().filter(|&&held| held).count();
            held.min(held_out.len() - held)
        };
        if counts(&by_project) >= LEAST_PART {
            return Self { together: SplitUnit::Projects, session, held_out: by_project };
        }
        let name = |(project, agent, name): &(&str, &str, &str)| format!("{project}\n{agent}\n{name}");
        Self { together: SplitUnit::Sessions, session, held_out: divide(keys.iter().map(name), share) }
    }

    /// The numbers of the traces in one of the parts.
    pub(super) fn part(&self, is_held_out: bool) -> Vec<usize> {
        let is_there = |&trace: &usize| self.held_out[self.session[trace]] == is_held_out;
        (0..self.session.len()).filter(is_there).collect()
    }
}

/// What a session is known by.
fn key(trace: &Trace) -> (&str, &str, &str) {
    (&trace.project, &trace.agent, session(&trace.name))
}

/// The name of a trace without its number: `fix (2)` is what came after the first compaction of `fix`.
fn session(name: &str) -> &str {
    let number = name.strip_suffix(')').and_then(|rest| rest.rsplit_once(" ("));
    match number {
        Some((rest, digits)) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            rest
        }
        _ => name,
    }
}

/// Divides what has names: in the order of their hashes, each group goes where more is missing.
fn divide(names: impl Iterator<Item = String>, share: f64) -> Vec<bool> {
    let names: Vec<String> = names.collect();
    let mut groups: BTreeMap<(u64, &str), Vec<usize>> = BTreeMap::new();
    for (index, name) in names.iter().enumerate() {
        groups.entry((hash(name), name)).or_default().push(index);
    }
    let mut held_out = vec![false; names.len()];
    let wanted = [(1.0 - share) * names.len() as f64, share * names.len() as f64];
    let mut had = [0.0; 2];
    for group in groups.into_values() {
        let is_held_out = wanted[1] - had[1] > wanted[0] - had[0];
        had[usize::from(is_held_out)] += group.len() as f64;
        group.into_iter().for_each(|index| held_out[index] = is_held_out);
    }
    held_out
}

/// A hash that is the same in every version of everything (FNV-1a, stirred).
fn hash(name: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    let hash = (hash ^ (hash >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93);
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_stretches_are_no_part_of_a_name() {
        assert_eq!(session("fix (2)"), "fix");
        assert_eq!(session("fix (12)"), "fix");
        for name in ["fix", "fix ()", "fix (b)", "fix (2", "(2)"] {
            assert_eq!(session(name), name);
        }
    }

    #[test]
    fn groups_stay_together_and_shares_are_met() {
        for groups in 2..40usize {
            let names: Vec<String> =
                (0..groups * 5).map(|number| format!("project {}", number % groups)).collect();
            let held_out = divide(names.iter().cloned(), 0.5);
            for (name, held) in names.iter().zip(&held_out) {
                let first = names.iter().position(|other| other == name).unwrap();
                assert_eq!(*held, held_out[first]);
            }
            let held = held_out.iter().filter(|&&held| held).count();
            assert!(held.abs_diff(names.len() - held) <= 5, "{held} of {}", names.len());
        }
    }

    #[test]
    fn the_order_of_names_does_not_matter() {
        let names: Vec<String> = (0..50).map(|number| format!("p{}", number % 13)).collect();
        let forwards = divide(names.iter().cloned(), 0.4);
        let mut backwards = divide(names.iter().rev().cloned(), 0.4);
        backwards.reverse();
        assert_eq!(forwards, backwards);
    }
}
