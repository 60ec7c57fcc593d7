//! The beginning and the end of a part's text.
//!
//! Results may be huge, and their first and last lines matter most. So only those are decoded: of a long literal, two
//! pieces are cut out of the raw text without breaking an escape.

use std::borrow::Cow;

use secateur::PartIx;
use secateur_formats::json::fields::{each, object};
use secateur_formats::json::{Fields, Raw, decode};
use secateur_formats::{Format, Transcript};
use serde::de::{IgnoredAny, MapAccess};

/// A text, or its beginning and its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TextEnds<'a> {
    /// The text from its beginning on.
    pub(super) head: Cow<'a, str>,
    /// The end of a text that is too long to be read whole.
    pub(super) tail: Option<Cow<'a, str>>,
}

impl<'a> TextEnds<'a> {
    /// The text of a part. If it is longer than twice `span` bytes in its encoded form, that much of both ends.
    pub(super) fn of(transcript: &'a Transcript<'_>, part: PartIx, span: usize) -> Self {
        let raw = transcript.content(part).unwrap_or_default().trim();
        if transcript.format == Format::Aider || raw.len() <= 2 * span {
            return Self { head: transcript.text_of(part), tail: None };
        }
        match raw.as_bytes().first() {
            Some(b'"') => Self::of_literals(raw, raw, span),
            Some(b'[') => {
                let (mut first, mut last) = (None, None);
                // Of a broken list, the elements before the error.
                _ = each(raw, |element: Raw<'_>| {
                    let text = literal(element.text());
                    first = first.or(text);
                    last = text.or(last);
                });
                match (first, last) {
                    (Some(first), Some(last)) => Self::of_literals(first, last, span),
                    _ => Self::default(),
                }
            }
            _ => match literal(raw) {
                Some(text) => Self::of_literals(text, text, span),
                None => Self::of_text(raw, span),
            },
        }
    }

    /// From the beginning of one literal to the end of another, or of the same.
    fn of_literals(first: &'a str, last: &'a str, span: usize) -> Self {
        if std::ptr::eq(first, last) && first.len() <= 2 * span {
            return Self { head: decode(first), tail: None };
        }
        Self {
            head: whole_words(head(first, span), Edge::ListEnd),
            tail: Some(whole_words(tail(last, span), Edge::Start)),
        }
    }

    fn of_text(text: &'a str, span: usize) -> Self {
        let head = text.get(..text.floor_char_boundary(span)).unwrap_or_default();
        let tail = text.get(text.ceil_char_boundary(text.len() - span)..).unwrap_or_default();
        Self { head: Cow::Borrowed(head), tail: Some(Cow::Borrowed(tail)) }
    }

    /// The end of the text.
    pub(super) fn end(&self) -> &str {
        self.tail.as_deref().unwrap_or(&self.head)
    }

    /// Both ends as one text.
    pub(super) fn joined(&self) -> Cow<'_, str> {
        match &self.tail {
            None => Cow::Borrowed(&*self.head),
            Some(tail) => Cow::Owned(format!("{}\n…\n{tail}", self.head)),
        }
    }
}

/// The members of a block, or of a wrapped result, that may contain its text.
#[derive(Default)]
struct ContentBlock<'a> {
    text: Option<Raw<'a>>,
}

impl<'a> Fields<'a> for ContentBlock<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "text" | "output" | "error" | "content" => {
                let value: Raw<'a> = map.next_value()?;
                self.text = Some(value).filter(|value| value.is_string()).or(self.text);
                Ok(())
            }
            _ => map.next_value::<IgnoredAny>().map(drop),
        }
    }
}

/// The literal with the text of a block, or the block itself if it is one.
fn literal(raw: &str) -> Option<&str> {
    if raw.starts_with('"') {
        return Some(raw);
    }
    object::<ContentBlock<'_>>(raw).ok().flatten()?.text.map(Raw::text)
}

/// The decoded beginning of a literal.
fn head(literal: &str, span: usize) -> Cow<'_, str> {
    if literal.len() <= span {
        return decode(literal);
    }
    let mut piece = literal.get(1..literal.floor_char_boundary(span)).unwrap_or_default();
    // No escape is longer than six bytes. The last backslash begins one unless another escapes it.
    if let Some(at) = piece.rfind('\\').filter(|at| at + 6 > piece.len()) {
        let before = piece.get(..at).unwrap_or_default();
        if is_even(before) {
            piece = before;
        }
    }
    unquoted(piece)
}

