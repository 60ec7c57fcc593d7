//! Chat messages in the shape of OpenAI's chat completions, which many logs use for responses.
//!
//! The messages of these logs differ, but the tool calls inside are the same everywhere:
//! `tool_calls: [{id, function: {name, arguments}}]`, where the arguments are a string of JSON. So is the thinking beside
//! them, `thinking_blocks: [{thinking, signature}]`.

use secateur::{PartFacts, PartKind, Role};

use crate::document::element_ranges;
use crate::draft::{ToolCall, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::{object, raw_fields};

raw_fields!(
    /// A call.
    ChatCall { id: "id", function: "function" }
);
raw_fields!(
    /// The function of a call.
    ChatFunction { name: "name", arguments: "arguments" }
);

raw_fields!(
    /// A block of thinking.
    ChatThinking { thinking: "thinking", signature: "signature", data: "data" }
);
/// The role with this name.
pub(crate) fn role(name: Option<&str>) -> Role {
    match name {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => Role::Other,
    }
}

/// Adds a message's text. The content of a message of nothing but tool calls is `null`.
pub(crate) fn take_text(draft: &mut TranscriptDraft<'_>, content: Option<Raw<'_>>) {
    if let Some(content) = content.filter(|raw| raw.text() != "null") {
        draft.push_text(PartKind::Text, Some(content));
    }
}

/// Adds the thinking of a member `thinking_blocks`, and its signatures.
pub(crate) fn take_thinking(draft: &mut TranscriptDraft<'_>, blocks: Option<Raw<'_>>) {
    let Some(list) = blocks.map(Raw::text).filter(|list| list.starts_with('[')) else { return };
    for block in element_ranges(list).into_iter().filter_map(|range| list.get(range)) {
        let block = object::<ChatThinking<'_>>(block).ok().flatten().unwrap_or_default();
        if block.thinking.is_some_and(Raw::is_string) {
            draft.push_text(PartKind::Reasoning, block.thinking);
        }
        if let Some(signature) = block.signature.or(block.data).filter(|raw| raw.is_string()) {
            let (sizes, spot) = (draft.sizes_of(Some(signature)), draft.spot_of(Some(signature)));
            draft.push(PartFacts { kind: PartKind::Signature, sizes, ..PartFacts::default() }, spot);
        }
    }
}

/// Whether a member `tool_calls` holds any.
pub(crate) fn has_calls(list: Option<Raw<'_>>) -> bool {
    list.is_some_and(|list| list.text().starts_with('[') && !element_ranges(list.text()).is_empty())
}

/// Adds the calls of a member `tool_calls`.
pub(crate) fn take_calls(draft: &mut TranscriptDraft<'_>, list: Option<Raw<'_>>) {
    let Some(list) = list.map(Raw::text).filter(|list| list.starts_with('[')) else { return };
    for call in element_ranges(list).into_iter().filter_map(|range| list.get(range)) {
        take_call(draft, call);
    }
}

/// Adds a call.
pub(crate) fn take_call(draft: &mut TranscriptDraft<'_>, raw: &str) {
    let Ok(Some(call)) = object::<ChatCall<'_>>(raw) else { return };
    let function = call.function.and_then(Raw::object::<ChatFunction<'_>>);
    let function = function.unwrap_or_default();
    let (id, tool) = (call.id.and_then(Raw::as_str), function.name.and_then(Raw::as_str));
    draft.push_call(ToolCall {
        id: id.as_deref(),
        tool: tool.as_deref(),
        input: function.arguments,
        ..ToolCall::default()
    });
}
