//! Copilot CLI's event logs: JSON lines `{type, data, id, timestamp, parentId}`.
//!
//! The user's text is wrapped before it is sent: with the time of day, with reminders. The log holds both versions. What
//! the user wrote becomes one part, and what was added a second one. The system prompt is written again in each turn;
//! only the newest one is in the context. Events of a sub-agent name the call that started it and were never in the
//! session's context. Usage is only reported as a sum at the end of a session, so nothing is known about single calls.

use std::borrow::Cow;

use secateur::{MessageFacts, MessageIx, PartFacts, PartKind, Role, Sizes, ToolStatus};

use crate::content;
use crate::cut::Spot;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::fields::{is_null, object, raw_fields};
use crate::json::{Raw, SyntaxError};
use crate::lines::LineReader;
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<CopilotReader>::default()));

/// Whether a text is in this format.
fn matches(probe: &Probe<'_>) -> bool {
    probe.shape == TextShape::Lines
        && probe.any(|record| {
            record.text("type").is_some_and(|kind| kind.contains('.'))
                && record.starts("data") == Some('{')
                && record.has("timestamp")
        })
}

/// Reads the log event by event.
#[derive(Default)]
struct CopilotReader {
    system: Option<MessageIx>,
    /// The messages before this one were summarised.
    summarised: u32,
}

impl LineReader for CopilotReader {
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError> {
        let Some(event) = object::<CopilotEvent<'_>>(line)? else { return Ok(()) };
        let data = event.data.0.as_ref();
        let Some(data) = data else { return Ok(()) };
        let kind = event.kind.and_then(Raw::as_str).unwrap_or_default();
        match &*kind {
            "system.message" => {
                let message = begin(draft, &event, Role::System);
                draft.push_text(PartKind::Text, data.content);
                if let Some(earlier) = self.system.replace(message) {
                    draft.outline.retire(earlier, message);
                }
            }
            "user.message" => {
                begin(draft, &event, Role::User);
                take_user(draft, data);
            }
            "assistant.message" => {
                begin(draft, &event, Role::Assistant);
                take_response(draft, data);
            }
            "tool.execution_complete" => {
                begin(draft, &event, Role::Tool);
                take_result(draft, data);
            }
            "session.compaction_complete" if data.success.is_none_or(Raw::is_truthy) => {
                self.take_compaction(draft, &event, data);
            }
            _ => describe(draft, data),
        }
        Ok(())
    }

    fn finish(&mut self, _: &mut TranscriptDraft<'_>) {}
}

impl CopilotReader {
    /// A summary replaces all earlier messages. A compaction without one removed something that the log does not name.
    fn take_compaction(
        &mut self,
        draft: &mut TranscriptDraft<'_>,
        event: &CopilotEvent<'_>,
        data: &CopilotData<'_>,
    ) {
        let summary = data.summary.filter(|raw| raw.is_string());
        let at = begin(draft, event, Role::User);
        draft.push_compaction();
        if summary.is_none() {
            return;
        }
        draft.push_text(PartKind::Text, summary);
        for message in (self.summarised..at.0).map(MessageIx) {
            if draft.outline.role(message) != Role::System {
                draft.outline.retire(message, at);
            }
        }
        self.summarised = at.0;
    }
}

fn begin(draft: &mut TranscriptDraft<'_>, event: &CopilotEvent<'_>, role: Role) -> MessageIx {
    let data = event.data.0.as_ref();
    let (id, parent) = (event.id.and_then(Raw::as_str), event.parent.and_then(Raw::as_str));
    let message = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref(),
        summary: data.is_some_and(|data| data.summary.is_some_and(Raw::is_string)),
        finished: role == Role::Assistant,
        time: event.time.and_then(Raw::as_str).and_then(|time| time::millis(&time)),
        ..MessageFacts::default()
    });
    if data.is_some_and(|data| data.starter.is_some_and(Raw::is_string)) {
        draft.outline.retire(message, message);
    }
    message
}

