//! Finds the messages of a request body, and what the proxy needs of its envelope.
//!
//! A body may have megabytes, nearly all of which were in the request before. So the visitor of the messages is asked
//! first whether it recognises the next bytes as a known message; only unknown messages are parsed.

use std::ops::Range;

use secateur_formats::Wire;
use secateur_formats::json::{Reader, SyntaxError, decode};
use secateur_formats::thinking::ThinkingMember;

/// Visits the messages of a body, one after the other.
pub(crate) trait MessageVisitor {
    /// The end of the message that begins here, if its bytes are known.
    fn recognise(&mut self, start: usize) -> Option<usize>;

    /// The next message.
    fn visit(&mut self, message: Range<usize>);
}

/// What the proxy needs of everything but the messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    pub model: Option<String>,
    /// The longest response that it allows, in tokens.
    pub max_tokens: Option<i64>,
    /// The provider holds the history, and this request has only what is new.
    pub is_remote: bool,
    /// The provider is asked to manage the context.
    pub is_managed: bool,
    /// What the client calls the conversation.
    pub key: Option<String>,
    /// The range of the member `thinking`.
    pub thinking: Option<Range<usize>>,
    /// What it says.
    pub thinking_member: ThinkingMember,
    /// The range of the member `context_management`.
    pub context_management: Option<Range<usize>>,
    /// The range of the message list, with its brackets.
    pub list: Range<usize>,
    /// The length of everything but the list.
    pub bytes: u64,
}

/// How deep a body may nest. No provider accepts as much.
pub(crate) const MAX_DEPTH: usize = 1_000;

/// Why a body has no conversation that can be read.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnreadableBody {
    /// It is not JSON.
    #[error("the body is not JSON: {0}")]
    Syntax(#[from] SyntaxError),
    /// It is not UTF-8.
    #[error("the body is not UTF-8")]
    NotUtf8,
    /// It has a NUL byte, which JSON does not allow and not every store can hold.
    #[error("the body has a NUL byte, which JSON writes as \\u0000")]
    Nul,
    /// It does not have exactly one list of messages.
    #[error("the body does not have exactly one list of messages")]
    NoMessages,
}

/// How much of a body is parsed before anything in it can be recognised: what precedes the messages, and the first one.
const HEAD_LENGTH: usize = 64 << 10;

/// Reads a body. Recognised messages are known to be UTF-8 and are not checked again.
pub(crate) fn read(
    wire: Wire,
    body: &[u8],
    visitor: &mut impl MessageVisitor,
) -> Result<Envelope, UnreadableBody> {
    if memchr::memchr(0, body).is_some() {
        return Err(UnreadableBody::Nul);
    }
    let begun = read_known(wire, body, visitor);
    let base = begun.as_ref().map_or(0, |begun| begun.at);
    let rest = body.get(base..).unwrap_or_default();
    let rest = simdutf8::basic::from_utf8(rest).map_err(|_| UnreadableBody::NotUtf8)?;
    let mut envelope = read_rest(wire, rest, begun, visitor).map_err(|error| error.behind(base))?;
    envelope.bytes = (body.len() - envelope.list.len()) as u64;
    Ok(envelope)
}

/// A body that was read as far as its messages are known.
struct KnownPart {
    envelope: Envelope,
    /// Where the list begins.
    list: usize,
    /// Where to continue, and what follows there.
    at: usize,
    next: ListPosition,
}

/// What follows in the list.
#[derive(Clone, Copy)]
enum ListPosition {
    /// Its first message, if it has any.
    First,
    /// A comma and another message, or its end.
    Another,
}

/// Reads the beginning of a body, and skips the known messages after it. None if it is not as usual.
fn read_known(wire: Wire, body: &[u8], visitor: &mut impl MessageVisitor) -> Option<KnownPart> {
    let text = beginning(body);
    let mut reader = Reader::new(text).passing_at_most(MAX_DEPTH);
    let mut envelope = Envelope::default();
    reader.pass_mark(b'{', "'{'").ok()?;
    let list = loop {
        let name = reader.pass_over().ok()?;
        reader.pass_mark(b':', "':'").ok()?;
        if name == wire.spec().messages_key && reader.peek().ok()? == b'[' {
            break reader.offset();
        }
        let value = reader.pass_over().ok()?;
        envelope.take(name, value, reader.offset());
        reader.pass_mark(b',', "','").ok()?;
        reader.peek().ok().filter(|first| *first == b'"')?;
    };
    let mut begun = KnownPart { envelope, list, at: list + 1, next: ListPosition::First };
    let mut next = begun.at;
    while let Some((start, b'{')) = next_byte(body, next) {
        let known = visitor.recognise(start);
        let end = known.or_else(|| {
            reader.seek(start);
            reader.pass_over().is_ok().then(|| reader.offset())
        });
        let Some(end) = end else { break };
        visitor.visit(start..end);
        (begun.at, begun.next) = (end, ListPosition::Another);
        let Some((comma, b',')) = next_byte(body, end) else { break };
        next = comma + 1;
    }
    Some(begun)
}

