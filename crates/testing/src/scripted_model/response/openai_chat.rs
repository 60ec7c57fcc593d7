//! Chat Completions.

use serde_json::{Value, json};

use super::super::tool::Call;
use super::{Event, ModelResponse, pieces};

pub(super) fn whole(response: &ModelResponse<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": response.text() });
    if !response.reply.calls.is_empty() {
        message["tool_calls"] = calls(response).into();
    }
    let choice =
        json!({ "index": 0, "message": message, "finish_reason": finish(response), "logprobs": null });
    head(response, "chat.completion", &json!([choice]), Some(usage(response)))
}

/// A stream tells what it cost only to those who ask.
pub(super) fn events(response: &ModelResponse<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut send = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        events.push(Event::new(&head(response, "chat.completion.chunk", &json!([choice]), None)));
    };
    send(json!({ "role": "assistant", "content": "" }), None);
    for piece in response.text().into_iter().flat_map(pieces) {
        send(json!({ "content": piece }), None);
    }
    for (index, mut call) in calls(response).into_iter().enumerate() {
        let arguments =
            response.reply.calls.get(index).map(|call| call.input.to_string()).unwrap_or_default();
        call["index"] = index.into();
        call["function"]["arguments"] = "".into();
        send(json!({ "tool_calls": [call] }), None);
        for piece in pieces(&arguments) {
            send(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }), None);
        }
    }
    send(json!({}), Some(finish(response)));
    if response.request.flag("/stream_options/include_usage") {
        let last = head(response, "chat.completion.chunk", &json!([]), Some(usage(response)));
        events.push(Event::new(&last));
    }
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

fn head(response: &ModelResponse<'_>, object: &str, choices: &Value, usage: Option<Value>) -> Value {
    let mut head = json!({
        "id": response.id("chatcmpl-"), "object": object, "created": 1_700_000_000, "model": response.request.model,
        "choices": choices,
    });
    if let Some(usage) = usage {
        head["usage"] = usage;
    }
    head
}

fn calls(response: &ModelResponse<'_>) -> Vec<Value> {
    let call = |call: &Call| {
        let function = json!({ "name": call.name, "arguments": call.input.to_string() });
        json!({ "id": format!("call_{}", call.id), "type": "function", "function": function })
    };
    response.reply.calls.iter().map(call).collect()
}

fn finish(response: &ModelResponse<'_>) -> &'static str {
    if response.reply.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(response: &ModelResponse<'_>) -> Value {
    let usage = response.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
    })
}
