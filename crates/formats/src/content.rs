//! The content of a message or of a tool's answer, in the dialect of any provider or agent.
//!
//! Everybody writes content as a text or as a list of blocks, and the blocks differ in names only: `text`,
//! `input_text`, `output_text`; `image` with a source, `image_url`, `input_image`, `inlineData`. The names do not
//! contradict each other, so one reader understands all of them, and sizing, showing and replacing content need to
//! be written once.
//!
//! A content's text is that of its blocks joined by line ends; a block that is neither text nor media counts with
//! its compact JSON, for that is what reaches the model.

use std::borrow::Cow;

use secateur::{Action, IMAGE_REMOVED, Kind, Measures, Pairs, Sizes, TRIM_GAP, trim_note};

use crate::json::fields::{each, object, raw_fields};
use crate::json::{Edit, Halves, Printer, Raw, decode, encode, print, slice_units, utf16_len};
use crate::sizes;
use crate::transcript::{ApplyError, Rendering, Transcript};

/// A piece of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// The literal of a text.
    Text(&'a str),
    /// A block that holds or names an image or another file.
    Media(&'a str),
    /// Any other value.
    Data(&'a str),
}

raw_fields!(
    /// A block of any dialect.
    Block { kind: "type", text: "text", response: "functionResponse", inline: "inlineData", file: "fileData",
            inline_snake: "inline_data", cache: "cache_control" }
);
raw_fields!(
    /// Gemini's answer of a tool.
    Response { response: "response" }
);
raw_fields!(
    /// What a tool's answer is wrapped in.
    Output { output: "output", error: "error" }
);

/// The pieces of a content: of a text, of a list of blocks, or of a single block.
pub(crate) fn pieces(raw: &str) -> Vec<Piece<'_>> {
    let raw = raw.trim();
    match raw.as_bytes().first() {
        None => Vec::new(),
        Some(b'"') => vec![Piece::Text(raw)],
        Some(b'[') => {
            let mut pieces = Vec::new();
            // Of a broken list, what came before the mistake.
            _ = each(raw, |element: Raw<'_>| pieces.extend(piece(element.text())));
            pieces
        }
        Some(b'{') => piece(raw).into_iter().collect(),
        Some(_) if raw == "null" => Vec::new(),
        Some(_) => vec![Piece::Data(raw)],
    }
}

fn piece(raw: &str) -> Option<Piece<'_>> {
    if raw.starts_with('"') {
        return Some(Piece::Text(raw));
    }
    let Ok(Some(block)) = object::<Block<'_>>(raw) else { return Some(Piece::Data(raw)) };
    if let Some(answer) = block.response {
        let wrapped = object::<Response<'_>>(answer.text()).ok().flatten().and_then(|answer| answer.response);
        return wrapped.map(|wrapped| output(wrapped.text()));
    }
    if block.inline.or(block.inline_snake).or(block.file).is_some() {
        return Some(Piece::Media(raw));
    }
    match (block.kind.and_then(Raw::as_str).as_deref(), block.text) {
        (
            Some("text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "refusal")
            | None,
            Some(text),
        ) if text.is_string() => Some(Piece::Text(text.text())),
        (
            Some(
                "image" | "image_url" | "input_image" | "input_audio" | "audio" | "video" | "media"
                | "document" | "file" | "input_file",
            ),
            _,
        ) => Some(Piece::Media(raw)),
        (None, None) => Some(output(raw)),
        _ => Some(Piece::Data(raw)),
    }
}

/// A wrapped answer: its text if it is `{output: text}`, or `{error: text}` where something went wrong.
fn output(raw: &str) -> Piece<'_> {
    let wrapped = Output::of(raw);
    match if wrapped.is_error() { wrapped.error } else { wrapped.output } {
        Some(text) if text.is_string() => Piece::Text(text.text()),
        _ => Piece::Data(raw),
    }
}

/// Whether a wrapped answer says that something went wrong. Two keys have a meaning, `output` and `error`; all others
/// are a tool's own.
pub(crate) fn is_error(raw: &str) -> bool {
    Output::of(raw).is_error()
}

impl<'a> Output<'a> {
    fn of(raw: &'a str) -> Self {
        object(raw).ok().flatten().unwrap_or_default()
    }

    fn is_error(self) -> bool {
        let is_there = |raw: Option<Raw<'_>>| raw.is_some_and(|raw| raw.text() != "null");
        is_there(self.error) && !is_there(self.output)
    }
}

/// The sizes of a content.
pub(crate) fn sizes(raw: &str, measures: &Measures) -> Sizes {
    if raw.starts_with('"') {
        return sizes::of_string(raw, measures);
    }
    let mut sizes = Sizes { bytes: raw.len() as u64, ..Sizes::default() };
    let texts = Measures { weighted: measures.weighted, tokens: measures.tokens, ..Measures::default() };
    for piece in pieces(raw) {
        let own = match piece {
            Piece::Text(literal) => sizes::of_string(literal, &texts),
            Piece::Data(value) => sizes::of_input(value, &texts),
            Piece::Media(_) => {
                sizes.images += 1;
                continue;
            }
        };
        let joint = u64::from(sizes.blocks > 0);
        sizes.blocks += 1;
        sizes.units += own.units + joint;
        sizes.points += own.points + joint;
        sizes.weighted += own.weighted + joint;
        sizes.tokens += own.tokens;
    }
    sizes::add_raw_measures(&mut sizes, raw, measures);
    if measures.trimmed.is_some() || measures.digest {
        let text = text(raw);
        if let Some(trim) = measures.trimmed {
            sizes.trimmed = sizes::trimmed_weight(&text, utf16_len(&text), trim);
        }
        if measures.digest {
            sizes.digest = utf16_len(&secateur::digest(&text));
        }
    }
    sizes
}

/// The text of a content: its texts and other values, joined by line ends.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    let mut texts = pieces(raw).into_iter().filter_map(|piece| match piece {
        Piece::Text(literal) => Some(decode(literal)),
        Piece::Data(value) => Some(Cow::Owned(print(value, Printer::Compact))),
        Piece::Media(_) => None,
    });
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(first, |all, next| Cow::Owned(format!("{all}\n{next}")))
}

