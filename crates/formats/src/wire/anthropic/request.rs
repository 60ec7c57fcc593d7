//! Requests to Anthropic's Messages API.
//!
//! Tool results are in the next user message, which may also hold the user's text. A message with nothing but results
//! becomes a tool's message, so that a turn begins with the user's text.

use secateur::{MessageFacts, PartKind, Role, ToolStatus};
use serde_json::{Value, json};

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
    let (body, messages) = read_body(Wire::Anthropic, text, draft, |body| body.messages);
    instruct(draft, body.system);
    for message in messages {
        take(draft, fields(message));
    }
}

/// Writes a request for a text.
pub(crate) fn write(request: &TextRequest<'_>) -> Value {
    let mut body = json!({ "model": request.model, "max_tokens": request.max_tokens });
    if request.has_system() {
        body["system"] = request.system.into();
    }
    body["messages"] = json!([{ "role": "user", "content": request.text }]);
    body["stream"] = true.into();
    body
}

fn take(draft: &mut TranscriptDraft<'_>, message: AnthropicMessageFields<'_>) {
    let blocks = message.content.map(list).unwrap_or_default();
    let blocks: Vec<(Raw<'_>, AnthropicBlockFields<'_>)> =
        blocks.into_iter().map(|raw| (raw, fields(raw))).collect();
    let answers_only = !blocks.is_empty() && blocks.iter().all(|(_, block)| block.is("tool_result"));
    let role = if answers_only { Role::Tool } else { role(message.role) };
    draft.push_message(MessageFacts { role, ..MessageFacts::default() });
    if let Some(text) = message.content.filter(|content| content.is_string()) {
        draft.push_text(PartKind::Text, Some(text));
    }
    for (raw, block) in blocks {
        take_block(draft, raw, block);
    }
}

fn take_block(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>, block: AnthropicBlockFields<'_>) {
    match block.kind.and_then(Raw::as_str).as_deref() {
        Some("text") => draft.push_text(PartKind::Text, block.text),
        Some("image" | "document") => draft.push_media(raw),
        Some("thinking") => {
            draft.push_text(PartKind::Reasoning, block.thinking);
            if block.signature.is_some() {
                draft.push_signature(block.signature, raw);
            }
        }
        Some("redacted_thinking") => draft.push_signature(block.data, raw),
        Some("tool_use") => {
            let (tool, id) = (block.name.and_then(Raw::as_str), block.id.and_then(Raw::as_str));
            let (tool, id) = (tool.as_deref(), id.as_deref());
            draft.push_call(ToolCall { tool, id, status: ToolStatus::Completed, input: block.input });
        }
        Some("tool_result") => {
            let id = block.answered.and_then(Raw::as_str);
            let status = match block.is_error {
                Some(is_error) if is_error.is_truthy() => ToolStatus::Error,
                _ => ToolStatus::Completed,
            };
            let content = block.content;
            draft.push_result(ToolResult { id: id.as_deref(), status, content, ..ToolResult::default() });
        }
        _ => push_opaque(draft, raw),
    }
}

raw_fields!(
    /// A message.
    AnthropicMessageFields { role: "role", content: "content" }
);
raw_fields!(
    /// A block of a message's content.
    AnthropicBlockFields { kind: "type", text: "text", thinking: "thinking", signature: "signature", data: "data", id: "id",
            name: "name", input: "input", answered: "tool_use_id", content: "content", is_error: "is_error" }
);

impl AnthropicBlockFields<'_> {
    fn is(&self, kind: &str) -> bool {
        self.kind.and_then(Raw::as_str).as_deref() == Some(kind)
    }
}
