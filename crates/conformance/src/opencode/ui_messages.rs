//! OpenCode's messages as the AI SDK's `UIMessage`s, the way OpenCode of January 2026 built them.
//!
//! OpenCode does not write a request body itself. It first turns its stored messages into the SDK's
//! neutral shape, and most of what a model sees or does not see is decided here: a pruned tool result
//! becomes a placeholder, a compaction marker becomes a question, a call that never finished becomes
//! an error (providers refuse a call without a result). [`model_messages`](mod@super::model_messages) is the second half.
//!
//! Stored messages are foreign data and are read with JavaScript's rules, not with a schema: a field
//! that is absent stays absent, `compacted: 0` is not a mark because zero is falsy, and a message of
//! a role we do not know is left out. Where OpenCode would throw on a malformed part, the part is
//! rendered as far as it can be read.

use std::borrow::Cow;

use secateur::{MARKER, PLACEHOLDER};
use serde_json::Value;

use crate::value::{field, is_truthy_js, kind, object, text_part};

/// What stands for a task that the user ran by hand.
pub const SUBTASK_NOTE: &str = "The following tool was executed by the user";
/// The error of a call that was still pending or running when the session was read.
pub const INTERRUPTED: &str = "[Tool execution was interrupted]";

/// Renders stored messages, oldest first, for `model` (`{providerID, id}`).
///
/// Metadata that one provider attached (signatures, cache marks) means nothing to another; it is
/// passed on only where the message was written by the very model that reads it now.
pub fn ui_messages(messages: &[Value], model: &Value) -> Vec<Value> {
    messages
        .iter()
        .filter_map(|message| render_message(message, model))
        .filter(|message| parts_of(message).iter().any(|part| kind(part) != "step-start"))
        .collect()
}

fn render_message(message: &Value, model: &Value) -> Option<Value> {
    let parts = parts_of(message);
    let info = message.get("info")?;
    let role = text(info, "role")?;
    let rendered: Vec<Value> = match role {
        "user" => parts.iter().filter_map(render_user_part).collect(),
        "assistant" if failed_without_answer(info, parts) => return None,
        "assistant" => {
            let writer = written_by(info, model);
            parts.iter().filter_map(|part| render_assistant_part(part, writer)).collect()
        }
        _ => return None,
    };
    Some(object([
        ("id", field(info, "id")),
        ("role", Some(role.into())),
        ("parts", Some(Value::Array(rendered))),
    ]))
}

/// Whether a message was written by the model that will read it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum WrittenBy {
    SameModel,
    OtherModel,
}

impl WrittenBy {
    /// What a provider attached to a part, if the model that reads it is the one that wrote it.
    pub(crate) fn metadata(self, part: &Value) -> Option<Value> {
        match self {
            Self::SameModel => field(part, "metadata"),
            Self::OtherModel => None,
        }
    }
}

pub(super) fn written_by(info: &Value, model: &Value) -> WrittenBy {
    let asked = (spelled(model.get("providerID")), spelled(model.get("id")));
    let wrote = (spelled(info.get("providerID")), spelled(info.get("modelID")));
    if asked == wrote { WrittenBy::SameModel } else { WrittenBy::OtherModel }
}

/// A failed message is worth repeating only if the user aborted it after it had said or done something.
pub(super) fn failed_without_answer(info: &Value, parts: &[Value]) -> bool {
    let Some(error) = info.get("error").filter(|error| is_truthy_js(error)) else { return false };
    let aborted = text(error, "name") == Some("MessageAbortedError");
    let answered = parts.iter().any(|part| !matches!(kind(part), "step-start" | "reasoning"));
    !(aborted && answered)
}

fn render_user_part(part: &Value) -> Option<Value> {
    match kind(part) {
        "text" if part.get("ignored").is_some_and(is_truthy_js) => None,
        "text" => Some(object([("type", Some("text".into())), ("text", field(part, "text"))])),
        // Plain text and directory listings were expanded into text parts when the user sent them.
        "file" if matches!(text(part, "mime"), Some("text/plain" | "application/x-directory")) => None,
        "file" => Some(object([
            ("type", Some("file".into())),
            ("url", field(part, "url")),
            ("mediaType", field(part, "mime")),
            ("filename", field(part, "filename")),
        ])),
        "compaction" => Some(text_part(MARKER)),
        "subtask" => Some(text_part(SUBTASK_NOTE)),
        _ => None,
    }
}

fn render_assistant_part(part: &Value, writer: WrittenBy) -> Option<Value> {
    match kind(part) {
        prose @ ("text" | "reasoning") => Some(object([
            ("type", Some(prose.into())),
            ("text", field(part, "text")),
            ("providerMetadata", writer.metadata(part)),
        ])),
        "step-start" => Some(object([("type", Some("step-start".into()))])),
        "tool" => render_tool(part, writer),
        _ => None,
    }
}

