//! OpenClaw sessions: an array of messages `{role, content}`, tool results as messages of their own.
//!
//! OpenClaw prunes what it sends, never what it stores: a cut replaces the `content` of a tool result in the messages of
//! one request. Its session files have no field for a mark.

use std::borrow::Cow;

use secateur::{Action, IMAGE_REMOVED, Measures, MessageFacts, PartFacts, PartKind, Role, Sizes, ToolStatus};

use crate::cut::{ApplyError, CutSite, Spot, trimmed};
use crate::document::read_list;
use crate::draft::{TranscriptDraft, outcome};
use crate::json::{Edit, OptionalRaw, Raw, decode, encode, raw_fields, utf16_len};
use crate::probe::{Probe, TextShape};
use crate::sizes;
use crate::spec::{Cutting, FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec {
    cutting: Cutting::Unwritten(edits),
    ..FormatSpec::plain(matches, FormatReader::Whole(read))
};

fn matches(probe: &Probe<'_>) -> bool {
    // An object with messages is a request instead.
    probe.shape == TextShape::Array && probe.first(|message| message.has("role"))
}

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
        Action::DropThinking => return Err(site.unsupported("only tool results are cut")),
    };
    Ok(vec![Edit { range, text: format!("[{{\"type\":\"text\",\"text\":{}}}]", encode(&text)) }])
}

/// The blocks of a content joined by line feeds, with a line for each image.
fn joined(content: &str) -> String {
    let lines = blocks(Raw(content)).filter_map(|block| match block.is("image") {
        true => Some(Cow::Borrowed(IMAGE_REMOVED)),
        false => block.literal().map(decode),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The blocks of a content; a bare text counts as one block.
fn blocks(content: Raw<'_>) -> impl Iterator<Item = OpenClawBlock<'_>> {
    let text = Some(content).if_string();
    let bare = OpenClawBlock { kind: Some(Raw("\"text\"")), text, ..OpenClawBlock::default() };
    let list = if text.is_some() { None } else { Some(content) };
    text.map(|_| bare).into_iter().chain(list.elements().into_iter().filter_map(Raw::object))
}

raw_fields! {
    OpenClawMessage { role: "role", content: "content", call: "toolCallId", tool: "toolName", error: "isError",
              time: "timestamp" }
    OpenClawBlock { kind: "type", text: "text", thinking: "thinking", signature: "thinkingSignature", data: "data",
              id: "id", name: "name", arguments: "arguments" }
}

impl<'a> OpenClawBlock<'a> {
    fn is(&self, kind: &str) -> bool {
        self.kind.is(kind)
    }

    /// The literal of its text, if it is a text block.
    fn literal(&self) -> Option<&'a str> {
        self.text.if_string().filter(|_| self.is("text")).map(Raw::text)
    }
}

fn take(draft: &mut TranscriptDraft<'_>, message: &OpenClawMessage<'_>) {
    let role = match message.role.string().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("toolResult") => Role::Tool,
        _ => Role::Other,
    };
    let time = message.time.integer();
    draft.push_message(MessageFacts { role, time, finished: true, ..MessageFacts::default() });
    match (role, message.content) {
        (Role::Tool, _) => take_result(draft, message),
        (Role::User | Role::Assistant, Some(content)) => {
            blocks(content).for_each(|block| take_block(draft, &block));
        }
        _ => {}
    }
}

fn take_block(draft: &mut TranscriptDraft<'_>, block: &OpenClawBlock<'_>) {
    match block.kind.string().as_deref() {
        Some("text") => take_text(draft, PartKind::Text, block.text),
        Some("thinking") => {
            take_text(draft, PartKind::Reasoning, block.thinking);
            take_text(draft, PartKind::Signature, block.signature);
        }
        Some("redacted_thinking") => take_text(draft, PartKind::Signature, block.data),
        Some("toolCall") => take_call(draft, block),
        Some("image") => {
            let bytes = block.data.map_or(0, |data| data.text().len() as u64);
            let sizes = Sizes { bytes, images: 1, ..Sizes::default() };
            let spot = draft.spot_of(block.data);
            draft.push(PartFacts { kind: PartKind::Media, sizes, ..PartFacts::default() }, spot);
        }
        _ => _ = draft.push(PartFacts::default(), Spot::default()),
    }
}

fn take_text(draft: &mut TranscriptDraft<'_>, kind: PartKind, text: Option<Raw<'_>>) {
    if text.is_some_and(Raw::is_string) {
        draft.push_spelled(kind, text);
    }
}

fn take_call(draft: &mut TranscriptDraft<'_>, block: &OpenClawBlock<'_>) {
    let arguments = block.arguments.unless_null();
    let (tool, call) = (block.name.string(), block.id.string());
    let facts = PartFacts {
        kind: PartKind::Call,
        status: ToolStatus::Completed,
        tool: tool.as_deref(),
        call: call.as_deref(),
        sizes: sizes::of_json(arguments.map_or("{}", Raw::text), draft.measures),
        ..PartFacts::default()
    };
    let spot = draft.spot_of(arguments);
    draft.push(facts, spot);
}

fn take_result(draft: &mut TranscriptDraft<'_>, message: &OpenClawMessage<'_>) {
    let whole = message.content.unwrap_or(Raw(""));
    let literals: Vec<&str> = blocks(whole).filter_map(|block| block.literal()).collect();
    let images = blocks(whole).filter(|block| block.is("image")).count() as u32;
    let (tool, call) = (message.tool.string(), message.call.string());
    let facts = PartFacts {
        kind: PartKind::Result,
        status: outcome(message.error),
        tool: tool.as_deref(),
        call: call.as_deref(),
        placeholder: matches!(*literals, [only] if images == 0 && sizes::is_placeholder(only, draft.measures)),
        sizes: result_sizes(whole.text(), &literals, images, draft.measures),
        ..PartFacts::default()
    };
    let spot = draft.spot_of(message.content);
    draft.push(facts, spot);
}

/// The sizes of a result: those of its texts added up, others of the content as a whole.
fn result_sizes(content: &str, literals: &[&str], images: u32, measures: &Measures) -> Sizes {
    let mut sizes =
        Sizes { bytes: content.len() as u64, images, blocks: literals.len() as u32, ..Sizes::default() };
    let texts = Measures {
        weighted: measures.weighted,
        wide: measures.wide,
        tokens: measures.tokens,
        ..Measures::default()
    };
    for own in literals.iter().map(|literal| sizes::of_json(literal, &texts)) {
        sizes.units += own.units;
        sizes.points += own.points;
        sizes.weighted += own.weighted;
        sizes.wide += own.wide;
        sizes.tokens += own.tokens;
    }
    sizes::add_raw_measures(&mut sizes, content, measures);
    if let Some(trim) = measures.trimmed {
        let text = joined(content);
        sizes.trimmed = sizes::trimmed_len(&text, utf16_len(&text), trim);
    }
    sizes
}
