//! Cline's sessions: messages in Anthropic's blocks, as one document of the SDK or as the bare array
//! (`api_conversation_history.json`) of the editor extension.
//!
//! A file that the user mentions is a block of its own, and the extension adds the state of the editor to the user's
//! message; both count as injected. The usage is in each response, and its input includes what was read from the cache.

use std::borrow::Cow;

use secateur::{MessageFacts, ModelCall, PartKind, Role, ToolStatus, Usage};

use crate::document::read_document;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::{each, raw_fields};
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    let is_message = |message: &ProbedRecord| {
        matches!(message.text("role"), Some("user" | "assistant"))
            && matches!(message.starts("content"), Some('[' | '"'))
    };
    match probe.shape {
        TextShape::Object => {
            let top = &probe.top;
            top.has("messages")
                && (top.has("sessionId") || top.has("system_prompt"))
                && !top.has("model")
                && probe.first(is_message)
        }
        // OpenClaw has the same roles, but other types of blocks for calls and results.
        TextShape::Array => {
            let has_blocks =
                |message: &ProbedRecord| message.has_type("tool_use") || message.has_type("tool_result");
            probe.first(is_message) && probe.any(has_blocks) && probe.records.iter().all(is_message)
        }
        _ => false,
    }
}

/// Reads a session; what cannot be read is skipped with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (head, messages) = read_document::<ClineHead<'_>, ClineMessage<'_>>(text, &mut draft.warnings);
    draft.origin.session = head.session.and_then(Raw::as_str).map(Cow::into_owned);
    draft.origin.version = head.version.map(|raw| raw.as_str().unwrap_or(raw.text().into()).into_owned());
    if let Some(prompt) = head.system.filter(|raw| raw.is_string()) {
        draft.push_message(MessageFacts { role: Role::System, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, Some(prompt));
    }
    for message in messages.into_iter().flatten() {
        take(draft, &message);
    }
}

fn take(draft: &mut TranscriptDraft<'_>, message: &ClineMessage<'_>) {
    let role = match message.role.and_then(Raw::as_str).as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Other,
    };
    let id = message.id.and_then(Raw::as_str);
    let time = message.time.and_then(Raw::as_i64);
    let finished = role == Role::Assistant;
    let index = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        finished,
        time,
        ..MessageFacts::default()
    });
    if let Some(content) = message.content {
        take_content(draft, content);
    }
    let model = message.model.and_then(|model| model.object::<ClineModel<'_>>()?.id?.as_str());
    if let Some(model) = model {
        draft.origin.model = Some(model.into_owned());
    }
    if let Some(usage) = message.metrics.and_then(usage) {
        draft.outline.push_model_call(ModelCall { message: index, time, usage });
    }
}

fn take_content(draft: &mut TranscriptDraft<'_>, content: Raw<'_>) {
    if content.is_string() {
        return take_text(draft, content);
    }
    // The document was read, so this is JSON. Content that is not a list holds nothing that we know.
    _ = each(content.text(), |raw: Raw<'_>| {
        if let Some(block) = raw.object::<ClineBlock<'_>>() {
            take_block(draft, raw, &block);
        }
    });
}

fn take_block(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>, block: &ClineBlock<'_>) {
    let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_str).map(Cow::into_owned);
    match block.kind.and_then(Raw::as_str).as_deref() {
        Some("text") => {
            if let Some(text) = block.text {
                take_text(draft, text);
            }
        }
        Some("file") => draft.push_injected(block.content),
        Some("thinking") => draft.push_text(PartKind::Reasoning, block.thinking),
        Some("redacted_thinking") => draft.push_text(PartKind::Signature, block.data),
        Some("image" | "document") => draft.push_media(raw),
        Some("tool_use") => {
            let (tool, id) = (text(block.name), text(block.id));
            let (tool, id) = (tool.as_deref(), id.as_deref());
            draft.push_call(ToolCall { tool, id, status: ToolStatus::Completed, input: block.input });
        }
        Some("tool_result") => {
            let (tool, id) = (text(block.name), text(block.call));
            let is_error = block.error.is_some_and(Raw::is_truthy);
            let status = if is_error { ToolStatus::Error } else { ToolStatus::Completed };
            let (tool, id, content) = (tool.as_deref(), id.as_deref(), block.content);
            draft.push_result(ToolResult { tool, id, status, content, ..ToolResult::default() });
        }
        _ => {}
    }
}

fn take_text(draft: &mut TranscriptDraft<'_>, text: Raw<'_>) {
    if text.text().starts_with("\"<environment_details>") {
        draft.push_injected(Some(text));
    } else {
        draft.push_text(PartKind::Text, Some(text));
    }
}

fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<ClineMetrics<'_>>()?;
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let (input, read, write) = (number(tokens.input), number(tokens.read), number(tokens.write));
    let usage = Usage {
        input: input.saturating_sub(read).saturating_sub(write).max(0),
        output: number(tokens.output),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    };
    (usage.context() > 0).then_some(usage)
}

raw_fields!(
    /// The session's own description.
    ClineHead { session: "sessionId", version: "version", system: "system_prompt" }
);
raw_fields!(
    /// A message.
    ClineMessage { id: "id", role: "role", content: "content", time: "ts", metrics: "metrics", model: "modelInfo" }
);
raw_fields!(
    /// A block of any type.
    ClineBlock { kind: "type", text: "text", content: "content", thinking: "thinking", data: "data", id: "id",
            name: "name", input: "input", call: "tool_use_id", error: "is_error" }
);
raw_fields!(
    /// The usage.
    ClineMetrics { input: "inputTokens", output: "outputTokens", read: "cacheReadTokens", write: "cacheWriteTokens" }
);
raw_fields!(
    /// The model that responded.
    ClineModel { id: "id" }
);

#[cfg(test)]
mod tests;
