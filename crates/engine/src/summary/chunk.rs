//! How much fits: estimating tokens, and dividing material so that each chunk fits one request.
//!
//! Material is reduced in this order, and each step is only taken if the one before was not enough:
//!
//! 1. pieces are trimmed a little, so that one request is enough;
//! 2. it is divided into chunks, between messages and never between a call and its result;
//! 3. pieces are trimmed hard, so that there are not too many chunks;
//! 4. whole stretches are left out with a note: tool calls before messages, old before new, and the very
//!    beginning, which has the task, last.
//!
//! So there is always a result, and its cost is bounded however long the conversation is.

use std::collections::HashMap;
use std::ops::Range;

use secateur::weighted_len;
use secateur_formats::json::utf16_len;

use super::piece::{ALLOWANCES, SummaryPiece};

/// Characters per token before calibration.
pub const CHARS_PER_TOKEN: f64 = 3.2;

/// The levels of trimming that are preferred to several requests.
const GENTLE: usize = 3;

/// Estimates tokens, rather too many than too few.
///
/// A calibrated ratio is an average. Text in wide characters takes several times as many tokens per character, so it
/// is estimated by weight as well, and the larger estimate counts.
///
/// ```
/// use secateur_engine::summary::TokenRuler;
///
/// let ruler = TokenRuler::new(4.0);
/// assert_eq!(ruler.tokens("a plain sentence"), 4);
/// assert_eq!(ruler.tokens("漢字"), 2);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TokenRuler {
    chars_per_token: f64,
}

impl TokenRuler {
    /// With this many UTF-16 units per token; impossible values are clamped.
    pub fn new(chars_per_token: f64) -> Self {
        let is_number = chars_per_token.is_finite() && chars_per_token > 0.0;
        let chars_per_token = if is_number { chars_per_token.clamp(0.5, 8.0) } else { CHARS_PER_TOKEN };
        Self { chars_per_token }
    }

    /// Estimates the tokens of a text. Two texts together never have more than the sum of both.
    pub fn tokens(&self, text: &str) -> u64 {
        let plain = utf16_len(text) as f64 / self.chars_per_token;
        let weighted = weighted_len(text) as f64 / 4.0;
        plain.max(weighted).ceil() as u64
    }
}

/// The tokens that material may take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ChunkBudgets {
    /// If one request is enough.
    pub whole: u64,
    /// In each of several requests, which also contain the summary so far.
    pub part: u64,
}

/// Material for one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SummaryChunk {
    pub text: String,
    /// The first piece after it.
    pub end: usize,
    /// Pieces in its range that were left out.
    pub left_out: usize,
}

/// Divides material into at most `most` chunks, and at least one if there is any material. Each chunk fits if the
/// budget is at least [`least_room`].
pub(super) fn divide(
    pieces: &[SummaryPiece],
    rooms: ChunkBudgets,
    most: usize,
    ruler: TokenRuler,
) -> Vec<SummaryChunk> {
    for allowance in ALLOWANCES.iter().take(GENTLE) {
        let text: String = pieces.iter().map(|piece| piece.show(allowance)).collect();
        if ruler.tokens(&text) <= rooms.whole {
            return if pieces.is_empty() {
                Vec::new()
            } else {
                vec![SummaryChunk { text, end: pieces.len(), left_out: 0 }]
            };
        }
    }
    let room = if most > 1 { rooms.part } else { rooms.whole };
    let groups = group(pieces);
    let mut shown = Vec::new();
    for level in GENTLE - 1..ALLOWANCES.len() {
        shown =
            groups.iter().filter_map(|range| ShownGroup::new(pieces, range, level, room, ruler)).collect();
        let chunks = pack(&shown, &vec![false; shown.len()], room, ruler);
        if chunks.len() <= most {
            return chunks;
        }
    }
    leave_out(&shown, room, most, ruler)
}

/// The smallest budget that always holds something.
pub(super) fn least_room(ruler: TokenRuler) -> u64 {
    64.max(3 * ruler.tokens(&note(usize::MAX)))
}

fn note(count: usize) -> String {
    format!("[{count} pieces of the conversation are left out here]\n")
}

/// Ranges of pieces that must not be divided: whole messages, and everything between a call and its result.
fn group(pieces: &[SummaryPiece]) -> Vec<Range<usize>> {
    let last = |(index, piece): (usize, &SummaryPiece)| piece.call.map(|call| (call, index));
    let last: HashMap<u32, usize> = pieces.iter().enumerate().filter_map(last).collect();
    let (mut groups, mut start, mut reach, mut message) = (Vec::new(), 0, 0, None);
    for (index, piece) in pieces.iter().enumerate() {
        if index > reach && message != Some(piece.message) {
            groups.push(start..index);
            start = index;
        }
        let other = piece.call.and_then(|call| last.get(&call)).copied().unwrap_or_default();
        reach = reach.max(other);
        message = Some(piece.message);
    }
    groups.push(start..pieces.len());
    groups
}

