//! Qwery's messages as the AI SDK's `UIMessage`s, the way Qwery of February 2026 built them.
//!
//! Qwery grew out of OpenCode's code and its rendering looks the same from afar. Up close it differs
//! wherever the two kept different data: the facts about a message lie in `metadata` (which wins over
//! the message's own fields, identifier and role included); a tool part may be OpenCode's `tool` or
//! the SDK's own `tool-<name>` / `dynamic-tool`; and a message that failed is always left out, even
//! after an abort, since an error read back from storage is no longer the class it is compared with.
//!
//! **A mark is a mark twice.** On the SDK's parts any `compactedAt` counts, zero and null included; on
//! OpenCode's parts `state.time.compacted` must be truthy. Both tests are Qwery's own.

use secateur::{MARKER, PLACEHOLDER};
use serde_json::Value;

use crate::opencode::ui_messages::{INTERRUPTED, SUBTASK_NOTE, WrittenBy};
use crate::value::{field, is_truthy_js, kind, object, text_part};

/// Renders stored messages, oldest first, for `model` (`{providerID, id}`).
///
/// A message whose parts only start steps, or none of whose parts can be shown, is left out.
pub fn ui_messages(messages: &[Value], model: &Value) -> Vec<Value> {
    messages.iter().filter_map(|message| render_message(message, model)).collect()
}

fn render_message(message: &Value, model: &Value) -> Option<Value> {
    let parts = message.get("content")?.get("parts")?.as_array()?;
    let role = info(message, "role").and_then(Value::as_str)?;
    let rendered: Vec<Value> = match role {
        "user" => parts.iter().filter_map(render_user_part).collect(),
        "assistant" if info(message, "error").is_some_and(is_truthy_js) => return None,
        "assistant" => {
            let writer = written_by(message, model);
            parts.iter().filter_map(|part| render_assistant_part(part, writer)).collect()
        }
        _ => return None,
    };
    rendered.iter().any(|part| kind(part) != "step-start").then(|| {
        object([
            ("id", info(message, "id").cloned()),
            ("role", Some(role.into())),
            ("parts", Some(Value::Array(rendered))),
        ])
    })
}

fn info<'a>(message: &'a Value, key: &str) -> Option<&'a Value> {
    message.get("metadata").and_then(|metadata| metadata.get(key)).or_else(|| message.get(key))
}

fn written_by(message: &Value, model: &Value) -> WrittenBy {
    let asked = [model.get("providerID"), model.get("id")].map(spelled);
    let wrote = ["providerId", "modelId"].map(|key| spelled_or_empty(info(message, key)));
    if asked == wrote { WrittenBy::SameModel } else { WrittenBy::OtherModel }
}

fn render_user_part(part: &Value) -> Option<Value> {
    match kind(part) {
        "text" if part.get("ignored").is_some_and(is_truthy_js) => None,
        "text" => Some(text_part(part.get("text").and_then(Value::as_str).unwrap_or_default())),
        "file" => render_file(part),
        "compaction" => Some(text_part(MARKER)),
        "subtask" => Some(text_part(SUBTASK_NOTE)),
        _ => None,
    }
}

/// A file needs a type that a model may be able to read: plain text was inlined when it was sent.
fn render_file(part: &Value) -> Option<Value> {
    let media_type = given(part, "mediaType").or_else(|| given(part, "mime"))?;
    if !is_truthy_js(media_type) || media_type == "text/plain" || media_type == "application/x-directory" {
        return None;
    }
    Some(object([
        ("type", Some("file".into())),
        ("url", Some(spelled_or_empty(part.get("url")).into())),
        ("mediaType", Some(media_type.clone())),
        ("filename", field(part, "filename")),
    ]))
}

fn render_assistant_part(part: &Value, writer: WrittenBy) -> Option<Value> {
    match kind(part) {
        prose @ ("text" | "reasoning") => Some(object([
            ("type", Some(prose.into())),
            ("text", Some(given(part, "text").cloned().unwrap_or_else(|| "".into()))),
            ("providerMetadata", writer.metadata(part)),
        ])),
        "step-start" => Some(object([("type", Some("step-start".into()))])),
        "tool" => render_opencode_tool(part, writer),
        sdk if sdk.starts_with("tool-") || sdk == "dynamic-tool" => Some(render_sdk_tool(part, sdk)),
        _ => None,
    }
}

/// The SDK's own part is passed on nearly as it is, but always without its metadata and, if
/// it is dynamic, without the tool's name.
fn render_sdk_tool(part: &Value, kind: &str) -> Value {
    let state = given(part, "state").cloned().unwrap_or_else(|| "output-available".into());
    let (key, value) = if state == "output-error" {
        ("errorText", Some(spelled_or_empty(part.get("errorText")).into()))
    } else if part.get("compactedAt").is_some() {
        ("output", Some(PLACEHOLDER.into()))
    } else {
        ("output", field(part, "output"))
    };
    object([
        ("type", Some(kind.into())),
        ("state", Some(state)),
        ("toolCallId", Some(spelled_or_empty(part.get("toolCallId")).into())),
        ("input", Some(input_of(part))),
        (key, value),
        ("title", part.get("title").map(|title| spelled(Some(title)).into())),
        ("isError", part.get("isError").map(|flag| is_truthy_js(flag).into())),
    ])
}

