//! Gemini CLI's chats: one document `{sessionId, messages}`, or lines of the same messages.
//!
//! A message of the model holds its thoughts, its tool calls and their results, until the end of the turn. The newer
//! files are append-only, so they write a message again each time that something is added to it, and the last version
//! counts. A line `{$rewindTo: id}` abandons that message and what follows; a line `{$set: {messages}}` replaces the
//! context.

mod lines;

use std::borrow::Cow;

use secateur::{MessageFacts, MessageIx, ModelCall, PartFacts, PartKind, Role, ToolStatus, Usage};
use serde::de::{IgnoredAny, MapAccess};

use crate::document::{element_ranges, read_document};
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::raw_fields;
use crate::json::{Each, Fields, Object, Raw};
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

/// Whether a text is in this format.
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

/// Reads a session; what cannot be read is skipped with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    if is_one_document(text) {
        let (head, messages) =
            read_document::<GeminiCliHead<'_>, GeminiCliMessage<'_>>(text, &mut draft.warnings);
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
    let text = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_str).map(Cow::into_owned);
    draft.origin.session = text(head.session).or(draft.origin.session.take());
    draft.origin.title = text(head.summary).or(draft.origin.title.take());
    let mut folders = head.folders.map(|raw| element_ranges(raw.text())).unwrap_or_default().into_iter();
    let folder = folders.next().and_then(|range| head.folders?.text().get(range));
    draft.origin.project =
        folder.and_then(crate::json::fields::as_str).map(Cow::into_owned).or(draft.origin.project.take());
}

/// Adds a message; messages that are only for the user are skipped.
fn take(draft: &mut TranscriptDraft<'_>, message: &GeminiCliMessage<'_>) -> Option<MessageIx> {
    let id = message.id.and_then(Raw::as_str);
    let kind = message.kind.and_then(Raw::as_str);
    let role = match kind.as_deref() {
        Some("user") => Role::User,
        Some("gemini") => Role::Assistant,
        _ => return None,
    };
    let time = message.time.and_then(Raw::as_str).and_then(|time| time::millis(&time));
    let finished = role == Role::Assistant;
    let index = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        finished,
        time,
        ..MessageFacts::default()
    });
    for thought in &message.thoughts {
        take_thought(draft, *thought);
    }
    // A response of nothing but calls has an empty text.
    if role == Role::User || message.content.is_some_and(Raw::is_truthy) {
        draft.push_text(PartKind::Text, message.content);
    }
    if role == Role::User {
        return Some(index);
    }
    for call in message.calls.iter().flatten() {
        take_call(draft, call);
    }
    if let Some(model) = message.model.and_then(Raw::as_str) {
        draft.origin.model = Some(model.into_owned());
    }
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
    sizes.tokens += subject.tokens;
    let spot = draft.spot_of(Some(thought));
    draft.push(PartFacts { kind: PartKind::Reasoning, sizes, ..PartFacts::default() }, spot);
}

/// Adds a tool call and, if there is one, its result.
fn take_call(draft: &mut TranscriptDraft<'_>, call: &GeminiCliToolCall<'_>) {
    let (tool, id) = (call.name.and_then(Raw::as_str), call.id.and_then(Raw::as_str));
    let (tool, id) = (tool.as_deref(), id.as_deref());
    let status = match call.status.and_then(Raw::as_str).as_deref() {
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
    let number = |raw: Option<Raw<'_>>| raw.and_then(Raw::as_i64).unwrap_or(0);
    let (input, cached) = (number(tokens.input), number(tokens.cached));
    let usage = Usage {
        input: input.saturating_sub(cached).max(0),
        output: number(tokens.output),
        reasoning: number(tokens.thoughts),
        cache_read: cached,
        total: tokens.total.and_then(Raw::as_i64),
        ..Usage::default()
    };
    (input > 0).then_some(usage)
}

raw_fields!(
    /// The chat's own description.
    GeminiCliHead { session: "sessionId", summary: "summary", folders: "directories" }
);
raw_fields!(
    /// A thought of the model.
    GeminiCliThought { subject: "subject", description: "description" }
);
raw_fields!(
    /// The usage.
    GeminiCliTokens { input: "input", output: "output", cached: "cached", thoughts: "thoughts", total: "total" }
);
raw_fields!(
    /// A tool result.
    GeminiCliResponse { response: "response" }
);

#[derive(Default)]
struct GeminiCliMessage<'a> {
    id: Option<Raw<'a>>,
    time: Option<Raw<'a>>,
    kind: Option<Raw<'a>>,
    content: Option<Raw<'a>>,
    thoughts: Vec<Raw<'a>>,
    calls: Vec<Option<GeminiCliToolCall<'a>>>,
    tokens: Option<Raw<'a>>,
    model: Option<Raw<'a>>,
}

impl<'a> Fields<'a> for GeminiCliMessage<'a> {
    fn field<A: MapAccess<'a>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        match key {
            "id" => self.id = Some(map.next_value()?),
            "timestamp" => self.time = Some(map.next_value()?),
            "type" => self.kind = Some(map.next_value()?),
            "content" => self.content = Some(map.next_value()?),
            "thoughts" => {
                self.thoughts.clear();
                map.next_value_seed(Each::new(|thought| self.thoughts.push(thought)))?;
            }
            "toolCalls" => {
                self.calls.clear();
                map.next_value_seed(Each::new(|Object(call)| self.calls.push(call)))?;
            }
            "tokens" => self.tokens = Some(map.next_value()?),
            "model" => self.model = Some(map.next_value()?),
            _ => _ = map.next_value::<IgnoredAny>()?,
        }
        Ok(())
    }
}

raw_fields!(
    /// A tool call with its result.
    GeminiCliToolCall {
        id: "id", name: "name", arguments: "args", status: "status"
    }
    objects {}
    lists { result: "result" => GeminiCliResultPart }
);

raw_fields!(
    /// A part of a tool result: its response, or a file beside it.
    GeminiCliResultPart {
        inline: "inlineData", file: "fileData"
    }
    objects { response: "functionResponse" => GeminiCliResponse }
    lists {}
);

#[cfg(test)]
mod tests;
