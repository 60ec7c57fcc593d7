//! OpenClaw sessions: an array of messages `{role, content}`, tool results as messages of their own.
//!
//! OpenClaw prunes what it sends, never what it stores: a cut replaces the `content` of a tool result in
//! the messages of one request. Its session files have no field that could hold a mark.

pub mod duration;
pub mod settings;

use std::borrow::Cow;
use std::ops::Range;

use secateur::{
    Action, IMAGE_REMOVED, Kind, Measures, MessageFacts, Outline, Pairs, PartFacts, Role, Sizes, Status, TRIM_GAP,
    trim_note,
};
use xxhash_rust::xxh3::xxh3_64;

use crate::document::{element_ranges, read_list};
use crate::format::Format;
use crate::json::fields::{object, raw_fields};
use crate::json::{Edit, Halves, Printer, Raw, encode, printed_len, slice_units, utf16_len};
use crate::sizes;
use crate::transcript::{ApplyError, Rendering, Spot, Transcript};

/// Reads the messages of a session; what cannot be read is passed over with a warning.
pub(crate) fn read<'a>(text: &'a str, measures: &Measures) -> Transcript<'a> {
    let mut warnings = Vec::new();
    let messages = read_list::<Message<'a>>(text, &mut warnings);
    let mut reader = Reader { text, measures, outline: Outline::new(measures.clone()), spots: Vec::new() };
    for message in messages.into_iter().map(Option::unwrap_or_default) {
        reader.take(&message);
    }
    let Reader { outline, spots, .. } = reader;
    Transcript { format: Format::OpenClaw, outline, warnings, bytes: text.as_bytes(), text, spots }
}

/// The edit that replaces one result's content.
pub(crate) fn edits(transcript: &Transcript<'_>, cut: Rendering<'_>) -> Result<Vec<Edit>, ApplyError> {
    let unsupported = |reason| Format::OpenClaw.unsupported(cut.part, reason);
    let is_result = transcript.outline.kind(cut.part) == Kind::Result;
    let range = transcript.spot(cut.part).and_then(|spot| spot.content.clone()).filter(|_| is_result);
    let range = range.ok_or_else(|| unsupported("only tool results are cut"))?;
    let content = transcript.text.get(range.clone()).unwrap_or_default();
    let text = match cut.action {
        Action::Clear => cut.placeholder.to_owned(),
        Action::DropMedia => joined(content),
        Action::Trim { head, tail, pairs } => trimmed(&joined(content), head, tail, pairs),
    };
    Ok(vec![Edit { range, text: format!("[{{\"type\":\"text\",\"text\":{}}}]", encode(&text)) }])
}

/// Head and tail of a text with a note on what is missing.
fn trimmed(text: &str, head: u64, tail: u64, pairs: Pairs) -> String {
    let units = utf16_len(text);
    let halves = match pairs {
        Pairs::Split => Halves::Replace,
        Pairs::Whole => Halves::Omit,
    };
    let first = slice_units(text, 0, head.min(units), halves);
    let last = slice_units(text, units.saturating_sub(tail), units, halves);
    format!("{first}{TRIM_GAP}{last}{}", trim_note(head, tail, units))
}

/// The blocks of a content joined by line ends, each image as a line of its own.
fn joined(content: &str) -> String {
    let lines: Vec<_> = blocks(content).filter_map(Block::line).collect();
    lines.join("\n")
}

/// The blocks of a content; a bare text counts as one block.
fn blocks(content: &str) -> impl Iterator<Item = Block<'_>> {
    let bare = content.starts_with('"').then_some(Block { bare: Some(content), ..Block::default() });
    let listed = element_ranges(if bare.is_some() { "" } else { content })
        .into_iter()
        .filter_map(|range| object::<Block<'_>>(content.get(range)?).ok().flatten());
    bare.into_iter().chain(listed)
}

raw_fields!(
    /// A message.
    Message { role: "role", content: "content", call: "toolCallId", tool: "toolName", error: "isError",
              time: "timestamp" }
);

/// A block of a message's content.
#[derive(Clone, Copy, Default)]
struct Block<'a> {
    bare: Option<&'a str>,
    kind: Option<Raw<'a>>,
    text: Option<Raw<'a>>,
    thinking: Option<Raw<'a>>,
    signature: Option<Raw<'a>>,
    data: Option<Raw<'a>>,
    id: Option<Raw<'a>>,
    name: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
}

impl<'a> crate::json::Fields<'a> for Block<'a> {
    fn field<A: serde::de::MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let value: Raw<'a> = map.next_value()?;
        match key {
            "type" => self.kind = Some(value),
            "text" => self.text = Some(value),
            "thinking" => self.thinking = Some(value),
            "thinkingSignature" => self.signature = Some(value),
            "data" => self.data = Some(value),
            "id" => self.id = Some(value),
            "name" => self.name = Some(value),
            "arguments" => self.arguments = Some(value),
            _ => {}
        }
        Ok(())
    }
}

