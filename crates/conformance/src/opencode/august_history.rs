//! What a compaction of August 2026 sees of a history.

use serde_json::Value;

use super::ui_messages::{parts_of, text};
use crate::value::{is_truthy_js, kind};

/// Whether a message has asked for a compaction.
fn is_marker(message: &Value) -> bool {
    parts_of(message).iter().any(|part| kind(part) == "compaction")
}

/// Whether the user wrote a message: a marker is none.
pub(super) fn is_said_by_user(message: &Value) -> bool {
    message.pointer("/info/role").is_some_and(|role| role == "user") && !is_marker(message)
}

/// The messages that belong to no completed compaction, and the text of the last summary.
pub(super) fn without_compactions(history: &[Value]) -> (Vec<&Value>, Option<String>) {
    let id = |message: &Value, key: &str| message.get("info").and_then(|info| info.get(key)).cloned();
    let mut hidden = vec![false; history.len()];
    let mut last = None;
    for (at, message) in history.iter().enumerate() {
        let says = |key: &str| id(message, key).is_some_and(|value| is_truthy_js(&value));
        let is_summary = id(message, "role").is_some_and(|role| role == "assistant");
        if !is_summary || !says("summary") || !says("finish") || says("error") {
            continue;
        }
        let parent = id(message, "parentID");
        let marks = |message: &Value| {
            id(message, "role").is_some_and(|role| role == "user")
                && is_marker(message)
                && id(message, "id") == parent
        };
        if let Some(marker) = history.iter().rposition(marks) {
            hidden[marker] = true;
            hidden[at] = true;
            last = Some(summary_text(message));
        }
    }
    let visible = history.iter().zip(hidden).filter(|(_, hidden)| !hidden).map(|(message, _)| message);
    (visible.collect(), last.flatten())
}

fn summary_text(message: &Value) -> Option<String> {
    let texts = parts_of(message).iter().filter(|part| kind(part) == "text");
    let words: Vec<&str> = texts
        .filter_map(|part| text(part, "text"))
        .map(|words| words.trim_matches(secateur::is_js_space))
        .filter(|words| !words.is_empty())
        .collect();
    (!words.is_empty()).then(|| words.join("\n\n"))
}
