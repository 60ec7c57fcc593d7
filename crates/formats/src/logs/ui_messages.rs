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
use crate::document::read_list;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::{OptionalRaw, Raw, raw_fields};
use crate::probe::{Probe, ProbedRecord};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

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

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    for message in read_list::<UiMessage<'_>>(text, &mut draft.warnings) {
        take(draft, &message.unwrap_or_default());
    }
}

fn take<'a>(draft: &mut TranscriptDraft<'_>, message: &UiMessage<'a>) {
    let (id, role) = (message.id.string(), message.role.string());
    let role = chat::role(role.as_deref());
    let metadata: UiMetadata<'a> = message.metadata.fields();
    draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        finished: role == Role::Assistant,
        time: moment(message.created).or_else(|| moment(metadata.created)),
        ..MessageFacts::default()
    });
    if message.parts.is_some_and(|raw| raw.text().starts_with('[')) {
        for part in message.parts.elements() {
            take_part(draft, part);
        }
    } else {
        if message.content.is_some_and(|raw| raw.text() != "\"\"") {
            chat::take_text(draft, message.content);
        }
        for tool in message.tools.elements() {
            take_tool(draft, tool, None);
        }
    }
    for file in message.attachments.elements() {
        draft.push_media(file);
    }
}

/// A time, as a number of milliseconds or as a date.
fn moment(raw: Option<Raw<'_>>) -> Option<i64> {
    raw.integer().or_else(|| time::of(raw))
}

fn take_part(draft: &mut TranscriptDraft<'_>, raw: Raw<'_>) {
    let Some(part) = raw.object::<UiPart<'_>>() else { return };
    match &*part.kind.string().unwrap_or_default() {
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
    let state = tool.state.string().unwrap_or_default();
    let status = status(&state);
    let own = tool.name.string();
    let (name, id) = (name.map(Cow::Borrowed).or(own), tool.call.string());
    let (name, id) = (name.as_deref(), id.as_deref());
    let input = tool.input.unless_null().or(tool.args).or(tool.raw_input);
    draft.push_call(ToolCall { tool: name, id, status, input });
    let content = match status {
        ToolStatus::Completed => tool.output.or(tool.result),
        ToolStatus::Error => tool.error.or(tool.output),
        _ => return,
    };
    draft.push_result(ToolResult { tool: name, id, status, content, ..ToolResult::default() });
}

raw_fields! {
    /// A message of either version.
    UiMessage { id: "id", role: "role", metadata: "metadata", parts: "parts", content: "content",
              tools: "toolInvocations", attachments: "experimental_attachments", created: "createdAt" }
    /// What applications store beside a message; only the time has a usual name.
    UiMetadata { created: "createdAt" }
    UiPart { kind: "type", text: "text", reasoning: "reasoning", invocation: "toolInvocation" }
    /// A tool part, or an invocation of version 4.
    UiTool { name: "toolName", call: "toolCallId", state: "state", input: "input", raw_input: "rawInput",
           args: "args", output: "output", result: "result", error: "errorText" }
}

#[cfg(test)]
mod tests;
