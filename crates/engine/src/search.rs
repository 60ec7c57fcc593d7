//! Searches text that was cut or compacted away.

use secateur::session::Seq;
use secateur_store::{ClippingSearch, StoreError, word_positions};
use serde::Serialize;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::recall::ClippingFacts;

/// The most hits of one search.
const MOST: usize = 100;

/// How many bytes of a text a snippet shows.
const SNIPPET: usize = 240;

/// How many of these bytes stand before the first word of the query.
const LEAD: usize = 60;

/// Text that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchHit {
    /// The session's id.
    pub session: String,
    /// The message's number.
    pub number: Seq,
    /// The handle that [recalls](Engine::recall) all of it.
    pub handle: String,
    /// The tool of the call or result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool call was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The time of its message, in milliseconds since 1970.
    pub time: i64,
    /// Its length in characters.
    pub characters: usize,
    /// The passage with most of the words, on one line.
    pub snippet: String,
}

impl Engine {
    /// Text that was cut or compacted away and has all of these words, the newest first, in one session or in all; at
    /// most 100 hits. See [`Store::search`](secateur_store::Store::search) for what a word is.
    pub async fn search(
        &self,
        words: &str,
        session: Option<&str>,
        limit: usize,
    ) -> Result<Vec<SearchHit>, EngineError> {
        let search = ClippingSearch {
            words: words.to_owned(),
            session: session.map(str::to_owned),
            limit: limit.min(MOST),
        };
        let mut hits = Vec::new();
        for clipping in self.parts.store.search(search).await? {
            let text = match self.clipped(&clipping, &clipping.handle).await {
                Ok(Some(recalled)) => recalled.text,
                // What cannot be recalled is no hit.
                Ok(None) | Err(EngineError::Store(StoreError::Damaged { .. })) => continue,
                Err(error) => return Err(error),
            };
            let ClippingFacts { tool, subject, .. } = ClippingFacts::of(&clipping);
            hits.push(SearchHit {
                session: clipping.session,
                number: clipping.seq,
                handle: clipping.handle,
                tool,
                subject,
                time: clipping.time,
                characters: text.chars().count(),
                snippet: snippet(&text, words),
            });
        }
        Ok(hits)
    }
}

/// The passage of a text with most of the words, on one line.
fn snippet(text: &str, words: &str) -> String {
    /// A text may have a word on every line.
    const PLACES: usize = 2_000;
    let word_positions: Vec<(usize, usize)> = word_positions(text, words).take(PLACES).collect();
    let variety = |at: usize| {
        let near = word_positions.iter().filter(|(place, _)| (at..at + SNIPPET - LEAD).contains(place));
        near.fold(0u32, |seen, (_, word)| seen | 1 << word).count_ones()
    };
    // Of equally good passages the first one.
    let best = word_positions.iter().map(|(at, _)| *at).rev().max_by_key(|&at| variety(at)).unwrap_or(0);
    let start = text.floor_char_boundary(best.saturating_sub(LEAD));
    let end = text.floor_char_boundary((start + SNIPPET).min(text.len()));
    let line = text.get(start..end).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let (before, after) = (if start > 0 { "…" } else { "" }, if end < text.len() { "…" } else { "" });
    format!("{before}{line}{after}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snippet_is_where_most_words_are() {
        let text = format!("pump {}\n\tthe house\nof the Pump {}", "é ".repeat(400), "x ".repeat(400));
        let snippet = snippet(&text, "house pump");
        assert!(snippet.contains("é the house of the Pump x"), "{snippet}");
        assert!(snippet.starts_with('…') && snippet.ends_with('…'), "{snippet}");
        assert!(snippet.len() < SNIPPET + 10);
    }

    #[test]
    fn any_text_has_a_snippet() {
        assert_eq!(snippet("", "word"), "");
        assert_eq!(snippet("short", "word"), "short");
        let many: String = (0..40).map(|n| format!("w{n} ")).collect();
        assert!(snippet(&many, &many).starts_with("w0 w1"));
    }
}
