//! Chat Completions, and the many servers that speak them, each with an accent.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::provider::counted;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::Value;

use super::Found;

/// A chunk of a stream, or a whole answer.
#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<Choice<'a>>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Choice<'a> {
    delta: Option<Message>,
    message: Option<Message>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Message {
    tool_calls: Option<Value>,
    function_call: Option<Value>,
}

pub(super) fn read(piece: &[u8], found: &mut Found) -> Option<()> {
    if piece.trim_ascii() == b"[DONE]" {
        found.has_all = true;
        return Some(());
    }
    let chunk: Chunk<'_> = serde_json::from_slice(piece).ok()?;
    if let Some(usage) = chunk.usage.filter(Value::is_object) {
        found.usage = Some(counted(Wire::OpenAiChat, &usage, Usage::default()));
    }
    for choice in chunk.choices.into_iter().flatten() {
        for message in [&choice.delta, &choice.message].into_iter().flatten() {
            found.has_called |=
                is_there(message.tool_calls.as_ref()) || is_there(message.function_call.as_ref());
        }
        match choice.finish_reason.as_deref() {
            None | Some("") => {}
            Some("tool_calls" | "tool_use" | "function_call" | "length" | "max_tokens" | "model_length") => {
                found.end = Some(TurnState::Open);
            }
            Some(_) => found.end = Some(TurnState::Over),
        }
        if choice.message.is_some() {
            // It came whole.
            found.end.get_or_insert(TurnState::Over);
        }
    }
    Some(())
}

/// Some servers send empty lists and nulls for what is not there.
fn is_there(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(_) => true,
    }
}
