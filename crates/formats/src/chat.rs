//! Chat messages in the shape of OpenAI's chat completions, which many logs borrow for what the model said.
//!
//! Each log has a message of its own, with fields of its own; the tool calls inside are the same everywhere:
//! `tool_calls: [{id, function: {name, arguments}}]`, where the arguments are a text that holds JSON. So is the
//! thinking beside them, `thinking_blocks: [{thinking, signature}]`.

use secateur::{Kind, PartFacts, Role};

use crate::document::element_ranges;
use crate::draft::{ToolCall, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::{object, raw_fields};

raw_fields!(
    /// A call.
    Call { id: "id", function: "function" }
);
raw_fields!(
    /// What is called.
    Function { name: "name", arguments: "arguments" }
);

raw_fields!(
    /// A block of thinking.
    Thinking { thinking: "thinking", signature: "signature", data: "data" }
);
/// Who speaks.
pub(crate) fn role(name: Option<&str>) -> Role {
    match name {
        Some("system" | "developer") => Role::System,
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("tool" | "function") => Role::Tool,
        _ => Role::Other,
    }
}

/// Adds a message's text to the newest message. A content of `null` is none: the model only called tools.
pub(crate) fn take_text(draft: &mut TranscriptDraft<'_>, content: Option<Raw<'_>>) {
    if let Some(content) = content.filter(|raw| raw.text() != "null") {
        draft.push_text(Kind::Text, Some(content));
    }
}

/// Adds the thinking of a member `thinking_blocks`, and what signs it, to the newest message.
pub(crate) fn take_thinking(draft: &mut TranscriptDraft<'_>, blocks: Option<Raw<'_>>) {
    let Some(list) = blocks.map(Raw::text).filter(|list| list.starts_with('[')) else { return };
    for block in element_ranges(list).into_iter().filter_map(|range| list.get(range)) {
        let block = object::<Thinking<'_>>(block).ok().flatten().unwrap_or_default();
        if block.thinking.is_some_and(Raw::is_string) {
            draft.push_text(Kind::Reasoning, block.thinking);
        }
        if let Some(signature) = block.signature.or(block.data).filter(|raw| raw.is_string()) {
            let (sizes, spot) = (draft.sizes_of(Some(signature)), draft.spot_of(Some(signature)));
            draft.push(PartFacts { kind: Kind::Signature, sizes, ..PartFacts::default() }, spot);
        }
    }
}

/// Whether a member `tool_calls` holds any.
pub(crate) fn has_calls(list: Option<Raw<'_>>) -> bool {
    list.is_some_and(|list| list.text().starts_with('[') && !element_ranges(list.text()).is_empty())
}

/// Adds the calls of a member `tool_calls` to the newest message.
pub(crate) fn take_calls(draft: &mut TranscriptDraft<'_>, list: Option<Raw<'_>>) {
    let Some(list) = list.map(Raw::text).filter(|list| list.starts_with('[')) else { return };
    for call in element_ranges(list).into_iter().filter_map(|range| list.get(range)) {
        take_call(draft, call);
    }
}

/// Adds a call to the newest message.
pub(crate) fn take_call(draft: &mut TranscriptDraft<'_>, raw: &str) {
    let Ok(Some(call)) = object::<Call<'_>>(raw) else { return };
    let function = call.function.and_then(|raw| object::<Function<'_>>(raw.text()).ok().flatten());
    let function = function.unwrap_or_default();
    let (id, tool) = (call.id.and_then(Raw::as_str), function.name.and_then(Raw::as_str));
    draft.push_call(ToolCall {
        id: id.as_deref(),
        tool: tool.as_deref(),
        input: function.arguments,
        ..ToolCall::default()
    });
}
