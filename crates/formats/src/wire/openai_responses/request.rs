//! Requests to OpenAI's Responses API.
//!
//! A conversation is a flat list of items there. What the model generated at once (thinking, text
//! and calls) is a run of items there; they become one message, as in every other wire.
//!
//! Some items only name what the provider keeps, or hold what only the provider can read: references, encrypted
//! compactions, searches. They are opaque.

use secateur::{MessageFacts, PartFacts, PartKind, Role, ToolStatus};
use serde_json::{Value, json};

use crate::cut::Spot;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::raw_fields;
use crate::spec::FormatSpec;
use crate::wire::request::{TextRequest, fields, format_spec, instruct, list, push_opaque, read_body, role};
use crate::wire_spec::Wire;

/// How such requests are read and cut.
pub(crate) const FORMAT: FormatSpec = format_spec(read);

/// Reads a request; what cannot be read is passed over with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (body, items) = read_body(Wire::OpenAiResponses, text, draft, |body| body.input);
    instruct(draft, body.instructions);
    let mut speaker = None;
    for raw in items {
        speaker = Some(take(draft, raw, speaker));
    }
}

/// Writes a request for a text.
pub(crate) fn write(request: &TextRequest<'_>) -> Value {
    let mut body = json!({ "model": request.model });
    if request.has_system() {
        body["instructions"] = request.system.into();
    }
    body["input"] = request.text.into();
    body["max_output_tokens"] = request.max_tokens.into();
    // The provider must not keep what is summarised.
    body["store"] = false.into();
    body["stream"] = true.into();
    body
}

/// Takes an item and returns its role.
fn take(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>, speaker: Option<Role>) -> Role {
    if raw.is_string() {
        draft.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, Some(raw));
        return Role::User;
    }
    let item = fields::<ResponsesItemFields<'_>>(raw);
    let kind = item.kind.and_then(Raw::as_str);
    let is_text = |raw: Raw<'_>| raw.is_string() || raw.text().starts_with('[');
    let (role, is_said) = match kind.as_deref() {
        Some("message") | None => (role(item.role), true),
        Some(
            "function_call_output"
            | "custom_tool_call_output"
            | "local_shell_call_output"
            | "apply_patch_call_output",
        ) if item.output.is_none_or(is_text) => (Role::Tool, false),
        _ => (Role::Assistant, false),
    };
    if role != Role::Assistant || speaker != Some(role) {
        draft.push_message(MessageFacts { role, ..MessageFacts::default() });
    }
    let (tool, id) = (item.name.and_then(Raw::as_str), item.call.and_then(Raw::as_str));
    let (tool, id) = (tool.as_deref(), id.as_deref());
    let status = ToolStatus::Completed;
    match (role, kind.as_deref()) {
        _ if is_said => take_content(draft, item.content),
        (Role::Tool, _) => {
            draft.push_result(ToolResult { id, status, content: item.output, ..ToolResult::default() });
        }
        (_, Some("reasoning")) => take_reasoning(draft, &item),
        (_, Some("function_call")) => {
            draft.push_call(ToolCall { tool, id, status, input: item.arguments });
        }
        (_, Some("custom_tool_call")) => {
            draft.push_call(ToolCall { tool, id, status, input: item.input });
        }
        (_, Some("local_shell_call")) => {
            draft.push_call(ToolCall { tool: Some("local_shell"), id, status, input: item.action });
        }
        (_, Some("apply_patch_call")) => {
            draft.push_call(ToolCall { tool: Some("apply_patch"), id, status, input: item.operation });
        }
        _ => push_opaque(draft, raw),
    }
    role
}

fn take_content(draft: &mut TranscriptDraft<'_>, content: Option<Raw<'_>>) {
    let Some(content) = content else { return };
    if content.is_string() {
        return draft.push_text(PartKind::Text, Some(content));
    }
    for raw in list(content) {
        let block = fields::<ResponsesBlockFields<'_>>(raw);
        match block.kind.and_then(Raw::as_str).as_deref() {
            Some("input_text" | "output_text" | "text") => draft.push_text(PartKind::Text, block.text),
            Some("refusal") => draft.push_text(PartKind::Text, block.refusal),
            Some("input_image" | "input_file" | "input_audio") => draft.push_media(raw),
            _ => push_opaque(draft, raw),
        }
    }
}

/// Thinking: what is readable of it, and what the provider encrypted. The latter keeps the item's id.
fn take_reasoning(draft: &mut TranscriptDraft<'_>, item: &ResponsesItemFields<'_>) {
    for raw in [item.summary, item.content].into_iter().flatten().filter(|raw| !list(*raw).is_empty()) {
        draft.push_text(PartKind::Reasoning, Some(raw));
    }
    if let Some(raw) = item.encrypted.filter(|raw| raw.is_string()) {
        let sizes = draft.sizes_of(Some(raw));
        let spot = Spot { id: draft.range(item.id.filter(|id| id.is_string())), ..draft.spot_of(Some(raw)) };
        draft.push(PartFacts { kind: PartKind::Signature, sizes, ..PartFacts::default() }, spot);
    }
}

raw_fields! {
    /// An item of any type.
    ResponsesItemFields { kind: "type", role: "role", content: "content", id: "id", call: "call_id", name: "name",
           arguments: "arguments", input: "input", action: "action", operation: "operation", output: "output",
           summary: "summary", encrypted: "encrypted_content" }
    /// A block of a message's content.
    ResponsesBlockFields { kind: "type", text: "text", refusal: "refusal" }
}
