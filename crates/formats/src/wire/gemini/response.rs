//! Responses of Google's Gemini API.
//!
//! A stream has no last mark: it ends with the connection. Newer models say why they stop in the last chunk only; older
//! ones said `STOP` with every chunk, so the last one counts. Each chunk has the token counts so far.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::json::Raw;
use crate::wire::response::{EventSink, FinishReason, ResponseDocument, ToolRunner, count, tokens};

/// A chunk of a stream, or a whole response.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiChunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<GeminiCandidate<'a>>>,
    prompt_feedback: Option<GeminiFeedback>,
    usage_metadata: Option<Value>,
    error: Option<Raw<'a>>,
    /// The service that Google's own agents use wraps the response.
    response: Option<Box<GeminiChunk<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiCandidate<'a> {
    #[serde(default)]
    index: u64,
    content: Option<GeminiContent<'a>>,
    #[serde(borrow)]
    finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct GeminiContent<'a> {
    #[serde(borrow)]
    parts: Option<Vec<GeminiPart<'a>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiPart<'a> {
    #[serde(borrow)]
    text: Option<Raw<'a>>,
    /// Whether this is the model's thinking.
    thought: Option<bool>,
    function_call: Option<IgnoredAny>,
    executable_code: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GeminiFeedback {
    block_reason: Option<IgnoredAny>,
}

pub(crate) fn read(document: ResponseDocument<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    let mut chunk: GeminiChunk<'_> = document.parse()?;
    if let Some(inner) = chunk.response.take() {
        chunk = *inner;
    }
    let has_error = sink.error_member(chunk.error);
    if !has_error && document.is_whole && chunk.candidates.is_none() && chunk.prompt_feedback.is_none() {
        sink.unreadable("it has no candidates");
    }
    sink.usage(chunk.usage_metadata.as_ref(), |reported, _| count_tokens(reported));
    // The prompt itself is blocked. Then there are no candidates.
    if chunk.prompt_feedback.is_some_and(|feedback| feedback.block_reason.is_some()) {
        sink.refusal();
        sink.finish(FinishReason::Filtered, TurnState::Open);
    }
    for candidate in chunk.candidates.iter().flatten() {
        let parts = candidate.content.as_ref().and_then(|content| content.parts.as_ref());
        parts.into_iter().flatten().try_for_each(|part| read_part(candidate.index, part, sink))?;
        finish(candidate.finish_reason.as_deref(), sink);
    }
    if document.is_whole {
        sink.finish_whole(TurnState::Open);
    }
    Ok(())
}

/// The text is that of the first candidate.
fn read_part(candidate: u64, part: &GeminiPart<'_>, sink: &mut EventSink<'_>) -> Result<(), String> {
    if part.function_call.is_some() {
        sink.tool_call(ToolRunner::Client);
    } else if part.executable_code.is_some() {
        sink.tool_call(ToolRunner::Provider);
    }
    match part.text {
        Some(text) if candidate == 0 && part.thought != Some(true) => sink.text(text),
        _ => Ok(()),
    }
}

fn finish(reason: Option<&str>, sink: &mut EventSink<'_>) {
    let (reason, turn) = match reason {
        None | Some("" | "FINISH_REASON_UNSPECIFIED") => return,
        Some("STOP") => (FinishReason::Complete, TurnState::Over),
        Some("MAX_TOKENS") => (FinishReason::Length, TurnState::Open),
        Some(
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "MODEL_ARMOR",
        ) => (FinishReason::Filtered, TurnState::Over),
        Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => {
            (FinishReason::ToolCall, TurnState::Over)
        }
        Some(_) => (FinishReason::Other, TurnState::Over),
    };
    sink.finish(reason, turn);
}

/// The prompt includes what was read from the cache, and the candidates do not include the thinking.
fn count_tokens(reported: &Value) -> Usage {
    let prompt =
        tokens(reported, "/promptTokenCount").saturating_add(tokens(reported, "/toolUsePromptTokenCount"));
    let cached = tokens(reported, "/cachedContentTokenCount");
    Usage {
        input: prompt.saturating_sub(cached).max(0),
        output: tokens(reported, "/candidatesTokenCount"),
        reasoning: tokens(reported, "/thoughtsTokenCount"),
        cache_read: cached,
        total: count(reported, "/totalTokenCount"),
        ..Usage::default()
    }
}
