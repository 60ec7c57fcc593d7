//! A provider's input rebuilt from openagentic's event log.
//!
//! openagentic keeps no conversation, only events: what was said, which tool was called, what came
//! back, which result was later cleared, and where an undo moved the head. Before a call it replays
//! them into messages, in one of two shapes: chat messages or items of the Responses API. Both hold
//! the same entries and are cut at the same place, so the log is read once and printed twice.
//!
//! The replay, in order: drop what an undo took back; start at the last summary; walk from the newest
//! event back until a limit is reached; drop results whose call was cut off, which providers refuse.
//! Only contents count towards the limit in bytes: a call costs nothing, however long its arguments,
//! and an entry that does not fit ends the walk even if an older one would.
//!
//! This is the log of January 2026. It prints a failed result like any other; later versions wrap it
//! with its error.

use std::collections::HashSet;

use secateur::{MARKER, PLACEHOLDER};
use secateur_formats::json::{Printer, print};
use serde_json::Value;

use crate::value::{is_truthy_py, kind};

/// One log in the two shapes that openagentic sends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rebuilt {
    /// Chat messages: `{role, content}`, with calls under `tool_calls`.
    pub messages: Vec<Value>,
    /// Input of the Responses API: messages, `function_call` and `function_call_output` items.
    pub responses: Vec<Value>,
}

/// Rebuilds the newest `max_events` entries of a log whose contents fit into `max_bytes` of UTF-8.
///
/// Events of other types do not count. A result that is dropped for want of its call still counts.
pub fn rebuild(events: &[Value], max_events: i64, max_bytes: i64) -> Rebuilt {
    let applied = events_up_to_head(events);
    let replayed = since_last_summary(&applied);
    let cleared: HashSet<&str> = replayed
        .iter()
        .filter(|event| kind(event) == "tool.output_compacted")
        .filter_map(|event| id_of(event))
        .collect();
    let mut entries = newest_that_fit(replayed, &cleared, max_events, max_bytes);
    drop_orphans(&mut entries);
    Rebuilt {
        messages: entries.iter().map(ReplayEntry::to_message).collect(),
        responses: entries.iter().map(ReplayEntry::to_response).collect(),
    }
}

/// The log as undo, redo and explicit moves of the head left it; those events themselves are dropped.
fn events_up_to_head(events: &[Value]) -> Vec<&Value> {
    let head = find_head(events);
    events
        .iter()
        .filter(|event| !matches!(kind(event), "session.set_head" | "session.undo" | "session.redo"))
        .filter(|event| sequence_of(event).is_none_or(|sequence| sequence <= head))
        .collect()
}

fn find_head(events: &[Value]) -> i64 {
    let newest = events.iter().filter_map(sequence_of).max();
    let mut head = newest.unwrap_or_else(|| i64::try_from(events.len()).unwrap_or(i64::MAX));
    let (mut undone, mut redone) = (Vec::new(), Vec::new());
    for event in events {
        match kind(event) {
            "session.set_head" => {
                if let Some(target) = positive(event, "head_seq") {
                    undone.push(std::mem::replace(&mut head, target));
                    redone.clear();
                }
            }
            "session.undo" => swap_head(&mut head, &mut undone, &mut redone),
            "session.redo" => swap_head(&mut head, &mut redone, &mut undone),
            _ => {}
        }
    }
    head
}

fn swap_head(head: &mut i64, from: &mut Vec<i64>, to: &mut Vec<i64>) {
    if let Some(previous) = from.pop() {
        to.push(std::mem::replace(head, previous));
    }
}

fn since_last_summary<'a, 'e>(events: &'a [&'e Value]) -> &'a [&'e Value] {
    let is_summary = |event: &&Value| {
        kind(event) == "assistant.message" && event.get("is_summary").is_some_and(is_truthy_py)
    };
    let start = events.iter().rposition(is_summary).unwrap_or_default();
    events.get(start..).unwrap_or_default()
}

