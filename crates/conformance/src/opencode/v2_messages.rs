//! Messages of OpenCode's session V2 as text.

use serde_json::Value;

use super::conversation::shortened;
use super::session_v2::CodeLine;
use super::ui_messages::text;

/// A message as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// Whether the user wrote it.
    pub is_user: bool,
    /// Who said what.
    pub text: String,
}

/// UTF-16 units that are kept of an output.
const OUTPUT_UNITS: u64 = 2_000;

/// What messages say, without those that say nothing.
pub(super) fn spoken(messages: &[&Value], line: CodeLine) -> Vec<Spoken> {
    let spoken = messages
        .iter()
        .map(|message| Spoken { is_user: text(message, "type") == Some("user"), text: tell(message, line) });
    spoken.filter(|message| !message.text.is_empty()).collect()
}

fn tell(message: &Value, line: CodeLine) -> String {
    let words = text(message, "text").unwrap_or_default();
    let branch = line == CodeLine::BranchV2;
    match text(message, "type") {
        Some("user") => tell_user(message, words),
        Some("assistant") => list(message, "content").flat_map(tell_part).collect::<Vec<_>>().join("\n"),
        Some("synthetic") => format!("[Synthetic context]: {words}"),
        Some("shell") => tell_shell(message),
        Some("system") if !branch => format!("[System update]: {words}"),
        Some("skill") if branch => {
            format!("[Skill activated: {}]\n{words}", text(message, "name").unwrap_or_default())
        }
        Some("location-switched") if branch => {
            let directory = message.pointer("/location/directory").and_then(Value::as_str);
            format!("[User]: The working directory has been changed to {}.", directory.unwrap_or_default())
        }
        _ => String::new(),
    }
}

fn list<'a>(holder: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    holder.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn tell_user(message: &Value, words: &str) -> String {
    let skills = list(message, "skills").filter_map(|skill| {
        let words = text(skill, "text")?;
        Some(format!("[Attached skill: {}]\n{words}", text(skill, "name").unwrap_or_default()))
    });
    let files = list(message, "files").map(|file| {
        let address = text(file, "uri").or_else(|| file.pointer("/source/uri").and_then(Value::as_str));
        let name = text(file, "name").or(address).unwrap_or("inline attachment");
        format!("[Attached {}: {name}]", text(file, "mime").unwrap_or_default())
    });
    let said = std::iter::once(format!("[User]: {words}"));
    said.chain(skills).chain(files).collect::<Vec<_>>().join("\n")
}

fn tell_shell(message: &Value) -> String {
    let output = message.get("output");
    let output = output.and_then(|output| output.as_str().or_else(|| text(output, "output")));
    let output = shortened(output.unwrap_or_default(), OUTPUT_UNITS);
    format!("[Shell]: {}\n{output}", text(message, "command").unwrap_or_default())
}

fn tell_part(part: &Value) -> Vec<String> {
    let words = text(part, "text").unwrap_or_default();
    match text(part, "type") {
        Some("text") => vec![format!("[Assistant]: {words}")],
        Some("reasoning") if words.is_empty() => Vec::new(),
        Some("reasoning") => vec![format!("[Assistant reasoning]: {words}")],
        Some("tool") => tell_tool(part),
        _ => Vec::new(),
    }
}

fn tell_tool(part: &Value) -> Vec<String> {
    let Some(state) = part.get("state") else { return Vec::new() };
    let input = match state.get("input") {
        Some(Value::String(input)) => input.clone(),
        Some(input) => input.to_string(),
        None => "undefined".to_owned(),
    };
    let call = format!("[Assistant tool call]: {}({input})", text(part, "name").unwrap_or_default());
    let result = match text(state, "status") {
        Some("completed") => {
            let content: Vec<String> = list(state, "content").map(tell_content).collect();
            Some(format!("[Tool result]: {}", shortened(&content.join("\n"), OUTPUT_UNITS)))
        }
        Some("error") => {
            let message = state.pointer("/error/message").and_then(Value::as_str);
            Some(format!("[Tool error]: {}", message.unwrap_or_default()))
        }
        _ => None,
    };
    std::iter::once(call).chain(result).collect()
}

fn tell_content(item: &Value) -> String {
    if text(item, "type") == Some("text") {
        return text(item, "text").unwrap_or_default().to_owned();
    }
    let name = text(item, "name").map(|name| format!(": {name}"));
    format!("[Attached {}{}]", text(item, "mime").unwrap_or_default(), name.unwrap_or_default())
}
