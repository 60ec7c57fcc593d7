//! Whatever a session holds, what is rendered is a request: rules of the providers, checked on the outcome.

use std::collections::HashSet;

use proptest::prelude::*;
use secateur::Measures;
use serde_json::{Value, json};

use super::{RenderOptions, Rendered, render};
use crate::format::Format;
use crate::json::encode;
use crate::read::read_as;
use crate::wire_spec::Wire;

/// What happens in a session, in any order.
#[derive(Clone, Debug)]
enum Event {
    System(String),
    User(String),
    Model { text: String, thought: bool, calls: Vec<(String, String, Value)> },
    Result { id: String, text: String, is_error: bool },
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".to_owned()), "[a-z \"\\\\é😀]{1,8}"]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof!["t[1-3]", Just("t|1 x".to_owned()), Just(String::new()), Just("x".repeat(90))]
}

fn event() -> impl Strategy<Value = Event> {
    let input =
        prop_oneof![Just(json!({"a": 1})), Just(json!({})), Just(json!("*** free")), Just(json!([1]))];
    let call = (id(), prop_oneof![Just("read"), Just("1 ü.x"), Just("")].prop_map(str::to_owned), input);
    prop_oneof![
        text().prop_map(Event::System),
        text().prop_map(Event::User),
        (text(), any::<bool>(), prop::collection::vec(call, 0..3))
            .prop_map(|(text, thought, calls)| Event::Model { text, thought, calls }),
        (id(), text(), any::<bool>()).prop_map(|(id, text, is_error)| Event::Result { id, text, is_error }),
        (id(), text(), any::<bool>()).prop_map(|(id, text, is_error)| Event::Result { id, text, is_error }),
    ]
}

/// The events as a request of each wire, valid or not.
fn source(wire: Wire, events: &[Event]) -> String {
    let list: Vec<Value> = events.iter().flat_map(|event| spell(wire, event)).collect();
    match wire {
        Wire::Anthropic => json!({"system": "s", "messages": list}),
        Wire::OpenAiChat => json!({"messages": list}),
        Wire::OpenAiResponses => json!({"input": list}),
        Wire::Gemini => json!({"contents": list}),
    }
    .to_string()
}

