//! OpenAI's Responses.

use std::borrow::Cow;

use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::provider::counted;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::Value;

use super::Found;

/// Calls that the provider carries out itself; the model goes on with what they give in the same answer.
const RUN_THERE: [&str; 5] =
    ["web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call"];

/// An event of a stream, or a whole response.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
    #[serde(borrow)]
    item: Option<Item<'a>>,
    #[serde(borrow)]
    response: Option<Response<'a>>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow)]
    output: Option<Vec<Item<'a>>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Item<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<Cow<'a, str>>,
}

pub(super) fn read(piece: &[u8], found: &mut Found) -> Option<()> {
    if piece.trim_ascii() == b"[DONE]" {
        found.has_all = true;
        return Some(());
    }
    let event: Event<'_> = serde_json::from_slice(piece).ok()?;
    match event.kind.as_deref() {
        Some("response.output_item.added" | "response.output_item.done") => check(&event.item?, found),
        Some("response.completed" | "response.incomplete" | "response.failed" | "response.cancelled") => {
            take(event.response?, found);
            found.has_all = true;
        }
        // A plain answer has no kind.
        None => take(serde_json::from_slice(piece).ok()?, found),
        Some(_) => {}
    }
    Some(())
}

fn take(response: Response<'_>, found: &mut Found) {
    if let Some(usage) = response.usage.filter(Value::is_object) {
        found.usage = Some(counted(Wire::OpenAiResponses, &usage, Usage::default()));
    }
    response.output.iter().flatten().for_each(|item| check(item, found));
    match response.status.as_deref() {
        Some("completed") => found.end = Some(TurnState::Over),
        // For whatever reason it was cut off, it was cut off.
        Some("incomplete" | "failed" | "cancelled") => found.end = Some(TurnState::Open),
        _ => {}
    }
}

/// Everything that a model asks somebody to do for it is an item whose kind ends in `_call`.
fn check(item: &Item<'_>, found: &mut Found) {
    let kind = item.kind.as_deref().unwrap_or_default();
    found.has_called |= kind.ends_with("_call") && !RUN_THERE.contains(&kind);
}
