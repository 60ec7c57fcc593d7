//! A tool's input: an object wherever it is one, however its source wrapped it.

use std::borrow::Cow;

use serde::de::IgnoredAny;

use crate::json::{Token, decode, encode, tokens};

/// A tool's input.
pub(crate) enum PairedInput<'a> {
    /// An object, in the spelling of its source.
    Object(Cow<'a, str>),
    /// Free text, of a tool that takes no JSON.
    Text(Cow<'a, str>),
}

impl<'a> PairedInput<'a> {
    /// The input that a raw value stands for; none is an empty one.
    pub(crate) fn of(raw: Option<&'a str>) -> Self {
        let raw = raw.map_or("null", str::trim);
        match raw.as_bytes().first() {
            Some(b'{') if is_json(raw) => PairedInput::Object(with_whole_pairs(Cow::Borrowed(raw))),
            Some(b'"') => {
                let text = decode(raw);
                let text = if text.trim().is_empty() { Cow::Borrowed("{}") } else { text };
                if text.trim_start().starts_with('{') && is_json(&text) {
                    PairedInput::Object(with_whole_pairs(text))
                } else {
                    PairedInput::Text(text)
                }
            }
            None => PairedInput::Object(Cow::Borrowed("{}")),
            Some(_) if raw == "null" => PairedInput::Object(Cow::Borrowed("{}")),
            Some(_) if is_json(raw) => {
                PairedInput::Object(with_whole_pairs(Cow::Owned(format!("{{\"input\":{raw}}}"))))
            }
            Some(_) => PairedInput::Text(Cow::Borrowed(raw)),
        }
    }

    /// The input as an object: free text becomes its member `input`.
    pub(crate) fn object(&self) -> Cow<'_, str> {
        match self {
            PairedInput::Object(object) => Cow::Borrowed(object),
            PairedInput::Text(text) => Cow::Owned(format!("{{\"input\":{}}}", encode(text))),
        }
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

/// The value without lone surrogates, which providers refuse. Everything else stays as it is written.
pub(crate) fn with_whole_pairs(raw: Cow<'_, str>) -> Cow<'_, str> {
    if !raw.contains("\\ud") && !raw.contains("\\uD") {
        return raw;
    }
    let mut whole = String::with_capacity(raw.len());
    let mut past = 0;
    for (at, token) in tokens(&raw) {
        if let Token::String(literal) | Token::Key(literal) = token
            && decode(literal).contains('\u{fffd}')
        {
            whole.push_str(raw.get(past..at).unwrap_or_default());
            whole.push_str(&encode(&decode(literal)));
            past = at + literal.len();
        }
    }
    whole.push_str(raw.get(past..).unwrap_or_default());
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_every_wrapping() {
        for (raw, object) in [
            (Some(r#"{"a": 1.50}"#), r#"{"a": 1.50}"#),
            (Some(r#""{\"a\": 1.50}""#), r#"{"a": 1.50}"#),
            (Some(r#""ls -l""#), r#"{"input":"ls -l"}"#),
            (Some(r#""{broken""#), r#"{"input":"{broken"}"#),
            (Some("[1]"), r#"{"input":[1]}"#),
            (Some("null"), "{}"),
            (Some(r#""""#), "{}"),
            (None, "{}"),
        ] {
            assert_eq!(PairedInput::of(raw).object(), object, "{raw:?}");
        }
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_whole_ones_stay() {
        let raw = r#"{"a":"\ud83d\ude00 \u00e9", "b": ["\ud83d"]}"#;
        assert_eq!(PairedInput::of(Some(raw)).object(), raw.replace(r#"["\ud83d"]"#, "[\"\u{fffd}\"]"));
    }
}
