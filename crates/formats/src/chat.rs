//! Chat messages in the shape of OpenAI's chat completions, which many logs use for responses.
//!
//! The messages of these logs differ, but the tool calls inside are the same everywhere:
//! `tool_calls: [{id, function: {name, arguments}}]`, where the arguments are a string of JSON. So is the thinking beside
//! them, `thinking_blocks: [{thinking, signature}]`.

use secateur::{PartKind, Role};

use crate::draft::{ToolCall, TranscriptDraft};
use crate::json::{OptionalRaw, Raw, raw_fields};

raw_fields! {
    ChatCall { id: "id", function: "function" }
    ChatFunction { name: "name", arguments: "arguments" }
    ChatThinking { thinking: "thinking", signature: "signature", data: "data" }
}

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
    if let Some(content) = content.unless_null() {
        draft.push_text(PartKind::Text, Some(content));
    }
}

/// Adds the thinking of a member `thinking_blocks`, and its signatures.
pub(crate) fn take_thinking(draft: &mut TranscriptDraft<'_>, blocks: Option<Raw<'_>>) {
    for block in blocks.elements() {
        let block: ChatThinking<'_> = Some(block).fields();
        if block.thinking.is_some_and(Raw::is_string) {
            draft.push_text(PartKind::Reasoning, block.thinking);
        }
        if let Some(signature) = block.signature.or(block.data).if_string() {
            draft.push_spelled(PartKind::Signature, Some(signature));
        }
    }
}

/// Adds the calls of a member `tool_calls`.
pub(crate) fn take_calls(draft: &mut TranscriptDraft<'_>, list: Option<Raw<'_>>) {
    for call in list.elements() {
        let Some(call) = call.object::<ChatCall<'_>>() else { continue };
        let function: ChatFunction<'_> = call.function.fields();
        let (id, tool) = (call.id.string(), function.name.string());
        draft.push_call(ToolCall { id, tool, input: function.arguments, ..ToolCall::default() });
    }
}
