//! Stored chats of the Vercel AI SDK: a list of `{id, role, parts}`.
//!
//! A tool part holds the call and its result in one record, `{type: "tool-<name>", toolCallId, state, input, output}`; here
//! it becomes two parts of the outline, the second only if there is a result. Version 4 of the SDK had
//! `{role, content, toolInvocations}` instead, and later parts `{type: "tool-invocation", toolInvocation}`; old chats
//! hold all of these shapes.
//!
//! Sources, steps and the application's own data are for its page; no model sees them.

use std::borrow::Cow;

use secateur::{MessageFacts, PartKind, Role, ToolStatus};

use crate::chat;
use crate::document::{element_ranges, read_list};
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::raw_fields;
use crate::json::{self, Raw};
use crate::probe::{Probe, ProbedRecord};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    let is_message = |message: &ProbedRecord| {
        let has_list = |key: &str| message.starts(key) == Some('[');
        // Parts without a type belong to a provider's own messages.
        let is_typed = message.has("id") || !message.types.is_empty();
        message.has("role") && ((has_list("parts") && is_typed) || has_list("toolInvocations"))
    };
    let is_other = |message: &ProbedRecord| message.has("info") || message.starts("content") == Some('{');
    probe.is_list() && probe.any(is_message) && !probe.any(is_other)
}

/// Reads a session; what cannot be read is skipped with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    for message in read_list::<UiMessage<'_>>(text, &mut draft.warnings) {
        take(draft, &message.unwrap_or_default());
    }
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, message: &UiMessage<'a>) {
    let (id, role) = (message.id.and_then(Raw::as_str), message.role.and_then(Raw::as_str));
    let role = chat::role(role.as_deref());
    let metadata = message.metadata.and_then(Raw::object::<UiMetadata<'a>>);
    draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        finished: role == Role::Assistant,
        time: moment(message.created).or_else(|| moment(metadata?.created)),
        ..MessageFacts::default()
    });
    if message.parts.is_some_and(|raw| raw.text().starts_with('[')) {
        for part in elements(message.parts) {
            take_part(draft, part);
        }
    } else {
        if message.content.is_some_and(|raw| raw.text() != "\"\"") {
            chat::take_text(draft, message.content);
        }
        for tool in elements(message.tools) {
            take_tool(draft, tool, None);
        }
    }
    for file in elements(message.attachments) {
        draft.push_media(file);
    }
}

/// A time, as a number of milliseconds or as a date.
fn moment(raw: Option<Raw<'_>>) -> Option<i64> {
    let raw = raw?;
    raw.as_i64().or_else(|| time::millis(&raw.as_str()?))
}

fn elements<'a>(list: Option<Raw<'a>>) -> impl Iterator<Item = Raw<'a>> {
    let list = list.map(Raw::text).filter(|list| list.starts_with('[')).unwrap_or_default();
    let values = element_ranges(list).into_iter().filter_map(move |range| list.get(range));
    values.filter_map(|value| json::read(value).ok())
}

fn take_part(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>) {
    let Some(part) = raw.object::<UiPart<'_>>() else { return };
    let kind = part.kind.and_then(Raw::as_str).unwrap_or_default();
    match &*kind {
        "text" => draft.push_text(PartKind::Text, part.text),
        "reasoning" => draft.push_text(PartKind::Reasoning, part.text.or(part.reasoning)),
        "file" => draft.push_media(raw),
        "tool-invocation" => {
            if let Some(tool) = part.invocation {
                take_tool(draft, tool, None);
            }
        }
        "dynamic-tool" => take_tool(draft, raw, None),
        other => {
            if let Some(name) = other.strip_prefix("tool-") {
                take_tool(draft, raw, Some(name));
            }
        }
    }
}

/// The status of a tool.
fn status(state: &str) -> ToolStatus {
    match state {
        "output-available" | "result" => ToolStatus::Completed,
        "output-error" | "output-denied" => ToolStatus::Error,
        "input-streaming" | "partial-call" => ToolStatus::Pending,
        "input-available" | "call" | "approval-requested" | "approval-responded" => ToolStatus::Running,
        _ => ToolStatus::None,
    }
}

/// The call and, if there is one, its result.
fn take_tool(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>, name: Option<&str>) {
    let Some(tool) = raw.object::<UiTool<'_>>() else { return };
    let state = tool.state.and_then(Raw::as_str).unwrap_or_default();
    let status = status(&state);
    let own = tool.name.and_then(Raw::as_str);
    let (name, id) = (name.map(Cow::Borrowed).or(own), tool.call.and_then(Raw::as_str));
    let (name, id) = (name.as_deref(), id.as_deref());
    let is_there = |raw: &Raw<'_>| raw.text() != "null";
    let input = tool.input.filter(is_there).or(tool.args).or(tool.raw_input);
    draft.push_call(ToolCall { tool: name, id, status, input });
    let content = match status {
        ToolStatus::Completed => tool.output.or(tool.result),
        ToolStatus::Error => tool.error.or(tool.output),
        _ => return,
    };
    draft.push_result(ToolResult { tool: name, id, status, content, ..ToolResult::default() });
}

raw_fields!(
    /// A message of either version.
    UiMessage { id: "id", role: "role", metadata: "metadata", parts: "parts", content: "content",
              tools: "toolInvocations", attachments: "experimental_attachments", created: "createdAt" }
);
raw_fields!(
    /// What applications store beside a message; only the time has a usual name.
    UiMetadata { created: "createdAt" }
);
raw_fields!(
    /// A part.
    UiPart { kind: "type", text: "text", reasoning: "reasoning", invocation: "toolInvocation" }
);
raw_fields!(
    /// A tool part, or an invocation of version 4.
    UiTool { name: "toolName", call: "toolCallId", state: "state", input: "input", raw_input: "rawInput",
           args: "args", output: "output", result: "result", error: "errorText" }
);

#[cfg(test)]
mod tests;