fn render_opencode_tool(part: &Value, writer: WrittenBy) -> Option<Value> {
    let state = part.get("state")?;
    let (outcome, key, value) = match state.get("status")?.as_str()? {
        "completed" => ("output-available", "output", completed_output(state)),
        "error" => ("output-error", "errorText", given(state, "error").cloned().unwrap_or_else(|| "".into())),
        "pending" | "running" => ("output-error", "errorText", INTERRUPTED.into()),
        _ => return None,
    };
    Some(object([
        ("type", Some(format!("tool-{}", spelled_or_empty(part.get("tool"))).into())),
        ("state", Some(outcome.into())),
        ("toolCallId", Some(spelled_or_empty(part.get("callID")).into())),
        ("input", Some(input_of(state))),
        (key, Some(value)),
        ("callProviderMetadata", writer.metadata(part)),
    ]))
}

fn completed_output(state: &Value) -> Value {
    if state.get("time").and_then(|time| time.get("compacted")).is_some_and(is_truthy_js) {
        return PLACEHOLDER.into();
    }
    let output = given(state, "output").cloned().unwrap_or_else(|| "".into());
    match state.get("attachments").and_then(Value::as_array) {
        Some(attachments) if !attachments.is_empty() => {
            object([("text", Some(output)), ("attachments", Some(attachments.clone().into()))])
        }
        _ => output,
    }
}

fn input_of(holder: &Value) -> Value {
    given(holder, "input").cloned().unwrap_or_else(|| object([]))
}

/// The field unless it is missing or null, the left side of `??`.
fn given<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).filter(|found| !found.is_null())
}

fn spelled_or_empty(value: Option<&Value>) -> String {
    value.filter(|value| !value.is_null()).map(|value| spelled(Some(value))).unwrap_or_default()
}

/// What JavaScript's `String(value)` writes.
fn spelled(value: Option<&Value>) -> String {
    match value {
        None => "undefined".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => ryu_js::Buffer::new().format(float).to_owned(),
            None => number.to_string(),
        },
        Some(Value::Array(items)) => {
            items.iter().map(|item| spelled_or_empty(Some(item))).collect::<Vec<_>>().join(",")
        }
        Some(Value::Object(_)) => "[object Object]".to_owned(),
        Some(word) => word.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn only_part(part: &Value) -> Value {
        let message = json!({"id": "a", "role": "assistant", "content": {"parts": [part]},
            "metadata": {"providerId": "p", "modelId": "m"}});
        ui_messages(&[message], &json!({"providerID": "p", "id": "m"}))[0]["parts"][0].clone()
    }

    #[test]
    fn any_compacted_at_clears_an_sdk_part() {
        for mark in [json!(9), json!(0), json!(null)] {
            let part = json!({"type": "tool-x", "toolCallId": 1, "output": "long", "compactedAt": mark});
            let expected = json!({"type": "tool-x", "state": "output-available", "toolCallId": "1",
                "input": {}, "output": PLACEHOLDER});
            assert_eq!(only_part(&part), expected);
        }
    }

    #[test]
    fn only_a_truthy_mark_clears_a_tool_part() {
        let mut part = json!({"type": "tool", "tool": "b", "callID": "c", "metadata": {"k": 1},
            "state": {"status": "completed", "output": "o", "time": {"compacted": 0}}});
        assert_eq!(only_part(&part)["output"], json!("o"));
        assert_eq!(only_part(&part)["callProviderMetadata"], json!({"k": 1}));
        part["state"]["time"]["compacted"] = json!(3);
        assert_eq!(only_part(&part)["output"], json!(PLACEHOLDER));
    }

    #[test]
    fn a_file_without_a_type_is_left_out() {
        let file = |mime: Value| {
            let part = json!({"type": "file", "url": "u", "mime": mime});
            json!({"id": "u", "role": "user", "content": {"parts": [part]}})
        };
        let shown = ui_messages(
            &[file(json!("image/png")), file(json!(null)), file(json!("text/plain"))],
            &json!({}),
        );
        assert_eq!(shown.len(), 1);
        assert_eq!(shown[0]["parts"][0], json!({"type": "file", "url": "u", "mediaType": "image/png"}));
    }

    #[test]
    fn metadata_wins_over_the_message_and_an_error_hides_it() {
        let mut message = json!({"id": "a", "role": "user", "metadata": {"role": "assistant", "id": "b"},
            "content": {"parts": [{"type": "text", "text": null}]}});
        let shown = ui_messages(std::slice::from_ref(&message), &json!({}));
        assert_eq!(shown, [json!({"id": "b", "role": "assistant", "parts": [{"type": "text", "text": ""}]})]);
        message["metadata"]["error"] = json!({"name": "MessageAbortedError"});
        assert!(ui_messages(&[message], &json!({})).is_empty());
    }
}
