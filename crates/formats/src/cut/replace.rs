//! What is left of a content after a cut, spelled as the content was.

use std::borrow::Cow;

use secateur::{Action, IMAGE_REMOVED, SurrogatePairs, TRIM_GAP, trim_note};

use super::Rendering;
use crate::content::{ContentBlock, ContentPiece, is_error, piece, pieces, text};
use crate::json::{Halves, Raw, each, encode, object, slice_units, utf16_len};

/// What is left of a content after a cut, in the spelling that it had.
pub(crate) fn replaced(raw: &str, cut: Rendering<'_>) -> String {
    let text = match cut.action {
        Action::Clear => cut.placeholder.to_owned(),
        Action::Trim { head, tail, pairs } => trimmed(&text(raw), head, tail, pairs) + cut.placeholder,
        Action::DropMedia if raw.starts_with('[') => return without_media(raw),
        Action::DropMedia => match *pieces(raw) {
            [ContentPiece::Media(_)] => IMAGE_REMOVED.to_owned(),
            // Text and other values hold no media.
            _ => return raw.to_owned(),
        },
        Action::DropThinking => return raw.to_owned(),
    };
    match raw.as_bytes().first() {
        Some(b'[') => {
            let mark = cache_mark(last_cache_mark(raw));
            format!("[{{\"type\":{},\"text\":{}{mark}}}]", encode(&text_kind(raw)), encode(&text))
        }
        Some(b'{') => {
            // An error stays an error.
            let key = if is_error(raw) { "error" } else { "output" };
            format!("{{\"{key}\":{}}}", encode(&text))
        }
        _ => encode(&text),
    }
}

/// The head and tail of a text, with a note on what is missing.
pub(crate) fn trimmed(text: &str, head: u64, tail: u64, pairs: SurrogatePairs) -> String {
    let units = utf16_len(text);
    let halves = match pairs {
        SurrogatePairs::Split => Halves::Replace,
        SurrogatePairs::Whole => Halves::Omit,
    };
    let first = slice_units(text, 0, head.min(units), halves);
    let last = slice_units(text, units.saturating_sub(tail), units, halves);
    format!("{first}{TRIM_GAP}{last}{}", trim_note(head, tail, units))
}

fn blocks(raw: &str) -> impl DoubleEndedIterator<Item = (&str, ContentBlock<'_>)> {
    let mut blocks = Vec::new();
    _ = each(raw, |element: Raw<'_>| {
        blocks.push((element.text(), object(element.text()).ok().flatten().unwrap_or_default()));
    });
    blocks.into_iter()
}

/// The type of text blocks in this content's spelling.
fn text_kind(raw: &str) -> Cow<'_, str> {
    let kinds = blocks(raw).filter_map(|(_, block)| block.kind.and_then(Raw::as_str));
    let mut kinds = kinds.filter_map(|kind| match &*kind {
        "input_text" | "input_image" | "input_file" => Some(Cow::Borrowed("input_text")),
        "output_text" => Some(kind),
        _ => None,
    });
    kinds.next().unwrap_or(Cow::Borrowed("text"))
}

/// The last cache mark of a provider. It moves to the block that replaces the content, as near as it can stay.
fn last_cache_mark(raw: &str) -> Option<&str> {
    blocks(raw).rev().find_map(|(_, block)| block.cache).map(Raw::text)
}

/// The member that holds a cache mark; empty if there is none.
fn cache_mark(mark: Option<&str>) -> String {
    mark.map_or_else(String::new, |mark| format!(",\"cache_control\":{mark}"))
}

/// A list of blocks in which a line of text replaces each image.
fn without_media(raw: &str) -> String {
    let kind = encode(&text_kind(raw));
    let kept: Vec<Cow<'_, str>> = blocks(raw)
        .map(|(own, block)| match piece(own) {
            Some(ContentPiece::Media(_)) => {
                let mark = cache_mark(block.cache.map(Raw::text));
                Cow::Owned(format!("{{\"type\":{kind},\"text\":{}{mark}}}", encode(IMAGE_REMOVED)))
            }
            _ => Cow::Borrowed(own),
        })
        .collect();
    format!("[{}]", kept.join(","))
}