impl<'a> Block<'a> {
    fn kind(&self) -> Cow<'a, str> {
        self.kind.and_then(Raw::as_str).unwrap_or_default()
    }

    fn is_image(&self) -> bool {
        self.bare.is_none() && self.kind() == "image"
    }

    /// The literal of its text, if it is a text block.
    fn literal(&self) -> Option<&'a str> {
        if self.bare.is_some() {
            return self.bare;
        }
        let is_text = self.kind() == "text";
        self.text.filter(|raw| is_text && raw.is_string()).map(Raw::text)
    }

    /// What it contributes to a joined text.
    fn line(self) -> Option<Cow<'a, str>> {
        if self.is_image() {
            return Some(Cow::Borrowed(IMAGE_REMOVED));
        }
        self.literal().map(crate::json::decode)
    }
}

/// Fills an outline from messages.
struct Reader<'a, 'm> {
    text: &'a str,
    measures: &'m Measures,
    outline: Outline,
    spots: Vec<Spot>,
}

impl<'a> Reader<'a, '_> {
    fn take(&mut self, message: &Message<'a>) {
        let role = match message.role.and_then(Raw::as_str).as_deref() {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("toolResult") => Role::Tool,
            _ => Role::Other,
        };
        let time = message.time.and_then(Raw::as_i64);
        self.outline.push_message(MessageFacts { role, time, finished: true, ..MessageFacts::default() });
        let content = message.content.map_or("", Raw::text);
        match role {
            Role::Tool => self.take_result(message, content),
            Role::User | Role::Assistant => blocks(content).for_each(|block| self.take_block(&block)),
            _ => {}
        }
    }

    fn range(&self, raw: &str) -> Option<Range<usize>> {
        let start = crate::json::offset_in(self.text, raw)?;
        Some(start..start + raw.len())
    }

    fn push(&mut self, facts: PartFacts<'_>, content: Option<&str>) {
        self.outline.push_part(facts);
        self.spots.push(Spot { content: content.and_then(|raw| self.range(raw)), ..Spot::default() });
    }

    fn push_text(&mut self, kind: Kind, literal: &str) {
        let sizes = sizes::of_string(literal, self.measures);
        self.push(PartFacts { kind, sizes, ..PartFacts::default() }, Some(literal));
    }

    fn take_block(&mut self, block: &Block<'a>) {
        let literal = |raw: Option<Raw<'a>>| raw.filter(|raw| raw.is_string()).map(Raw::text);
        if let Some(text) = block.literal() {
            return self.push_text(Kind::Text, text);
        }
        match &*block.kind() {
            "thinking" => {
                literal(block.thinking).into_iter().for_each(|text| self.push_text(Kind::Reasoning, text));
                literal(block.signature).into_iter().for_each(|text| self.push_text(Kind::Signature, text));
            }
            "redacted_thinking" => {
                literal(block.data).into_iter().for_each(|text| self.push_text(Kind::Signature, text));
            }
            "toolCall" => {
                let arguments = block.arguments.map(Raw::text).filter(|raw| *raw != "null").unwrap_or("{}");
                let (tool, call) = (block.name.and_then(Raw::as_str), block.id.and_then(Raw::as_str));
                let facts = PartFacts {
                    kind: Kind::Call,
                    status: Status::Completed,
                    tool: tool.as_deref(),
                    call: call.as_deref(),
                    sizes: sizes::of_json(arguments, self.measures),
                    ..PartFacts::default()
                };
                self.push(facts, Some(arguments));
            }
            "image" => {
                let bytes = block.data.map_or(0, |data| data.text().len() as u64);
                let sizes = Sizes { bytes, images: 1, ..Sizes::default() };
                self.push(PartFacts { kind: Kind::Media, sizes, ..PartFacts::default() }, None);
            }
            _ => self.push(PartFacts::default(), None),
        }
    }

    fn take_result(&mut self, message: &Message<'a>, content: &'a str) {
        let mut sizes = Sizes { bytes: content.len() as u64, ..Sizes::default() };
        let mut only = None;
        for block in blocks(content) {
            if block.is_image() {
                sizes.images += 1;
            } else if let Some(literal) = block.literal() {
                let own = sizes::of_string(literal, &Measures { weighted: self.measures.weighted, tokens: self.measures.tokens, ..Measures::default() });
                sizes.units += own.units;
                sizes.points += own.points;
                sizes.weighted += own.weighted;
                sizes.tokens += own.tokens;
                sizes.blocks += 1;
                only = Some(literal);
            }
        }
        if let Some(trim) = self.measures.trimmed {
            let text = joined(content);
            sizes.trimmed = sizes::trimmed_weight(&text, utf16_len(&text), trim);
        }
        if self.measures.source {
            sizes.source = xxh3_64(content.as_bytes());
        }
        if self.measures.js_json {
            sizes.js_json = printed_len(content, Printer::JavaScript);
        }
        if self.measures.py_json {
            sizes.py_json = printed_len(content, Printer::Python);
        }
        let single = only.filter(|_| sizes.blocks == 1 && sizes.images == 0);
        let placeholder = single.is_some_and(|literal| sizes::is_placeholder(literal, self.measures));
        let (tool, call) = (message.tool.and_then(Raw::as_str), message.call.and_then(Raw::as_str));
        let status = if message.error.is_some_and(Raw::is_truthy) { Status::Error } else { Status::Completed };
        let facts = PartFacts {
            kind: Kind::Result,
            status,
            tool: tool.as_deref(),
            call: call.as_deref(),
            cut: false,
            placeholder,
            sizes,
        };
        self.push(facts, Some(content));
    }
}
