//! Common words: those that a model knows without having read them in this session.
//!
//! A word that occurs in unrelated projects belongs to none of them. Most of the language, and of the names that
//! programmers use everywhere, comes from a list, because the replayed sessions are too few to show it. Case does not
//! matter: a model that knows `timeout` can write `TIMEOUT`.

use foldhash::{HashMap, HashSet};
use secateur::PartKind;

use super::{input, words};
use crate::trace::Trace;

/// A word that occurs in this many projects is common.
const PROJECTS: usize = 3;

/// Words that any model knows, in lower case.
#[derive(Clone, Debug)]
pub struct CommonWords {
    listed: HashSet<&'static str>,
    shared: HashSet<String>,
}

impl CommonWords {
    /// The list that comes with the crate.
    pub fn builtin() -> Self {
        let lines = include_str!("../../data/common_words.txt").lines().filter(|line| !line.starts_with('#'));
        Self { listed: lines.flat_map(str::split_ascii_whitespace).collect(), shared: HashSet::default() }
    }

    /// The list, and the words that occur in three or more projects of these traces.
    pub fn of(traces: &[Trace]) -> Self {
        let mut projects: HashMap<&str, HashSet<String>> = HashMap::default();
        for trace in traces {
            let inputs = input::all(trace);
            let mut seen: HashSet<&str> = HashSet::default();
            for ((part, text), input) in trace.outline.parts().zip(&trace.texts).zip(&inputs) {
                match (input, trace.outline.kind(part)) {
                    (Some(input), _) => seen.extend(input.names()),
                    (None, PartKind::Text | PartKind::Reasoning | PartKind::Result) => {
                        seen.extend(words::names(text));
                    }
                    _ => {}
                }
            }
            projects.entry(&trace.project).or_default().extend(seen.into_iter().map(str::to_ascii_lowercase));
        }
        let mut counts: HashMap<String, usize> = HashMap::default();
        for word in projects.into_values().flatten() {
            *counts.entry(word).or_default() += 1;
        }
        let shared = counts.into_iter().filter(|&(_, count)| count >= PROJECTS).map(|(word, _)| word);
        Self { shared: shared.collect(), ..Self::builtin() }
    }

    /// Whether a word is common, in any case.
    ///
    /// ```
    /// let common = secateur_lab::CommonWords::builtin();
    /// assert!(common.contains("Unsubscribe") && common.contains("unwrap_or_else"));
    /// assert!(!common.contains("morphVariants"));
    /// ```
    pub fn contains(&self, word: &str) -> bool {
        let word = word.to_ascii_lowercase();
        self.listed.contains(&*word) || self.shared.contains(&word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_holds_words_that_can_be_asked_about_each_once() {
        let text = include_str!("../../data/common_words.txt");
        let listed: Vec<&str> =
            text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect();
        for word in &listed {
            assert_eq!(words::words(word).collect::<Vec<_>>(), [*word]);
            assert_eq!(word.to_ascii_lowercase(), *word);
        }
        assert_eq!(CommonWords::builtin().listed.len(), listed.len());
    }
}