/// The input of a tool as text: JSON, or whatever else a string holds.
pub(crate) fn input(raw: &str) -> Cow<'_, str> {
    match raw.trim() {
        raw if raw.starts_with('"') => decode(raw),
        raw => Cow::Owned(print(raw, Printer::Compact)),
    }
}

/// Whether the text of a content begins, white space aside, with an angle bracket or with another text that marks
/// what a program put in. The literal is not decoded for that.
pub(crate) fn is_tagged(raw: &str, marks: &[&str]) -> bool {
    let [Piece::Text(literal), ..] = *pieces(raw) else { return false };
    let mut text = literal.strip_prefix('"').unwrap_or_default();
    loop {
        let blanks = [" ", r"\n", r"\r", r"\t"];
        let Some(rest) = blanks.into_iter().find_map(|blank| text.strip_prefix(blank)) else { break };
        text = rest;
    }
    // Some writers of JSON escape the bracket because of browsers.
    let is_bracket = ["<", r"\u003c", r"\u003C"].into_iter().any(|bracket| text.starts_with(bracket));
    is_bracket || marks.iter().any(|mark| text.starts_with(mark))
}

/// Whether a content is exactly the placeholder that the measures ask about.
pub(crate) fn is_placeholder(raw: &str, measures: &Measures) -> bool {
    measures.placeholder.is_some()
        && matches!(*pieces(raw), [Piece::Text(literal)] if sizes::is_placeholder(literal, measures))
}

/// The edit that puts what is left of a tool's answer in the place of its content.
pub(crate) fn edits(transcript: &Transcript<'_>, cut: Rendering<'_>) -> Result<Vec<Edit>, ApplyError> {
    let is_result = transcript.outline.kind(cut.part) == Kind::Result;
    let range = transcript.spot(cut.part).and_then(|spot| spot.content.clone()).filter(|_| is_result);
    let unsupported = || transcript.format.unsupported(cut.part, "only tool results are cut");
    let range = range.ok_or_else(unsupported)?;
    let raw = transcript.raw(range.clone()).unwrap_or_default();
    Ok(vec![Edit { range, text: replaced(raw, cut) }])
}

