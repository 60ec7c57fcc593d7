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

use crate::document::{read_lines, read_list, read_list_under};
use crate::draft::TranscriptDraft;
use crate::json::Raw;
use crate::json::fields::raw_fields;
use crate::probe::{Probe, ProbedRecord, TextShape};
use crate::spec::{FormatReader, FormatSpec};
use crate::time;
use crate::warning::Warning;
use condensation::OpenHandsAlive;

/// The members of a document that may hold the list.
const LISTS: [&str; 3] = ["events", "history", "trajectory"];

pub(super) const SPEC: FormatSpec = FormatSpec::plain(matches, FormatReader::Whole(read));

/// Whether a text is in this format.
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

/// Reads a session; what cannot be read is skipped with a warning.
fn read(draft: &mut TranscriptDraft<'_>, text: &str) {
    let list = list(text, &mut draft.warnings);
    let mut reader = OpenHandsContext::of(&list);
    for event in list.iter().flatten() {
        if event.kind.is_some_and(Raw::is_string) {
            events::take(draft, &mut reader, event);
        } else {
            actions::take(draft, &mut reader, event);
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

/// What has to be known beyond the current event.
struct OpenHandsContext<'a> {
    /// The ids of the actions that have an observation.
    answered: HashSet<&'a str>,
    /// The ids of the actions that were read as calls.
    calls: HashSet<&'a str>,
    alive: OpenHandsAlive<'a>,
    /// The response of the newest message, in the SDK's logs.
    response: Option<&'a str>,
}

impl<'a> OpenHandsContext<'a> {
    fn of(list: &[Option<OpenHandsEvent<'a>>]) -> Self {
        let observations = list.iter().flatten().filter(|event| event.kind.is_none() && event.is_answer());
        let answered = observations.filter_map(|event| event.cause).map(Raw::text).collect();
        Self { answered, calls: HashSet::new(), alive: OpenHandsAlive::default(), response: None }
    }
}

raw_fields!(
    /// An event of either kind.
    OpenHandsEvent { id: "id", timestamp: "timestamp", source: "source",
            action: "action", args: "args", observation: "observation", content: "content", extras: "extras",
            cause: "cause", metadata: "tool_call_metadata",
            kind: "kind", prompt: "system_prompt", message: "llm_message", extended: "extended_content",
            thought: "thought", reasoning: "reasoning_content", thinking: "thinking_blocks", tool: "tool_name",
            call: "tool_call", call_id: "tool_call_id", response: "llm_response_id", error: "error",
            rejection: "rejection_reason", forgotten: "forgotten_event_ids", summary: "summary",
            offset: "summary_offset" }
);

impl<'a> OpenHandsEvent<'a> {
    fn time(&self) -> Option<i64> {
        self.timestamp.and_then(Raw::as_str).and_then(|time| time::millis(&time))
    }

    fn is_from(&self, source: &str) -> bool {
        self.source.and_then(Raw::as_str).as_deref() == Some(source)
    }

    /// Its id as it is spelled, a string or a number: ids are only compared.
    fn name(&self) -> Option<&'a str> {
        self.id.map(Raw::text)
    }

    /// Whether it is the result of an action. Some observations are not.
    fn is_answer(&self) -> bool {
        let observation = self.observation.and_then(Raw::as_str);
        observation.is_some_and(|name| !matches!(&*name, "null" | "agent_state_changed"))
    }
}

/// The members of a value, if it is an object.
fn open<'a, T: crate::json::Fields<'a>>(raw: Option<Raw<'a>>) -> T {
    raw.and_then(Raw::object::<T>).unwrap_or_default()
}

#[cfg(test)]
mod tests;
