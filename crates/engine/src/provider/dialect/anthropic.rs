//! Anthropic's Messages.

use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Step, is_there, parse};
use crate::provider::counted;
use crate::provider::response_builder::ResponseBuilder;
use crate::provider::{Endpoint, Finish, ModelError, ModelRequest};

pub(super) fn body(endpoint: &Endpoint, question: &ModelRequest<'_>) -> Value {
    let mut body = json!({ "model": endpoint.model, "max_tokens": question.max_tokens });
    if !question.system.trim().is_empty() {
        body["system"] = question.system.into();
    }
    body["messages"] = json!([{ "role": "user", "content": question.text }]);
    body["stream"] = true.into();
    body
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    message: Option<Message>,
    content_block: Option<Block>,
    delta: Option<Change>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Vec<Block>>,
    stop_reason: Option<String>,
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
struct Change {
    #[serde(rename = "type", default)]
    kind: String,
    text: Option<String>,
    stop_reason: Option<String>,
}

pub(super) fn event(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<Step, ModelError> {
    let event: Event = parse(data, draft)?;
    match event.kind.as_str() {
        "message_start" => {
            if let Some(usage) = event.message.and_then(|message| message.usage) {
                count_up(&usage, draft);
            }
        }
        "content_block_start" => event.content_block.iter().try_for_each(|block| speak(block, draft))?,
        "content_block_delta" => match event.delta {
            Some(Change { kind, text: Some(text), .. }) if kind == "text_delta" => draft.say(&text)?,
            Some(Change { kind, .. }) if kind == "text_delta" => {
                return Err(draft.malformed("a delta of the text has no text"));
            }
            Some(Change { kind, .. }) if kind == "input_json_delta" => return Err(ModelError::CalledTool),
            _ => {}
        },
        "message_delta" => {
            if let Some(usage) = event.usage {
                count_up(&usage, draft);
            }
            end(event.delta.and_then(|delta| delta.stop_reason).as_deref(), draft)?;
        }
        "message_stop" => return Ok(Step::Last),
        "error" => return Err(draft.refuse(&parse(data, draft)?)),
        _ => {}
    }
    Ok(Step::More)
}

pub(super) fn whole(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    let message: Message = parse(data, draft)?;
    if is_there(message.error.as_ref()) {
        return Err(draft.refuse(&parse(data, draft)?));
    }
    let Some(content) = message.content else {
        return Err(draft.malformed("it has no content"));
    };
    if let Some(usage) = message.usage {
        count_up(&usage, draft);
    }
    content.iter().try_for_each(|block| speak(block, draft))?;
    end(message.stop_reason.as_deref(), draft)?;
    // It came whole. If it does not say why it ends, that is all that is missing.
    draft.end(Finish::Other);
    Ok(())
}

fn speak(block: &Block, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    match (block.kind.as_str(), &block.text) {
        ("text", Some(text)) => draft.say(text),
        // `tool_use`, and the provider's own tools: `server_tool_use`, `mcp_tool_use`.
        (kind, _) if kind.ends_with("tool_use") => Err(ModelError::CalledTool),
        _ => Ok(()),
    }
}

fn end(reason: Option<&str>, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    match reason {
        None | Some("") => {}
        Some("end_turn" | "stop_sequence") => draft.end(Finish::Complete),
        Some("max_tokens" | "model_context_window_exceeded") => draft.end(Finish::Length),
        Some("refusal") => draft.end(Finish::Filtered),
        Some("tool_use") => return Err(ModelError::CalledTool),
        Some(_) => draft.end(Finish::Other),
    }
    Ok(())
}

fn count_up(usage: &Value, draft: &mut ResponseBuilder<'_>) {
    if !usage.is_object() {
        return;
    }
    draft.count(counted(Wire::Anthropic, usage, draft.counted()));
}
