//! Responses of Chat Completions, and of the many servers that differ from them in details.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use serde::Deserialize;
use serde_json::Value;

use crate::json::Raw;
use crate::wire::response::{
    EventSink, FinishReason, ResponseDocument, ToolRunner, count, is_filled, tokens,
};

/// A chunk of a stream, or a whole response.
#[derive(Deserialize)]
struct ChatChunk<'a> {
    #[serde(borrow)]
    choices: Option<Vec<ChatChoice<'a>>>,
    usage: Option<Value>,
    error: Option<Raw<'a>>,
}

/// A piece of a choice in a stream (`delta`), or a whole one (`message`).
#[derive(Deserialize)]
struct ChatChoice<'a> {
    #[serde(default)]
    index: u64,
    delta: Option<ChatDelta<'a>>,
    message: Option<ChatDelta<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct ChatDelta<'a> {
    #[serde(borrow)]
    content: Option<Raw<'a>>,
    refusal: Option<Raw<'a>>,
    tool_calls: Option<Raw<'a>>,
    function_call: Option<Raw<'a>>,
}

/// A part of content that is a list: Mistral's thinking models have parts called `thinking` and `text`.
#[derive(Deserialize)]
struct ChatContentPart<'a> {
    #[serde(borrow)]
    text: Option<Raw<'a>>,
}

pub(crate) fn read(document: ResponseDocument<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    if document.is_done_mark() {
        sink.end();
        return Ok(());
    }
    let chunk: ChatChunk<'_> = document.parse()?;
    let has_error = sink.error_member(chunk.error);
    if !has_error && document.is_whole && chunk.choices.is_none() {
        sink.unreadable("it has no choices");
    }
    sink.usage(chunk.usage.as_ref(), |reported, _| count_tokens(reported));
    for choice in chunk.choices.iter().flatten() {
        for delta in [&choice.delta, &choice.message].into_iter().flatten() {
            read_delta(choice.index, delta, sink)?;
        }
        finish(choice.finish_reason.as_deref(), sink);
    }
    if document.is_whole && chunk.choices.is_some() {
        sink.finish_whole(TurnState::Over);
    }
    Ok(())
}

/// The text is that of the first choice.
fn read_delta(choice: u64, delta: &ChatDelta<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    if is_filled(delta.tool_calls) || is_filled(delta.function_call) {
        sink.tool_call(ToolRunner::Client);
    }
    if choice != 0 {
        return Ok(());
    }
    if is_filled(delta.refusal) {
        sink.refusal();
    }
    match delta.content {
        Some(content) if content.text().starts_with('[') => {
            let parts: Vec<ChatContentPart<'_>> =
                serde_json::from_str(content.text()).map_err(|error| error.to_string())?;
            parts.into_iter().filter_map(|part| part.text).try_for_each(|text| sink.text(text))
        }
        Some(content) => sink.text(content),
        None => Ok(()),
    }
}

fn finish(reason: Option<&str>, sink: &mut EventSink<'_>) {
    let (reason, turn) = match reason {
        None | Some("") => return,
        Some("stop" | "end_turn" | "stop_sequence" | "eos" | "eos_token") => {
            (FinishReason::Complete, TurnState::Over)
        }
        Some("length" | "max_tokens" | "model_length") => (FinishReason::Length, TurnState::Open),
        Some("content_filter" | "safety" | "refusal") => (FinishReason::Filtered, TurnState::Over),
        Some("tool_calls" | "tool_use" | "function_call") => (FinishReason::ToolCall, TurnState::Open),
        Some("error" | "network_error") => (FinishReason::Failed, TurnState::Over),
        Some(_) => (FinishReason::Other, TurnState::Over),
    };
    sink.finish(reason, turn);
}

fn count_tokens(reported: &Value) -> Usage {
    let (prompt, completion) = (tokens(reported, "/prompt_tokens"), tokens(reported, "/completion_tokens"));
    let cached = tokens(reported, "/prompt_tokens_details/cached_tokens");
    let reasoning = tokens(reported, "/completion_tokens_details/reasoning_tokens");
    let total = count(reported, "/total_tokens");
    // Most count the thinking as part of the completion, xAI beside it. The total tells which.
    let beside =
        reasoning > 0 && total == prompt.checked_add(completion).and_then(|sum| sum.checked_add(reasoning));
    Usage {
        input: prompt.saturating_sub(cached).max(0),
        output: if beside { completion } else { completion.saturating_sub(reasoning).max(0) },
        reasoning,
        cache_read: cached,
        total,
        ..Usage::default()
    }
}
