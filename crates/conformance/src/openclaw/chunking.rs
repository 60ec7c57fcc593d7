//! How OpenClaw divides a long history for summaries: by shares, by size, and by what the window can hold.
//!
//! Everything here counts in estimated tokens of messages, oldest first. Estimates may be a fifth too low, so sizes are
//! compared with that much to spare.

use std::ops::Range;

/// The share of the window that a chunk has if messages are small.
const BASE_CHUNK_RATIO: f64 = 0.4;
/// The least share, however large they are.
const MIN_CHUNK_RATIO: f64 = 0.15;
/// By how much an estimate is raised.
const SAFETY: f64 = 1.2;
/// The share of the window that the kept history has if nothing else is said.
const HISTORY_SHARE: f64 = 0.5;

/// Divides messages into a number of parts of about the same size.
pub fn split(tokens: &[u64], parts: f64) -> Vec<Range<usize>> {
    let parts = if parts.is_finite() && parts > 1.0 { parts.floor() as usize } else { 1 };
    let parts = parts.min(tokens.len());
    let target = tokens.iter().sum::<u64>() as f64 / parts.max(1) as f64;
    divide(tokens, |made, sum, next| made + 1 < parts && (sum + next) as f64 > target)
}

/// Divides messages into chunks of at most a number of tokens; a message that is larger has one of its own.
pub fn chunks(tokens: &[u64], most: u64) -> Vec<Range<usize>> {
    // A chunk with a message that is too large is already too large for any other.
    divide(tokens, |_, sum, next| sum + next > most)
}

/// Divides messages; `is_full` sees how many pieces are made, the size of the current one and that of the next message.
fn divide(tokens: &[u64], is_full: impl Fn(usize, u64, u64) -> bool) -> Vec<Range<usize>> {
    let mut made = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (at, &next) in tokens.iter().enumerate() {
        if at > start && is_full(made.len(), sum, next) {
            made.push(start..at);
            (start, sum) = (at, 0);
        }
        sum += next;
    }
    if start < tokens.len() {
        made.push(start..tokens.len());
    }
    made
}

/// The share of the window that a chunk may have: less, the larger messages are on average.
pub fn chunk_ratio(tokens: &[u64], window: f64) -> f64 {
    if tokens.is_empty() {
        return BASE_CHUNK_RATIO;
    }
    let average = tokens.iter().sum::<u64>() as f64 / tokens.len() as f64 * SAFETY;
    let share = average / window;
    if share > 0.1 {
        let less = (share * 2.0).min(BASE_CHUNK_RATIO - MIN_CHUNK_RATIO);
        (BASE_CHUNK_RATIO - less).max(MIN_CHUNK_RATIO)
    } else {
        BASE_CHUNK_RATIO
    }
}

/// Whether a message is too large to be summarised: more than half of the window.
pub fn is_oversized(tokens: u64, window: f64) -> bool {
    tokens as f64 * SAFETY > window * 0.5
}

/// What is left of a history after its oldest parts were dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HistoryShare {
    /// The index of the first message that is kept.
    pub first_kept: usize,
    /// How many parts were dropped.
    pub dropped_chunks: u64,
    /// The tokens that they had.
    pub dropped_tokens: u64,
    /// The tokens that are left.
    pub kept_tokens: u64,
    /// The tokens that may be left.
    pub budget: u64,
}

/// Drops the oldest of a number of parts, again and again, until the rest has its share of the window.
pub fn history_share(tokens: &[u64], window: f64, share: Option<f64>, parts: f64) -> HistoryShare {
    let budget = (window * share.unwrap_or(HISTORY_SHARE)).floor().max(1.0) as u64;
    let mut kept = HistoryShare { kept_tokens: tokens.iter().sum(), budget, ..HistoryShare::default() };
    while kept.kept_tokens > budget {
        let rest = tokens.get(kept.first_kept..).unwrap_or_default();
        let pieces = split(rest, parts);
        let [oldest, _, ..] = pieces.as_slice() else { break };
        let dropped: u64 = rest.get(oldest.clone()).unwrap_or_default().iter().sum();
        kept.first_kept += oldest.len();
        kept.dropped_chunks += 1;
        kept.dropped_tokens += dropped;
        kept.kept_tokens -= dropped;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_about_the_same_size() {
        assert_eq!(split(&[4, 5, 6, 1, 15], 2.0), [0..3, 3..5]);
        assert_eq!(split(&[1, 1], 9.0), [0..1, 1..2]);
        assert_eq!(split(&[1, 1], f64::NAN).len(), 1);
        assert!(split(&[], 2.0).is_empty());
    }

    #[test]
    fn a_message_that_is_too_large_is_alone() {
        assert_eq!(chunks(&[4, 5, 11, 1, 2], 10), [0..2, 2..3, 3..5]);
        assert_eq!(chunks(&[1, 1], 0), [0..1, 1..2]);
    }

    #[test]
    fn the_oldest_parts_are_dropped_until_the_rest_fits() {
        let kept = history_share(&[4, 5, 6, 1, 15], 100.0, None, 2.0);
        assert_eq!((kept.first_kept, kept.kept_tokens, kept.budget), (0, 31, 50));
        let kept = history_share(&[4, 5, 6, 1, 15], 10.0, Some(0.0), 2.0);
        assert_eq!((kept.first_kept, kept.dropped_chunks, kept.budget), (4, 2, 1));
    }

    #[test]
    fn large_messages_make_chunks_smaller() {
        assert_eq!(chunk_ratio(&[], 100.0), BASE_CHUNK_RATIO);
        assert_eq!(chunk_ratio(&[1], 100.0), BASE_CHUNK_RATIO);
        assert!((chunk_ratio(&[100], 100.0) - MIN_CHUNK_RATIO).abs() < 1e-9);
        assert!(is_oversized(42, 100.0) && !is_oversized(41, 100.0));
    }
}
