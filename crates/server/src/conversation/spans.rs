//! A request body as spans: where its messages lie, and the little that is asked about the rest.
//!
//! A body may have megabytes, and nearly all of it was there in the request before. So the list is walked element by
//! element, and whoever recognises the bytes at the place at hand says where the element ends; only what nobody knows
//! is looked through.

use std::ops::Range;

use secateur_formats::Wire;
use secateur_formats::json::{Reader, SyntaxError, decode};

/// Somebody who is shown the messages of a body, one after the other.
pub(crate) trait Eye {
    /// Where the message that begins here ends, if its bytes are known.
    fn recognise(&mut self, start: usize) -> Option<usize>;

    /// The next message.
    fn see(&mut self, message: Range<usize>);
}

/// What a request says beside its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Frame {
    pub model: Option<String>,
    /// The longest answer that it asks for.
    pub max_tokens: Option<i64>,
    /// The conversation lies at the provider, and this is only what is new in it.
    pub is_remote: bool,
    /// The provider is asked to keep the context small by itself.
    pub is_managed: bool,
    /// What the client calls the conversation.
    pub key: Option<String>,
    /// The list with its brackets.
    pub list: Range<usize>,
    /// Bytes of everything but the list.
    pub bytes: u64,
}

/// How deep the members of a body and its messages may nest. No provider takes as much.
pub(crate) const MOST_LEVELS: usize = 1_000;

/// Why a body is not understood.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Opaque {
    /// It is not JSON.
    #[error("the body is not JSON: {0}")]
    Syntax(#[from] SyntaxError),
    /// It is not even text.
    #[error("the body is not UTF-8")]
    NoText,
    /// It has no list of messages, or several.
    #[error("the body has no list of messages, or not just one")]
    NoList,
}

/// The member that holds the messages.
fn list_name(wire: Wire) -> &'static str {
    match wire {
        Wire::Anthropic | Wire::OpenAiChat => "\"messages\"",
        Wire::OpenAiResponses => "\"input\"",
        Wire::Gemini => "\"contents\"",
    }
}

/// Reads a body.
pub(crate) fn read(wire: Wire, text: &str, eye: &mut impl Eye) -> Result<Frame, Opaque> {
    let mut frame = Frame::default();
    let mut list = None;
    let mut reader = Reader::new(text).passing_at_most(MOST_LEVELS);
    reader.pass_mark(b'{', "'{'")?;
    if reader.peek()? == b'}' {
        return Err(Opaque::NoList);
    }
    loop {
        let name = reader.pass_over()?;
        reader.pass_mark(b':', "':'")?;
        if name == list_name(wire) && reader.peek()? == b'[' {
            let start = reader.offset();
            walk(&mut reader, eye)?;
            if list.replace(start..reader.offset()).is_some() {
                return Err(Opaque::NoList);
            }
        } else {
            frame.take(name, reader.pass_over()?);
        }
        if reader.peek()? == b'}' {
            reader.pass_mark(b'}', "'}'")?;
            break;
        }
        reader.pass_mark(b',', "',' or '}'")?;
        if reader.peek()? != b'"' {
            return Err(Opaque::NoList);
        }
    }
    reader.end()?;
    frame.list = list.ok_or(Opaque::NoList)?;
    frame.bytes = (text.len() - frame.list.len()) as u64;
    Ok(frame)
}

/// Walks over the list at hand.
fn walk(reader: &mut Reader<'_>, eye: &mut impl Eye) -> Result<(), Opaque> {
    reader.pass_mark(b'[', "'['")?;
    if reader.peek()? == b']' {
        reader.pass_mark(b']', "']'")?;
        return Ok(());
    }
    loop {
        if reader.peek()? != b'{' {
            return Err(Opaque::NoList);
        }
        let start = reader.offset();
        match eye.recognise(start) {
            Some(end) => reader.seek(end),
            None => drop(reader.pass_over()?),
        }
        eye.see(start..reader.offset());
        if reader.peek()? == b']' {
            reader.pass_mark(b']', "']'")?;
            return Ok(());
        }
        reader.pass_mark(b',', "',' or ']'")?;
    }
}

