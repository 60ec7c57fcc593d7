//! What good answers look like on each wire.
//!
//! Every answer counts seven tokens of input, two of which came from a cache, and five of output. On the wires that
//! have it, some thinking comes first, which is no part of the text.

use secateur_formats::Wire;
use serde_json::{Value, json};

/// A whole streamed answer, ready to be sent. The text comes word by word.
pub fn answer(wire: Wire, text: &str) -> String {
    let mut stream = events(wire, &answer_events(wire, text));
    if wire == Wire::OpenAiChat {
        stream.push_str("data: [DONE]\n\n");
    }
    stream
}

/// These events as this wire streams them.
pub fn events(wire: Wire, events: &[Value]) -> String {
    let named = |event: &Value| match event["type"].as_str() {
        Some(name) if wire != Wire::OpenAiChat => format!("event: {name}\ndata: {event}\n\n"),
        _ => format!("data: {event}\n\n"),
    };
    events.iter().map(named).collect()
}

/// The events of a good answer.
pub(super) fn answer_events(wire: Wire, text: &str) -> Vec<Value> {
    let words = text.split_inclusive(' ');
    match wire {
        Wire::OpenAiChat => {
            let delta = |delta: Value, finish: Option<&str>| {
                json!({ "id": "c1", "object": "chat.completion.chunk", "model": "m",
                    "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }], "usage": null })
            };
            let mut events = vec![delta(json!({ "role": "assistant", "content": "" }), None)];
            events.push(delta(json!({ "reasoning_content": "hm", "content": null }), None));
            events.extend(words.map(|word| delta(json!({ "content": word }), None)));
            events.push(delta(json!({}), Some("stop")));
            events.push(json!({ "id": "c1", "object": "chat.completion.chunk", "choices": [],
                "usage": { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12,
                    "prompt_tokens_details": { "cached_tokens": 2 } } }));
            events
        }
        Wire::OpenAiResponses => {
            let mut events = vec![
                json!({ "type": "response.created", "response": { "id": "r1", "status": "in_progress", "output": [] } }),
                json!({ "type": "response.output_item.added", "item": { "type": "reasoning", "id": "rs1", "summary": [] } }),
                json!({ "type": "response.reasoning_summary_text.delta", "item_id": "rs1", "delta": "hm" }),
                json!({ "type": "response.output_item.added", "item": { "type": "message", "id": "m1", "content": [] } }),
            ];
            events.extend(
                words.map(
                    |word| json!({ "type": "response.output_text.delta", "item_id": "m1", "delta": word }),
                ),
            );
            events.push(json!({ "type": "response.output_text.done", "item_id": "m1", "text": text }));
            events.push(json!({ "type": "response.completed", "response": response(text) }));
            events
        }
        Wire::Anthropic => {
            let mut events = vec![
                json!({ "type": "message_start", "message": { "id": "msg1", "type": "message", "role": "assistant",
                    "content": [], "usage": { "input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 1 } } }),
                json!({ "type": "ping" }),
                json!({ "type": "content_block_start", "index": 0,
                    "content_block": { "type": "thinking", "thinking": "" } }),
                json!({ "type": "content_block_delta", "index": 0,
                    "delta": { "type": "thinking_delta", "thinking": "hm" } }),
                json!({ "type": "content_block_stop", "index": 0 }),
                json!({ "type": "content_block_start", "index": 1, "content_block": { "type": "text", "text": "" } }),
            ];
            events.extend(words.map(|word| {
                json!({ "type": "content_block_delta", "index": 1,
                    "delta": { "type": "text_delta", "text": word } })
            }));
            events.push(json!({ "type": "content_block_stop", "index": 1 }));
            events.push(json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" },
                "usage": { "output_tokens": 5 } }));
            events.push(json!({ "type": "message_stop" }));
            events
        }
        Wire::Gemini => {
            let chunk = |part: Value| {
                json!({ "candidates": [{ "content": { "role": "model", "parts": [part] }, "index": 0 }],
                    "usageMetadata": { "promptTokenCount": 7, "totalTokenCount": 7 },
                    "modelVersion": "m", "responseId": "g1" })
            };
            let mut events = vec![chunk(json!({ "text": "hm", "thought": true }))];
            events.extend(words.map(|word| chunk(json!({ "text": word }))));
            events.push(generated(&json!([{ "text": "" }])));
            events
        }
    }
}

/// A whole answer in one piece.
pub fn whole(wire: Wire, text: &str) -> String {
    let whole = match wire {
        Wire::OpenAiChat => json!({ "id": "c1", "object": "chat.completion", "model": "m",
            "choices": [{ "index": 0, "finish_reason": "stop",
                "message": { "role": "assistant", "content": text, "refusal": null, "tool_calls": [] } }],
            "usage": { "prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12,
                "prompt_tokens_details": { "cached_tokens": 2 } } }),
        Wire::OpenAiResponses => response(text),
        Wire::Anthropic => json!({ "id": "msg1", "type": "message", "role": "assistant", "model": "m",
            "content": [{ "type": "thinking", "thinking": "hm", "signature": "s" }, { "type": "text", "text": text }],
            "stop_reason": "end_turn",
            "usage": { "input_tokens": 5, "cache_read_input_tokens": 2, "output_tokens": 5 } }),
        Wire::Gemini => generated(&json!([{ "text": "hm", "thought": true }, { "text": text }])),
    };
    whole.to_string()
}

fn generated(parts: &Value) -> Value {
    json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 7, "cachedContentTokenCount": 2, "candidatesTokenCount": 5,
            "totalTokenCount": 12 },
        "modelVersion": "m", "responseId": "g1" })
}

fn response(text: &str) -> Value {
    json!({ "id": "r1", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
        "output": [
            { "type": "reasoning", "id": "rs1", "summary": [] },
            { "type": "message", "id": "m1", "role": "assistant", "content": [{ "type": "output_text", "text": text }] },
        ],
        "usage": { "input_tokens": 7, "output_tokens": 5, "total_tokens": 12,
            "input_tokens_details": { "cached_tokens": 2 }, "output_tokens_details": { "reasoning_tokens": 0 } } })
}
