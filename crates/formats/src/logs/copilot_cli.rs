//! Copilot CLI's event logs: JSON lines `{type, data, id, timestamp, parentId}`.
//!
//! The user's text is wrapped before it is sent: with the time of day, with reminders. The log holds both versions. What
//! the user wrote becomes one part, and what was added a second one. The system prompt is written again in each turn;
//! only the newest one is in the context. Events of a sub-agent name the call that started it and were never in the
//! session's context. Usage is only reported as a sum at the end of a session, so nothing is known about single calls.

use secateur::{MessageFacts, MessageIx, PartFacts, PartKind, Role, Sizes, ToolStatus};

use crate::content;
use crate::cut::Spot;
use crate::draft::{ToolCall, ToolResult, TranscriptDraft};
use crate::json::{Object, OptionalRaw, Raw, SyntaxError, object, raw_fields};
use crate::lines::LineReader;
use crate::origin::update;
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;

pub(super) const SPEC: FormatSpec =
    FormatSpec::plain(matches, FormatReader::Lines(|| Box::<CopilotReader>::default()));

fn matches(probe: &Probe<'_>) -> bool {
    probe.shape == TextShape::Lines
        && probe.any(|record| {
            record.text("type").is_some_and(|kind| kind.contains('.'))
                && record.starts("data") == Some('{')
                && record.has("timestamp")
        })
}

#[derive(Default)]
struct CopilotReader {
    system: Option<MessageIx>,
    /// The messages before this one were summarised.
    summarised: u32,
}

impl LineReader for CopilotReader {
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError> {
        let Some(event) = object::<CopilotEvent<'_>>(line)? else { return Ok(()) };
        let Object(Some(data)) = &event.data else { return Ok(()) };
        match event.kind.string().as_deref() {
            Some("system.message") => {
                let message = begin(draft, &event, Role::System);
                draft.push_text(PartKind::Text, data.content);
                if let Some(earlier) = self.system.replace(message) {
                    draft.outline.retire(earlier, message);
                }
            }
            Some("user.message") => {
                begin(draft, &event, Role::User);
                take_user(draft, data);
            }
            Some("assistant.message") => {
                begin(draft, &event, Role::Assistant);
                take_response(draft, data);
            }
            Some("tool.execution_complete") => {
                begin(draft, &event, Role::Tool);
                take_result(draft, data);
            }
            Some("session.compaction_complete") if data.success.is_none_or(Raw::is_truthy) => {
                self.take_compaction(draft, &event, data);
            }
            _ => describe(draft, data),
        }
        Ok(())
    }
}

impl CopilotReader {
    /// A summary replaces all earlier messages. A compaction without one removed something that the log does not name.
    fn take_compaction(
        &mut self,
        draft: &mut TranscriptDraft<'_>,
        event: &CopilotEvent<'_>,
        data: &CopilotData<'_>,
    ) {
        let at = begin(draft, event, Role::User);
        draft.push_compaction();
        let Some(summary) = data.summary.if_string() else { return };
        draft.push_text(PartKind::Text, Some(summary));
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
    let (id, parent) = (event.id.string(), event.parent.string());
    let message = draft.push_message(MessageFacts {
        role,
        id: id.as_deref(),
        parent: parent.as_deref(),
        summary: data.is_some_and(|data| data.summary.is_some_and(Raw::is_string)),
        finished: role == Role::Assistant,
        time: time::of(event.time),
        ..MessageFacts::default()
    });
    if data.is_some_and(|data| data.starter.is_some_and(Raw::is_string)) {
        draft.outline.retire(message, message);
    }
    message
}

fn take_user(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let size = |raw: Raw<'_>| content::sizes(raw.text(), draft.measures);
    let sent = data.sent.if_string();
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
    draft.push_text(PartKind::Reasoning, data.reasoning.if_string());
    draft.push_text(PartKind::Text, data.content);
    for request in data.requests.iter().flatten() {
        let (tool, id, status) = (request.name.string(), request.id.string(), ToolStatus::Completed);
        draft.push_call(ToolCall { tool, id, status, input: request.arguments });
    }
}

fn take_result(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let is_done = data.success.is_none_or(Raw::is_truthy);
    let output = data.result.fields::<CopilotOutcome<'_>>().content.unless_null();
    draft.push_result(ToolResult {
        tool: data.tool.string(),
        id: data.call.string(),
        status: if is_done { ToolStatus::Completed } else { ToolStatus::Error },
        content: output.or(data.error),
        ..ToolResult::default()
    });
}

/// Notes what an event says about the session.
fn describe(draft: &mut TranscriptDraft<'_>, data: &CopilotData<'_>) {
    let origin = &mut draft.origin;
    update(&mut origin.session, data.session);
    update(&mut origin.version, data.version);
    update(&mut origin.model, data.new_model.or(data.model));
    update(&mut origin.project, data.context.fields::<CopilotContext<'_>>().cwd);
}

raw_fields! {
    /// A tool result. What is shown to the user beside it is skipped.
    CopilotOutcome { content: "content" }
    /// Where a session runs.
    CopilotContext { cwd: "cwd" }
    CopilotRequest { id: "toolCallId", name: "name", arguments: "arguments" }
    CopilotEvent {
        kind: "type", id: "id", parent: "parentId", time: "timestamp",
        data: "data" => Object<CopilotData<'a>>
    }
    CopilotData {
        content: "content", sent: "transformedContent", reasoning: "reasoningText", call: "toolCallId",
        tool: "toolName", starter: "parentToolCallId", success: "success", result: "result", error: "error",
        summary: "summaryContent", session: "sessionId", version: "copilotVersion", model: "model",
        new_model: "newModel", context: "context",
        requests: "toolRequests" => Vec<Object<CopilotRequest<'a>>>
    }
}

#[cfg(test)]
mod tests;
