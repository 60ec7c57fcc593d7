//! Requests to OpenAI's Chat Completions API, and to the many that are compatible.
//!
//! Each tool result is a message. Older clients call `functions`, one at a time and without ids; their results belong
//! to the calls in order.

use std::borrow::Cow;

use secateur::{MessageFacts, PartKind, Role, ToolStatus};
use serde_json::{Value, json};

use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::raw_fields;
use crate::spec::FormatSpec;
use crate::wire::request::{Ordinals, TextRequest, fields, format_spec, list, push_opaque, read_body, role};
use crate::wire_spec::Wire;

/// How such requests are read and cut.
pub(crate) const FORMAT: FormatSpec = format_spec(read);

/// Reads a request; what cannot be read is passed over with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (_, messages) = read_body(Wire::OpenAiChat, text, draft, |body| body.messages);
    let mut ordinals = Ordinals::default();
    for message in messages {
        take(draft, &mut ordinals, &fields(message));
    }
}

/// Writes a request for a text.
pub(crate) fn write(request: &TextRequest<'_>) -> Value {
    let mut messages = vec![];
    if request.has_system() {
        messages.push(json!({ "role": "system", "content": request.system }));
    }
    messages.push(json!({ "role": "user", "content": request.text }));
    let mut body = json!({
        "model": request.model,
        "messages": messages,
        request.max_tokens_field: request.max_tokens,
        "stream": true,
    });
    if request.include_usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

fn take(draft: &mut TranscriptDraft<'_>, ordinals: &mut Ordinals, message: &ChatMessageFields<'_>) {
    let role = role(message.role);
    draft.push_message(MessageFacts { role, ..MessageFacts::default() });
    if role == Role::Tool {
        let tool = message.name.and_then(Raw::as_str);
        let id = message.answered.and_then(Raw::as_str).map(Cow::into_owned);
        let id = id.or_else(|| tool.as_deref().map(|tool| ordinals.answer(tool)));
        let (tool, id, content) = (tool.as_deref(), id.as_deref(), message.content);
        let status = ToolStatus::Completed;
        return draft.push_result(ToolResult { tool, id, status, content, ..ToolResult::default() });
    }
    if let Some(thoughts) = message.thoughts.or(message.reasoning).filter(|raw| raw.is_string()) {
        draft.push_text(PartKind::Reasoning, Some(thoughts));
    }
    if let Some(content) = message.content {
        take_content(draft, content);
    }
    if let Some(refusal) = message.refusal.filter(|raw| raw.is_string()) {
        draft.push_text(PartKind::Text, Some(refusal));
    }
    for raw in [message.audio, message.details].into_iter().flatten().filter(|raw| raw.text() != "null") {
        push_opaque(draft, raw);
    }
    for raw in message.calls.map(list).unwrap_or_default() {
        let call = fields::<ChatCallFields<'_>>(raw);
        let id = call.id.and_then(Raw::as_str);
        take_call(draft, call.function.or(call.custom), id.as_deref());
    }
    if let Some(raw) = message.call.filter(|raw| raw.text().starts_with('{')) {
        let function = fields::<ChatFunctionFields<'_>>(raw);
        let tool = function.name.and_then(Raw::as_str).unwrap_or_default();
        take_call(draft, Some(raw), Some(&ordinals.call(&tool)));
    }
}

fn take_content(draft: &mut TranscriptDraft<'_>, content: Raw<'_>) {
    if content.is_string() {
        return draft.push_text(PartKind::Text, Some(content));
    }
    for raw in list(content) {
        let block = fields::<ChatBlockFields<'_>>(raw);
        match block.kind.and_then(Raw::as_str).as_deref() {
            Some("text") => draft.push_text(PartKind::Text, block.text),
            Some("refusal") => draft.push_text(PartKind::Text, block.refusal),
            Some("image_url" | "input_audio" | "file") => draft.push_media(raw),
            _ => push_opaque(draft, raw),
        }
    }
}

fn take_call(draft: &mut TranscriptDraft<'_>, raw: Option<Raw<'_>>, id: Option<&str>) {
    let function = raw.map(fields::<ChatFunctionFields<'_>>).unwrap_or_default();
    let tool = function.name.and_then(Raw::as_str);
    let input = function.arguments.or(function.input);
    draft.push_call(ToolCall { tool: tool.as_deref(), id, status: ToolStatus::Completed, input });
}

raw_fields! {
    /// A message. OpenAI has no member for thinking; others put it beside the content.
    ChatMessageFields { role: "role", content: "content", name: "name", answered: "tool_call_id", calls: "tool_calls",
              call: "function_call", refusal: "refusal", thoughts: "reasoning_content", reasoning: "reasoning",
              details: "reasoning_details", audio: "audio" }
    /// A block of a message's content.
    ChatBlockFields { kind: "type", text: "text", refusal: "refusal" }
    ChatCallFields { id: "id", function: "function", custom: "custom" }
    /// What is called: a function with a JSON text, or a custom tool with free text.
    ChatFunctionFields { name: "name", arguments: "arguments", input: "input" }
}
