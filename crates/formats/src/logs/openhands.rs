//! OpenHands' event lists, of the old program and of the new SDK.
//!
//! The old program wrote [actions and observations](actions) with numbers; an observation names the action that caused
//! it. The SDK writes [events of many kinds](events) with the ids that the model gave its calls. A list is an array, one
//! event a line, or a member of a document: `events`, `history` or `trajectory`. Both have the [condensation], which
//! takes events out of the context and inserts a summary.

mod actions;
mod condensation;
mod events;

use std::collections::HashSet;

use secateur::{MessageFacts, Role};

use crate::document::{read_lines, read_list, read_list_under};
use crate::draft::TranscriptDraft;
use crate::json::{OptionalRaw, Raw, raw_fields};
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use crate::warning::Warning;
use condensation::OpenHandsAlive;

/// The members of a document that may hold the list.
const LISTS: [&str; 3] = ["events", "history", "trajectory"];

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

fn matches(probe: &Probe<'_>) -> bool {
    if is_document(probe) {
        let text = probe.text;
        return text.contains("\"source\"")
            && (text.contains("\"kind\"") || text.contains("\"observation\""));
    }
    let is_event = |event: &ProbedRecord| {
        let is_old = ["action", "observation"].iter().any(|key| event.text(key).is_some()) && event.has("id");
        let is_new = event.text("kind").is_some_and(is_kind) && event.has("timestamp");
        event.text("source").is_some() && (is_old || is_new)
    };
    probe.shape != TextShape::Text && (probe.any(is_event) || is_event(&probe.top))
}

/// Whether the text is one document with a list; lines of many such documents are another format.
fn is_document(probe: &Probe<'_>) -> bool {
    let has_list = LISTS.iter().any(|list| probe.top.starts(list) == Some('['));
    matches!(probe.shape, TextShape::Object | TextShape::Lines) && probe.records.len() <= 1 && has_list
}

/// Whether this is how the SDK names its events.
fn is_kind(kind: &str) -> bool {
    kind.ends_with("Event") || kind.starts_with("Condensation") || kind == "UserRejectObservation"
}

fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let list = list(text, &mut draft.warnings);
    let observations = list.iter().flatten().filter(|event| event.kind.is_none() && event.is_answer());
    let mut reader = OpenHandsReader {
        draft,
        answered: observations.filter_map(|event| event.cause).map(Raw::text).collect(),
        calls: HashSet::new(),
        alive: OpenHandsAlive::default(),
        response: None,
    };
    for event in list.iter().flatten() {
        if event.kind.is_some_and(Raw::is_string) {
            reader.take_event(event);
        } else {
            reader.take_action(event);
        }
    }
}

fn list<'a>(text: &'a str, warnings: &mut Vec<Warning>) -> Vec<Option<OpenHandsEvent<'a>>> {
    let start = text.trim_start_matches('\u{FEFF}').trim_start();
    if start.starts_with('[') {
        return read_list(text, warnings);
    }
    // The beginning shows whether this is a document or a list of lines, even if the end is missing.
    let top = Probe::of(start).unwrap_or_default();
    match LISTS.into_iter().find(|list| top.top.starts(list) == Some('[')) {
        Some(name) => read_list_under(name, text, warnings),
        None => read_lines(text, warnings),
    }
}

/// Reads one event after the other, with what has to be known beyond the current one.
struct OpenHandsReader<'r, 'm, 'a> {
    draft: &'r mut TranscriptDraft<'m>,
    /// The ids of the actions that have an observation.
    answered: HashSet<&'a str>,
    /// The ids of the actions that were read as calls.
    calls: HashSet<&'a str>,
    alive: OpenHandsAlive<'a>,
    /// The response of the newest message, in the SDK's logs.
    response: Option<&'a str>,
}

impl<'a> OpenHandsReader<'_, '_, 'a> {
    /// Begins the message of an event.
    fn begin(&mut self, event: &OpenHandsEvent<'a>, role: Role) {
        // Only the SDK names its events; the old program counts them.
        let id = event.kind.if_string().and(event.id).string();
        let (finished, time) = (role == Role::Assistant, event.time());
        let facts = MessageFacts { role, id: id.as_deref(), finished, time, ..MessageFacts::default() };
        let message = self.draft.push_message(facts);
        self.alive.push(event.name(), message);
    }
}

raw_fields! {
    /// An event of either kind.
    OpenHandsEvent { id: "id", timestamp: "timestamp", source: "source",
            action: "action", args: "args", observation: "observation", content: "content", extras: "extras",
            cause: "cause", metadata: "tool_call_metadata",
            kind: "kind", prompt: "system_prompt", message: "llm_message", extended: "extended_content",
            thought: "thought", reasoning: "reasoning_content", thinking: "thinking_blocks", tool: "tool_name",
            call: "tool_call", call_id: "tool_call_id", response: "llm_response_id", error: "error",
            rejection: "rejection_reason", forgotten: "forgotten_event_ids", summary: "summary",
            offset: "summary_offset" }
    OpenHandsExit { code: "exit_code", metadata: "metadata" }
}

impl<'a> OpenHandsEvent<'a> {
    fn time(&self) -> Option<i64> {
        time::of(self.timestamp)
    }

    fn is_from(&self, source: &str) -> bool {
        self.source.is(source)
    }

    /// Its id as it is spelled, a string or a number: ids are only compared.
    fn name(&self) -> Option<&'a str> {
        self.id.map(Raw::text)
    }

    /// Whether it is the result of an action. Some observations are not.
    fn is_answer(&self) -> bool {
        let observation = self.observation.string();
        observation.is_some_and(|name| !matches!(&*name, "null" | "agent_state_changed"))
    }
}

/// Whether a command failed: its exit code is here or one level deeper. One that timed out has the code -1.
fn has_failed(observation: Option<Raw<'_>>) -> bool {
    let outer: OpenHandsExit<'_> = observation.fields();
    let code = outer.code.integer().or_else(|| outer.metadata.fields::<OpenHandsExit<'_>>().code.integer());
    code.is_some_and(|code| code > 0)
}

#[cfg(test)]
mod tests;
