//! Gemini CLI's chats: one document `{sessionId, messages}`, or lines of the same messages.
//!
//! A message of the model holds its thoughts, its tool calls and their results, until the end of the turn. The newer
//! files are append-only, so they write a message again each time that something is added to it, and the last version
//! counts. A line `{$rewindTo: id}` abandons that message and what follows; a line `{$set: {messages}}` replaces the
//! context.

mod lines;

use secateur::{MessageFacts, MessageIx, ModelCall, PartFacts, PartKind, Role, ToolStatus, Usage};
use serde::de::IgnoredAny;

use crate::document::{LIST, read_document};
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::{Object, OptionalRaw, Raw, raw_fields};
use crate::origin::update;
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

fn matches(probe: &Probe<'_>) -> bool {
    let is_session = |record: &ProbedRecord| record.has("sessionId") && record.has("projectHash");
    match probe.shape {
        TextShape::Object => {
            let is_gemini = |message: &ProbedRecord| message.text("type") == Some("gemini");
            probe.top.has("messages")
                && (is_session(&probe.top) || (probe.top.has("sessionId") && probe.any(is_gemini)))
        }
        TextShape::Lines => probe.first(is_session),
        _ => false,
    }
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    if is_one_document(text) {
        let (head, messages) =
            read_document::<GeminiCliHead<'_>, GeminiCliMessage<'_>>(LIST, text, &mut draft.warnings);
        describe(draft, &head);
        for message in messages.iter().flatten() {
            take(draft, message);
        }
    } else {
        lines::read(draft, text);
    }
}

/// Whether the text is one document. The first line of an append-only log is a whole value, and more lines follow.
fn is_one_document(text: &str) -> bool {
    let mut lines = text.trim_start_matches('\u{FEFF}').lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    lines.next().is_none() || serde_json::from_str::<IgnoredAny>(first).is_err()
}

fn describe(draft: &mut TranscriptDraft<'_>, head: &GeminiCliHead<'_>) {
    update(&mut draft.origin.session, head.session);
    update(&mut draft.origin.title, head.summary);
    update(&mut draft.origin.project, head.folders.elements().first().copied());
}

/// Adds a message; messages that are only for the user are skipped.
fn take(draft: &mut TranscriptDraft<'_>, message: &GeminiCliMessage<'_>) -> Option<MessageIx> {
    let role = match message.kind.string().as_deref() {
        Some("user") => Role::User,
        Some("gemini") => Role::Assistant,
        _ => return None,
    };
    let (id, time, finished) = (message.id.string(), time::of(message.time), role == Role::Assistant);
    let facts = MessageFacts { role, id: id.as_deref(), finished, time, ..MessageFacts::default() };
    let index = draft.push_message(facts);
    for thought in &message.thoughts {
        take_thought(draft, *thought);
    }
    // A response of nothing but calls has an empty text.
    if role == Role::User || message.content.truthy() {
        draft.push_text(PartKind::Text, message.content);
    }
    if role == Role::User {
        return Some(index);
    }
    for call in message.calls.iter().flatten() {
        take_call(draft, call);
    }
    update(&mut draft.origin.model, message.model);
    if let Some(usage) = message.tokens.and_then(usage) {
        draft.outline.push_model_call(ModelCall { message: index, time, usage });
    }
    Some(index)
}

fn take_thought(draft: &mut TranscriptDraft<'_>, thought: Raw<'_>) {
    let Some(parts) = thought.object::<GeminiCliThought<'_>>() else { return };
    let mut sizes = draft.sizes_of(parts.description);
    let subject = draft.sizes_of(parts.subject);
    sizes.units += subject.units;
    sizes.points += subject.points;
    sizes.bytes = thought.text().len() as u64;
    sizes.weighted += subject.weighted;
    sizes.wide += subject.wide;
    sizes.tokens += subject.tokens;
    let spot = draft.spot_of(Some(thought));
    draft.push(PartFacts { kind: PartKind::Reasoning, sizes, ..PartFacts::default() }, spot);
}

/// Adds a tool call and, if there is one, its result.
fn take_call(draft: &mut TranscriptDraft<'_>, call: &GeminiCliToolCall<'_>) {
    let (tool, id) = (call.name.string(), call.id.string());
    let (tool, id) = (tool.as_deref(), id.as_deref());
    let status = match call.status.string().as_deref() {
        Some("success") | None => ToolStatus::Completed,
        Some(_) => ToolStatus::Error,
    };
    let has_result = call.result.iter().flatten().next().is_some();
    let called = if has_result { status } else { ToolStatus::Pending };
    draft.push_call(ToolCall { tool, id, status: called, input: call.arguments });
    if !has_result {
        return;
    }
    let response = call.result.iter().flatten().find_map(|part| part.response.0?.response);
    draft.push_result(ToolResult { tool, id, status, content: response, ..ToolResult::default() });
    for part in call.result.iter().flatten() {
        if let Some(media) = part.inline.or(part.file) {
            draft.push_media(media);
        }
    }
}

/// Reads the usage. Its input includes what was read from the cache.
fn usage(raw: Raw<'_>) -> Option<Usage> {
    let tokens = raw.object::<GeminiCliTokens<'_>>()?;
    let (input, cached) = (tokens.input.count(), tokens.cached.count());
    let usage = Usage {
        input: input.saturating_sub(cached).max(0),
        output: tokens.output.count(),
        reasoning: tokens.thoughts.count(),
        cache_read: cached,
        total: tokens.total.integer(),
        ..Usage::default()
    };
    (input > 0).then_some(usage)
}

raw_fields! {
    /// The chat's own description.
    GeminiCliHead { session: "sessionId", summary: "summary", folders: "directories" }
    GeminiCliThought { subject: "subject", description: "description" }
    GeminiCliTokens { input: "input", output: "output", cached: "cached", thoughts: "thoughts", total: "total" }
    /// A tool result.
    GeminiCliResponse { response: "response" }
    GeminiCliMessage {
        id: "id", time: "timestamp", kind: "type", content: "content", thoughts: "thoughts" => Vec<Raw<'a>>,
        calls: "toolCalls" => Vec<Object<GeminiCliToolCall<'a>>>, tokens: "tokens", model: "model"
    }
    /// A tool call with its result.
    GeminiCliToolCall {
        id: "id", name: "name", arguments: "args", status: "status",
        result: "result" => Vec<Object<GeminiCliResultPart<'a>>>
    }
    /// A part of a tool result: its response, or a file beside it.
    GeminiCliResultPart {
        inline: "inlineData", file: "fileData",
        response: "functionResponse" => Object<GeminiCliResponse<'a>>
    }
}

#[cfg(test)]
mod tests;
