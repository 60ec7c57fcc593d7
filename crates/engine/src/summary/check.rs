//! What a summary must pass before it replaces anything.
//!
//! A summary that is empty, cut off, larger than what it replaces or made of the prompt's own words would do harm for
//! the rest of the session, so it is checked first. All checks are plain comparisons; no model judges another.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::chunk::TokenRuler;
use super::prompt::{flatten, is_echo};
use super::summariser::ending;
use crate::provider::Finish;

/// A line that occurs this often is not text any more.
const LINES: usize = 100;

/// The longest repeated stretch that is searched for, in bytes.
const PERIOD: usize = 256;

/// A text that ends in this many bytes of repetition did not end by itself.
const TAIL: usize = 1_000;

/// A refusal is short; a summary that quotes one is not.
const REFUSAL: usize = 400;

/// How refusals begin. Other languages have others, which this does not recognise.
const REFUSALS: [&str; 8] = [
    "i can't",
    "i cannot",
    "i can\u{2019}t",
    "i'm sorry",
    "i\u{2019}m sorry",
    "i am sorry",
    "i am unable",
    "as an ai",
];

/// A summary to check.
#[derive(Clone, Copy, Debug)]
pub struct SummaryCandidate<'c> {
    /// Its text.
    pub text: &'c str,
    /// How the response ended that it came from.
    pub finish: Finish,
}

/// What it is compared with.
#[derive(Clone, Copy)]
pub struct ReplacedHistory<'r> {
    /// The tokens of what the summary replaces, by `ruler`.
    pub tokens: u64,
    /// How many tokens it must save at least.
    pub least_saving: u64,
    /// How many tokens it may have.
    pub budget: u64,
    /// Texts that it must contain word for word, apart from white space.
    pub carried: &'r [&'r str],
    /// Estimates tokens.
    pub ruler: TokenRuler,
    /// Counts the credentials in a text.
    pub credentials: &'r (dyn Fn(&str) -> usize + Sync),
}

/// Why a summary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "flaw", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SummaryFlaw {
    /// It is blank.
    #[error("the summary is empty")]
    Empty,
    /// The response is incomplete.
    #[error("the summary is incomplete ({how})")]
    Unfinished {
        /// How the response ended.
        how: String,
    },
    /// It repeats itself.
    #[error("the summary repeats itself: the same stretch occurs {times} times")]
    Runaway {
        /// How often.
        times: u64,
    },
    /// It repeats the prompt.
    #[error("the summary repeats the prompt")]
    Echo,
    /// The model refused.
    #[error("the model refused to write a summary")]
    Refusal,
    /// It is too long.
    #[error("the summary has {tokens} tokens, {budget} allowed")]
    TooLong {
        /// The tokens of the summary.
        tokens: u64,
        /// The allowed tokens.
        budget: u64,
    },
    /// It does not make the conversation smaller, or hardly.
    #[error(
        "the summary has {tokens} tokens in place of {replaced}, which saves less than the required {least_saving}"
    )]
    NoSaving {
        /// The tokens of the summary.
        tokens: u64,
        /// The tokens that it would replace.
        replaced: u64,
        /// The tokens that it must save.
        least_saving: u64,
    },
    /// It contains credentials.
    #[error("the summary contains {count} credentials")]
    Credential {
        /// How many.
        count: u64,
    },
    /// It lacks a text that it must contain.
    #[error("the summary lacks {lost} of {carried} required texts, first text {first}")]
    Lost {
        /// How many are missing.
        lost: u64,
        /// How many were required.
        carried: u64,
        /// The number of the first missing text, from 1.
        first: u64,
    },
}

/// Checks whether a summary can be used; returns the first flaw.
///
/// ```
/// use secateur_engine::provider::Finish;
/// use secateur_engine::summary::{SummaryCandidate, SummaryFlaw, ReplacedHistory, TokenRuler, check};
///
/// let against = ReplacedHistory {
///     tokens: 50_000,
///     least_saving: 1_000,
///     budget: 2_000,
///     carried: &["never push to main"],
///     ruler: TokenRuler::new(3.2),
///     credentials: &|_| 0,
/// };
/// let text = "## Done\nThe tests pass.\n## Requests and preferences\nNever push to main.";
/// let flaw = check(&SummaryCandidate { text, finish: Finish::Complete }, &against);
/// assert_eq!(flaw, Err(SummaryFlaw::Lost { lost: 1, carried: 1, first: 1 }));
/// ```
pub fn check(candidate: &SummaryCandidate<'_>, against: &ReplacedHistory<'_>) -> Result<(), SummaryFlaw> {
    let text = candidate.text.trim();
    if text.is_empty() {
        return Err(SummaryFlaw::Empty);
    }
    if candidate.finish != Finish::Complete {
        return Err(SummaryFlaw::Unfinished { how: ending(candidate.finish).to_owned() });
    }
    if let Some(times) = repetition(text) {
        return Err(SummaryFlaw::Runaway { times });
    }
    if is_echo(text) {
        return Err(SummaryFlaw::Echo);
    }
    if is_refusal(text) {
        return Err(SummaryFlaw::Refusal);
    }
    let (tokens, budget) = (against.ruler.tokens(text), against.budget);
    if tokens > budget {
        return Err(SummaryFlaw::TooLong { tokens, budget });
    }
    let (replaced, least_saving) = (against.tokens, against.least_saving);
    // A summary as large as what it replaces is never worthwhile.
    if tokens.saturating_add(least_saving.max(1)) > replaced {
        return Err(SummaryFlaw::NoSaving { tokens, replaced, least_saving });
    }
    let count = (against.credentials)(text) as u64;
    if count > 0 {
        return Err(SummaryFlaw::Credential { count });
    }
    look_for(against.carried, text)
}

fn look_for(carried: &[&str], text: &str) -> Result<(), SummaryFlaw> {
    let flat = flatten(text);
    let lost = carried.iter().enumerate().filter(|(_, carried)| !flat.contains(&flatten(carried)));
    let lost: Vec<usize> = lost.map(|(index, _)| index).collect();
    match lost.first() {
        None => Ok(()),
        Some(&first) => Err(SummaryFlaw::Lost {
            lost: lost.len() as u64,
            carried: carried.len() as u64,
            first: first as u64 + 1,
        }),
    }
}

fn is_refusal(text: &str) -> bool {
    let begins = |refusal: &&str| text.to_lowercase().starts_with(*refusal);
    text.len() <= REFUSAL && !text.contains("\n#") && REFUSALS.iter().any(begins)
}

/// How often a text repeats itself, if that is not text any more: a line anywhere, or a stretch at the end.
fn repetition(text: &str) -> Option<u64> {
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines.sort_unstable();
    let most = lines.chunk_by(|one, other| one == other).map(<[_]>::len).max().unwrap_or_default();
    if most >= LINES {
        return Some(most as u64);
    }
    let bytes = text.as_bytes();
    let periods = 1..=PERIOD.min(bytes.len() / 2);
    let repeated = |period: usize| {
        let earlier = bytes.iter().rev().skip(period);
        period + bytes.iter().rev().zip(earlier).take_while(|(one, other)| one == other).count()
    };
    periods
        .map(|period| (period, repeated(period)))
        .find(|&(period, length)| length >= TAIL && length >= 4 * period)
        .map(|(period, length)| (length / period) as u64)
}

#[cfg(test)]
mod tests;
