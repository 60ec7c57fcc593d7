//! What a provider refuses: calls without results, results without calls, and the like.

use std::collections::HashSet;

use serde_json::Value;

use super::request::ClientRequest;
use super::response::SIGNATURE;
use super::wire;
use secateur_formats::Wire;

/// What is wrong with a request, in the words of its provider or nearly so.
pub(super) fn check(request: &ClientRequest) -> Result<(), String> {
    let Some(messages) = request.body.get(wire::messages_field(request.wire)).and_then(Value::as_array)
    else {
        let is_text =
            request.wire == Wire::OpenAiResponses && request.body.get("input").is_some_and(Value::is_string);
        return if is_text {
            Ok(())
        } else {
            Err(format!("{}: field required", wire::messages_field(request.wire)))
        };
    };
    match request.wire {
        Wire::Anthropic => anthropic(messages).and_then(|()| thoughts(request, messages)),
        Wire::OpenAiChat => chat(messages),
        Wire::OpenAiResponses => responses(messages),
        Wire::Gemini => gemini(messages),
    }
}

/// Results stand in the message behind the one with their calls, and none is missing.
fn anthropic(messages: &[Value]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let role = |message: &Value| message["role"].as_str().unwrap_or_default().to_owned();
    match messages.first() {
        None => return Err("messages: at least one message is required".to_owned()),
        Some(first) if role(first) != "user" => {
            return Err("messages: first message must use the \"user\" role".to_owned());
        }
        Some(_) => {}
    }
    let mut seen = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        if message["content"].as_str() == Some("") || message["content"].as_array().is_some_and(Vec::is_empty)
        {
            return Err(format!("messages.{at}: all messages must have non-empty content"));
        }
        let mut answered: Vec<&str> = Vec::new();
        for block in blocks {
            match block["type"].as_str() {
                Some("tool_result") => answered.push(block["tool_use_id"].as_str().unwrap_or_default()),
                Some("text") if block["text"].as_str().is_none_or(str::is_empty) => {
                    return Err(format!("messages.{at}: text content blocks must be non-empty"));
                }
                _ => {}
            }
        }
        if let Some(missing) = open.iter().find(|id| !answered.contains(id)) {
            return Err(format!(
                "messages.{at}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
            ));
        }
        if let Some(stray) = answered.iter().find(|id| !open.contains(id)) {
            return Err(format!(
                "messages.{at}: unexpected `tool_use_id` found in `tool_result` blocks: {stray}"
            ));
        }
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        open = calls.map(|block| block["id"].as_str().unwrap_or_default()).collect();
        if let Some(twice) = open.iter().find(|id| !seen.insert(**id)) {
            return Err(format!("messages.{at}: `tool_use` ids must be unique: {twice}"));
        }
    }
    match open.first() {
        Some(missing) => Err(format!("the last message has a `tool_use` without its result: {missing}")),
        None => Ok(()),
    }
}

/// Thoughts come back signed, and in the middle of a turn they cannot be missing.
fn thoughts(request: &ClientRequest, messages: &[Value]) -> Result<(), String> {
    let blocks = |message: &Value| message["content"].as_array().cloned().unwrap_or_default();
    for (at, message) in messages.iter().enumerate() {
        // Bound thinking has been judged already.
        let is_forged = |block: &Value| {
            block["type"] == "thinking" && request.judgement.is_none() && block["signature"] != SIGNATURE
        };
        if blocks(message).iter().any(is_forged) {
            return Err(format!("messages.{at}: Invalid `signature` in `thinking` block"));
        }
    }
    let kind = request.body.pointer("/thinking/type").and_then(Value::as_str);
    let is_required = kind == Some("enabled") || request.judgement.is_some() && kind == Some("adaptive");
    if let ([.., own, last], true) = (messages, is_required)
        && blocks(last).iter().any(|block| block["type"] == "tool_result")
        && blocks(own).first().is_none_or(|block| block["type"] != "thinking")
    {
        return Err(
            "Expected `thinking` or `redacted_thinking` at the start of the final assistant message".into()
        );
    }
    Ok(())
}

/// Behind a message with calls come the results of all of them, before anything else.
fn chat(messages: &[Value]) -> Result<(), String> {
    let mut open: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            if !open.remove(id) {
                return Err(format!(
                    "messages.{at}: messages with role 'tool' must be a response to a preceding message with \
                     'tool_calls': {id}"
                ));
            }
            continue;
        }
        unanswered(&open, at)?;
        let calls = message["tool_calls"].as_array().into_iter().flatten();
        open = calls.map(|call| call["id"].as_str().unwrap_or_default()).collect();
        let is_empty = message["content"].is_null() && open.is_empty();
        if message["role"] == "assistant" && is_empty && message["function_call"].is_null() {
            return Err(format!("messages.{at}: an assistant message needs content or tool_calls"));
        }
    }
    unanswered(&open, messages.len())
}

fn unanswered(open: &HashSet<&str>, at: usize) -> Result<(), String> {
    match open.iter().min() {
        None => Ok(()),
        Some(id) => Err(format!(
            "messages.{at}: an assistant message with 'tool_calls' must be followed by tool messages responding to \
             each 'tool_call_id': {id}"
        )),
    }
}

/// Each call has an output behind it and each output a call before it, unless that lies at the provider.
fn responses(items: &[Value]) -> Result<(), String> {
    let is_elsewhere = items.iter().any(|item| item["type"] == "item_reference");
    let mut open: HashSet<&str> = HashSet::new();
    for (at, item) in items.iter().enumerate() {
        let follower = items.get(at + 1).map(|next| (next["type"].as_str(), next["role"].as_str()));
        let follows = matches!(
            follower,
            Some(
                (Some("reasoning" | "function_call" | "custom_tool_call" | "item_reference"), _)
                    | (_, Some("assistant"))
            )
        );
        if item["type"] == "reasoning" && !follows {
            let id = item["id"].as_str().unwrap_or_default();
            return Err(format!(
                "Item '{id}' of type 'reasoning' was provided without its required following item."
            ));
        }
        let id = item["call_id"].as_str().unwrap_or_default();
        match item["type"].as_str() {
            Some("function_call" | "custom_tool_call") => {
                open.insert(id);
            }
            Some("function_call_output" | "custom_tool_call_output") if !open.remove(id) && !is_elsewhere => {
                return Err(format!("No tool call found for function call output with call_id {id}."));
            }
            _ => {}
        }
    }
    match open.iter().min() {
        None => Ok(()),
        Some(id) => Err(format!("No tool output found for function call {id}.")),
    }
}

/// A turn with calls is followed by one with as many results.
fn gemini(contents: &[Value]) -> Result<(), String> {
    let mut open = 0;
    for (at, content) in contents.iter().enumerate() {
        let parts = content["parts"].as_array().map_or(&[][..], Vec::as_slice);
        let count = |key: &str| parts.iter().filter(|part| part.get(key).is_some()).count();
        if parts.is_empty() {
            return Err(format!("contents.{at}.parts must not be empty"));
        }
        if count("functionResponse") != open {
            return Err(
                "Please ensure that the number of function response parts is equal to the number of \
                        function call parts of the function call turn."
                    .to_owned(),
            );
        }
        open = count("functionCall");
    }
    if open == 0 { Ok(()) } else { Err("the last turn has function calls without responses".to_owned()) }
}
