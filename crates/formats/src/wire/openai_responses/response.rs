//! Responses of OpenAI's Responses API.
//!
//! The last event of a stream holds the whole response again. Its text is read only if none came before, for servers
//! that send nothing else.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use serde::Deserialize;
use serde_json::Value;

use crate::json::Raw;
use crate::wire::response::{
    EventSink, FinishReason, ResponseDocument, ToolRunner, count, is_filled, tokens,
};

/// Calls that the provider runs itself.
const RUN_BY_PROVIDER: [&str; 5] =
    ["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"];

/// An event of a stream.
#[derive(Deserialize)]
struct ResponsesEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    delta: Option<Raw<'a>>,
    item: Option<ResponsesItem<'a>>,
    response: Option<ResponsesBody<'a>>,
}

/// A whole response.
#[derive(Deserialize)]
struct ResponsesBody<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    error: Option<Raw<'a>>,
    incomplete_details: Option<Value>,
    output: Option<Vec<ResponsesItem<'a>>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct ResponsesItem<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    content: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct ResponsesContentPart<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    text: Option<Raw<'a>>,
}

pub(crate) fn read(document: ResponseDocument<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    if document.is_done_mark() {
        sink.end();
        return Ok(());
    }
    let event: ResponsesEvent<'_> = document.parse()?;
    match event.kind.as_deref() {
        Some("response.output_text.delta") => {
            sink.text(event.delta.ok_or("a delta of the text has no text")?)?;
        }
        Some("response.refusal.delta") => sink.refusal(),
        Some("response.output_item.added" | "response.output_item.done") => {
            if let Some(item) = &event.item {
                check_call(item, sink);
            }
        }
        Some("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
            read_body(event.response.as_ref().ok_or("the last event has no response")?, sink)?;
            sink.end();
        }
        // Some put the error into a member of its own, some are the error themselves.
        Some("error") => sink.error(document.parse()?),
        Some(kind) if kind.contains("_call_arguments.") || kind.contains("_call_input.") => sink.tool_input(),
        Some(_) => {}
        // A whole response has no type.
        None => {
            let body: ResponsesBody<'_> = document.parse()?;
            if body.output.is_none() && !is_filled(body.error) {
                sink.unreadable("it has no output");
            }
            read_body(&body, sink)?;
        }
    }
    Ok(())
}

fn read_body(body: &ResponsesBody<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    sink.error_member(body.error);
    sink.usage(body.usage.as_ref(), |reported, _| count_tokens(reported));
    let is_first = !sink.has_text();
    for item in body.output.iter().flatten() {
        check_call(item, sink);
        let content = item.content.filter(|_| item.kind.as_deref() == Some("message"));
        let parts = content.and_then(|content| serde_json::from_str(content.text()).ok());
        for part in parts.unwrap_or_else(Vec::<ResponsesContentPart<'_>>::new) {
            match (part.kind.as_deref(), part.text) {
                (Some("output_text"), Some(text)) if is_first => sink.text(text)?,
                (Some("refusal"), _) => sink.refusal(),
                _ => {}
            }
        }
    }
    let details = body.incomplete_details.as_ref().and_then(|details| details["reason"].as_str());
    // Whatever cut it off, the turn is not over.
    let (reason, turn) = match (body.status.as_deref(), details) {
        (Some("completed"), _) => (FinishReason::Complete, TurnState::Over),
        (Some("incomplete"), Some("max_output_tokens" | "max_tokens")) => {
            (FinishReason::Length, TurnState::Open)
        }
        (Some("incomplete"), Some("content_filter")) => (FinishReason::Filtered, TurnState::Open),
        (Some("incomplete"), _) => (FinishReason::Other, TurnState::Open),
        (Some("failed" | "cancelled"), _) => (FinishReason::Failed, TurnState::Open),
        _ => return Ok(()),
    };
    sink.finish(reason, turn);
    Ok(())
}

/// Everything that a model wants to have done is an item whose type ends in `_call`.
fn check_call(item: &ResponsesItem<'_>, sink: &mut EventSink<'_>) {
    let kind = item.kind.as_deref().unwrap_or_default();
    if RUN_BY_PROVIDER.contains(&kind) {
        sink.tool_call(ToolRunner::Provider);
    } else if kind.ends_with("_call") {
        sink.tool_call(ToolRunner::Client);
    }
}

fn count_tokens(reported: &Value) -> Usage {
    let cached = tokens(reported, "/input_tokens_details/cached_tokens");
    let reasoning = tokens(reported, "/output_tokens_details/reasoning_tokens");
    Usage {
        input: tokens(reported, "/input_tokens").saturating_sub(cached).max(0),
        output: tokens(reported, "/output_tokens").saturating_sub(reasoning).max(0),
        reasoning,
        cache_read: cached,
        total: count(reported, "/total_tokens"),
        ..Usage::default()
    }
}
