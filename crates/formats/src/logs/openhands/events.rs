//! The SDK's events.
//!
//! Each tool call is an event, and neighbouring events of one response are one message. An observation, an error or a
//! rejection is the result of the call with its id. Events of other kinds are about the program's state, and no model
//! sees them.

use secateur::{MessageFacts, PartKind, Role, ToolStatus};

use super::condensation::{OpenHandsCondensed, ids};
use super::{OpenHandsContext, OpenHandsEvent, open};
use crate::chat;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::Raw;
use crate::json::fields::raw_fields;

/// Adds an event.
pub(super) fn take<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
) {
    let kind = event.kind.and_then(Raw::as_str).unwrap_or_default();
    if kind == "ActionEvent" {
        return act(draft, reader, event);
    }
    match &*kind {
        "SystemPromptEvent" => {
            begin(draft, reader, event, Role::System);
            draft.push_text(PartKind::Text, event.prompt);
        }
        "MessageEvent" => say(draft, reader, event),
        "ObservationEvent" => observe(draft, reader, event),
        "AgentErrorEvent" => refuse(draft, reader, event, event.error),
        "UserRejectObservation" => refuse(draft, reader, event, event.rejection),
        "Condensation" => {
            let condensed = OpenHandsCondensed {
                forgotten: ids(event.forgotten),
                between: None,
                summary: event.summary,
                offset: event.offset,
                time: event.time(),
            };
            reader.alive.condense(draft, &condensed);
        }
        _ => return,
    }
    reader.response = None;
}

fn begin<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    role: Role,
) {
    let id = event.id.and_then(Raw::as_str);
    let finished = role == Role::Assistant;
    let time = event.time();
    let facts = MessageFacts { role, id: id.as_deref(), finished, time, ..MessageFacts::default() };
    let message = draft.push_message(facts);
    reader.alive.push(event.name(), message);
}

fn say<'a>(draft: &mut TranscriptDraft<'_>, reader: &mut OpenHandsContext<'a>, event: &OpenHandsEvent<'a>) {
    let message: OpenHandsMessage<'a> = open(event.message);
    let role = match message.role.and_then(Raw::as_str).as_deref() {
        Some("system") => Role::System,
        Some("assistant") => Role::Assistant,
        Some("user") => Role::User,
        _ if event.is_from("agent") => Role::Assistant,
        _ => Role::User,
    };
    begin(draft, reader, event, role);
    think(draft, message.reasoning, message.thinking);
    draft.push_text(PartKind::Text, message.content);
    if event.extended.is_some_and(is_filled) {
        draft.push_injected(event.extended);
    }
}

/// The text before a call, its thinking and the call itself.
fn act<'a>(draft: &mut TranscriptDraft<'_>, reader: &mut OpenHandsContext<'a>, event: &OpenHandsEvent<'a>) {
    let response = event.response.map(Raw::text).filter(|id| *id != "null");
    let newest = draft.outline.messages().next_back();
    match newest.filter(|_| response.is_some() && reader.response == response) {
        Some(message) => reader.alive.push(event.name(), message),
        None => begin(draft, reader, event, Role::Assistant),
    }
    reader.response = response;
    think(draft, event.reasoning, event.thinking);
    if event.thought.is_some_and(is_filled) {
        draft.push_text(PartKind::Text, event.thought);
    }
    let call: OpenHandsCall<'a> = open(event.call);
    let id = event.call_id.or(call.id).and_then(Raw::as_str);
    let tool = event.tool.or(call.name).and_then(Raw::as_str);
    let input = call.arguments.or(event.action);
    draft.push_call(ToolCall { tool: tool.as_deref(), id: id.as_deref(), input, ..ToolCall::default() });
}

/// Thinking is given as signed blocks or as text; if both are there, they are the same.
fn think(draft: &mut TranscriptDraft<'_>, reasoning: Option<Raw<'_>>, blocks: Option<Raw<'_>>) {
    if blocks.is_some_and(is_filled) {
        chat::take_thinking(draft, blocks);
    } else if reasoning.is_some_and(is_filled) {
        draft.push_text(PartKind::Reasoning, reasoning);
    }
}

fn observe<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
) {
    let seen: OpenHandsObservation<'a> = open(event.observation);
    let own = seen.exit_code.and_then(Raw::as_i64);
    let code =
        own.or_else(|| open::<OpenHandsObservation<'a>>(seen.metadata).exit_code.and_then(Raw::as_i64));
    let is_error = seen.is_error.is_some_and(Raw::is_truthy);
    let answered = ToolResult {
        status: if is_error { ToolStatus::Error } else { ToolStatus::Completed },
        // A command that timed out has the exit code -1.
        failed: code.is_some_and(|code| code > 0),
        content: seen.content.or(seen.output),
        ..ToolResult::default()
    };
    push_result(draft, reader, event, answered);
}

/// A call that was not carried out.
fn refuse<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    reason: Option<Raw<'a>>,
) {
    let answered = ToolResult { status: ToolStatus::Error, content: reason, ..ToolResult::default() };
    push_result(draft, reader, event, answered);
}

fn push_result<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    answered: ToolResult<'_>,
) {
    begin(draft, reader, event, Role::Tool);
    let (id, tool) = (event.call_id.and_then(Raw::as_str), event.tool.and_then(Raw::as_str));
    draft.push_result(ToolResult { id: id.as_deref(), tool: tool.as_deref(), ..answered });
}

/// Whether a value is not empty.
fn is_filled(raw: Raw<'_>) -> bool {
    raw.is_truthy() && raw.text().strip_prefix('[').is_none_or(|rest| rest.trim_start() != "]")
}

raw_fields!(
    /// A message as it is sent.
    OpenHandsMessage { role: "role", content: "content", reasoning: "reasoning_content", thinking: "thinking_blocks" }
);
raw_fields!(
    /// A call as the model made it.
    OpenHandsCall { id: "id", name: "name", arguments: "arguments" }
);
raw_fields!(
    /// A tool result; a command's exit code is here or one level deeper.
    OpenHandsObservation { content: "content", output: "output", is_error: "is_error", exit_code: "exit_code",
                  metadata: "metadata" }
);
