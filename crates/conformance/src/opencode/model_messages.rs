//! From `UIMessage`s to the messages that are sent: the AI SDK's own conversion, versions 5 and 6.
//!
//! The SDK cuts an assistant's message at each `step-start`. Every piece becomes one `assistant`
//! message with its text, reasoning and calls in order, followed by one `tool` message with the
//! results of those calls. That is why one stored message may be sent as six.
//!
//! OpenCode registers its own rule for turning an output into content: a string stays text, an object
//! becomes a text followed by the attachments that carry their data in the address (`data:…,…`); a
//! file that is merely linked cannot be sent and is dropped.
//!
//! Only the part types that [`ui_messages`](mod@super::ui_messages) produces are known here; others are skipped, as the
//! SDK skips what it does not know.

use serde_json::Value;

use super::ui_messages::{parts_of, text};
use crate::value::{field, kind, object, text_part};

/// The kind of a part about a tool that is not known in advance.
const DYNAMIC: &str = "dynamic-tool";

/// How a system has its tools' outputs converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// OpenCode of January 2026.
    January,
    /// OpenCode of August 2026: the empty text of a result with attachments is left out.
    August,
    /// Qwery of February 2026: its rule expects the output where version 6 of the SDK no longer puts it, so that every
    /// output of a tool with a rule is empty text.
    Qwery,
}

/// Converts what [`super::ui_messages::ui_messages`] rendered into the messages a model is sent.
pub fn model_messages(ui: &[Value], outputs: Outputs) -> Vec<Value> {
    ui.iter()
        .flat_map(|message| match text(message, "role") {
            Some("user") => vec![convert_user(parts_of(message))],
            Some("assistant") => convert_assistant(parts_of(message), outputs),
            _ => Vec::new(),
        })
        .collect()
}

fn convert_user(parts: &[Value]) -> Value {
    let content = parts.iter().filter_map(|part| match kind(part) {
        "text" => Some(convert_text(part)),
        "file" => Some(object([
            ("type", Some("file".into())),
            ("mediaType", field(part, "mediaType")),
            ("filename", field(part, "filename")),
            ("data", field(part, "url")),
        ])),
        _ => None,
    });
    said("user", content.collect())
}

fn convert_assistant(parts: &[Value], outputs: Outputs) -> Vec<Value> {
    parts.split(|part| kind(part) == "step-start").flat_map(|step| convert_step(step, outputs)).collect()
}

fn convert_step(step: &[Value], outputs: Outputs) -> Vec<Value> {
    let content: Vec<Value> = step.iter().flat_map(|part| convert_assistant_part(part, outputs)).collect();
    if content.is_empty() {
        return Vec::new();
    }
    let results: Vec<Value> = step
        .iter()
        .filter(|part| !is_providers(part))
        .filter_map(|part| convert_result(part, outputs))
        .collect();
    let mut messages = vec![said("assistant", content)];
    if !results.is_empty() {
        messages.push(said("tool", results));
    }
    messages
}

fn convert_assistant_part(part: &Value, outputs: Outputs) -> Vec<Value> {
    match kind(part) {
        "text" => vec![convert_text(part)],
        // Unlike everywhere else the SDK copies reasoning metadata without looking, even a null.
        "reasoning" => vec![object([
            ("type", Some("reasoning".into())),
            ("text", field(part, "text")),
            ("providerOptions", field(part, "providerMetadata")),
        ])],
        // What the provider executed, it gets back in the message that called it.
        _ => {
            let result = if is_providers(part) { convert_result(part, outputs) } else { None };
            convert_call(part).into_iter().chain(result).collect()
        }
    }
}

/// Whether the provider executed the call itself.
fn is_providers(part: &Value) -> bool {
    part.get("providerExecuted") == Some(&Value::Bool(true))
}

fn convert_text(part: &Value) -> Value {
    object([
        ("type", Some("text".into())),
        ("text", field(part, "text")),
        ("providerOptions", present(part, "providerMetadata")),
    ])
}

fn convert_call(part: &Value) -> Option<Value> {
    let input = if failed(part) { present(part, "input") } else { field(part, "input") };
    Some(object([
        ("type", Some("tool-call".into())),
        ("toolCallId", field(part, "toolCallId")),
        ("toolName", tool_name(part)?),
        ("input", input),
        ("providerExecuted", field(part, "providerExecuted")),
        ("providerOptions", present(part, "callProviderMetadata")),
    ]))
}

fn convert_result(part: &Value, outputs: Outputs) -> Option<Value> {
    let name = tool_name(part)?;
    let output = if outputs == Outputs::Qwery && !failed(part) && kind(part) != DYNAMIC {
        typed("content", Some(Value::Array(vec![text_part("")])))
    } else if failed(part) && is_providers(part) {
        typed("error-json", field(part, "errorText"))
    } else if failed(part) {
        typed("error-text", Some(error_message(part.get("errorText")).into()))
    } else {
        convert_output(part.get("output"), outputs)
    };
    Some(object([
        ("type", Some("tool-result".into())),
        ("toolCallId", field(part, "toolCallId")),
        ("toolName", name),
        ("output", Some(output)),
        ("providerOptions", present(part, "callProviderMetadata")),
    ]))
}

