//! OpenAI's Responses.
//!
//! The last event carries the whole answer again. It is believed if no text came before, for servers that send
//! nothing else; otherwise the text is what was handed out.

use secateur::Usage;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Step, is_there, parse};
use crate::provider::counted;
use crate::provider::response_builder::ResponseBuilder;
use crate::provider::{Endpoint, Finish, ModelError, ModelRequest};

pub(super) fn body(endpoint: &Endpoint, question: &ModelRequest<'_>) -> Value {
    let mut body = json!({ "model": endpoint.model });
    if !question.system.trim().is_empty() {
        body["instructions"] = question.system.into();
    }
    body["input"] = question.text.into();
    body["max_output_tokens"] = question.max_tokens.into();
    // What is summarised is nobody's to keep.
    body["store"] = false.into();
    body["stream"] = true.into();
    body
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    delta: Option<Value>,
    item: Option<Item>,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Response {
    status: Option<String>,
    error: Option<Value>,
    incomplete_details: Option<Value>,
    output: Option<Vec<Item>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Item {
    #[serde(rename = "type", default)]
    kind: String,
    content: Option<Value>,
}

pub(super) fn event(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<Step, ModelError> {
    if data.trim() == "[DONE]" {
        return Ok(Step::Last);
    }
    let event: Event = parse(data, draft)?;
    match event.kind.as_str() {
        "response.output_text.delta" => match event.delta {
            Some(Value::String(text)) => draft.say(&text)?,
            _ => return Err(draft.malformed("a delta of the text is no text")),
        },
        "response.refusal.delta" => draft.hold_back(),
        "response.output_item.added" | "response.output_item.done" => check(event.item.as_ref())?,
        "response.completed" | "response.incomplete" | "response.failed" | "response.cancelled" => {
            let Some(response) = event.response else {
                return Err(draft.malformed("the last event has no response"));
            };
            take(response, draft)?;
            return Ok(Step::Last);
        }
        // Some put the error into a field of its own, some say it in the event itself.
        "error" => return Err(draft.refuse(&parse(data, draft)?)),
        kind if kind.contains("_call_arguments.") || kind.contains("_call_input.") => {
            return Err(ModelError::CalledTool);
        }
        _ => {}
    }
    Ok(Step::More)
}

pub(super) fn whole(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    let response: Response = parse(data, draft)?;
    if response.output.is_none() && !is_there(response.error.as_ref()) {
        return Err(draft.malformed("it has no output"));
    }
    take(response, draft)
}

fn take(response: Response, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    if is_there(response.error.as_ref()) {
        return Err(draft.refuse(&json!({ "error": response.error })));
    }
    if let Some(usage) = response.usage.filter(Value::is_object) {
        draft.count(counted(Wire::OpenAiResponses, &usage, Usage::default()));
    }
    let silent = draft.is_silent();
    for item in response.output.iter().flatten() {
        check(Some(item))?;
        let parts = item.content.as_ref().and_then(Value::as_array);
        for part in parts.into_iter().flatten().filter(|_| item.kind == "message") {
            match (part["type"].as_str(), part["text"].as_str()) {
                (Some("output_text"), Some(text)) if silent => draft.say(text)?,
                (Some("refusal"), _) => draft.hold_back(),
                _ => {}
            }
        }
    }
    let reason = response.incomplete_details.as_ref().and_then(|details| details["reason"].as_str());
    match (response.status.as_deref(), reason) {
        (Some("completed"), _) => draft.end(Finish::Complete),
        (Some("incomplete"), Some("max_output_tokens" | "max_tokens")) => draft.end(Finish::Length),
        (Some("incomplete"), Some("content_filter")) => draft.end(Finish::Filtered),
        (Some("incomplete"), _) => draft.end(Finish::Other),
        (Some("failed" | "cancelled"), _) => return Err(draft.broken()),
        _ => {}
    }
    Ok(())
}

/// Everything that a model asks somebody to do for it is an item whose kind ends in `_call`.
fn check(item: Option<&Item>) -> Result<(), ModelError> {
    match item {
        Some(item) if item.kind.ends_with("_call") => Err(ModelError::CalledTool),
        _ => Ok(()),
    }
}
