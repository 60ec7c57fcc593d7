//! Google's content. A stream is a list of answers, each with the counts so far; its end is the end of the list.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::provider::counted;
use secateur_formats::Wire;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::Found;

#[derive(Deserialize)]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Option<Vec<Candidate<'a>>>,
    #[serde(rename = "usageMetadata")]
    usage: Option<Value>,
    /// Where Google's own agents ask, the answer is wrapped.
    #[serde(borrow)]
    response: Option<Box<Chunk<'a>>>,
}

#[derive(Deserialize)]
struct Candidate<'a> {
    content: Option<Content>,
    #[serde(rename = "finishReason", borrow)]
    finish: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
struct Content {
    parts: Option<Vec<Part>>,
}

#[derive(Deserialize)]
struct Part {
    #[serde(rename = "functionCall")]
    call: Option<IgnoredAny>,
}

pub(super) fn read(piece: &[u8], found: &mut Found) -> Option<()> {
    let mut chunk: Chunk<'_> = serde_json::from_slice(piece).ok()?;
    if let Some(inner) = chunk.response.take() {
        chunk = *inner;
    }
    if let Some(usage) = chunk.usage.filter(Value::is_object) {
        found.usage = Some(counted(Wire::Gemini, &usage, Usage::default()));
    }
    for candidate in chunk.candidates.iter().flatten() {
        let parts = candidate.content.iter().flat_map(|content| content.parts.iter().flatten());
        found.has_called |= parts.into_iter().any(|part| part.call.is_some());
        match candidate.finish.as_deref() {
            None | Some("" | "FINISH_REASON_UNSPECIFIED") => {}
            Some("MAX_TOKENS") => found.end = Some(TurnState::Open),
            Some(_) => found.end = Some(TurnState::Over),
        }
    }
    Some(())
}