fn convert_output(output: Option<&Value>, outputs: Outputs) -> Value {
    match output {
        Some(Value::String(text)) => typed("text", Some(text.as_str().into())),
        // A tool that is not known in advance has no rule.
        other if outputs == Outputs::Qwery => typed("json", other.cloned()),
        Some(composed @ (Value::Object(_) | Value::Array(_))) => {
            let opening = object([("type", Some("text".into())), ("text", field(composed, "text"))]);
            let attachments = composed.get("attachments").and_then(Value::as_array);
            let media = attachments.into_iter().flatten().filter_map(convert_attachment);
            let is_sent = outputs == Outputs::January || text(composed, "text") != Some("");
            typed("content", Some(is_sent.then_some(opening).into_iter().chain(media).collect()))
        }
        other => typed("json", other.cloned()),
    }
}

fn convert_attachment(attachment: &Value) -> Option<Value> {
    let (_, data) = text(attachment, "url")?.strip_prefix("data:")?.split_once(',')?;
    Some(object([
        ("type", Some("media".into())),
        ("mediaType", field(attachment, "mime")),
        ("data", Some(data.into())),
    ]))
}

fn error_message(error: Option<&Value>) -> String {
    match error {
        None | Some(Value::Null) => "unknown error".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn said(role: &str, content: Vec<Value>) -> Value {
    object([("role", Some(role.into())), ("content", Some(Value::Array(content)))])
}

fn typed(kind: &str, value: Option<Value>) -> Value {
    object([("type", Some(kind.into())), ("value", value)])
}

fn failed(part: &Value) -> bool {
    text(part, "state") == Some("output-error")
}

/// The name of the tool that a part is about, if it is about one. The SDK finds none on a dynamic tool's part.
fn tool_name(part: &Value) -> Option<Option<Value>> {
    match kind(part) {
        DYNAMIC => Some(field(part, "toolName")),
        kind => kind.strip_prefix("tool-").map(|name| Some(name.into())),
    }
}

/// The field unless it is missing or null, the test `!= null`.
fn present(value: &Value, key: &str) -> Option<Value> {
    field(value, key).filter(|found| !found.is_null())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn convert(parts: &Value) -> Vec<Value> {
        model_messages(&[json!({"role": "assistant", "parts": parts})], Outputs::January)
    }

    #[test]
    fn every_step_is_a_message_followed_by_its_results() {
        let call = json!({"type": "tool-read", "state": "output-available", "toolCallId": "c", "input": {},
            "output": "out"});
        let sent = convert(&json!([
            {"type": "step-start"}, {"type": "text", "text": "one"}, call,
            {"type": "step-start"}, {"type": "text", "text": "two"}
        ]));
        let roles: Vec<_> = sent.iter().map(|message| message["role"].as_str().unwrap()).collect();
        assert_eq!(roles, ["assistant", "tool", "assistant"]);
        assert_eq!(sent[1]["content"][0]["output"], json!({"type": "text", "value": "out"}));
    }

    #[test]
    fn only_embedded_attachments_are_sent() {
        let output = json!({"text": "t", "attachments": [
            {"mime": "image/png", "url": "data:image/png;base64,AA,BB"},
            {"mime": "image/png", "url": "data:nothing"},
            {"mime": "image/png", "url": "file:///a,b"}]});
        let value = convert_output(Some(&output), Outputs::January)["value"].clone();
        let media = json!({"type": "media", "mediaType": "image/png", "data": "AA,BB"});
        assert_eq!(value, json!([{"type": "text", "text": "t"}, media]));
    }

    #[test]
    fn a_failed_call_reports_its_error() {
        let sent =
            convert(&json!([{"type": "tool-a-b", "state": "output-error", "toolCallId": "c", "input": null,
            "errorText": "boom", "callProviderMetadata": {"k": 1}}]));
        let call =
            json!({"type": "tool-call", "toolCallId": "c", "toolName": "a-b", "providerOptions": {"k": 1}});
        assert_eq!(sent[0]["content"], json!([call]));
        assert_eq!(sent[1]["content"][0]["output"], json!({"type": "error-text", "value": "boom"}));
    }

    #[test]
    fn outputs_of_any_type_are_converted() {
        let converted = |output: Option<&Value>| convert_output(output, Outputs::January);
        assert_eq!(converted(Some(&json!(5))), json!({"type": "json", "value": 5}));
        assert_eq!(converted(Some(&json!([]))), json!({"type": "content", "value": [{"type": "text"}]}));
        assert_eq!(converted(None), json!({"type": "json"}));
        let bare = convert_output(Some(&json!({"text": "", "attachments": []})), Outputs::August);
        assert_eq!(bare, json!({"type": "content", "value": []}));
    }
}
