//! What a summary must pass before anything is replaced by it.
//!
//! A summary stands where a conversation was. One that is empty, cut off, larger than what it replaces or made of
//! the question's own words would do harm for the rest of the session, so it is looked at first. All of this is
//! plain comparison, no model judges another.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::chunk::TokenRuler;
use super::prompt::{flatten, is_echo};
use super::summariser::ending;
use crate::provider::Finish;

/// The same line this often is no text any more.
const LINES: usize = 100;

/// A repetition is looked for in stretches of at most this many bytes.
const PERIOD: usize = 256;

/// A text that ends in this many bytes of repetition did not come to an end by itself.
const TAIL: usize = 1_000;

/// A refusal is short; a summary that quotes one is not.
const REFUSAL: usize = 400;

/// How refusals begin. Other languages have others; what is not known here is caught by whoever reads it.
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

/// A summary that wants to be relied on.
#[derive(Clone, Copy, Debug)]
pub struct SummaryCandidate<'c> {
    /// Its text.
    pub text: &'c str,
    /// How the answer ended that it came in.
    pub finish: Finish,
}

/// What it is held against.
#[derive(Clone, Copy)]
pub struct ReplacedHistory<'r> {
    /// What the summary replaces, in tokens by `ruler`.
    pub tokens: u64,
    /// How many of them it has to save at least.
    pub least_saving: u64,
    /// How many it may have.
    pub budget: u64,
    /// Texts that it has to hold word for word, white space aside.
    pub carried: &'r [&'r str],
    /// Measures both.
    pub ruler: TokenRuler,
    /// Counts the credentials in a text.
    pub credentials: &'r (dyn Fn(&str) -> usize + Sync),
}

/// Why a summary cannot be relied on.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(tag = "flaw", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SummaryFlaw {
    /// It is blank.
    #[error("the summary is empty")]
    Empty,
    /// The answer did not come to its end.
    #[error("the summary is not finished ({how})")]
    Unfinished {
        /// How the answer ended.
        how: String,
    },
    /// It repeats itself.
    #[error("the summary repeats itself: the same stretch comes {times} times")]
    Runaway {
        /// How often.
        times: u64,
    },
    /// It repeats the question.
    #[error("the summary repeats the question instead of answering it")]
    Echo,
    /// It says that there will be none.
    #[error("the model refused to write a summary")]
    Refusal,
    /// It is too long.
    #[error("the summary has {tokens} tokens, {budget} are allowed")]
    TooLong {
        /// What it has.
        tokens: u64,
        /// What is allowed.
        budget: u64,
    },
    /// It does not make the conversation smaller, or hardly.
    #[error(
        "the summary has {tokens} tokens in place of {replaced}, which saves less than the {least_saving} \
         that make it worth while"
    )]
    NoSaving {
        /// What it has.
        tokens: u64,
        /// What it would replace.
        replaced: u64,
        /// What would have to be saved.
        least_saving: u64,
    },
    /// It holds credentials.
    #[error("the summary holds {count} credentials")]
    Credential {
        /// How many.
        count: u64,
    },
    /// A text that had to be carried is not in it.
    #[error("the summary lost {lost} of the {carried} texts that it has to carry, text {first} first")]
    Lost {
        /// How many are not in it.
        lost: u64,
        /// How many should be.
        carried: u64,
        /// The number of the first that is missing, from 1 on.
        first: u64,
    },
}

/// Whether a summary can be relied on; the first flaw if not.
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
    // One that is as large as what it replaces is never worth while.
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

/// How often the same comes again and again, if that is no text any more: a line anywhere, or a stretch at the end.
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
