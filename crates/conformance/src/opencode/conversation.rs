//! A history as the text that OpenCode of August 2026 has summarised: each message with who said what.

use secateur::PLACEHOLDER;
use secateur_formats::json::{Halves, slice_units, utf16_len};
use serde_json::Value;

use super::august::attached_note;
use super::ui_messages::{parts_of, spelled, text};
use crate::value::{is_truthy_js, kind};

/// UTF-16 units that are kept of a tool's output.
const OUTPUT_UNITS: u64 = 2_000;

/// The text of a history.
pub fn conversation(messages: &[&Value]) -> String {
    let told = messages.iter().map(|message| tell(message)).filter(|text| !text.is_empty());
    told.collect::<Vec<_>>().join("\n\n")
}

/// A text of which no more than a number of units is kept.
pub(super) fn shortened(whole: &str, units: u64) -> String {
    if utf16_len(whole) <= units {
        return whole.to_owned();
    }
    format!("{}\n[truncated]", slice_units(whole, 0, units, Halves::Replace))
}

fn tell(message: &Value) -> String {
    let parts = parts_of(message);
    let lines: Vec<String> = match message.get("info").and_then(|info| text(info, "role")) {
        Some("user") => tell_user(parts),
        _ => parts.iter().flat_map(tell_assistant).collect(),
    };
    lines.join("\n")
}

fn tell_user(parts: &[Value]) -> Vec<String> {
    let is_said = |part: &&Value| kind(part) == "text" && !part.get("ignored").is_some_and(is_truthy_js);
    let words: Vec<&str> = parts
        .iter()
        .filter(is_said)
        .filter_map(|part| text(part, "text"))
        .filter(|words| !words.is_empty())
        .collect();
    let said = (!words.is_empty()).then(|| format!("[User]: {}", words.join("\n")));
    let files = parts.iter().filter(|part| kind(part) == "file").map(attached_note);
    said.into_iter().chain(files).collect()
}

fn tell_assistant(part: &Value) -> Vec<String> {
    let words = text(part, "text").filter(|words| !words.is_empty());
    match kind(part) {
        "text" => words.map(|words| format!("[Assistant]: {words}")).into_iter().collect(),
        "reasoning" => words.map(|words| format!("[Assistant reasoning]: {words}")).into_iter().collect(),
        "tool" => tell_tool(part),
        _ => Vec::new(),
    }
}

fn tell_tool(part: &Value) -> Vec<String> {
    let Some(state) = part.get("state") else { return Vec::new() };
    let input = state.get("input").map_or_else(|| "undefined".to_owned(), Value::to_string);
    let call = format!("[Assistant tool call]: {}({input})", spelled(part.get("tool")));
    let result = match text(state, "status") {
        Some("completed") => Some(format!("[Tool result]: {}", output(state))),
        Some("error") => Some(format!("[Tool error]: {}", spelled(state.get("error")))),
        _ => None,
    };
    std::iter::once(call).chain(result).collect()
}

fn output(state: &Value) -> String {
    if state.pointer("/time/compacted").is_some_and(is_truthy_js) {
        return PLACEHOLDER.to_owned();
    }
    let attachments = state.get("attachments").and_then(Value::as_array).into_iter().flatten();
    let said = spelled(state.get("output")).into_owned();
    let whole: Vec<String> = std::iter::once(said).chain(attachments.map(attached_note)).collect();
    shortened(&whole.join("\n"), OUTPUT_UNITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn everyone_is_named_and_long_outputs_are_cut() {
        let user = json!({"info": {"role": "user"}, "parts": [{"type": "text", "text": "a"},
            {"type": "file", "mime": "image/png"}, {"type": "text", "text": "b"}]});
        let state = json!({"status": "completed", "input": {"k": 1}, "output": "x".repeat(2_001)});
        let assistant = json!({"info": {"role": "assistant"}, "parts": [{"type": "reasoning", "text": "r"},
            {"type": "tool", "tool": "read", "state": state}]});
        let told = conversation(&[&user, &assistant]);
        let expected = "[User]: a\nb\n[Attached image/png: file]\n\n[Assistant reasoning]: r\n\
            [Assistant tool call]: read({\"k\":1})\n[Tool result]: ";
        assert!(told.starts_with(expected), "{told}");
        assert!(told.ends_with("xx\n[truncated]"));
    }
}
