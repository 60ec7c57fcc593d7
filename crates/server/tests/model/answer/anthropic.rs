//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Answer, Event, SIGNATURE, pieces};

/// A block of the answer: as it is, as it starts in a stream, and what is added to it there.
struct Block {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = message(answer);
    message["content"] = blocks(answer).into_iter().map(|block| block.whole).collect();
    message["stop_reason"] = stop(answer).into();
    message["usage"] = usage(answer);
    message
}

pub(super) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut send = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        events.push(Event::named(name, &data));
    };
    let mut message = message(answer);
    message["usage"] = usage(answer);
    message["usage"]["output_tokens"] = 1.into();
    send("message_start", json!({ "message": message }));
    send("ping", json!({}));
    for (index, block) in blocks(answer).into_iter().enumerate() {
        send("content_block_start", json!({ "index": index, "content_block": block.start }));
        for delta in block.deltas {
            send("content_block_delta", json!({ "index": index, "delta": delta }));
        }
        send("content_block_stop", json!({ "index": index }));
    }
    let delta = json!({ "stop_reason": stop(answer), "stop_sequence": null });
    send("message_delta", json!({ "delta": delta, "usage": usage(answer) }));
    send("message_stop", json!({}));
    events
}

fn blocks(answer: &Answer<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(thought) = answer.thought() {
        let signed = json!({ "type": "signature_delta", "signature": SIGNATURE });
        let parts = pieces(thought).map(|piece| json!({ "type": "thinking_delta", "thinking": piece }));
        blocks.push(Block {
            whole: json!({ "type": "thinking", "thinking": thought, "signature": SIGNATURE }),
            start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
            deltas: parts.chain([signed]).collect(),
        });
    }
    if let Some(text) = answer.text() {
        blocks.push(Block {
            whole: json!({ "type": "text", "text": text }),
            start: json!({ "type": "text", "text": "" }),
            deltas: pieces(text).map(|piece| json!({ "type": "text_delta", "text": piece })).collect(),
        });
    }
    for call in &answer.turn.calls {
        let block = |input: &Value| json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": input });
        let input = call.input.to_string();
        let parts = pieces(&input).map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        blocks.push(Block { whole: block(&call.input), start: block(&json!({})), deltas: parts.collect() });
    }
    blocks
}

fn message(answer: &Answer<'_>) -> Value {
    json!({
        "id": answer.id("msg_"), "type": "message", "role": "assistant", "model": answer.talk.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
    })
}

fn stop(answer: &Answer<'_>) -> &'static str {
    if answer.turn.calls.is_empty() { "end_turn" } else { "tool_use" }
}

/// Here a cache is used only where the request marks what to keep.
fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    let is_marked = answer.talk.text.contains("\"cache_control\"");
    let (input, read, written) =
        if is_marked { (0, usage.cached, usage.input - usage.cached) } else { (usage.input, 0, 0) };
    json!({
        "input_tokens": input, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
        "output_tokens": usage.output,
    })
}
