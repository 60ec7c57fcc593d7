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

/// How much of a body is looked at before anything in it is recognised: what stands before the messages, and the first.
const BEGINNING: usize = 64 << 10;

/// Reads a body.
///
/// What is recognised was found to be text before, and is not looked at again.
pub(crate) fn read(wire: Wire, body: &[u8], eye: &mut impl Eye) -> Result<Frame, Opaque> {
    let begun = begin(wire, body, eye);
    let base = begun.as_ref().map_or(0, |begun| begun.at);
    let rest = body.get(base..).unwrap_or_default();
    let rest = simdutf8::basic::from_utf8(rest).map_err(|_| Opaque::NoText)?;
    let mut frame = go_on(wire, rest, begun, eye).map_err(|error| error.behind(base))?;
    frame.bytes = (body.len() - frame.list.len()) as u64;
    Ok(frame)
}

/// A body that was read as far as its messages are known.
struct Begun {
    frame: Frame,
    /// Where the list begins.
    list: usize,
    /// Where to go on, and what is there.
    at: usize,
    next: Next,
}

/// What comes next in the list.
#[derive(Clone, Copy)]
enum Next {
    /// Its first message, if it has any.
    First,
    /// A comma and another message, or its end.
    Another,
}

/// Reads the beginning of a body and passes over the messages behind it that are known. None if it is not like others.
fn begin(wire: Wire, body: &[u8], eye: &mut impl Eye) -> Option<Begun> {
    let text = beginning(body);
    let mut reader = Reader::new(text).passing_at_most(MOST_LEVELS);
    let mut frame = Frame::default();
    reader.pass_mark(b'{', "'{'").ok()?;
    let list = loop {
        let name = reader.pass_over().ok()?;
        reader.pass_mark(b':', "':'").ok()?;
        if name == list_name(wire) && reader.peek().ok()? == b'[' {
            break reader.offset();
        }
        frame.take(name, reader.pass_over().ok()?);
        reader.pass_mark(b',', "','").ok()?;
        reader.peek().ok().filter(|first| *first == b'"')?;
    };
    let mut begun = Begun { frame, list, at: list + 1, next: Next::First };
    let mut next = begun.at;
    while let Some((start, b'{')) = glance(body, next) {
        let known = eye.recognise(start);
        let end = known.or_else(|| {
            reader.seek(start);
            reader.pass_over().is_ok().then(|| reader.offset())
        });
        let Some(end) = end else { break };
        eye.see(start..end);
        (begun.at, begun.next) = (end, Next::Another);
        let Some((comma, b',')) = glance(body, end) else { break };
        next = comma + 1;
    }
    Some(begun)
}

/// The beginning of a body, as far as it is text.
fn beginning(body: &[u8]) -> &str {
    let bytes = body.get(..BEGINNING).unwrap_or(body);
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be cut in half.
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|text| std::str::from_utf8(text).ok())
            .unwrap_or_default(),
    }
}

/// The first byte from here on that is no space, and where it stands.
fn glance(body: &[u8], from: usize) -> Option<(usize, u8)> {
    let rest = body.get(from..)?;
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    Some((from + spaces, *rest.get(spaces)?))
}

/// Reads the rest of a body, or all of it if it was not begun.
fn go_on(wire: Wire, rest: &str, begun: Option<Begun>, eye: &mut impl Eye) -> Result<Frame, Opaque> {
    let mut reader = Reader::new(rest).passing_at_most(MOST_LEVELS);
    let (mut frame, mut list) = (Frame::default(), None);
    let mut is_between = begun.is_some();
    if let Some(begun) = begun {
        walk(&mut reader, begun.at, begun.next, eye)?;
        list = Some(begun.list..begun.at + reader.offset());
        frame = begun.frame;
    } else {
        reader.pass_mark(b'{', "'{'")?;
        if reader.peek()? == b'}' {
            return Err(Opaque::NoList);
        }
    }
    loop {
        if is_between {
            if reader.peek()? == b'}' {
                reader.pass_mark(b'}', "'}'")?;
                break;
            }
            reader.pass_mark(b',', "',' or '}'")?;
            if reader.peek()? != b'"' {
                return Err(Opaque::NoList);
            }
        }
        is_between = true;
        let name = reader.pass_over()?;
        reader.pass_mark(b':', "':'")?;
        if name != list_name(wire) || reader.peek()? != b'[' {
            frame.take(name, reader.pass_over()?);
            continue;
        }
        if list.is_some() {
            return Err(Opaque::NoList);
        }
        let start = reader.offset();
        reader.pass_mark(b'[', "'['")?;
        // Only a body that was not begun comes here, so that places in the rest are places in the body.
        walk(&mut reader, 0, Next::First, eye)?;
        list = Some(start..reader.offset());
    }
    reader.end()?;
    frame.list = list.ok_or(Opaque::NoList)?;
    Ok(frame)
}

