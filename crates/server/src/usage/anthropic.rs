//! Anthropic's Messages.

use std::borrow::Cow;

use secateur::session::TurnState;
use secateur_engine::provider::counted;
use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::Value;

use super::Found;

/// An event of a stream, or a whole message.
#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    content_block: Option<Block<'a>>,
    #[serde(borrow)]
    delta: Option<Change<'a>>,
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
    usage: Option<Value>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Change<'a> {
    #[serde(borrow)]
    stop_reason: Option<Cow<'a, str>>,
}

pub(super) fn read(piece: &[u8], found: &mut Found) -> Option<()> {
    let event: Event<'_> = serde_json::from_slice(piece).ok()?;
    match event.kind.as_ref() {
        "message_start" => {
            let message = event.message?;
            count_up(message.usage.as_ref(), found);
            end(message.stop_reason.as_deref(), found);
        }
        // The provider's own tools, such as `server_tool_use`, are run by the provider.
        "content_block_start" => found.has_called |= event.content_block?.kind == "tool_use",
        "message_delta" => {
            count_up(event.usage.as_ref(), found);
            end(event.delta.and_then(|delta| delta.stop_reason).as_deref(), found);
        }
        "message_stop" => found.has_all = true,
        "message" => {
            count_up(event.usage.as_ref(), found);
            end(event.stop_reason.as_deref(), found);
            // It came whole.
            found.end.get_or_insert(TurnState::Over);
        }
        _ => {}
    }
    Some(())
}

fn end(reason: Option<&str>, found: &mut Found) {
    match reason {
        None | Some("") => {}
        Some("tool_use" | "pause_turn" | "max_tokens" | "model_context_window_exceeded") => {
            found.end = Some(TurnState::Open);
        }
        Some(_) => found.end = Some(TurnState::Over),
    }
}

fn count_up(usage: Option<&Value>, found: &mut Found) {
    let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
    found.usage = Some(counted(Wire::Anthropic, usage, found.usage.unwrap_or_default()));
}
