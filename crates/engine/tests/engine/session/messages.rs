//! What is said in a session, as each wire spells it.

use secateur_engine::NewMessage;
use secateur_formats::Wire;
use serde_json::{Value, json};

/// A tool call: its id, the tool, what it is given.
pub(crate) type Called<'c> = (&'c str, &'c str, Value);

/// What a user says.
pub(crate) fn user(wire: Wire, text: &str) -> NewMessage {
    message(&match wire {
        Wire::Gemini => json!({"role": "user", "parts": [{"text": text}]}),
        _ => json!({"role": "user", "content": text}),
    })
}

/// What the model says.
pub(crate) fn assistant(wire: Wire, text: &str) -> NewMessage {
    message(&match wire {
        Wire::Gemini => json!({"role": "model", "parts": [{"text": text}]}),
        _ => json!({"role": "assistant", "content": text}),
    })
}

/// The tools that the model calls at once.
pub(crate) fn calls(wire: Wire, calls: &[Called<'_>]) -> Vec<NewMessage> {
    let calls = calls.iter();
    match wire {
        Wire::OpenAiChat => {
            let calls = calls.map(|(id, tool, input)| {
                json!({"id": id, "type": "function", "function": {"name": tool, "arguments": input.to_string()}})
            });
            vec![message(
                &json!({"role": "assistant", "content": null, "tool_calls": calls.collect::<Vec<_>>()}),
            )]
        }
        Wire::Anthropic => {
            let calls =
                calls.map(|(id, tool, input)| json!({"type": "tool_use", "id": id, "name": tool, "input": input}));
            vec![message(&json!({"role": "assistant", "content": calls.collect::<Vec<_>>()}))]
        }
        Wire::OpenAiResponses => calls
            .map(|(id, tool, input)| {
                json!({"type": "function_call", "call_id": id, "name": tool, "arguments": input.to_string()})
            })
            .map(|item| message(&item))
            .collect(),
        Wire::Gemini => {
            let calls =
                calls.map(|(id, tool, input)| json!({"functionCall": {"id": id, "name": tool, "args": input}}));
            vec![message(&json!({"role": "model", "parts": calls.collect::<Vec<_>>()}))]
        }
    }
}

/// What the tools returned: id, tool and text of each.
pub(crate) fn results(wire: Wire, results: &[(&str, &str, &str)]) -> Vec<NewMessage> {
    let results = results.iter();
    match wire {
        Wire::OpenAiChat => results
            .map(|(id, _, text)| message(&json!({"role": "tool", "tool_call_id": id, "content": text})))
            .collect(),
        Wire::Anthropic => {
            let results = results
                .map(|(id, _, text)| json!({"type": "tool_result", "tool_use_id": id, "content": text}));
            vec![message(&json!({"role": "user", "content": results.collect::<Vec<_>>()}))]
        }
        Wire::OpenAiResponses => results
            .map(|(id, _, text)| {
                message(&json!({"type": "function_call_output", "call_id": id, "output": text}))
            })
            .collect(),
        Wire::Gemini => {
            let results = results.map(|(id, tool, text)| {
                json!({"functionResponse": {"id": id, "name": tool, "response": {"output": text}}})
            });
            vec![message(&json!({"role": "user", "parts": results.collect::<Vec<_>>()}))]
        }
    }
}

/// A message of this JSON.
pub(crate) fn message(json: &Value) -> NewMessage {
    NewMessage::json(json.to_string())
}

/// A whole turn: the user asks for a file, the model reads it and says that it is fine.
pub(crate) fn turn(wire: Wire, number: usize, size: usize) -> Vec<NewMessage> {
    let (call, path) = (format!("call-{number}"), format!("src/{number}.rs"));
    let output = text_of(number, size);
    let mut turn = vec![user(wire, &format!("Please look at file {number}."))];
    turn.extend(calls(wire, &[(&call, "read", json!({"path": path}))]));
    turn.extend(results(wire, &[(&call, "read", &output)]));
    turn.push(assistant(wire, &format!("File {number} is fine.")));
    turn
}

/// A text of about this many characters that contains its number.
pub(crate) fn text_of(number: usize, size: usize) -> String {
    format!("line {number}\n").repeat(size / 7 + 1)
}

/// A request, a line for each part of each message.
pub(crate) fn shape(body: &str) -> String {
    let body: Value = serde_json::from_str(body).unwrap();
    let list = ["messages", "input", "contents"].iter().find_map(|list| body[list].as_array()).unwrap();
    let mut lines = String::new();
    for (at, message) in list.iter().enumerate() {
        for part in parts(message) {
            lines += &format!("{at:02} {part}\n");
        }
    }
    lines
}

fn parts(message: &Value) -> Vec<String> {
    let role = message["role"].as_str().unwrap_or_default();
    let mut lines = Vec::new();
    match message["type"].as_str() {
        Some("function_call") => lines.push(format!("calls {}", message["call_id"].as_str().unwrap())),
        Some("function_call_output") => {
            lines.push(format!(
                "tool {}: {}",
                message["call_id"].as_str().unwrap(),
                said(&message["output"])
            ));
        }
        _ => {}
    }
    if role == "tool" {
        let id = message["tool_call_id"].as_str().unwrap();
        return vec![format!("tool {id}: {}", said(&message["content"]))];
    }
    let content = if message["parts"].is_array() { &message["parts"] } else { &message["content"] };
    if content.is_string() {
        lines.push(format!("{role}: {}", said(content)));
    }
    for block in content.as_array().into_iter().flatten() {
        lines.push(block_line(role, block));
    }
    for call in message["tool_calls"].as_array().into_iter().flatten() {
        lines.push(format!("{role} calls {}", call["id"].as_str().unwrap()));
    }
    lines
}

fn block_line(role: &str, block: &Value) -> String {
    let (call, answer) = (&block["functionCall"], &block["functionResponse"]);
    match block["type"].as_str() {
        Some("tool_use") => format!("{role} calls {}", block["id"].as_str().unwrap()),
        Some("tool_result") => {
            format!("tool {}: {}", block["tool_use_id"].as_str().unwrap(), said(&block["content"]))
        }
        Some("thinking") => {
            format!("{role} thinks: {} (signed {})", said(&block["thinking"]), said(&block["signature"]))
        }
        Some("image" | "image_url") => format!("{role} shows an image"),
        _ if call.is_object() => format!("{role} calls {}", call["id"].as_str().unwrap()),
        _ if answer.is_object() => {
            format!("tool {}: {}", answer["id"].as_str().unwrap(), said(&answer["response"]["output"]))
        }
        _ => format!("{role}: {}", said(&block["text"])),
    }
}

/// A text on one line, and how long it is if it is long.
fn said(text: &Value) -> String {
    let text = match text {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().map(|block| block["text"].as_str().unwrap_or("[?]")).collect(),
        other => other.to_string(),
    };
    let flat = text.replace('\n', " | ");
    if flat.chars().count() <= 100 {
        return flat;
    }
    format!("{} … ({} chars)", flat.chars().take(60).collect::<String>(), text.chars().count())
}