fn spell(wire: Wire, event: &Event) -> Vec<Value> {
    match (wire, event) {
        (Wire::Anthropic, Event::Model { text, thought, calls }) => {
            let mut blocks = vec![json!({"type": "text", "text": text})];
            if *thought {
                blocks.insert(0, json!({"type": "thinking", "thinking": "h", "signature": "s"}));
                blocks.push(json!({"type": "redacted_thinking", "data": "d"}));
            }
            let call = |(id, name, input): &(String, String, Value)| json!({"type": "tool_use", "id": id, "name": name, "input": input});
            blocks.extend(calls.iter().map(call));
            vec![json!({"role": "assistant", "content": blocks})]
        }
        (Wire::Anthropic, Event::Result { id, text, is_error }) => {
            let block =
                json!({"type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error});
            vec![json!({"role": "user", "content": [block]})]
        }
        (Wire::OpenAiChat, Event::Model { text, calls, .. }) => {
            let call = |(id, name, input): &(String, String, Value)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": input.to_string()}});
            let calls: Vec<Value> = calls.iter().map(call).collect();
            vec![json!({"role": "assistant", "content": text, "tool_calls": calls})]
        }
        (Wire::OpenAiChat, Event::Result { id, text, .. }) => {
            vec![json!({"role": "tool", "tool_call_id": id, "content": text})]
        }
        (Wire::OpenAiResponses, Event::Model { text, thought, calls }) => {
            let mut items = vec![json!({"role": "assistant", "content": text})];
            if *thought {
                items.insert(0, json!({"type": "reasoning", "summary": [], "encrypted_content": "e"}));
            }
            let call = |(id, name, input): &(String, String, Value)| match input {
                Value::String(text) => {
                    json!({"type": "custom_tool_call", "call_id": id, "name": name, "input": text})
                }
                input => {
                    json!({"type": "function_call", "call_id": id, "name": name, "arguments": input.to_string()})
                }
            };
            items.extend(calls.iter().map(call));
            items
        }
        (Wire::OpenAiResponses, Event::Result { id, text, .. }) => {
            vec![json!({"type": "function_call_output", "call_id": id, "output": text})]
        }
        (Wire::Gemini, Event::Model { text, thought, calls }) => {
            let mut parts = vec![json!({"text": text, "thought": thought})];
            let call = |(_, name, input): &(String, String, Value)| json!({"functionCall": {"name": name, "args": input}, "thoughtSignature": "s"});
            parts.extend(calls.iter().map(call));
            vec![json!({"role": "model", "parts": parts})]
        }
        (Wire::Gemini, Event::Result { text, .. }) => {
            let response = json!({"name": "read", "response": {"output": text}});
            vec![json!({"role": "user", "parts": [{"functionResponse": response}]})]
        }
        (Wire::Gemini, Event::User(text) | Event::System(text)) => {
            vec![json!({"role": "user", "parts": [{"text": text}]})]
        }
        (Wire::Anthropic, Event::User(text) | Event::System(text)) => {
            vec![json!({"role": "user", "content": text})]
        }
        (_, Event::User(text)) => vec![json!({"role": "user", "content": text})],
        (_, Event::System(text)) => vec![json!({"role": "system", "content": text})],
    }
}

/// What a provider would refuse in a body.
pub(crate) fn faults(wire: Wire, body: &str) -> Vec<String> {
    let Ok(body) = serde_json::from_str::<Value>(body) else { return vec!["no JSON".into()] };
    match wire {
        Wire::Anthropic => anthropic_faults(&body),
        Wire::OpenAiChat => chat_faults(&body),
        Wire::OpenAiResponses => responses_faults(&body),
        Wire::Gemini => gemini_faults(&body),
    }
}

fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn is_plain(name: &Value, longest: usize) -> bool {
    let name = name.as_str().unwrap_or_default();
    !name.is_empty()
        && name.len() <= longest
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-".contains(letter))
}

fn anthropic_faults(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    let tools: HashSet<&str> = list(body, "tools").iter().filter_map(|tool| tool["name"].as_str()).collect();
    let mut seen = HashSet::new();
    let mut waiting: Vec<&Value> = Vec::new();
    let messages = list(body, "messages");
    check(messages.last().is_some_and(|last| last["role"] == "user"), "ends with the user");
    for (index, message) in messages.iter().enumerate() {
        let role = if index % 2 == 0 { "user" } else { "assistant" };
        check(message["role"] == role, "sides alternate");
        let blocks = list(message, "content");
        check(!blocks.is_empty(), "content is not empty");
        let of = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).collect::<Vec<_>>();
        let answers: Vec<&Value> =
            blocks.iter().take(waiting.len()).map(|block| &block["tool_use_id"]).collect();
        check(answers == waiting, "answers come first and in order");
        check(of("tool_result").len() == waiting.len(), "each call has one answer");
        for text in of("text") {
            check(!text["text"].as_str().unwrap_or_default().trim().is_empty(), "text is not blank");
        }
        for failed in of("tool_result").iter().filter(|block| block["is_error"] == true) {
            check(failed["content"] != "", "failures say something");
        }
        let calls = of("tool_use");
        for call in &calls {
            check(is_plain(&call["id"], 64) && is_plain(&call["name"], 128), "plain ids and names");
            check(seen.insert(call["id"].to_string()), "ids are unique");
            check(call["input"].is_object(), "inputs are objects");
            check(call["name"].as_str().is_some_and(|name| tools.contains(name)), "tools are declared");
        }
        let last = blocks.last().map_or("", |block| block["type"].as_str().unwrap_or_default());
        check(!last.contains("thinking"), "something follows a thought");
        waiting = calls.into_iter().map(|call| &call["id"]).collect();
    }
    check(waiting.is_empty(), "no call is left open");
    faults
}

fn chat_faults(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    let mut waiting: Vec<&Value> = Vec::new();
    let mut seen = HashSet::new();
    let mut spoken = list(body, "messages").iter().filter(|message| message["role"] != "system");
    check(spoken.next().is_some_and(|first| first["role"] == "user"), "begins with the user");
    for message in list(body, "messages") {
        if message["role"] == "tool" {
            let id = if waiting.is_empty() { &Value::Null } else { waiting.remove(0) };
            check(&message["tool_call_id"] == id, "answers come next and in order");
            check(message["content"].is_string(), "answers are text");
            continue;
        }
        check(waiting.is_empty(), "each call has one answer");
        let calls = list(message, "tool_calls");
        let is_silent =
            message["content"].is_null() || message["content"] == "" || message["content"] == json!([]);
        check(!is_silent || !calls.is_empty(), "content is not empty");
        for call in calls {
            check(
                is_plain(&call["id"], 40) && is_plain(&call["function"]["name"], 64),
                "plain ids and names",
            );
            check(seen.insert(call["id"].to_string()), "ids are unique");
            let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
            let arguments: Option<Value> = serde_json::from_str(arguments).ok();
            check(arguments.is_some_and(|arguments| arguments.is_object()), "arguments are objects");
        }
        waiting = calls.iter().map(|call| &call["id"]).collect();
    }
    check(waiting.is_empty(), "no call is left open");
    faults
}

fn responses_faults(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    let items = list(body, "input");
    check(items.first().is_some_and(|first| first["role"] == "user"), "begins with the user");
    let mut waiting: Vec<(String, &Value)> = Vec::new();
    let mut seen = HashSet::new();
    let mut before = "";
    for item in items {
        let kind = item["type"].as_str().unwrap_or_default();
        if kind.ends_with("_output") {
            let call = if waiting.is_empty() { Default::default() } else { Some(waiting.remove(0)) };
            check(call == Some((kind.to_owned(), &item["call_id"])), "answers come in order");
        } else if kind.ends_with("_call") {
            check(is_plain(&item["call_id"], 64) && is_plain(&item["name"], 64), "plain ids and names");
            check(seen.insert(item["call_id"].to_string()), "ids are unique");
            check(!before.ends_with("_output") || waiting.is_empty(), "a batch is answered as a whole");
            waiting.push((format!("{kind}_output"), &item["call_id"]));
        } else if kind == "message" && item["role"] != "assistant" {
            check(waiting.is_empty(), "each call has one answer");
            check(before != "reasoning", "something follows a thought");
        }
        before = kind;
    }
    check(waiting.is_empty() && before != "reasoning", "nothing is left open");
    faults
}

fn gemini_faults(body: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |holds: bool, what: &str| {
        if !holds {
            faults.push(what.to_owned());
        }
    };
    let mut waiting: Vec<&Value> = Vec::new();
    let contents = list(body, "contents");
    check(contents.last().is_some_and(|last| last["role"] == "user"), "ends with the user");
    for (index, content) in contents.iter().enumerate() {
        check(content["role"] == if index % 2 == 0 { "user" } else { "model" }, "sides alternate");
        let parts = list(content, "parts");
        check(!parts.is_empty(), "content is not empty");
        let names = |member: &str| -> Vec<&Value> {
            parts.iter().filter_map(|part| part.get(member)).map(|inner| &inner["name"]).collect()
        };
        check(names("functionResponse") == waiting, "as many answers as calls, in order");
        for response in parts.iter().filter_map(|part| part.get("functionResponse")) {
            check(response["response"].is_object(), "answers are objects");
        }
        for call in parts.iter().filter_map(|part| part.get("functionCall")) {
            check(call["args"].is_object(), "arguments are objects");
            check(
                !call["name"].as_str().unwrap_or("0").starts_with(|first: char| first.is_ascii_digit()),
                "names",
            );
        }
        waiting = names("functionCall");
    }
    check(waiting.is_empty(), "no call is left open");
    faults
}

/// What an event says, if it says anything.
fn said(event: &Event) -> Option<&str> {
    let (Event::System(text)
    | Event::User(text)
    | Event::Model { text, thought: false, .. }
    | Event::Result { text, .. }) = event
    else {
        return None;
    };
    Some(&**text).filter(|text| !text.trim().is_empty())
}

/// A rendered body, read and rendered again.
fn again(wire: Wire, body: &str) -> String {
    let transcript = read_as(body.as_bytes(), Format::Request(wire), &Measures::default()).unwrap();
    assert_eq!(transcript.warnings, []);
    let Rendered { body, losses, .. } = render(&transcript, wire, &RenderOptions::new("m"), &[]);
    assert_eq!(losses, [], "what was rendered for a wire holds nothing that it cannot take");
    body
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_session_becomes_a_request(events in prop::collection::vec(event(), 0..12)) {
        for from in Wire::ALL {
            let source = source(from, &events);
            let format = Format::Request(from);
            let transcript = read_as(source.as_bytes(), format, &Measures::default()).unwrap();
            for to in Wire::ALL {
                let options = RenderOptions::new("m");
                let body = render(&transcript, to, &options, &[]).body;
                prop_assert_eq!(faults(to, &body), Vec::<String>::new(), "{} to {}: {}", from, to, body);
                for text in events.iter().filter_map(said) {
                    let literal = encode(text);
                    let inner = &literal[1..literal.len() - 1];
                    prop_assert!(body.contains(inner), "{} to {}: {} in {}", from, to, inner, body);
                }
                // What was rendered is a session like any other. Messages that follow each other may become one
                // when it is read, but then it stays as it is.
                let second = again(to, &body);
                prop_assert_eq!(faults(to, &second), Vec::<String>::new(), "{} again: {}", to, second);
                prop_assert_eq!(again(to, &second), second);
            }
        }
    }
}