/// The beginning of a body, as far as it is UTF-8.
fn beginning(body: &[u8]) -> &str {
    let bytes = body.get(..HEAD_LENGTH).unwrap_or(body);
    match std::str::from_utf8(bytes) {
        Ok(text) => text,
        // The last character may be cut in half.
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|text| std::str::from_utf8(text).ok())
            .unwrap_or_default(),
    }
}

/// The first byte from here on that is not white space, and its position.
fn next_byte(body: &[u8], from: usize) -> Option<(usize, u8)> {
    let rest = body.get(from..)?;
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t')).count();
    Some((from + spaces, *rest.get(spaces)?))
}

/// Reads the rest of a body, or all of it if its beginning was not read.
fn read_rest(
    wire: Wire,
    rest: &str,
    begun: Option<KnownPart>,
    visitor: &mut impl MessageVisitor,
) -> Result<Envelope, UnreadableBody> {
    let mut reader = Reader::new(rest).passing_at_most(MAX_DEPTH);
    let (mut envelope, mut list) = (Envelope::default(), None);
    let mut is_between = begun.is_some();
    let base = begun.as_ref().map_or(0, |begun| begun.at);
    if let Some(begun) = begun {
        walk(&mut reader, begun.at, begun.next, visitor)?;
        list = Some(begun.list..begun.at + reader.offset());
        envelope = begun.envelope;
    } else {
        reader.pass_mark(b'{', "'{'")?;
        if reader.peek()? == b'}' {
            return Err(UnreadableBody::NoMessages);
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
                return Err(UnreadableBody::NoMessages);
            }
        }
        is_between = true;
        let name = reader.pass_over()?;
        reader.pass_mark(b':', "':'")?;
        if name != wire.spec().messages_key || reader.peek()? != b'[' {
            let value = reader.pass_over()?;
            envelope.take(name, value, base + reader.offset());
            continue;
        }
        if list.is_some() {
            return Err(UnreadableBody::NoMessages);
        }
        let start = reader.offset();
        reader.pass_mark(b'[', "'['")?;
        // Only reached if the beginning was not read, so positions in the rest are positions in the body.
        walk(&mut reader, 0, ListPosition::First, visitor)?;
        list = Some(start..reader.offset());
    }
    reader.end()?;
    envelope.list = list.ok_or(UnreadableBody::NoMessages)?;
    Ok(envelope)
}

/// Visits the rest of a list. The reader's text begins at this position of the body.
fn walk(
    reader: &mut Reader<'_>,
    base: usize,
    next: ListPosition,
    visitor: &mut impl MessageVisitor,
) -> Result<(), UnreadableBody> {
    match next {
        ListPosition::First if reader.peek()? == b']' => return Ok(reader.pass_mark(b']', "']'")?),
        ListPosition::Another if !has_another(reader)? => return Ok(()),
        _ => {}
    }
    loop {
        if reader.peek()? != b'{' {
            return Err(UnreadableBody::NoMessages);
        }
        let start = base + reader.offset();
        match visitor.recognise(start) {
            Some(end) => reader.seek(end - base),
            None => drop(reader.pass_over()?),
        }
        visitor.visit(start..base + reader.offset());
        if !has_another(reader)? {
            return Ok(());
        }
    }
}

/// Skips the comma before another message, or the end of the list.
fn has_another(reader: &mut Reader<'_>) -> Result<bool, UnreadableBody> {
    if reader.peek()? == b']' {
        reader.pass_mark(b']', "']'")?;
        return Ok(false);
    }
    reader.pass_mark(b',', "',' or ']'")?;
    Ok(true)
}

impl UnreadableBody {
    /// The same error in a text that begins at this position of the body.
    fn behind(self, base: usize) -> Self {
        match self {
            Self::Syntax(error) => Self::Syntax(error.behind(base)),
            other => other,
        }
    }
}

impl Envelope {
    /// Takes a member whose value ends at this position of the body.
    fn take(&mut self, name: &str, value: &str, end: usize) {
        let is_set = value != "null";
        let range = || Some(end - value.len()..end);
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
            "\"context_management\"" => {
                self.is_managed |= clears(value);
                self.context_management = range();
            }
            "\"thinking\"" => {
                (self.thinking, self.thinking_member) = (range(), ThinkingMember::read(value));
            }
            "\"prompt_cache_key\"" if value.starts_with('"') => self.key = Some(decode(value).into_owned()),
            _ => {}
        }
    }
}