fn render_tool(part: &Value, writer: WrittenBy) -> Option<Value> {
    let state = part.get("state")?;
    let (outcome, key, value) = match text(state, "status")? {
        "completed" => ("output-available", "output", completed_output(state)),
        "error" => ("output-error", "errorText", field(state, "error")),
        "pending" | "running" => ("output-error", "errorText", Some(INTERRUPTED.into())),
        _ => return None,
    };
    Some(object([
        ("type", Some(format!("tool-{}", spelled(part.get("tool"))).into())),
        ("state", Some(outcome.into())),
        ("toolCallId", field(part, "callID")),
        ("input", field(state, "input")),
        (key, value),
        ("callProviderMetadata", writer.metadata(part)),
    ]))
}

/// A result with attachments travels as an object, one without as its bare text.
fn completed_output(state: &Value) -> Option<Value> {
    if state.get("time").and_then(|time| time.get("compacted")).is_some_and(is_truthy_js) {
        return Some(PLACEHOLDER.into());
    }
    let output = field(state, "output");
    match state.get("attachments").and_then(Value::as_array) {
        Some(attachments) if !attachments.is_empty() => {
            Some(object([("text", output), ("attachments", Some(attachments.clone().into()))]))
        }
        _ => output,
    }
}

pub(super) fn parts_of(message: &Value) -> &[Value] {
    message.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// What JavaScript writes when a value lands in a string; identifiers are strings, or missing.
pub(super) fn spelled(value: Option<&Value>) -> Cow<'_, str> {
    match value {
        None => Cow::Borrowed("undefined"),
        Some(Value::String(text)) => Cow::Borrowed(text),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn model() -> Value {
        json!({"providerID": "p", "id": "m"})
    }

    fn assistant(parts: &Value) -> Value {
        json!({"info": {"id": "a", "role": "assistant", "providerID": "p", "modelID": "m"}, "parts": parts})
    }

    fn only_part(part: &Value) -> Value {
        let rendered = ui_messages(&[assistant(&json!([part]))], &model());
        rendered[0]["parts"][0].clone()
    }

    #[test]
    fn a_pruned_result_loses_its_text_and_its_attachments() {
        let mut part = json!({"type": "tool", "tool": "read", "callID": "c", "state": {"status": "completed",
            "input": {}, "output": "long", "attachments": [{"url": "data:,x"}], "time": {"compacted": 0}}});
        assert_eq!(only_part(&part)["output"], json!({"text": "long", "attachments": [{"url": "data:,x"}]}));
        part["state"]["time"]["compacted"] = json!(7);
        assert_eq!(only_part(&part)["output"], json!(PLACEHOLDER));
    }

    #[test]
    fn an_unfinished_call_becomes_an_error() {
        let state = json!({"status": "running", "input": 1});
        let part = json!({"type": "tool", "tool": "read", "callID": "c", "state": state});
        let expected = json!({"type": "tool-read", "state": "output-error", "toolCallId": "c", "input": 1,
            "errorText": INTERRUPTED});
        assert_eq!(only_part(&part), expected);
    }

    #[test]
    fn metadata_is_kept_for_the_same_model_only() {
        let message = assistant(&json!([{"type": "text", "text": "t", "metadata": {"k": 1}}]));
        let same = ui_messages(std::slice::from_ref(&message), &model());
        assert_eq!(same[0]["parts"][0]["providerMetadata"], json!({"k": 1}));
        let other = ui_messages(&[message], &json!({"providerID": "p", "id": "other"}));
        assert_eq!(other[0]["parts"][0].get("providerMetadata"), None);
    }

    #[test]
    fn an_aborted_message_survives_only_with_an_answer() {
        let mut message = assistant(&json!([{"type": "reasoning", "text": "r"}]));
        message["info"]["error"] = json!({"name": "MessageAbortedError"});
        assert!(ui_messages(std::slice::from_ref(&message), &model()).is_empty());
        message["parts"] = json!([{"type": "text", "text": "t"}]);
        assert_eq!(ui_messages(std::slice::from_ref(&message), &model()).len(), 1);
        message["info"]["error"] = json!({"name": "UnknownError"});
        assert!(ui_messages(&[message], &model()).is_empty());
    }

    #[test]
    fn a_user_message_shows_markers_and_hides_what_is_ignored() {
        let user = json!({"info": {"id": "u", "role": "user"}, "parts": [
            {"type": "text", "text": "no", "ignored": true},
            {"type": "file", "mime": "text/plain", "url": "x"},
            {"type": "compaction", "auto": true}]});
        let parts = ui_messages(&[user], &model())[0]["parts"].clone();
        assert_eq!(parts, json!([{"type": "text", "text": MARKER}]));
    }

    #[test]
    fn what_only_starts_steps_is_left_out() {
        assert!(ui_messages(&[assistant(&json!([{"type": "step-start"}]))], &model()).is_empty());
        assert!(ui_messages(&[json!({"parts": 3}), json!(null)], &model()).is_empty());
    }
}
