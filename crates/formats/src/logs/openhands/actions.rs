//! The old program's actions and observations.
//!
//! An action of the agent that was carried out is a tool call with its `args` as input, and the observation that it
//! caused is the result. The model's text before the call is in the args as `thought`, and stays there. Messages are
//! actions as well, and so are changes of the agent's state, which no model sees.

use secateur::{MessageFacts, PartKind, Role, ToolStatus};

use super::condensation::{OpenHandsCondensed, ids};
use super::{OpenHandsContext, OpenHandsEvent, open};
use crate::document::element_ranges;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::raw_fields;
use crate::json::{Raw, read};

/// The actions that are calls even without an observation.
const CALLS: [&str; 10] = [
    "run",
    "run_ipython",
    "read",
    "write",
    "edit",
    "browse",
    "browse_interactive",
    "call_tool_mcp",
    "task_tracking",
    "delegate",
];

/// Adds an event.
pub(super) fn take<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
) {
    note_model(draft, event);
    if let Some(action) = event.action.and_then(Raw::as_str) {
        match &*action {
            "message" => say(draft, reader, event),
            "system" => {
                push_text(draft, reader, event, Role::System, open::<OpenHandsArgs<'a>>(event.args).content);
            }
            "finish" => {
                let args: OpenHandsArgs<'a> = open(event.args);
                let is_text = |raw: &Raw<'_>| raw.is_string() && raw.text() != "\"\"";
                let said = args.final_thought.filter(is_text).or(args.thought.filter(is_text));
                push_text(draft, reader, event, Role::Assistant, said);
            }
            "condensation" => condense(draft, reader, event),
            "change_agent_state" | "recall" | "null" => {}
            other => call(draft, reader, event, other),
        }
    } else if event.is_answer() {
        push_result(draft, reader, event);
    }
}

fn push_text<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    role: Role,
    content: Option<Raw<'a>>,
) {
    if content.is_some_and(|raw| raw.text() != "null") {
        begin(draft, reader, event, role);
        draft.push_text(PartKind::Text, content);
    }
}

fn begin<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    role: Role,
) {
    let finished = role == Role::Assistant;
    let facts = MessageFacts { role, finished, time: event.time(), ..MessageFacts::default() };
    let message = draft.push_message(facts);
    reader.alive.push(event.name(), message);
}

fn say<'a>(draft: &mut TranscriptDraft<'_>, reader: &mut OpenHandsContext<'a>, event: &OpenHandsEvent<'a>) {
    let args: OpenHandsArgs<'a> = open(event.args);
    begin(draft, reader, event, if event.is_from("agent") { Role::Assistant } else { Role::User });
    draft.push_text(PartKind::Text, args.content);
    if let Some(list) = args.images.filter(|raw| raw.text().starts_with('[')) {
        let images = element_ranges(list.text()).into_iter().filter_map(|range| list.text().get(range));
        for image in images.filter_map(|image| read(image).ok()) {
            draft.push_media(image);
        }
    }
}

fn call<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
    action: &str,
) {
    let Some(id) = event.name() else { return };
    let is_answered = reader.answered.contains(id);
    if !is_answered && !CALLS.contains(&action) {
        return;
    }
    begin(draft, reader, event, Role::Assistant);
    reader.calls.insert(id);
    draft.push_call(ToolCall { tool: Some(action), id: Some(id), input: event.args, ..ToolCall::default() });
}

fn push_result<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
) {
    let Some(cause) = event.cause.map(Raw::text).filter(|cause| reader.calls.contains(cause)) else { return };
    let is_error = event.observation.and_then(Raw::as_str).as_deref() == Some("error");
    let extras: OpenHandsExtras<'a> = open(event.extras);
    let own = extras.exit_code.and_then(Raw::as_i64);
    let code = own.or_else(|| open::<OpenHandsExtras<'a>>(extras.metadata).exit_code.and_then(Raw::as_i64));
    begin(draft, reader, event, Role::Tool);
    draft.push_result(ToolResult {
        id: Some(cause),
        status: if is_error { ToolStatus::Error } else { ToolStatus::Completed },
        // A command that timed out has the exit code -1.
        failed: code.is_some_and(|code| code > 0),
        content: event.content,
        ..ToolResult::default()
    });
}

fn condense<'a>(
    draft: &mut TranscriptDraft<'_>,
    reader: &mut OpenHandsContext<'a>,
    event: &OpenHandsEvent<'a>,
) {
    let args: OpenHandsArgs<'a> = open(event.args);
    let number = |raw: Option<Raw<'a>>| raw.and_then(Raw::as_i64);
    let condensed = OpenHandsCondensed {
        forgotten: ids(args.forgotten),
        between: number(args.forgotten_start).zip(number(args.forgotten_end)),
        summary: args.summary,
        offset: args.offset,
        time: event.time(),
    };
    reader.alive.condense(draft, &condensed);
}

fn note_model(draft: &mut TranscriptDraft<'_>, event: &OpenHandsEvent<'_>) {
    if event.action.is_some() && event.metadata.is_some() {
        let response: OpenHandsResponse<'_> = open(open::<OpenHandsMetadata<'_>>(event.metadata).response);
        let model = response.model.and_then(Raw::as_str).map(Into::into);
        draft.origin.model = model.or(draft.origin.model.take());
    }
}

raw_fields!(
    /// The arguments of an action.
    OpenHandsArgs { content: "content", images: "image_urls", thought: "thought", final_thought: "final_thought",
           forgotten: "forgotten_event_ids", forgotten_start: "forgotten_events_start_id",
           forgotten_end: "forgotten_events_end_id", summary: "summary", offset: "summary_offset" }
);
raw_fields!(
    /// The rest of an observation; a command's exit code is here or one level deeper.
    OpenHandsExtras { exit_code: "exit_code", metadata: "metadata" }
);
raw_fields!(
    /// The origin of an action.
    OpenHandsMetadata { response: "model_response" }
);
raw_fields!(
    /// The response of the model.
    OpenHandsResponse { model: "model" }
);