/// Whether a provider is asked to clear tool results or to compact. Clearing thinking does not matter here.
fn clears(value: &str) -> bool {
    ["\"clear_tool_uses", "\"compact"].iter().any(|edit| value.contains(edit))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records the messages, and recognises those that it is given.
    #[derive(Default)]
    struct Seen(Vec<Range<usize>>, Vec<Range<usize>>);

    impl MessageVisitor for Seen {
        fn recognise(&mut self, start: usize) -> Option<usize> {
            self.1.iter().find(|known| known.start == start).map(|known| known.end)
        }

        fn visit(&mut self, message: Range<usize>) {
            self.0.push(message);
        }
    }

    fn messages(wire: Wire, text: &str) -> (Result<Envelope, UnreadableBody>, Vec<&str>) {
        let mut seen = Seen::default();
        let envelope = read(wire, text.as_bytes(), &mut seen);
        let known = Seen(Vec::new(), seen.0.clone());
        let again = &mut { known };
        assert_eq!(read(wire, text.as_bytes(), again), envelope);
        assert_eq!(again.0, seen.0, "what is recognised ends where it ended before");
        (envelope, seen.0.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn messages_are_found_wherever_the_list_stands() {
        let text = r#" {"model" : "m\u0061", "messages" : [ {"a":"]}"} ,{"b":[]}, {}],"max_tokens":9 } "#;
        let (envelope, found) = messages(Wire::Anthropic, text);
        let envelope = envelope.unwrap();
        assert_eq!(found, [r#"{"a":"]}"}"#, r#"{"b":[]}"#, "{}"]);
        assert_eq!((envelope.model.as_deref(), envelope.max_tokens), (Some("ma"), Some(9)));
        assert_eq!(&text[envelope.list.clone()], r#"[ {"a":"]}"} ,{"b":[]}, {}]"#);
        assert_eq!(envelope.bytes as usize, text.len() - envelope.list.len());
    }

    #[test]
    fn long_bodies_are_read_to_their_end_whatever_is_known_of_them() {
        let message = |at: usize| format!(r#"{{"role":"user","content":"{at} {}"}}"#, "→".repeat(400 + at));
        let said: Vec<String> = (0..200).map(message).collect();
        for before in ["", r#""system":"→→","#] {
            let text =
                format!(r#"{{"model":"m",{before}"messages":[{}],"max_tokens":9}}"#, said.join(" ,\n"));
            let (envelope, found) = messages(Wire::Anthropic, &text);
            assert_eq!(
                (envelope.unwrap().max_tokens, found),
                (Some(9), said.iter().map(String::as_str).collect())
            );
        }
        // What stands before the messages is longer than what is looked at first.
        let text = format!(r#"{{"system":"{}","messages":[{}]}}"#, "s".repeat(HEAD_LENGTH), said.join(","));
        assert_eq!(messages(Wire::Anthropic, &text).1.len(), 200);
    }

    #[test]
    fn mistakes_behind_what_is_known_are_found_in_their_places() {
        let text = format!(r#"{{"messages":[{{"a":"{}"}},{{}} ?]}}"#, "x".repeat(2 * HEAD_LENGTH));
        let (envelope, found) = messages(Wire::Anthropic, &text);
        assert_eq!(found.len(), 2);
        let expected =
            format!("the body is not JSON: expected ',' or ']' at byte {}", text.find('?').unwrap());
        assert_eq!(envelope.unwrap_err().to_string(), expected);
        for place in [20, HEAD_LENGTH + 20] {
            let mut bytes =
                format!(r#"{{"messages":[{{"a":"{}"}}]}}"#, "x".repeat(2 * HEAD_LENGTH)).into_bytes();
            bytes[place] = 0xff;
            assert_eq!(
                read(Wire::Anthropic, &bytes, &mut Seen::default()),
                Err(UnreadableBody::NotUtf8),
                "{place}"
            );
        }
    }

    #[test]
    fn what_is_kept_elsewhere_or_by_others_is_noticed() {
        let envelope = |wire, text| messages(wire, text).0.unwrap();
        let responses = Wire::OpenAiResponses;
        assert!(envelope(responses, r#"{"input":[],"previous_response_id":"resp_1"}"#).is_remote);
        assert!(!envelope(responses, r#"{"input":[],"previous_response_id":null}"#).is_remote);
        assert!(envelope(responses, r#"{"truncation":"auto","input":[]}"#).is_managed);
        let clearing =
            r#"{"context_management":{"edits":[{"type":"clear_tool_uses_20250919"}]},"messages":[]}"#;
        assert!(envelope(Wire::Anthropic, clearing).is_managed);
        let thinking =
            r#"{"context_management":{"edits":[{"type":"clear_thinking_20251015"}]},"messages":[]}"#;
        assert!(!envelope(Wire::Anthropic, thinking).is_managed);
        let gemini = r#"{"contents":[],"generationConfig":{"maxOutputTokens":77}}"#;
        assert_eq!(envelope(Wire::Gemini, gemini).max_tokens, Some(77));
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