fn newest_that_fit(
    replayed: &[&Value],
    cleared: &HashSet<&str>,
    max_events: i64,
    max_bytes: i64,
) -> Vec<ReplayEntry> {
    let mut entries = Vec::new();
    let mut room = max_bytes;
    for entry in replayed.iter().rev().filter_map(|event| ReplayEntry::read(event, cleared)) {
        let size = i64::try_from(entry.content_size()).unwrap_or(i64::MAX);
        let full = i64::try_from(entries.len()).unwrap_or(i64::MAX) >= max_events;
        if full || size > room {
            break;
        }
        room -= size;
        entries.push(entry);
    }
    entries.reverse();
    entries
}

fn drop_orphans(entries: &mut Vec<ReplayEntry>) {
    let mut called = HashSet::new();
    entries.retain(|entry| match entry {
        ReplayEntry::Said { .. } => true,
        ReplayEntry::Call { id, .. } => {
            called.extend(id.as_str().filter(|id| !id.is_empty()).map(str::to_owned));
            true
        }
        ReplayEntry::Result { id, .. } => id.as_str().is_some_and(|id| called.contains(id)),
    });
}

/// What one event becomes, before it takes the shape of a protocol.
enum ReplayEntry {
    Said { role: &'static str, content: Value },
    Call { id: Value, name: Value, arguments: String },
    Result { id: Value, output: String },
}

impl ReplayEntry {
    fn read(event: &Value, cleared: &HashSet<&str>) -> Option<Self> {
        let text_of = |key| event.get(key).cloned().unwrap_or_else(|| Value::from(""));
        Some(match kind(event) {
            "user.message" => Self::Said { role: "user", content: text_of("text") },
            "user.compaction" => Self::Said { role: "user", content: MARKER.into() },
            "assistant.message" => Self::Said { role: "assistant", content: text_of("text") },
            "tool.use" => {
                let input = event.get("input").filter(|input| input.is_object() && is_truthy_py(input));
                let arguments = input.map_or_else(|| "{}".to_owned(), print_python);
                Self::Call { id: text_of("tool_use_id"), name: text_of("name"), arguments }
            }
            "tool.result" => {
                let output = if id_of(event).is_some_and(|id| cleared.contains(id)) {
                    PLACEHOLDER.to_owned()
                } else {
                    print_python(event.get("output").unwrap_or(&Value::Null))
                };
                Self::Result { id: text_of("tool_use_id"), output }
            }
            _ => return None,
        })
    }

    fn content_size(&self) -> usize {
        match self {
            Self::Said { content: Value::String(text), .. } => text.len(),
            Self::Said { content, .. } if is_truthy_py(content) => print_python(content).len(),
            Self::Said { .. } | Self::Call { .. } => 0,
            Self::Result { output, .. } => output.len(),
        }
    }

    fn to_message(&self) -> Value {
        match self {
            Self::Said { role, content } => object([("role", (*role).into()), ("content", content.clone())]),
            Self::Call { id, name, arguments } => {
                let function = object([("name", name.clone()), ("arguments", arguments.as_str().into())]);
                let call = object([("id", id.clone()), ("type", "function".into()), ("function", function)]);
                object([
                    ("role", "assistant".into()),
                    ("content", "".into()),
                    ("tool_calls", Value::Array(vec![call])),
                ])
            }
            Self::Result { id, output } => object([
                ("role", "tool".into()),
                ("tool_call_id", id.clone()),
                ("content", output.as_str().into()),
            ]),
        }
    }

    fn to_response(&self) -> Value {
        match self {
            Self::Said { .. } => self.to_message(),
            Self::Call { id, name, arguments } => object([
                ("type", "function_call".into()),
                ("call_id", id.clone()),
                ("name", name.clone()),
                ("arguments", arguments.as_str().into()),
            ]),
            Self::Result { id, output } => object([
                ("type", "function_call_output".into()),
                ("call_id", id.clone()),
                ("output", output.as_str().into()),
            ]),
        }
    }
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().collect()
}

fn id_of(event: &Value) -> Option<&str> {
    event.get("tool_use_id").and_then(Value::as_str).filter(|id| !id.is_empty())
}

fn sequence_of(event: &Value) -> Option<i64> {
    positive(event, "seq")
}

fn positive(event: &Value, key: &str) -> Option<i64> {
    event.get(key).and_then(Value::as_i64).filter(|&number| number > 0)
}

/// What Python prints for a value.
fn print_python(value: &Value) -> String {
    print(&value.to_string(), Printer::Python)
}

#[cfg(test)]
mod tests;
