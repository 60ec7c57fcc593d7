//! The output of a model, whole or streamed, as an agent adds it to its history.

use secateur_formats::Wire;
use serde_json::{Value, json};

/// The output of a model.
#[derive(Debug, Default)]
pub(super) struct ModelOutput {
    /// What is added to the history.
    pub items: Vec<Value>,
    /// The commands that it wants to be run.
    pub calls: Vec<Call>,
    pub text: String,
}

/// A command that is to be run.
#[derive(Debug)]
pub(super) struct Call {
    pub id: String,
    pub command: String,
}

impl Call {
    fn new(id: &Value, arguments: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let arguments = match arguments {
            Value::String(arguments) => serde_json::from_str(arguments).unwrap(),
            arguments => arguments.clone(),
        };
        Self { id: text(id), command: text(&arguments["command"]) }
    }
}

/// Reads a response.
pub(super) fn read_output(wire: Wire, streams: bool, body: &str) -> ModelOutput {
    let response = if streams { joined(wire, &events(body)) } else { serde_json::from_str(body).unwrap() };
    match wire {
        Wire::Anthropic => {
            let content = response["content"].clone();
            let blocks = content.as_array().unwrap();
            let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
            let calls = calls.map(|block| Call::new(&block["id"], &block["input"])).collect();
            let text = texts(blocks);
            ModelOutput { items: vec![json!({ "role": "assistant", "content": content })], calls, text }
        }
        Wire::OpenAiChat => {
            let message = response["choices"][0]["message"].clone();
            let calls = message["tool_calls"].as_array().into_iter().flatten();
            let calls = calls.map(|call| Call::new(&call["id"], &call["function"]["arguments"])).collect();
            let text = message["content"].as_str().unwrap_or_default().to_owned();
            ModelOutput { items: vec![message], calls, text }
        }
        Wire::OpenAiResponses => {
            let items = response["output"].as_array().unwrap().clone();
            let calls = items.iter().filter(|item| item["type"] == "function_call");
            let calls = calls.map(|item| Call::new(&item["call_id"], &item["arguments"])).collect();
            let messages = items.iter().filter_map(|item| item["content"].as_array());
            let text = messages.map(|content| texts(content)).collect();
            ModelOutput { items, calls, text }
        }
        Wire::Gemini => {
            let content = response["candidates"][0]["content"].clone();
            let parts = content["parts"].as_array().unwrap();
            let calls = parts.iter().filter_map(|part| part.get("functionCall"));
            let calls = calls.map(|call| Call::new(&call["id"], &call["args"])).collect();
            let text = texts(parts);
            ModelOutput { items: vec![content], calls, text }
        }
    }
}

fn texts(parts: &[Value]) -> String {
    parts.iter().filter_map(|part| part["text"].as_str()).collect()
}

fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data: ")).filter(|data| *data != "[DONE]");
    data.map(|data| serde_json::from_str(data).unwrap()).collect()
}

/// The whole response that a stream amounts to.
fn joined(wire: Wire, events: &[Value]) -> Value {
    match wire {
        Wire::Anthropic => {
            let mut blocks: Vec<Value> = Vec::new();
            for event in events {
                let at = usize::try_from(event["index"].as_u64().unwrap_or(0)).unwrap();
                match event["type"].as_str().unwrap() {
                    "content_block_start" => blocks.push(event["content_block"].clone()),
                    "content_block_delta" => add_to(&mut blocks[at], &event["delta"]),
                    "content_block_stop" if blocks[at]["input"].is_string() => {
                        blocks[at]["input"] =
                            serde_json::from_str(blocks[at]["input"].as_str().unwrap()).unwrap();
                    }
                    _ => {}
                }
            }
            json!({ "content": blocks })
        }
        Wire::OpenAiChat => {
            let (mut text, mut calls) = (json!(""), Vec::new());
            for delta in events.iter().map(|event| &event["choices"][0]["delta"]) {
                append(&mut text, delta["content"].as_str().unwrap_or_default());
                for call in delta["tool_calls"].as_array().into_iter().flatten() {
                    match call.get("id") {
                        Some(id) => {
                            let function = json!({ "name": call["function"]["name"], "arguments": "" });
                            calls.push(json!({ "id": id, "type": "function", "function": function }));
                        }
                        None => {
                            let at = usize::try_from(call["index"].as_u64().unwrap()).unwrap();
                            let more = call["function"]["arguments"].as_str().unwrap();
                            append(&mut calls[at]["function"]["arguments"], more);
                        }
                    }
                }
            }
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            json!({ "choices": [{ "message": message }] })
        }
        Wire::OpenAiResponses => {
            events.iter().find(|event| event["type"] == "response.completed").unwrap()["response"].clone()
        }
        Wire::Gemini => {
            let parts =
                events.iter().filter_map(|event| event["candidates"][0]["content"]["parts"].as_array());
            let parts: Vec<Value> = parts.flatten().cloned().collect();
            json!({ "candidates": [{ "content": { "role": "model", "parts": parts } }] })
        }
    }
}

/// Adds to a block of Anthropic's.
fn add_to(block: &mut Value, delta: &Value) {
    if let Some(text) = delta["text"].as_str() {
        append(&mut block["text"], text);
    }
    for member in ["thinking", "signature"] {
        if let Some(text) = delta[member].as_str() {
            append(&mut block[member], text);
        }
    }
    if let Some(json) = delta["partial_json"].as_str() {
        if block["input"].is_object() {
            block["input"] = "".into();
        }
        append(&mut block["input"], json);
    }
}

fn append(text: &mut Value, more: &str) {
    *text = format!("{}{more}", text.as_str().unwrap_or_default()).into();
}