/// Walks over the rest of a list. The reader's text begins at this place of the body.
fn walk(reader: &mut Reader<'_>, base: usize, next: Next, eye: &mut impl Eye) -> Result<(), Opaque> {
    match next {
        Next::First if reader.peek()? == b']' => return Ok(reader.pass_mark(b']', "']'")?),
        Next::Another if !has_another(reader)? => return Ok(()),
        _ => {}
    }
    loop {
        if reader.peek()? != b'{' {
            return Err(Opaque::NoList);
        }
        let start = base + reader.offset();
        match eye.recognise(start) {
            Some(end) => reader.seek(end - base),
            None => drop(reader.pass_over()?),
        }
        eye.see(start..base + reader.offset());
        if !has_another(reader)? {
            return Ok(());
        }
    }
}

/// Passes over the comma before another message, or over the end of the list.
fn has_another(reader: &mut Reader<'_>) -> Result<bool, Opaque> {
    if reader.peek()? == b']' {
        reader.pass_mark(b']', "']'")?;
        return Ok(false);
    }
    reader.pass_mark(b',', "',' or ']'")?;
    Ok(true)
}

impl Opaque {
    /// The same mistake in a text that begins this far in the body.
    fn behind(self, base: usize) -> Self {
        match self {
            Self::Syntax(error) => Self::Syntax(error.behind(base)),
            other => other,
        }
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
        let frame = read(wire, text.as_bytes(), &mut seen);
        let known = Seen(Vec::new(), seen.0.clone());
        let again = &mut { known };
        assert_eq!(read(wire, text.as_bytes(), again), frame);
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
    fn long_bodies_are_read_to_their_end_whatever_is_known_of_them() {
        let message = |at: usize| format!(r#"{{"role":"user","content":"{at} {}"}}"#, "→".repeat(400 + at));
        let said: Vec<String> = (0..200).map(message).collect();
        for before in ["", r#""system":"→→","#] {
            let text =
                format!(r#"{{"model":"m",{before}"messages":[{}],"max_tokens":9}}"#, said.join(" ,\n"));
            let (frame, found) = messages(Wire::Anthropic, &text);
            assert_eq!(
                (frame.unwrap().max_tokens, found),
                (Some(9), said.iter().map(String::as_str).collect())
            );
        }
        // What stands before the messages is longer than what is looked at first.
        let text = format!(r#"{{"system":"{}","messages":[{}]}}"#, "s".repeat(BEGINNING), said.join(","));
        assert_eq!(messages(Wire::Anthropic, &text).1.len(), 200);
    }

    #[test]
    fn mistakes_behind_what_is_known_are_found_in_their_places() {
        let text = format!(r#"{{"messages":[{{"a":"{}"}},{{}} ?]}}"#, "x".repeat(2 * BEGINNING));
        let (frame, found) = messages(Wire::Anthropic, &text);
        assert_eq!(found.len(), 2);
        let expected =
            format!("the body is not JSON: expected ',' or ']' at byte {}", text.find('?').unwrap());
        assert_eq!(frame.unwrap_err().to_string(), expected);
        for place in [20, BEGINNING + 20] {
            let mut bytes =
                format!(r#"{{"messages":[{{"a":"{}"}}]}}"#, "x".repeat(2 * BEGINNING)).into_bytes();
            bytes[place] = 0xff;
            assert_eq!(read(Wire::Anthropic, &bytes, &mut Seen::default()), Err(Opaque::NoText), "{place}");
        }
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
