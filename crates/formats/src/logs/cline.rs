//! Cline's sessions: messages in Anthropic's blocks, as one document of the SDK or as the bare array
//! (`api_conversation_history.json`) of the editor extension.
//!
//! A file that the user mentions is a block of its own, and the extension adds the state of the editor to the user's
//! message; both count as injected. The usage is in each response, and its input includes what was read from the cache.

use secateur::{MessageFacts, ModelCall, PartKind, Role, ToolStatus, Usage};

use crate::document::{LIST, read_document};
use crate::draft::{ToolCall, ToolResult, TranscriptDraft, outcome};
use crate::json::{OptionalRaw, Raw, each, raw_fields};
use crate::origin::update;
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

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

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let (head, messages) = read_document::<ClineHead<'_>, ClineMessage<'_>>(LIST, text, &mut draft.warnings);
    draft.origin.session = head.session.owned();
    draft.origin.version = head.version.map(Raw::spoken);
    if let Some(prompt) = head.system.if_string() {
        draft.push_message(MessageFacts { role: Role::System, ..MessageFacts::default() });
        draft.push_text(PartKind::Text, Some(prompt));
    }
    for message in messages.into_iter().flatten() {
        take(draft, &message);
    }
}

fn take(draft: &mut TranscriptDraft<'_>, message: &ClineMessage<'_>) {
    let role = match message.role.string().as_deref() {
        Some("user") => Role::User,
        Some("assistant") => Role::Assistant,
        Some("system") => Role::System,
        _ => Role::Other,
    };
    let (id, time, finished) = (message.id.string(), message.time.integer(), role == Role::Assistant);
    let facts = MessageFacts { role, id: id.as_deref(), finished, time, ..MessageFacts::default() };
    let index = draft.push_message(facts);
    if let Some(content) = message.content {
        take_content(draft, content);
    }
    update(&mut draft.origin.model, message.model.fields::<ClineModel<'_>>().id);
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
    match block.kind.string().as_deref() {
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
            let (tool, id, status) = (block.name.string(), block.id.string(), ToolStatus::Completed);
            draft.push_call(ToolCall { tool, id, status, input: block.input });
        }
        Some("tool_result") => {
            let (tool, id) = (block.name.string(), block.call.string());
            let (status, content) = (outcome(block.error), block.content);
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
    let (input, read, write) = (tokens.input.count(), tokens.read.count(), tokens.write.count());
    let usage = Usage {
        input: input.saturating_sub(read).saturating_sub(write).max(0),
        output: tokens.output.count(),
        cache_read: read,
        cache_write: write,
        ..Usage::default()
    };
    (usage.context() > 0).then_some(usage)
}

raw_fields! {
    /// The session's own description.
    ClineHead { session: "sessionId", version: "version", system: "system_prompt" }
    ClineMessage { id: "id", role: "role", content: "content", time: "ts", metrics: "metrics", model: "modelInfo" }
    /// A block of any type.
    ClineBlock { kind: "type", text: "text", content: "content", thinking: "thinking", data: "data", id: "id",
            name: "name", input: "input", call: "tool_use_id", error: "is_error" }
    ClineMetrics { input: "inputTokens", output: "outputTokens", read: "cacheReadTokens", write: "cacheWriteTokens" }
    ClineModel { id: "id" }
}

#[cfg(test)]
mod tests;
