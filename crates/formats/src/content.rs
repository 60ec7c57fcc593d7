//! The content of a message or of a tool result, as any provider or agent writes it.
//!
//! All of them write content as a text or as a list of blocks, and the blocks differ in names only: `text`,
//! `input_text`, `output_text`; `image` with a source, `image_url`, `input_image`, `inlineData`. The names do not
//! contradict each other, so one reader understands all of them.
//!
//! The text of a content is that of its blocks joined by line feeds. A block that is neither text nor media counts with
//! its compact JSON, because that is what reaches the model.

use std::borrow::Cow;

use secateur::{Measures, Sizes};

use crate::json::{OptionalRaw, Printer, Raw, decode, each, object, print, raw_fields, utf16_len};
use crate::sizes;

/// A block of content, by what it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContentPiece<'a> {
    /// The literal of a text.
    Text(&'a str),
    /// A block that holds or names an image or another file.
    Media(&'a str),
    /// Any other value.
    Data(&'a str),
}

raw_fields! {
    /// A block, in any spelling.
    pub(crate) ContentBlock { kind: "type", text: "text", response: "functionResponse", inline: "inlineData", file: "fileData",
            inline_snake: "inline_data", cache: "cache_control" }
    GeminiResponse { response: "response" }
    /// The object that Gemini wraps a tool result in.
    WrappedOutput { output: "output", error: "error" }
}

/// The pieces of a content: of a text, of a list of blocks, or of a single block.
pub(crate) fn pieces(raw: &str) -> Vec<ContentPiece<'_>> {
    let raw = raw.trim();
    match raw.as_bytes().first() {
        None => Vec::new(),
        Some(b'"') => vec![ContentPiece::Text(raw)],
        Some(b'[') => {
            let mut pieces = Vec::new();
            // Of a broken list, what came before the error.
            _ = each(raw, |element: Raw<'_>| pieces.extend(piece(element.text())));
            pieces
        }
        Some(b'{') => piece(raw).into_iter().collect(),
        Some(_) if raw == "null" => Vec::new(),
        Some(_) => vec![ContentPiece::Data(raw)],
    }
}

pub(crate) fn piece(raw: &str) -> Option<ContentPiece<'_>> {
    if raw.starts_with('"') {
        return Some(ContentPiece::Text(raw));
    }
    let Ok(Some(block)) = object::<ContentBlock<'_>>(raw) else { return Some(ContentPiece::Data(raw)) };
    if let Some(result) = block.response {
        let wrapped = Some(result).fields::<GeminiResponse<'_>>().response;
        return wrapped.map(|wrapped| output(wrapped.text()));
    }
    if block.inline.or(block.inline_snake).or(block.file).is_some() {
        return Some(ContentPiece::Media(raw));
    }
    match (block.kind.string().as_deref(), block.text) {
        (
            Some("text" | "input_text" | "output_text" | "summary_text" | "reasoning_text" | "refusal")
            | None,
            Some(text),
        ) if text.is_string() => Some(ContentPiece::Text(text.text())),
        (
            Some(
                "image" | "image_url" | "input_image" | "input_audio" | "audio" | "video" | "media"
                | "document" | "file" | "input_file",
            ),
            _,
        ) => Some(ContentPiece::Media(raw)),
        (None, None) => Some(output(raw)),
        _ => Some(ContentPiece::Data(raw)),
    }
}

/// A wrapped result: its text if it is `{output: text}` or, of a failed tool, `{error: text}`.
fn output(raw: &str) -> ContentPiece<'_> {
    let wrapped = WrappedOutput::of(raw);
    match if wrapped.is_error() { wrapped.error } else { wrapped.output } {
        Some(text) if text.is_string() => ContentPiece::Text(text.text()),
        _ => ContentPiece::Data(raw),
    }
}

/// Whether a wrapped result is that of a failed tool. Only the keys `output` and `error` have a meaning; all others are
/// the tool's own.
pub(crate) fn is_error(raw: &str) -> bool {
    WrappedOutput::of(raw).is_error()
}