fn take_user(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let size = |raw: Raw<'_>| content::sizes(raw.text(), draft.measures);
    let sent = data.sent.filter(|raw| raw.is_string());
    let (Some(written), Some(sent)) = (data.content, sent) else {
        return draft.push_text(PartKind::Text, sent.or(data.content));
    };
    let (own, all) = (size(written), size(sent));
    let added = Sizes {
        units: all.units.saturating_sub(own.units),
        points: all.points.saturating_sub(own.points),
        bytes: all.bytes.saturating_sub(own.bytes),
        ..Sizes::default()
    };
    let spot = draft.spot_of(Some(sent));
    draft.push(PartFacts { kind: PartKind::Text, sizes: own, ..PartFacts::default() }, spot);
    if added.points > 0 {
        let facts = PartFacts { kind: PartKind::Other, injected: true, sizes: added, ..PartFacts::default() };
        draft.push(facts, Spot::default());
    }
}

fn take_response(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    describe(draft, data);
    draft.push_text(PartKind::Reasoning, data.reasoning.filter(|raw| raw.is_string()));
    draft.push_text(PartKind::Text, data.content);
    for request in data.requests.iter().flatten() {
        let (tool, id) = (request.name.and_then(Raw::as_str), request.id.and_then(Raw::as_str));
        let (tool, id) = (tool.as_deref(), id.as_deref());
        draft.push_call(ToolCall { tool, id, status: ToolStatus::Completed, input: request.arguments });
    }
}

fn take_result(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let (tool, id) = (data.tool.and_then(Raw::as_str), data.call.and_then(Raw::as_str));
    let result = data.result.and_then(Raw::object::<CopilotOutcome<'_>>);
    let output = result.and_then(|result| result.content).filter(|raw| !is_null(raw.text()));
    let status =
        if data.success.is_none_or(Raw::is_truthy) { ToolStatus::Completed } else { ToolStatus::Error };
    let content = output.or(data.error);
    let answered =
        ToolResult { tool: tool.as_deref(), id: id.as_deref(), status, content, ..ToolResult::default() };
    draft.push_result(answered);
}

/// Notes what an event says about the session.
fn describe(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let keep = |field: &mut Option<String>, raw: Option<Raw<'_>>| {
        let text = raw.and_then(Raw::as_str);
        if text.is_some() && field.as_deref() != text.as_deref() {
            *field = text.map(Cow::into_owned);
        }
    };
    let origin = &mut draft.origin;
    keep(&mut origin.session, data.session);
    keep(&mut origin.version, data.version);
    keep(&mut origin.model, data.new_model.or(data.model));
    let context = data.context.and_then(Raw::object::<CopilotContext<'_>>);
    keep(&mut origin.project, context.and_then(|context| context.cwd));
}

raw_fields!(
    /// A tool result. What is shown to the user beside it is skipped.
    CopilotOutcome { content: "content" }
);
raw_fields!(
    /// Where a session runs.
    CopilotContext { cwd: "cwd" }
);
raw_fields!(
    /// A tool call.
    CopilotRequest { id: "toolCallId", name: "name", arguments: "arguments" }
);

raw_fields!(
    /// An event.
    CopilotEvent {
        kind: "type", id: "id", parent: "parentId", time: "timestamp"
    }
    objects { data: "data" => CopilotData }
    lists {}
);

raw_fields!(
    /// The data of any event.
    CopilotData {
        content: "content", sent: "transformedContent", reasoning: "reasoningText", call: "toolCallId",
        tool: "toolName", starter: "parentToolCallId", success: "success", result: "result", error: "error",
        summary: "summaryContent", session: "sessionId", version: "copilotVersion", model: "model",
        new_model: "newModel", context: "context"
    }
    objects {}
    lists { requests: "toolRequests" => CopilotRequest }
);

#[cfg(test)]
mod tests;
