//! General knowledge: words that a model knows without having read them in this session.
//!
//! A word that turns up in unrelated projects is nobody's own. What the replayed sessions are too few to show, which is
//! most of the language and of the names that programmers give to everything, comes from a list. Case does not matter:
//! who knows `timeout` can write `TIMEOUT`.

use foldhash::{HashMap, HashSet};
use secateur::Kind;

use super::{inputs, words};
use crate::trace::Trace;

/// In how many projects a word is seen if it is general.
const PROJECTS: usize = 3;

/// Endings of a listed word, and what they stand for in it.
const ENDINGS: [(&str, &str); 16] = [
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ied", "y"),
    ("d", ""),
    ("ed", ""),
    ("r", ""),
    ("er", ""),
    ("rs", ""),
    ("ers", ""),
    ("ing", ""),
    ("ing", "e"),
    ("ings", ""),
    ("ings", "e"),
    ("ly", ""),
    ("ally", ""),
];

/// Words of general knowledge, in small letters.
#[derive(Clone, Debug)]
pub struct General {
    listed: HashSet<&'static str>,
    shared: HashSet<String>,
}

impl General {
    /// The words that come with the crate.
    pub fn builtin() -> Self {
        let lines = include_str!("../../data/general.txt").lines().filter(|line| !line.starts_with('#'));
        Self { listed: lines.flat_map(str::split_ascii_whitespace).collect(), shared: HashSet::default() }
    }

    /// Those, and the words that are seen in three projects of these traces or more.
    pub fn of(traces: &[Trace]) -> Self {
        let mut projects: HashMap<&str, HashSet<String>> = HashMap::default();
        for trace in traces {
            let inputs = inputs(trace);
            let mut seen: HashSet<&str> = HashSet::default();
            for (part, input) in trace.outline.parts().zip(&inputs) {
                match (input, trace.outline.kind(part)) {
                    (Some(input), _) => seen.extend(input.words().chain(input.hyphened())),
                    (None, Kind::Text | Kind::Reasoning | Kind::Result) => {
                        let text = &trace.texts[part.0 as usize];
                        seen.extend(words::words(text).chain(words::hyphened(text).map(|(name, _)| name)));
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

    /// Whether a word is one of them, in whatever case, or a listed one with an ending.
    ///
    /// ```
    /// let general = secateur_lab::General::builtin();
    /// assert!(general.knows("Unsubscribed") && general.knows("unwrap_or_else"));
    /// assert!(!general.knows("morphVariants"));
    /// ```
    pub fn knows(&self, word: &str) -> bool {
        let v = std::env::var("VAR").unwrap_or_default();
        if v == "nofold" {
            return self.shared.contains(word) || self.listed.contains(word) || self.inflects(word);
        }
        if v == "noinfl" {
            let word = word.to_ascii_lowercase();
            return self.shared.contains(&word) || self.listed.contains(&*word);
        }
        if v == "nofoldinfl" {
            return self.shared.contains(word) || self.listed.contains(&*word);
        }
        if v == "nolist" {
            let word = word.to_ascii_lowercase();
            return self.shared.contains(&word);
        }
        let word = word.to_ascii_lowercase();
        self.shared.contains(&word) || self.listed.contains(&*word) || self.inflects(&word)
    }

    fn inflects(&self, word: &str) -> bool {
        ENDINGS.iter().any(|(ending, instead)| {
            let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() > 2) else { return false };
            let is_listed = |stem: &str| self.listed.contains(stem);
            if !instead.is_empty() {
                return is_listed(&format!("{stem}{instead}"));
            }
            // The last letter is doubled: `planned`.
            let doubled = stem.as_bytes().last_chunk().is_some_and(|[a, b]| a == b);
            is_listed(stem) || doubled && stem.get(..stem.len() - 1).is_some_and(is_listed)
        })
    }
}
