//! Chat Completions.

use serde_json::{Value, json};

use super::super::tool::Call;
use super::{Answer, Event, pieces};

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    let mut message = json!({ "role": "assistant", "content": answer.text() });
    if !answer.turn.calls.is_empty() {
        message["tool_calls"] = calls(answer).into();
    }
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish(answer), "logprobs": null });
    head(answer, "chat.completion", &json!([choice]), Some(usage(answer)))
}

/// A stream tells what it cost only to those who ask.
pub(super) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut send = |delta: Value, finish: Option<&str>| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        events.push(Event::new(&head(answer, "chat.completion.chunk", &json!([choice]), None)));
    };
    send(json!({ "role": "assistant", "content": "" }), None);
    for piece in answer.text().into_iter().flat_map(pieces) {
        send(json!({ "content": piece }), None);
    }
    for (index, mut call) in calls(answer).into_iter().enumerate() {
        let arguments = answer.turn.calls.get(index).map(|call| call.input.to_string()).unwrap_or_default();
        call["index"] = index.into();
        call["function"]["arguments"] = "".into();
        send(json!({ "tool_calls": [call] }), None);
        for piece in pieces(&arguments) {
            send(json!({ "tool_calls": [{ "index": index, "function": { "arguments": piece } }] }), None);
        }
    }
    send(json!({}), Some(finish(answer)));
    if answer.talk.flag("/stream_options/include_usage") {
        let last = head(answer, "chat.completion.chunk", &json!([]), Some(usage(answer)));
        events.push(Event::new(&last));
    }
    events.push(Event { name: None, data: "[DONE]".to_owned() });
    events
}

fn head(answer: &Answer<'_>, object: &str, choices: &Value, usage: Option<Value>) -> Value {
    let mut head = json!({
        "id": answer.id("chatcmpl-"), "object": object, "created": 1_700_000_000, "model": answer.talk.model,
        "choices": choices,
    });
    if let Some(usage) = usage {
        head["usage"] = usage;
    }
    head
}

fn calls(answer: &Answer<'_>) -> Vec<Value> {
    let call = |call: &Call| {
        let function = json!({ "name": call.name, "arguments": call.input.to_string() });
        json!({ "id": format!("call_{}", call.id), "type": "function", "function": function })
    };
    answer.turn.calls.iter().map(call).collect()
}

fn finish(answer: &Answer<'_>) -> &'static str {
    if answer.turn.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(answer: &Answer<'_>) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
    })
}
