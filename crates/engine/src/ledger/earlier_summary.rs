//! A summary that the conversation began with, or that was written into it later.
//!
//! Agents compact on their own. What such a summary replaced is not in the conversation any more, so the summary is the
//! only record of it and goes into every later one. Logs mark such a text; requests do not, so there it is recognised by
//! its first words.

use serde::{Deserialize, Serialize};

use super::bounded_list::{self, LedgerEntry};
use super::clean_text::{clean, cut_middle, weight};

/// The first words of the summaries of Claude Code, Codex and pi, and of our own.
pub(super) const FIRST_WORDS: [&str; 4] = [
    "This session is being continued from a previous conversation",
    "Another language model started to solve this problem",
    "The conversation history before this point was compacted into the following summary",
    super::HEADER,
];

/// Whether a text is a summary, by its first words.
pub(crate) fn begins_like_summary(text: &str) -> bool {
    FIRST_WORDS.iter().any(|words| text.trim_start().starts_with(words))
}

/// A summary that is part of the conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct EarlierSummary(pub(super) String);

impl EarlierSummary {
    /// The longest summary that is kept whole.
    const LONGEST: usize = 12_000;

    /// A summary, cut if it is too long; none if it says nothing.
    pub(super) fn of(text: &str, redact: &dyn Fn(&str) -> String) -> Option<Self> {
        let text = clean(&redact(&clean(text)));
        let text = text.trim().strip_prefix(super::HEADER).unwrap_or(text.trim());
        let text = cut_middle(text.trim(), Self::LONGEST);
        (!text.is_empty()).then_some(Self(text))
    }
}

impl LedgerEntry for EarlierSummary {
    const MOST: usize = 4;
    const WEIGHT: usize = 14_000;

    fn key(&self) -> Option<u64> {
        Some(bounded_list::key(&self.0))
    }

    fn weight(&self) -> usize {
        weight(&self.0)
    }
}
