//! Messages of the Vercel AI SDK, as its chats are kept: a list of `{id, role, parts}`.
//!
//! A tool part holds the call and its result in one record, `{type: "tool-<name>", toolCallId, state, input,
//! output}`; here it becomes two parts of the outline, the second only when there is an answer. The SDK's fourth
//! version had `{role, content, toolInvocations}` instead, and later parts `{type: "tool-invocation",
//! toolInvocation}`; chats that were kept since then hold all of these shapes.
//!
//! Sources, steps and data of the application's own are for its page; no model sees them.

use std::borrow::Cow;

use secateur::{Kind, Measures, MessageFacts, Role, Status};

use crate::chat;
use crate::document::{element_ranges, read_list};
use crate::draft::{Answered, Called, Draft};
use crate::format::Format;
use crate::json::fields::{object, raw_fields};
use crate::json::{self, Raw};
use crate::probe::{Probe, Record};
use crate::time;
use crate::transcript::Transcript;

/// Whether a text is in this format.
pub(crate) fn matches(probe: &Probe<'_>) -> bool {
    let is_message = |message: &Record| {
        let has_list = |key: &str| message.starts(key) == Some('[');
        // Parts without a type are those of a provider's own messages.
        let is_typed = message.has("id") || !message.types.is_empty();
        message.has("role") && ((has_list("parts") && is_typed) || has_list("toolInvocations"))
    };
    let is_other = |message: &Record| message.has("info") || message.starts("content") == Some('{');
    probe.is_list() && probe.any(is_message) && !probe.any(is_other)
}

/// Reads a session; what cannot be read is passed over with a warning.
pub(crate) fn read<'a>(text: &'a str, measures: &Measures) -> Transcript<'a> {
    let mut draft = Draft::new(text, measures);
    for message in read_list::<Message<'a>>(text, &mut draft.warnings) {
        take(&mut draft, &message.unwrap_or_default());
    }
    draft.finish(Format::UiMessages, text)
}

fn take<'a>(draft: &mut Draft<'_>, message: &Message<'a>) {
    let (id, role) = (message.id.and_then(Raw::as_str), message.role.and_then(Raw::as_str));
    let role = chat::role(role.as_deref());
    let metadata = message.metadata.and_then(|raw| object::<Metadata<'a>>(raw.text()).ok().flatten());
    draft.message(MessageFacts {
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
        draft.show(file);
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

fn take_part(draft: &mut Draft<'_>, raw: Raw<'_>) {
    let Ok(Some(part)) = object::<Part<'_>>(raw.text()) else { return };
    let kind = part.kind.and_then(Raw::as_str).unwrap_or_default();
    match &*kind {
        "text" => draft.say(Kind::Text, part.text),
        "reasoning" => draft.say(Kind::Reasoning, part.text.or(part.reasoning)),
        "file" => draft.show(raw),
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

/// How far a tool has come.
fn status(state: &str) -> Status {
    match state {
        "output-available" | "result" => Status::Completed,
        "output-error" | "output-denied" => Status::Error,
        "input-streaming" | "partial-call" => Status::Pending,
        "input-available" | "call" | "approval-requested" | "approval-responded" => Status::Running,
        _ => Status::None,
    }
}

/// The call and, if there is one, its result.
fn take_tool(draft: &mut Draft<'_>, raw: Raw<'_>, name: Option<&str>) {
    let Ok(Some(tool)) = object::<Tool<'_>>(raw.text()) else { return };
    let state = tool.state.and_then(Raw::as_str).unwrap_or_default();
    let status = status(&state);
    let own = tool.name.and_then(Raw::as_str);
    let (name, id) = (name.map(Cow::Borrowed).or(own), tool.call.and_then(Raw::as_str));
    let (name, id) = (name.as_deref(), id.as_deref());
    let is_there = |raw: &Raw<'_>| raw.text() != "null";
    let input = tool.input.filter(is_there).or(tool.args).or(tool.raw_input);
    draft.call(Called { tool: name, id, status, input });
    let content = match status {
        Status::Completed => tool.output.or(tool.result),
        Status::Error => tool.error.or(tool.output),
        _ => return,
    };
    draft.answer(Answered { tool: name, id, status, content, ..Answered::default() });
}

raw_fields!(
    /// A message of either version.
    Message { id: "id", role: "role", metadata: "metadata", parts: "parts", content: "content",
              tools: "toolInvocations", attachments: "experimental_attachments", created: "createdAt" }
);
raw_fields!(
    /// What applications keep beside a message; a time is the one thing on which they agree.
    Metadata { created: "createdAt" }
);
raw_fields!(
    /// A part.
    Part { kind: "type", text: "text", reasoning: "reasoning", invocation: "toolInvocation" }
);
raw_fields!(
    /// A tool part, or an invocation of the fourth version.
    Tool { name: "toolName", call: "toolCallId", state: "state", input: "input", raw_input: "rawInput",
           args: "args", output: "output", result: "result", error: "errorText" }
);

#[cfg(test)]
mod tests;