impl<'a> WrappedOutput<'a> {
    fn of(raw: &'a str) -> Self {
        object(raw).ok().flatten().unwrap_or_default()
    }

    fn is_error(self) -> bool {
        self.error.unless_null().is_some() && self.output.unless_null().is_none()
    }
}

pub(crate) fn sizes(raw: &str, measures: &Measures) -> Sizes {
    if raw.starts_with('"') {
        return sizes::of_json(raw, measures);
    }
    let mut sizes = Sizes { bytes: raw.len() as u64, ..Sizes::default() };
    let texts = Measures {
        weighted: measures.weighted,
        wide: measures.wide,
        tokens: measures.tokens,
        ..Measures::default()
    };
    for piece in pieces(raw) {
        let own = match piece {
            ContentPiece::Text(literal) => sizes::of_json(literal, &texts),
            ContentPiece::Data(value) => sizes::of_input(value, &texts),
            ContentPiece::Media(_) => {
                sizes.images += 1;
                continue;
            }
        };
        let joint = u64::from(sizes.blocks > 0);
        sizes.blocks += 1;
        sizes.units += own.units + joint;
        sizes.points += own.points + joint;
        sizes.weighted += own.weighted + joint;
        sizes.wide += own.wide + joint;
        sizes.tokens += own.tokens;
    }
    sizes::add_raw_measures(&mut sizes, raw, measures);
    if measures.trimmed.is_some() || measures.excerpt {
        let text = text(raw);
        if let Some(trim) = measures.trimmed {
            sizes.trimmed = sizes::trimmed_len(&text, utf16_len(&text), trim);
        }
        if measures.excerpt {
            sizes.excerpt = utf16_len(&secateur::excerpt(&text));
        }
    }
    sizes
}

/// The text of a content: its texts and other values, joined by line feeds.
pub(crate) fn text(raw: &str) -> Cow<'_, str> {
    let mut texts = pieces(raw).into_iter().filter_map(|piece| match piece {
        ContentPiece::Text(literal) => Some(decode(literal)),
        ContentPiece::Data(value) => Some(Cow::Owned(print(value, Printer::Compact))),
        ContentPiece::Media(_) => None,
    });
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    texts.fold(first, |all, next| Cow::Owned(format!("{all}\n{next}")))
}

/// The input of a tool as text: compact JSON, or the text that a string holds.
pub(crate) fn input(raw: &str) -> Cow<'_, str> {
    match raw.trim() {
        raw if raw.starts_with('"') => decode(raw),
        raw => Cow::Owned(print(raw, Printer::Compact)),
    }
}

/// What a literal holds behind its quote and the white space that follows, still escaped.
pub(crate) fn trimmed_start(literal: &str) -> &str {
    let mut text = literal.strip_prefix('"').unwrap_or_default();
    while let Some(rest) = [" ", r"\n", r"\r", r"\t"].iter().find_map(|blank| text.strip_prefix(blank)) {
        text = rest;
    }
    text
}

/// Whether the text of a content begins, white space aside, with an angle bracket or one of `marks`: so begins what a
/// program put in. The literal is not decoded for that.
pub(crate) fn is_tagged(raw: &str, marks: &[&str]) -> bool {
    let [ContentPiece::Text(literal), ..] = *pieces(raw) else { return false };
    let text = trimmed_start(literal);
    // Some JSON writers escape the bracket for browsers.
    let is_bracket = ["<", r"\u003c", r"\u003C"].into_iter().any(|bracket| text.starts_with(bracket));
    is_bracket || marks.iter().any(|mark| text.starts_with(mark))
}

/// Whether a content is exactly the placeholder that the measures name.
pub(crate) fn is_placeholder(raw: &str, measures: &Measures) -> bool {
    measures.placeholder.is_some()
        && matches!(*pieces(raw), [ContentPiece::Text(literal)] if sizes::is_placeholder(literal, measures))
}
