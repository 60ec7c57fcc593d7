//! Google's Gemini, by its own wire.
//!
//! A stream has no last mark: it ends with the connection. Newer models say why they end in the last piece only; older
//! ones said `STOP` with every piece, so everything is read, and the last word counts.

use secateur::Usage;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Step, is_there, parse};
use crate::provider::counted;
use crate::provider::response_builder::ResponseBuilder;
use crate::provider::{Finish, ModelError, ModelRequest};

pub(super) fn body(question: &ModelRequest<'_>) -> Value {
    let mut body = json!({});
    if !question.system.trim().is_empty() {
        body["systemInstruction"] = json!({ "parts": [{ "text": question.system }] });
    }
    body["contents"] = json!([{ "role": "user", "parts": [{ "text": question.text }] }]);
    body["generationConfig"] = json!({ "maxOutputTokens": question.max_tokens });
    body
}

/// Where a model is asked, behind the version. A name with a kind in front (`tunedModels/x`) is taken as it is.
pub(super) fn path(model: &str) -> String {
    let kind = if model.contains('/') { "" } else { "models/" };
    format!("/{kind}{model}:streamGenerateContent")
}

/// A piece of an answer, or all of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chunk {
    candidates: Option<Vec<Candidate>>,
    prompt_feedback: Option<Feedback>,
    usage_metadata: Option<Value>,
    error: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    #[serde(default)]
    index: u64,
    content: Option<Content>,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part {
    text: Option<String>,
    /// Whether the model only thinks aloud.
    thought: Option<bool>,
    function_call: Option<Value>,
    executable_code: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Feedback {
    block_reason: Option<String>,
}

pub(super) fn event(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<Step, ModelError> {
    take(parse(data, draft)?, draft)?;
    Ok(Step::More)
}

/// Who is not asked for a stream of events, or does not know them, sends the pieces as a list.
pub(super) fn whole(data: &str, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    let chunks: Vec<Chunk> =
        if data.trim_start().starts_with('[') { parse(data, draft)? } else { vec![parse(data, draft)?] };
    let says = |chunk: &Chunk| {
        chunk.candidates.is_some() || chunk.prompt_feedback.is_some() || is_there(chunk.error.as_ref())
    };
    if !chunks.iter().any(says) {
        return Err(draft.malformed("it has no candidates"));
    }
    chunks.into_iter().try_for_each(|chunk| take(chunk, draft))?;
    // It came whole. If it does not say why it ends, that is all that is missing.
    draft.end(Finish::Other);
    Ok(())
}

fn take(chunk: Chunk, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    if is_there(chunk.error.as_ref()) {
        return Err(draft.refuse(&json!({ "error": chunk.error })));
    }
    if let Some(usage) = chunk.usage_metadata.filter(Value::is_object) {
        draft.count(counted(Wire::Gemini, &usage, Usage::default()));
    }
    // The prompt itself is held back. There are no candidates then.
    if chunk.prompt_feedback.and_then(|feedback| feedback.block_reason).is_some() {
        draft.hold_back();
        draft.end(Finish::Filtered);
    }
    for candidate in chunk.candidates.into_iter().flatten().filter(|candidate| candidate.index == 0) {
        let parts = candidate.content.and_then(|content| content.parts);
        parts.into_iter().flatten().try_for_each(|part| speak(part, draft))?;
        match candidate.finish_reason.as_deref() {
            None | Some("" | "FINISH_REASON_UNSPECIFIED") => {}
            Some("STOP") => draft.end_for_now(Finish::Complete),
            Some("MAX_TOKENS") => draft.end_for_now(Finish::Length),
            Some(
                "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
                | "MODEL_ARMOR",
            ) => draft.end_for_now(Finish::Filtered),
            Some("MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS") => {
                return Err(ModelError::CalledTool);
            }
            Some(_) => draft.end_for_now(Finish::Other),
        }
    }
    Ok(())
}

fn speak(part: Part, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
    if part.function_call.is_some() || part.executable_code.is_some() {
        return Err(ModelError::CalledTool);
    }
    match part.text {
        Some(text) if part.thought != Some(true) => draft.say(&text),
        _ => Ok(()),
    }
}
