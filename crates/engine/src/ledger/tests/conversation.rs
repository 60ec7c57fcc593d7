//! Small conversations for tests, on two wires.

use secateur::Measures;
use secateur_formats::{Format, Wire, read_as};
use serde_json::{Value, json};

use crate::ledger::Ledger;

/// One step of a conversation.
#[derive(Clone, Debug)]
pub(super) enum ScriptStep {
    /// The user speaks.
    User(String),
    /// The model speaks.
    Model(String),
    /// A tool is called with this input and returns this result; true if it failed.
    Tool(&'static str, Value, String, bool),
}

pub(super) fn user(text: &str) -> ScriptStep {
    ScriptStep::User(text.to_owned())
}

pub(super) fn model(text: &str) -> ScriptStep {
    ScriptStep::Model(text.to_owned())
}

pub(super) fn tool(name: &'static str, input: Value, answer: &str) -> ScriptStep {
    ScriptStep::Tool(name, input, answer.to_owned(), false)
}

pub(super) fn failing(name: &'static str, input: Value, answer: &str) -> ScriptStep {
    ScriptStep::Tool(name, input, answer.to_owned(), true)
}

/// An Anthropic request with this conversation.
pub(super) fn anthropic(steps: &[ScriptStep]) -> String {
    let messages: Vec<Value> = steps
        .iter()
        .enumerate()
        .flat_map(|(at, step)| match step {
            ScriptStep::User(text) => vec![json!({"role": "user", "content": text})],
            ScriptStep::Model(text) => {
                vec![json!({"role": "assistant", "content": [{"type": "text", "text": text}]})]
            }
            ScriptStep::Tool(name, input, answer, failed) => {
                let id = format!("call{at}");
                let call = json!({"type": "tool_use", "id": id, "name": name, "input": input});
                let answer =
                    json!({"type": "tool_result", "tool_use_id": id, "content": answer, "is_error": failed});
                vec![
                    json!({"role": "assistant", "content": [call]}),
                    json!({"role": "user", "content": [answer]}),
                ]
            }
        })
        .collect();
    json!({"model": "a-model", "max_tokens": 100, "messages": messages}).to_string()
}

/// A Chat Completions request with this conversation.
pub(super) fn chat(steps: &[ScriptStep]) -> String {
    let messages: Vec<Value> = steps
        .iter()
        .enumerate()
        .flat_map(|(at, step)| match step {
            ScriptStep::User(text) => vec![json!({"role": "user", "content": text})],
            ScriptStep::Model(text) => vec![json!({"role": "assistant", "content": text})],
            ScriptStep::Tool(name, input, answer, _) => {
                let id = format!("call{at}");
                let function = json!({"name": name, "arguments": input.to_string()});
                let call = json!({"id": id, "type": "function", "function": function});
                vec![
                    json!({"role": "assistant", "content": null, "tool_calls": [call]}),
                    json!({"role": "tool", "tool_call_id": id, "content": answer}),
                ]
            }
        })
        .collect();
    json!({"model": "a-model", "messages": messages}).to_string()
}

/// The ledger of a request.
pub(super) fn ledger_of(body: &str, wire: Wire) -> Ledger {
    let transcript = read_as(body.as_bytes(), Format::Request(wire), &Measures::default()).unwrap();
    Ledger::of(&transcript, &|text| text.to_owned())
}

/// The ledger of a conversation, on Anthropic's wire.
pub(super) fn ledger(steps: &[ScriptStep]) -> Ledger {
    ledger_of(&anthropic(steps), Wire::Anthropic)
}