/// A group as it is shown.
struct ShownGroup {
    text: String,
    cost: u64,
    range: Range<usize>,
    left_out: usize,
    is_tools: bool,
}

impl ShownGroup {
    /// The group at a level of trimming, or as much of it as fits, with a note before it.
    fn new(
        pieces: &[SummaryPiece],
        range: &Range<usize>,
        level: usize,
        room: u64,
        ruler: TokenRuler,
    ) -> Option<Self> {
        let (own, allowance) = (pieces.get(range.clone())?, ALLOWANCES.get(level)?);
        let room = room.saturating_sub(ruler.tokens(&note(usize::MAX)));
        let text: String = own.iter().map(|piece| piece.show(allowance)).collect();
        let (text, left_out) =
            if ruler.tokens(&text) <= room { (text, 0) } else { squeeze(own, room, ruler) };
        let is_tools = own.iter().all(SummaryPiece::is_tool);
        Some(Self { cost: ruler.tokens(&text), text, range: range.clone(), left_out, is_tools })
    }
}

/// As much of a group as fits: less and less of each piece, then fewer and fewer pieces from its middle.
fn squeeze(own: &[SummaryPiece], room: u64, ruler: TokenRuler) -> (String, usize) {
    for limit in [400, 200, 100, 50, 20] {
        let text: String = own.iter().map(|piece| piece.show_at(limit)).collect();
        if ruler.tokens(&text) <= room {
            return (text, 0);
        }
    }
    let cut = |kept: usize| {
        let (head, tail) = (kept - kept / 2, kept / 2);
        let show = |piece: &SummaryPiece| piece.show_at(20);
        let mut text: String = own.iter().take(head).map(show).collect();
        text += &note(own.len() - kept);
        text.extend(own.iter().skip(own.len() - tail).map(show));
        (text, own.len() - kept)
    };
    let (mut fits, mut bursts) = (0, own.len());
    while bursts - fits > 1 {
        let middle = fits.midpoint(bursts);
        if ruler.tokens(&cut(middle).0) <= room { fits = middle } else { bursts = middle }
    }
    cut(fits)
}

/// Puts groups into chunks, one after the other. Dropped groups leave a note before the next one.
fn pack(shown: &[ShownGroup], dropped: &[bool], room: u64, ruler: TokenRuler) -> Vec<SummaryChunk> {
    let (mut chunks, mut chunk, mut used, mut missing): (Vec<SummaryChunk>, _, _, _) =
        (Vec::new(), SummaryChunk::default(), 0, 0);
    for (group, &is_dropped) in shown.iter().zip(dropped) {
        if is_dropped {
            missing += group.range.len();
            continue;
        }
        let note = if missing > 0 { note(missing) } else { String::new() };
        let cost = group.cost + ruler.tokens(&note);
        if used + cost > room && !chunk.text.is_empty() {
            chunks.push(std::mem::take(&mut chunk));
            used = 0;
        }
        used += cost;
        chunk.text += &note;
        chunk.text += &group.text;
        chunk.end = group.range.end;
        chunk.left_out += missing + group.left_out;
        missing = 0;
    }
    if !chunk.text.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

/// Drops as few groups as possible; the last one is always kept.
fn leave_out(shown: &[ShownGroup], room: u64, most: usize, ruler: TokenRuler) -> Vec<SummaryChunk> {
    let mut victims: Vec<usize> = (0..shown.len().saturating_sub(1)).collect();
    victims.sort_by_key(|&index| (index == 0, shown.get(index).is_some_and(|group| !group.is_tools)));
    let try_with = |count: usize| {
        let mut dropped = vec![false; shown.len()];
        for &index in victims.iter().take(count) {
            if let Some(slot) = dropped.get_mut(index) {
                *slot = true;
            }
        }
        pack(shown, &dropped, room, ruler)
    };
    // With all candidates dropped, a single group is left, which makes a single chunk.
    let (mut too_few, mut enough, mut best) = (0, victims.len(), try_with(victims.len()));
    while enough - too_few > 1 {
        let middle = too_few.midpoint(enough);
        let chunks = try_with(middle);
        if chunks.len() <= most {
            (enough, best) = (middle, chunks);
        } else {
            too_few = middle;
        }
    }
    best
}

#[cfg(test)]
mod tests;