/// The decoded end of a literal.
fn tail(literal: &str, span: usize) -> Cow<'_, str> {
    if literal.len() <= span {
        return decode(literal);
    }
    let body = literal.strip_suffix('"').unwrap_or(literal);
    let mut start = body.ceil_char_boundary(body.len().saturating_sub(span));
    // An open escape is followed by its letter, which alone would mean something else. Hex digits are harmless.
    if !is_even(body.get(..start).unwrap_or_default()) {
        start = body.ceil_char_boundary(start + 1);
    }
    unquoted(body.get(start..).unwrap_or_default())
}

/// Where a text was cut.
#[derive(Clone, Copy)]
enum Edge {
    Start,
    ListEnd,
}

/// A text without the word that was cut in two: half of an id is a wrong id, and half of a credential is not
/// recognised as one. Without white space nearby, nothing counts as a word.
fn whole_words(text: Cow<'_, str>, edge: Edge) -> Cow<'_, str> {
    const NEAR: usize = 256;
    let range = match edge {
        Edge::Start => {
            let near = text.get(..text.floor_char_boundary(NEAR)).unwrap_or_default();
            near.find(char::is_whitespace).unwrap_or(0)..text.len()
        }
        Edge::ListEnd => {
            let from = text.ceil_char_boundary(text.len().saturating_sub(NEAR));
            let near = text.get(from..).unwrap_or_default();
            0..near.rfind(char::is_whitespace).map_or(text.len(), |at| from + at)
        }
    };
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.get(range).unwrap_or_default()),
        Cow::Owned(text) => Cow::Owned(text.get(range).unwrap_or_default().to_owned()),
    }
}

/// Whether a text ends in an even number of backslashes, so that none of them is open.
fn is_even(text: &str) -> bool {
    text.bytes().rev().take_while(|&byte| byte == b'\\').count() % 2 == 0
}

/// A piece of a literal, decoded.
fn unquoted(piece: &str) -> Cow<'_, str> {
    if piece.contains('\\') {
        return Cow::Owned(decode(&format!("\"{piece}\"")).into_owned());
    }
    Cow::Borrowed(piece)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use secateur::{Measures, PartKind};
    use secateur_formats::Wire;
    use serde_json::json;

    use super::*;

    #[test]
    fn blocks_and_wrapped_answers_are_looked_into() {
        let long = "x".repeat(90);
        let body = json!({"messages": [{"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a", "content": [
                {"type": "text", "text": format!("begin {long}")}, {"type": "image", "source": {}},
                {"type": "text", "text": format!("{long} end")}]}]}]})
        .to_string();
        let format = Format::Request(Wire::Anthropic);
        let transcript = secateur_formats::read_as(body.as_bytes(), format, &Measures::default()).unwrap();
        let part = transcript.outline.parts().find(|&part| transcript.outline.kind(part) == PartKind::Result);
        let ends = TextEnds::of(&transcript, part.unwrap(), 20);
        // The long words were cut in two, so they are left out.
        assert_eq!(ends.joined(), "begin\n…\n end");
    }

    proptest! {
        #[test]
        fn both_ends_of_a_literal_are_those_of_its_text(text in "[a\"\\\\\n\u{1}é😀]{0,80}", span in 2..120_usize) {
            let literal = serde_json::to_string(&text).unwrap();
            let ends = TextEnds::of_literals(&literal, &literal, span);
            prop_assert!(text.starts_with(&*ends.head));
            match &ends.tail {
                None => prop_assert_eq!(&*ends.head, &*text),
                // A tail may begin within an escape of hex digits; it is right from the first whole character on.
                Some(tail) => {
                    let whole = tail.trim_start_matches(|letter: char| letter.is_ascii_hexdigit() || letter == 'u');
                    prop_assert!(text.ends_with(whole));
                    prop_assert!(ends.head.len() + tail.len() <= 2 * span);
                }
            }
        }
    }
}