/// The edit that puts a placeholder in the place of a tool's input. Providers want an object back where there was one,
/// also inside a string; the input of a tool that takes any text becomes another text.
pub(crate) fn input_edit(transcript: &Transcript<'_>, cut: Rendering<'_>) -> Option<Edit> {
    let range = transcript.spot(cut.part)?.content.clone()?;
    let raw = transcript.raw(range.clone())?;
    let object = || format!("{{\"cut\":{}}}", encode(cut.placeholder));
    let text = match raw.as_bytes() {
        [b'{', ..] => object(),
        [b'"', ..] if decode(raw).trim_start().starts_with('{') => encode(&object()),
        [b'"', ..] => encode(cut.placeholder),
        _ => return None,
    };
    (cut.action == Action::Clear && text.len() < raw.len()).then_some(Edit { range, text })
}

/// What is left of a content after a cut, in the dialect that it had.
pub(crate) fn replaced(raw: &str, cut: Rendering<'_>) -> String {
    let text = match cut.action {
        Action::Clear => cut.placeholder.to_owned(),
        Action::Trim { head, tail, pairs } => trimmed(&text(raw), head, tail, pairs) + cut.placeholder,
        Action::DropMedia if raw.starts_with('[') => return without_media(raw),
        Action::DropMedia => match *pieces(raw) {
            [Piece::Media(_)] => IMAGE_REMOVED.to_owned(),
            // A text or another value holds no media, so it stays.
            _ => return raw.to_owned(),
        },
    };
    match raw.as_bytes().first() {
        Some(b'[') => {
            let mark = cache_mark(last_cache_mark(raw));
            format!("[{{\"type\":{},\"text\":{}{mark}}}]", encode(&text_kind(raw)), encode(&text))
        }
        Some(b'{') => {
            // What went wrong stays what went wrong.
            let key = if is_error(raw) { "error" } else { "output" };
            format!("{{\"{key}\":{}}}", encode(&text))
        }
        _ => encode(&text),
    }
}

/// Head and tail of a text with a note on what is missing.
pub(crate) fn trimmed(text: &str, head: u64, tail: u64, pairs: Pairs) -> String {
    let units = utf16_len(text);
    let halves = match pairs {
        Pairs::Split => Halves::Replace,
        Pairs::Whole => Halves::Omit,
    };
    let first = slice_units(text, 0, head.min(units), halves);
    let last = slice_units(text, units.saturating_sub(tail), units, halves);
    format!("{first}{TRIM_GAP}{last}{}", trim_note(head, tail, units))
}

fn blocks(raw: &str) -> impl DoubleEndedIterator<Item = (&str, Block<'_>)> {
    let mut blocks = Vec::new();
    _ = each(raw, |element: Raw<'_>| {
        blocks.push((element.text(), object(element.text()).ok().flatten().unwrap_or_default()));
    });
    blocks.into_iter()
}

/// What this dialect calls a block of text.
fn text_kind(raw: &str) -> Cow<'_, str> {
    let kinds = blocks(raw).filter_map(|(_, block)| block.kind.and_then(Raw::as_str));
    let mut kinds = kinds.filter_map(|kind| match &*kind {
        "input_text" | "input_image" | "input_file" => Some(Cow::Borrowed("input_text")),
        "output_text" => Some(kind),
        _ => None,
    });
    kinds.next().unwrap_or(Cow::Borrowed("text"))
}

/// A provider's cache mark on a block stays where it was as nearly as possible: on what replaces the block.
fn last_cache_mark(raw: &str) -> Option<&str> {
    blocks(raw).rev().find_map(|(_, block)| block.cache).map(Raw::text)
}

/// The member that holds a cache mark; nothing if there is none.
fn cache_mark(mark: Option<&str>) -> String {
    mark.map_or_else(String::new, |mark| format!(",\"cache_control\":{mark}"))
}

/// A list of blocks in which each image is a line of text.
fn without_media(raw: &str) -> String {
    let kind = encode(&text_kind(raw));
    let kept: Vec<Cow<'_, str>> = blocks(raw)
        .map(|(own, block)| match piece(own) {
            Some(Piece::Media(_)) => {
                let mark = cache_mark(block.cache.map(Raw::text));
                Cow::Owned(format!("{{\"type\":{kind},\"text\":{}{mark}}}", encode(IMAGE_REMOVED)))
            }
            _ => Cow::Borrowed(own),
        })
        .collect();
    format!("[{}]", kept.join(","))
}
