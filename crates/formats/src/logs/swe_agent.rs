//! SWE-agent's trajectories: one document whose `history` is the context, and whose `trajectory` has the same run as
//! steps.
//!
//! An agent that acts by text ends its message with a command, and the next user message is the output of that command;
//! there are no ids. An agent that calls functions has `tool_calls`, and results with the role `tool` and a list
//! `tool_call_ids`. Messages marked `is_demo` are examples for the model and were not carried out.
//!
//! Of a trajectory without a history, the steps are read: responses and their results.

use secateur::{MessageFacts, Role, ToolStatus};

use crate::chat;
use crate::content::{self, ContentPiece};
use crate::document::read_list_under;
use crate::draft::{ToolResult, TranscriptDraft};
use crate::json::{OptionalRaw, Raw, raw_fields};
use crate::probe::{Probe, TextShape};
use crate::spec::{FormatReader, FormatSpec};

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

fn matches(probe: &Probe<'_>) -> bool {
    let top = &probe.top;
    let (history, steps) = (top.starts("history") == Some('['), top.starts("trajectory") == Some('['));
    // In other formats, a trajectory is a list of events with a source each.
    let is_steps = || probe.text.contains("\"response\"") && !probe.text.contains("\"source\"");
    matches!(probe.shape, TextShape::Object | TextShape::Lines)
        && probe.records.len() <= 1
        && ((history && (steps || top.has("info") || top.has("environment"))) || (steps && is_steps()))
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let top: SweAgentTop<'_> = Some(Raw(text.trim_start_matches('\u{FEFF}'))).fields();
    draft.origin.version = top.info.fields::<SweAgentInfo<'_>>().version.owned();
    let history = read_list_under::<SweAgentMessage<'_>>("history", text, &mut draft.warnings);
    if history.is_empty() {
        draft.warnings.clear();
        let steps = read_list_under::<SweAgentStep<'_>>("trajectory", text, &mut draft.warnings);
        steps.iter().flatten().for_each(|step| take_step(draft, step));
    } else {
        take_history(draft, &history);
    }
}

fn take_history(draft: &mut TranscriptDraft<'_>, history: &[Option<SweAgentMessage<'_>>]) {
    let calls_functions = history.iter().flatten().any(|message| !message.calls.elements().is_empty());
    let mut acted = false;
    for message in history.iter().flatten() {
        let role = chat::role(message.role.string().as_deref());
        let is_demo = message.is_demo.truthy();
        let finished = role == Role::Assistant;
        draft.push_message(MessageFacts { role, finished, ..MessageFacts::default() });
        match role {
            Role::Tool => take_results(draft, message),
            Role::User if acted && !is_demo => push_result(draft, None, message.content),
            _ => {
                chat::take_thinking(draft, message.thinking);
                chat::take_text(draft, message.content);
                chat::take_calls(draft, message.calls);
            }
        }
        acted = role == Role::Assistant && !is_demo && !calls_functions;
    }
}

/// One message may hold the results of several calls. Its content is there once, so only the first result has it.
fn take_results(draft: &mut TranscriptDraft<'_>, message: &SweAgentMessage<'_>) {
    let ids = message.call_ids.elements().into_iter().chain(message.call_id).filter_map(Raw::as_str);
    let mut content = message.content;
    let mut has_result = false;
    for id in ids {
        push_result(draft, Some(&id), content.take());
        has_result = true;
    }
    if !has_result {
        push_result(draft, None, content);
    }
}

fn push_result(draft: &mut TranscriptDraft<'_>, id: Option<&str>, content: Option<Raw<'_>>) {
    let failed = content.is_some_and(|content| is_traceback(content.text()));
    let status = ToolStatus::Completed;
    draft.push_result(ToolResult { id, status, failed, content, ..ToolResult::default() });
}

/// Whether a command ended with an exception. There is no exit code, only the output.
fn is_traceback(content: &str) -> bool {
    let first = content::pieces(content).into_iter().next();
    let Some(ContentPiece::Text(literal)) = first else { return false };
    let text = literal.trim_start_matches('"');
    let text = text.strip_prefix("OBSERVATION:\\n").unwrap_or(text);
    text.starts_with("Traceback (most recent call last)")
}

fn take_step(draft: &mut TranscriptDraft<'_>, step: &SweAgentStep<'_>) {
    let is_text = |raw: &Raw<'_>| raw.is_string() && raw.text() != "\"\"";
    let said = step.response.filter(is_text).or(step.thought.filter(is_text)).or(step.action);
    draft.push_message(MessageFacts { role: Role::Assistant, finished: true, ..MessageFacts::default() });
    chat::take_text(draft, said);
    if step.observation.unless_null().is_some() {
        draft.push_message(MessageFacts { role: Role::User, ..MessageFacts::default() });
        push_result(draft, None, step.observation);
    }
}

raw_fields! {
    /// The document beside its lists.
    SweAgentTop { info: "info" }
    /// Facts about the run.
    SweAgentInfo { version: "swe_agent_version" }
    SweAgentMessage { role: "role", content: "content", is_demo: "is_demo", calls: "tool_calls", call_id: "tool_call_id",
              call_ids: "tool_call_ids", thinking: "thinking_blocks" }
    SweAgentStep { action: "action", observation: "observation", response: "response", thought: "thought" }
}

#[cfg(test)]
mod tests;
