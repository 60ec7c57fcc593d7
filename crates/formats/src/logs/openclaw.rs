//! OpenClaw sessions: an array of messages `{role, content}`, tool results as messages of their own.
//!
//! OpenClaw prunes what it sends, never what it stores: a cut replaces the `content` of a tool result in the messages of
//! one request. Its session files have no field for a mark.

use std::borrow::Cow;

use secateur::{Action, IMAGE_REMOVED, Measures, MessageFacts, PartFacts, PartKind, Role, Sizes, ToolStatus};

use crate::cut::{ApplyError, CutSite, Spot, trimmed};
use crate::document::{element_ranges, read_list};
use crate::draft::TranscriptDraft;
use crate::json::fields::{object, raw_fields};
use crate::json::{Edit, Raw, encode, utf16_len};
use crate::probe::{Probe, TextShape};
use crate::sizes;
use crate::spec::{Cutting, FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec {
    cutting: Cutting::Unwritten(edits),
    ..FormatSpec::plain(matches, FormatReader::Whole(read))
};

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    // An object with messages is a request instead.
    probe.shape == TextShape::Array && probe.first(|message| message.has("role"))
}

/// Reads the messages of a session; what cannot be read is skipped with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    for message in read_list::<OpenClawMessage<'_>>(text, &mut draft.warnings) {
        take(draft, &message.unwrap_or_default());
    }
}

/// The edit that replaces one result's content.
fn edits(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let range = site.result().and_then(|spot| spot.content.clone());
    let range = range.ok_or_else(|| site.unsupported("only tool results are cut"))?;
    let content = site.text.get(range.clone()).unwrap_or_default();
    let text = match site.cut.action {
        Action::Clear => site.cut.placeholder.to_owned(),
        Action::DropMedia => joined(content),
        Action::Trim { head, tail, pairs } => trimmed(&joined(content), head, tail, pairs),
    };
    Ok(vec![Edit { range, text: format!("[{{\"type\":\"text\",\"text\":{}}}]", encode(&text)) }])
}

/// The blocks of a content joined by line feeds, with a line for each image.
fn joined(content: &str) -> String {
    let lines: Vec<_> = blocks(content).filter_map(OpenClawBlock::line).collect();
    lines.join("\n")
}

/// The blocks of a content; a bare text counts as one block.
fn blocks(content: &str) -> impl Iterator<Item = OpenClawBlock<'_>> {
    let bare =
        content.starts_with('"').then_some(OpenClawBlock { bare: Some(content), ..OpenClawBlock::default() });
    let listed = element_ranges(if bare.is_some() { "" } else { content })
        .into_iter()
        .filter_map(|range| object::<OpenClawBlock<'_>>(content.get(range)?).ok().flatten());
    bare.into_iter().chain(listed)
}

raw_fields!(
    /// A message.
    OpenClawMessage { role: "role", content: "content", call: "toolCallId", tool: "toolName", error: "isError",
              time: "timestamp" }
);

/// A block of a message's content.
#[derive(Clone, Copy, Default)]
struct OpenClawBlock<'a> {
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

impl<'a> crate::json::Fields<'a> for OpenClawBlock<'a> {
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

impl<'a> OpenClawBlock<'a> {
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

    /// Its contribution to a joined text.
    fn line(self) -> Option<Cow<'a, str>> {
        if self.is_image() {
            return Some(Cow::Borrowed(IMAGE_REMOVED));
        }
        self.literal().map(crate::json::decode)
    }
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, message: &OpenClawMessage<'a>) {
    let role = match message.role.and_then(Raw::as_str).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult") => Role::Tool,
        _ => Role::Other,
    };
    let time = message.time.and_then(Raw::as_i64);
    draft.push_message(MessageFacts { role, time, finished: true, ..MessageFacts::default() });
    match (role, message.content) {
        (Role::Tool, content) => take_result(draft, message, content),
        (Role::User | Role::Assistant, Some(content)) => {
            blocks(content.text()).for_each(|block| take_block(draft, &block, content));
        }
        _ => {}
    }
}