impl Frame {
    fn take(&mut self, name: &str, value: &str) {
        let is_set = value != "null";
        match name {
            "\"model\"" if value.starts_with('"') => self.model = Some(decode(value).into_owned()),
            "\"max_tokens\"" | "\"max_completion_tokens\"" | "\"max_output_tokens\"" => {
                self.max_tokens = value.parse().ok().or(self.max_tokens);
            }
            "\"generationConfig\"" | "\"generation_config\"" => {
                let config: serde_json::Value = serde_json::from_str(value).unwrap_or_default();
                self.max_tokens = config["maxOutputTokens"].as_i64().or(self.max_tokens);
            }
            "\"previous_response_id\"" | "\"conversation\"" | "\"cachedContent\"" => self.is_remote |= is_set,
            "\"truncation\"" => self.is_managed |= value == "\"auto\"",
            "\"context_management\"" => self.is_managed |= clears(value),
            "\"prompt_cache_key\"" if value.starts_with('"') => self.key = Some(decode(value).into_owned()),
            _ => {}
        }
    }
}

/// Whether a provider is asked to clear tool results or to compact. Clearing thinking is none of our business.
fn clears(value: &str) -> bool {
    ["\"clear_tool_uses", "\"compact"].iter().any(|edit| value.contains(edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sees everything and knows what it is told.
    #[derive(Default)]
    struct Seen(Vec<Range<usize>>, Vec<Range<usize>>);

    impl Eye for Seen {
        fn recognise(&mut self, start: usize) -> Option<usize> {
            self.1.iter().find(|known| known.start == start).map(|known| known.end)
        }

        fn see(&mut self, message: Range<usize>) {
            self.0.push(message);
        }
    }

    fn messages(wire: Wire, text: &str) -> (Result<Frame, Opaque>, Vec<&str>) {
        let mut seen = Seen::default();
        let frame = read(wire, text, &mut seen);
        let known = Seen(Vec::new(), seen.0.clone());
        let again = &mut { known };
        assert_eq!(read(wire, text, again), frame);
        assert_eq!(again.0, seen.0, "what is recognised ends where it ended before");
        (frame, seen.0.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn messages_are_found_wherever_the_list_stands() {
        let text = r#" {"model" : "m\u0061", "messages" : [ {"a":"]}"} ,{"b":[]}, {}],"max_tokens":9 } "#;
        let (frame, found) = messages(Wire::Anthropic, text);
        let frame = frame.unwrap();
        assert_eq!(found, [r#"{"a":"]}"}"#, r#"{"b":[]}"#, "{}"]);
        assert_eq!((frame.model.as_deref(), frame.max_tokens), (Some("ma"), Some(9)));
        assert_eq!(&text[frame.list.clone()], r#"[ {"a":"]}"} ,{"b":[]}, {}]"#);
        assert_eq!(frame.bytes as usize, text.len() - frame.list.len());
    }

    #[test]
    fn what_is_kept_elsewhere_or_by_others_is_noticed() {
        let frame = |wire, text| messages(wire, text).0.unwrap();
        let responses = Wire::OpenAiResponses;
        assert!(frame(responses, r#"{"input":[],"previous_response_id":"resp_1"}"#).is_remote);
        assert!(!frame(responses, r#"{"input":[],"previous_response_id":null}"#).is_remote);
        assert!(frame(responses, r#"{"truncation":"auto","input":[]}"#).is_managed);
        let clearing =
            r#"{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"messages":[]}"#;
        assert!(frame(Wire::Anthropic, clearing).is_managed);
        let thinking =
            r#"{"context_management":{"edits":[{"type":"clear_thinking_20251015"}]},"messages":[]}"#;
        assert!(!frame(Wire::Anthropic, thinking).is_managed);
        let gemini = r#"{"contents":[],"generationConfig":{"maxOutputTokens":77}}"#;
        assert_eq!(frame(Wire::Gemini, gemini).max_tokens, Some(77));
    }

    #[test]
    fn what_is_no_conversation_is_not_understood() {
        for text in [
            "",
            "[]",
            "{}",
            "{\"messages\":\"hi\"}",
            "{\"messages\":[1]}",
            "{\"messages\":[],\"messages\":[]}",
        ] {
            assert!(messages(Wire::OpenAiChat, text).0.is_err(), "{text}");
        }
        for text in
            ["{\"messages\":[{}", "{\"messages\":[{}]", "{\"messages\":[{}]} x", "{\"messages\":[{},]}"]
        {
            assert!(messages(Wire::OpenAiChat, text).0.is_err(), "{text}");
        }
    }
}
