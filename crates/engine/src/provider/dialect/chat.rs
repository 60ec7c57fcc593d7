//! Chat Completions, and the many servers that speak them, each with an accent.

use secateur::Usage;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Step, is_there, parse};
use crate::provider::counted;
use crate::provider::response_builder::ResponseBuilder;
use crate::provider::{Endpoint, Finish, ModelError, ModelRequest, TokensField};

pub(super) fn body(endpoint: &Endpoint, question: &ModelRequest<'_>) -> Value {
    let mut messages = vec![];
    if !question.system.trim().is_empty() {
        messages.push(json!({ "role": "system", "content": question.system }));
    }
    messages.push(json!({ "role": "user", "content": question.text }));
    let tokens = match endpoint.tokens_field {
        TokensField::MaxTokens => "max_tokens",
        TokensField::MaxCompletionTokens => "max_completion_tokens",
    };
    let mut body = json!({
        "model": endpoint.model,
        "messages": messages,
        tokens: question.max_tokens,
        "stream": true,
    });
    if endpoint.include_usage {
        body["stream_options"] = json!({ "include_usage": true });
    }
    body
}

#[derive(Deserialize)]
struct Chunk {
    choices: Option<Vec<Choice>>,
    usage: Option<Value>,
    error: Option<Value>,
}

/// A piece of a choice in a stream (`delta`), or a whole one (`message`).
#[derive(Deserialize)]
struct Choice {
    #[serde(default)]
    index: u64,
    delta: Option<Message>,
    message: Option<Message>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Message {
    content: Option<Content>,
    refusal: Option<String>,
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    /// Mistral's models that think answer with a list, and call its parts `thinking` and `text`.
    Parts(Vec<Part>),
}

#[derive(Deserialize)]
struct Part {
    text: Option<String>,
}

pub(super) fn event(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<Step, ModelError> {
    if data.trim() == "[DONE]" {
        return Ok(Step::Last);
    }
    take(parse(data, draft)?, draft)?;
    Ok(Step::More)
}

pub(super) fn whole(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    let chunk: Chunk = parse(data, draft)?;
    if chunk.choices.is_none() && !is_there(chunk.error.as_ref()) {
        return Err(draft.malformed("it has no choices"));
    }
    take(chunk, draft)?;
    // It came whole. If it does not say why it ends, that is all that is missing.
    draft.end(Finish::Other);
    Ok(())
}

fn take(chunk: Chunk, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    if is_there(chunk.error.as_ref()) {
        return Err(draft.refuse(&json!({ "error": chunk.error })));
    }
    if let Some(usage) = chunk.usage.filter(Value::is_object) {
        draft.count(counted(Wire::OpenAiChat, &usage, Usage::default()));
    }
    for choice in chunk.choices.into_iter().flatten().filter(|choice| choice.index == 0) {
        for message in [choice.delta, choice.message].into_iter().flatten() {
            speak(message, draft)?;
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token") => draft.end(Finish::Complete),
            Some("length" | "max_tokens" | "model_length") => draft.end(Finish::Length),
            Some("content_filter" | "safety" | "refusal") => draft.end(Finish::Filtered),
            Some("tool_calls" | "tool_use" | "function_call") => return Err(ModelError::CalledTool),
            Some("error" | "network_error") => return Err(draft.broken()),
            Some(_) => draft.end(Finish::Other),
        }
    }
    Ok(())
}

fn speak(message: Message, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    if is_there(message.tool_calls.as_ref()) || is_there(message.function_call.as_ref()) {
        return Err(ModelError::CalledTool);
    }
    if message.refusal.is_some_and(|refusal| !refusal.is_empty()) {
        draft.hold_back();
    }
    match message.content {
        None => Ok(()),
        Some(Content::Text(text)) => draft.say(&text),
        Some(Content::Parts(parts)) => {
            parts.into_iter().filter_map(|part| part.text).try_for_each(|text| draft.say(&text))
        }
    }
}
