//! Responses.

use serde_json::{Value, json};

use super::{Event, ModelResponse, pieces};

pub(super) fn whole(response: &ModelResponse<'_>) -> Value {
    response_object(response, "completed", &items(response), &usage(response))
}

pub(super) fn events(response: &ModelResponse<'_>) -> Vec<Event> {
    let mut events = Vec::new();
    let mut send = |name: &'static str, mut data: Value| {
        data["type"] = name.into();
        data["sequence_number"] = events.len().into();
        events.push(Event::named(name, &data));
    };
    let open = response_object(response, "in_progress", &[], &Value::Null);
    send("response.created", json!({ "response": open }));
    send("response.in_progress", json!({ "response": open }));
    for (at, item) in items(response).into_iter().enumerate() {
        let id = item["id"].clone();
        match item["type"].as_str() {
            Some("message") => {
                let part = &item["content"][0];
                let place = json!({ "item_id": id, "output_index": at, "content_index": 0 });
                let with = |key: &str, value: Value| {
                    let mut data = place.clone();
                    data[key] = value;
                    data
                };
                send("response.output_item.added", added(&item, at, "content", json!([])));
                let empty = json!({ "type": "output_text", "text": "", "annotations": [] });
                send("response.content_part.added", with("part", empty));
                for piece in pieces(part["text"].as_str().unwrap_or_default()) {
                    send("response.output_text.delta", with("delta", piece.into()));
                }
                send("response.output_text.done", with("text", part["text"].clone()));
                send("response.content_part.done", with("part", part.clone()));
            }
            Some("function_call") => {
                let arguments = item["arguments"].as_str().unwrap_or_default();
                send("response.output_item.added", added(&item, at, "arguments", "".into()));
                for piece in pieces(arguments) {
                    let delta = json!({ "item_id": id, "output_index": at, "delta": piece });
                    send("response.function_call_arguments.delta", delta);
                }
                let done = json!({
                    "item_id": id, "output_index": at, "name": item["name"], "arguments": arguments,
                });
                send("response.function_call_arguments.done", done);
            }
            _ => send("response.output_item.added", json!({ "output_index": at, "item": item })),
        }
        send("response.output_item.done", json!({ "output_index": at, "item": item }));
    }
    send("response.completed", json!({ "response": whole(response) }));
    events
}

/// The first event of an item, which has nothing in it yet.
fn added(item: &Value, at: usize, key: &str, empty: Value) -> Value {
    let mut item = item.clone();
    item[key] = empty;
    item["status"] = "in_progress".into();
    json!({ "output_index": at, "item": item })
}

fn items(response: &ModelResponse<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    if response.thought().is_some() {
        // Thoughts are sealed; they come back with the next request.
        items.push(json!({
            "type": "reasoning", "id": response.id("rs_"), "summary": [],
            "encrypted_content": "c2VhbGVkIGJ5IHRoZSBzY3JpcHQ=",
        }));
    }
    if let Some(text) = response.text() {
        items.push(json!({
            "type": "message", "id": response.id("msg_"), "status": "completed", "role": "assistant",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }));
    }
    for call in &response.reply.calls {
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{}", call.id), "call_id": format!("call_{}", call.id),
            "name": call.name, "arguments": call.input.to_string(), "status": "completed",
        });
        if let Some(group) = &call.group {
            item["namespace"] = group.as_str().into();
        }
        items.push(item);
    }
    items
}

fn response_object(response: &ModelResponse<'_>, status: &str, output: &[Value], usage: &Value) -> Value {
    json!({
        "id": response.id("resp_"), "object": "response", "created_at": 1_700_000_000, "status": status,
        "model": response.request.model, "output": output, "usage": usage, "error": null, "incomplete_details": null,
        "instructions": null, "metadata": {}, "parallel_tool_calls": true, "tool_choice": "auto", "tools": [],
        "temperature": 1, "top_p": 1,
    })
}

fn usage(response: &ModelResponse<'_>) -> Value {
    let usage = response.usage;
    json!({
        "input_tokens": usage.input, "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens": usage.output, "output_tokens_details": { "reasoning_tokens": 0 },
        "total_tokens": usage.input + usage.output,
    })
}