fn take_block<'a>(draft: &mut TranscriptDraft<'_>, block: &OpenClawBlock<'a>, content: Raw<'a>) {
    let text =
        |raw: Option<Raw<'a>>, kind: PartKind| raw.filter(|raw| raw.is_string()).map(|raw| (raw, kind));
    let kind = block.kind();
    let texts = match &*kind {
        _ if block.bare.is_some() => [text(Some(content), PartKind::Text), None],
        "text" => [text(block.text, PartKind::Text), None],
        "thinking" => [text(block.thinking, PartKind::Reasoning), text(block.signature, PartKind::Signature)],
        "redacted_thinking" => [text(block.data, PartKind::Signature), None],
        "toolCall" => return take_call(draft, block),
        "image" => {
            let bytes = block.data.map_or(0, |data| data.text().len() as u64);
            let sizes = Sizes { bytes, images: 1, ..Sizes::default() };
            let spot = draft.spot_of(block.data);
            draft.push(PartFacts { kind: PartKind::Media, sizes, ..PartFacts::default() }, spot);
            return;
        }
        _ => {
            draft.push(PartFacts::default(), Spot::default());
            return;
        }
    };
    for (raw, kind) in texts.into_iter().flatten() {
        let (sizes, spot) = (draft.sizes_of(Some(raw)), draft.spot_of(Some(raw)));
        draft.push(PartFacts { kind, sizes, ..PartFacts::default() }, spot);
    }
}

fn take_call<'a>(draft: &mut TranscriptDraft<'_>, block: &OpenClawBlock<'a>) {
    let arguments = block.arguments.filter(|raw| raw.text() != "null");
    let (tool, call) = (block.name.and_then(Raw::as_str), block.id.and_then(Raw::as_str));
    let sizes = sizes::of_json(arguments.map_or("{}", Raw::text), draft.measures);
    let facts = PartFacts {
        kind: PartKind::Call,
        status: ToolStatus::Completed,
        tool: tool.as_deref(),
        call: call.as_deref(),
        sizes,
        ..PartFacts::default()
    };
    let spot = draft.spot_of(arguments);
    draft.push(facts, spot);
}

fn take_result<'a>(draft: &mut TranscriptDraft<'_>, message: &OpenClawMessage<'a>, content: Option<Raw<'a>>) {
    let whole = content.map_or("", Raw::text);
    let literals: Vec<&str> = blocks(whole).filter_map(|block| block.literal()).collect();
    let images = blocks(whole).filter(OpenClawBlock::is_image).count() as u32;
    let sizes = result_sizes(whole, &literals, images, draft.measures);
    let placeholder = match literals.as_slice() {
        [only] if images == 0 => sizes::is_placeholder(only, draft.measures),
        _ => false,
    };
    let (tool, call) = (message.tool.and_then(Raw::as_str), message.call.and_then(Raw::as_str));
    let status =
        if message.error.is_some_and(Raw::is_truthy) { ToolStatus::Error } else { ToolStatus::Completed };
    let (tool, call) = (tool.as_deref(), call.as_deref());
    let spot = draft.spot_of(content);
    draft.push(
        PartFacts { kind: PartKind::Result, status, tool, call, placeholder, sizes, ..PartFacts::default() },
        spot,
    );
}

/// The sizes of a result: those of its texts added up, others of the content as a whole.
fn result_sizes(content: &str, literals: &[&str], images: u32, measures: &Measures) -> Sizes {
    let mut sizes =
        Sizes { bytes: content.len() as u64, images, blocks: literals.len() as u32, ..Sizes::default() };
    let texts = Measures { weighted: measures.weighted, tokens: measures.tokens, ..Measures::default() };
    for own in literals.iter().map(|literal| sizes::of_string(literal, &texts)) {
        sizes.units += own.units;
        sizes.points += own.points;
        sizes.weighted += own.weighted;
        sizes.tokens += own.tokens;
    }
    sizes::add_raw_measures(&mut sizes, content, measures);
    if let Some(trim) = measures.trimmed {
        let text = joined(content);
        sizes.trimmed = sizes::trimmed_weight(&text, utf16_len(&text), trim);
    }
    sizes
}
