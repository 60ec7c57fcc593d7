//! Responses of Anthropic's Messages API.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::{ProviderReport, TurnState};
use serde::Deserialize;
use serde_json::Value;

use super::thinking::read_report;
use crate::json::Raw;
use crate::wire::response::{EventSink, FinishReason, ResponseDocument, ToolRunner, is_filled, tokens};

/// An event of a stream, or a whole message.
#[derive(Deserialize)]
struct AnthropicEvent<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    message: Option<AnthropicStart<'a>>,
    #[serde(borrow)]
    content_block: Option<AnthropicBlock<'a>>,
    #[serde(borrow)]
    delta: Option<AnthropicDelta<'a>>,
    #[serde(borrow)]
    content: Option<Vec<AnthropicBlock<'a>>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    usage: Option<Value>,
    context_management: Option<Value>,
    input_transformations: Option<Value>,
    #[serde(borrow)]
    error: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct AnthropicStart<'a> {
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    usage: Option<Value>,
    context_management: Option<Value>,
    input_transformations: Option<Value>,
}

#[derive(Deserialize)]
struct AnthropicBlock<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
}

#[derive(Deserialize)]
struct AnthropicDelta<'a> {
    #[serde(rename = "type", borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

pub(crate) fn read(document: ResponseDocument<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    let event: AnthropicEvent<'_> = document.parse()?;
    if document.is_whole {
        return read_whole(document, &event, sink);
    }
    match event.kind.as_deref().ok_or("an event has no type")? {
        "message_start" => {
            if let Some(message) = &event.message {
                sink.usage(message.usage.as_ref(), count);
                sink.provider_edited(report_of(&message.context_management, &message.input_transformations));
                finish(message.stop_reason.as_deref(), sink);
            }
        }
        "content_block_start" => event.content_block.iter().try_for_each(|block| read_block(block, sink))?,
        "content_block_delta" => match event.delta {
            Some(AnthropicDelta { kind, text, .. }) if kind == "text_delta" => {
                sink.text(text.ok_or("a delta of the text has no text")?)?;
            }
            Some(AnthropicDelta { kind, .. }) if kind == "input_json_delta" => sink.tool_input(),
            _ => {}
        },
        "message_delta" => {
            sink.usage(event.usage.as_ref(), count);
            sink.provider_edited(report_of(&event.context_management, &event.input_transformations));
            finish(event.delta.and_then(|delta| delta.stop_reason).as_deref(), sink);
        }
        "message_stop" => sink.end(),
        "error" => sink.error(document.parse()?),
        _ => {}
    }
    Ok(())
}

fn read_whole(
    document: ResponseDocument<'_>,
    message: &AnthropicEvent<'_>,
    sink: &mut EventSink<'_>,
) -> Result<(), String> {
    if is_filled(message.error) {
        sink.error(document.parse()?);
        return Ok(());
    }
    if message.content.is_none() {
        sink.unreadable("it has no content");
        message.kind.as_ref().ok_or("it has no type")?;
    }
    sink.usage(message.usage.as_ref(), count);
    sink.provider_edited(report_of(&message.context_management, &message.input_transformations));
    message.content.iter().flatten().try_for_each(|block| read_block(block, sink))?;
    finish(message.stop_reason.as_deref(), sink);
    sink.finish_whole(TurnState::Over);
    Ok(())
}

fn report_of(context_management: &Option<Value>, transformations: &Option<Value>) -> Option<ProviderReport> {
    read_report(context_management.as_ref(), transformations.as_ref())
}

fn read_block(block: &AnthropicBlock<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    match (&*block.kind, block.text) {
        ("text", Some(text)) => sink.text(text)?,
        ("tool_use", _) => sink.tool_call(ToolRunner::Client),
        // The provider's own tools: `server_tool_use`, `mcp_tool_use`.
        (kind, _) if kind.ends_with("tool_use") => sink.tool_call(ToolRunner::Provider),
        _ => {}
    }
    Ok(())
}

fn finish(reason: Option<&str>, sink: &mut EventSink<'_>) {
    let (reason, turn) = match reason {
        None | Some("") => return,
        Some("end_turn" | "stop_sequence") => (FinishReason::Complete, TurnState::Over),
        Some("max_tokens" | "model_context_window_exceeded") => (FinishReason::Length, TurnState::Open),
        Some("refusal") => (FinishReason::Filtered, TurnState::Over),
        Some("tool_use") => (FinishReason::ToolCall, TurnState::Open),
        Some("pause_turn") => (FinishReason::Other, TurnState::Open),
        Some(_) => (FinishReason::Other, TurnState::Over),
    };
    sink.finish(reason, turn);
}

/// The counts of a stream grow: the start has the input, the end has the output, and some servers report only at the end.
fn count(reported: &Value, before: Usage) -> Usage {
    let most = |before: i64, pointer: &str| before.max(tokens(reported, pointer));
    Usage {
        input: most(before.input, "/input_tokens"),
        output: most(before.output, "/output_tokens"),
        cache_read: most(before.cache_read, "/cache_read_input_tokens"),
        cache_write: most(before.cache_write, "/cache_creation_input_tokens"),
        cache_write_1h: most(before.cache_write_1h, "/cache_creation/ephemeral_1h_input_tokens"),
        ..before
    }
}
