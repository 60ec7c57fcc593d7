//! Anthropic Messages.

use serde_json::{Value, json};

use super::{Event, ModelResponse, pieces};

/// A block of the response: as it is, as it starts in a stream, and what is added to it there.
struct Block {
    whole: Value,
    start: Value,
    deltas: Vec<Value>,
}

pub(super) fn whole(response: &ModelResponse<'_>) -> Value {
    let mut message = message(response);
    message["content"] = blocks(response).into_iter().map(|block| block.whole).collect();
    message["stop_reason"] = stop(response).into();
    message["usage"] = usage(response);
    for (member, value) in reported(response) {
        message[*member] = value.clone();
    }
    message
}

/// What the provider reports about what it did to the request.
fn reported<'r>(response: &'r ModelResponse<'_>) -> &'r [(&'static str, Value)] {
    response.request.judgement.as_ref().map_or(&[], |judgement| &judgement.report)
}

pub(super) fn events(response: &ModelResponse<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut send = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        events.push(Event::named(name, &data));
    };
    let mut message = message(response);
    message["usage"] = usage(response);
    message["usage"]["output_tokens"] = 1.into();
    send("message_start", json!({ "message": message }));
    send("ping", json!({}));
    for (index, block) in blocks(response).into_iter().enumerate() {
        send("content_block_start", json!({ "index": index, "content_block": block.start }));
        for delta in block.deltas {
            send("content_block_delta", json!({ "index": index, "delta": delta }));
        }
        send("content_block_stop", json!({ "index": index }));
    }
    let delta = json!({ "stop_reason": stop(response), "stop_sequence": null });
    let mut end = json!({ "delta": delta, "usage": usage(response) });
    for (member, value) in reported(response) {
        end[*member] = value.clone();
    }
    send("message_delta", end);
    send("message_stop", json!({}));
    events
}

fn blocks(response: &ModelResponse<'_>) -> Vec<Block> {
    let mut blocks = Vec::new();
    if let Some(thought) = response.thought() {
        let signature = response.request.signature();
        let signed = json!({ "type": "signature_delta", "signature": signature });
        let parts = pieces(thought).map(|piece| json!({ "type": "thinking_delta", "thinking": piece }));
        blocks.push(Block {
            whole: json!({ "type": "thinking", "thinking": thought, "signature": signature }),
            start: json!({ "type": "thinking", "thinking": "", "signature": "" }),
            deltas: parts.chain([signed]).collect(),
        });
    }
    if let Some(text) = response.text() {
        blocks.push(Block {
            whole: json!({ "type": "text", "text": text }),
            start: json!({ "type": "text", "text": "" }),
            deltas: pieces(text).map(|piece| json!({ "type": "text_delta", "text": piece })).collect(),
        });
    }
    for call in &response.reply.calls {
        let block = |input: &Value| json!({ "type": "tool_use", "id": format!("toolu_{}", call.id), "name": call.name, "input": input });
        let input = call.input.to_string();
        let parts = pieces(&input).map(|piece| json!({ "type": "input_json_delta", "partial_json": piece }));
        blocks.push(Block { whole: block(&call.input), start: block(&json!({})), deltas: parts.collect() });
    }
    blocks
}

fn message(response: &ModelResponse<'_>) -> Value {
    json!({
        "id": response.id("msg_"), "type": "message", "role": "assistant", "model": response.request.model,
        "content": [], "stop_reason": null, "stop_sequence": null,
    })
}

fn stop(response: &ModelResponse<'_>) -> &'static str {
    if response.reply.calls.is_empty() { "end_turn" } else { "tool_use" }
}

/// Here a cache is used only where the request marks what to keep.
fn usage(response: &ModelResponse<'_>) -> Value {
    let usage = response.usage;
    let is_marked = response.request.text.contains("\"cache_control\"");
    let (input, read, written) =
        if is_marked { (0, usage.cached, usage.input - usage.cached) } else { (usage.input, 0, 0) };
    json!({
        "input_tokens": input, "cache_creation_input_tokens": written, "cache_read_input_tokens": read,
        "output_tokens": usage.output,
    })
}
