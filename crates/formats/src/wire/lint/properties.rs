//! Whole conversations, broken at random and repaired.

use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use super::*;

/// One step of a conversation: how many parallel calls, with a text or not, with thinking or not.
type Step = (u8, bool, bool);

/// What the tool said in answer to one call.
fn finding(step: usize, call: u8) -> String {
    format!("found <{step}.{call}>")
}

/// A valid request.
fn request(wire: Wire, steps: &[Step]) -> Value {
    match wire {
        Wire::Anthropic => anthropic_request(steps),
        Wire::OpenAiChat => chat_request(steps),
        Wire::OpenAiResponses => responses_request(steps),
        Wire::Gemini => gemini_request(steps),
    }
}

fn anthropic_request(steps: &[Step]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "go on"})];
    for (step, &(calls, text, thinking)) in steps.iter().enumerate() {
        let mut said = Vec::new();
        if thinking {
            said.push(json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"}));
        }
        if text || calls == 0 {
            said.push(json!({"type": "text", "text": "I look.", "cache_control": {"type": "ephemeral"}}));
        }
        let mut results = Vec::new();
        for call in 0..calls {
            let id = format!("t{step}-{call}");
            said.push(json!({"type": "tool_use", "id": id, "name": "read", "input": {"n": call}}));
            results.push(json!({"type": "tool_result", "tool_use_id": id, "content": finding(step, call)}));
        }
        if text || calls == 0 {
            results.push(json!({"type": "text", "text": "and then?"}));
        }
        messages.push(json!({"role": "assistant", "content": said}));
        messages.push(json!({"role": "user", "content": results}));
    }
    // Four marks are allowed; the rest of them would be a fault.
    let marked = messages.iter_mut().skip(1).step_by(2);
    for message in marked.skip(4) {
        for block in message["content"].as_array_mut().unwrap() {
            block.as_object_mut().unwrap().remove("cache_control");
        }
    }
    json!({"model": "m", "max_tokens": 9, "messages": messages})
}

fn chat_request(steps: &[Step]) -> Value {
    let mut messages =
        vec![json!({"role": "system", "content": "s"}), json!({"role": "user", "content": "go"})];
    for (step, &(calls, text, _)) in steps.iter().enumerate() {
        let ids: Vec<String> = (0..calls).map(|call| format!("c{step}-{call}")).collect();
        if ids.is_empty() {
            messages.push(json!({"role": "assistant", "content": "done"}));
        } else {
            let function = json!({"name": "read", "arguments": "{}"});
            let called = ids.iter().map(|id| json!({"id": id, "type": "function", "function": function}));
            messages.push(
                json!({"role": "assistant", "content": null, "tool_calls": called.collect::<Vec<_>>()}),
            );
        }
        for (call, id) in (0..).zip(&ids) {
            messages.push(json!({"role": "tool", "tool_call_id": id, "content": finding(step, call)}));
        }
        if text {
            messages.push(json!({"role": "user", "content": [{"type": "text", "text": "and then?"}]}));
        }
    }
    if messages.last().is_some_and(|last| last["role"] == "assistant") {
        messages.push(json!({"role": "user", "content": "and then?"}));
    }
    json!({"model": "m", "messages": messages})
}

fn responses_request(steps: &[Step]) -> Value {
    let mut items = vec![json!({"role": "user", "content": [{"type": "input_text", "text": "go"}]})];
    for (step, &(calls, text, reasoning)) in steps.iter().enumerate() {
        if reasoning {
            items.push(json!({"type": "reasoning", "id": format!("rs_{step}"), "summary": []}));
        }
        if text || calls == 0 {
            let content = json!([{"type": "output_text", "text": "I look.", "annotations": []}]);
            let id = format!("msg_{step}");
            items.push(json!({"type": "message", "id": id, "role": "assistant", "content": content}));
        }
        for call in 0..calls {
            let (id, call_id) = (format!("fc_{step}_{call}"), format!("c{step}-{call}"));
            items.push(
                json!({"type": "function_call", "id": id, "call_id": call_id, "name": "f", "arguments": "{}"}),
            );
        }
        for call in 0..calls {
            let call_id = format!("c{step}-{call}");
            items.push(
                json!({"type": "function_call_output", "call_id": call_id, "output": finding(step, call)}),
            );
        }
    }
    json!({"model": "m", "input": items})
}

fn gemini_request(steps: &[Step]) -> Value {
    let mut contents = vec![json!({"role": "user", "parts": [{"text": "go"}]})];
    for (step, &(calls, text, with_id)) in steps.iter().enumerate() {
        let mut said = Vec::new();
        let mut results = Vec::new();
        if text || calls == 0 {
            said.push(json!({"text": "I look."}));
            results.push(json!({"text": "and then?"}));
        }
        for call in 0..calls {
            let name = format!("f{call}");
            let mut made = json!({"name": name, "args": {}});
            let mut found = json!({"name": name, "response": {"output": finding(step, call)}});
            if with_id {
                made["id"] = json!(format!("{step}-{call}"));
                found["id"] = made["id"].clone();
            }
            said.push(json!({"functionCall": made}));
            results.push(json!({"functionResponse": found}));
        }
        contents.push(json!({"role": "model", "parts": said}));
        contents.push(json!({"role": "user", "parts": results}));
    }
    json!({"contents": contents})
}

/// A change to the list of messages, or to the list of blocks in one of them.
#[derive(Clone, Debug)]
struct Break {
    kind: u8,
    inside: Option<Index>,
    from: Index,
    to: Index,
}

fn breaks() -> impl Strategy<Value = Vec<Break>> {
    let one = (0..8u8, any::<Option<Index>>(), any::<Index>(), any::<Index>())
        .prop_map(|(kind, inside, from, to)| Break { kind, inside, from, to });
    prop::collection::vec(one, 0..5)
}

fn break_request(request: &mut Value, change: &Break) {
    let name = ["messages", "input", "contents"].into_iter().find(|name| request.get(name).is_some());
    let mut list = &mut request[name.unwrap()];
    if let Some(inside) = &change.inside {
        let length = list.as_array().unwrap().len();
        if length == 0 {
            return;
        }
        let message = &mut list[inside.index(length)];
        let inner = ["tool_calls", "content", "parts"];
        let Some(inner) = inner.into_iter().find(|name| message[name].is_array()) else { return };
        list = &mut message[inner];
    }
    let items = list.as_array_mut().unwrap();
    if items.is_empty() {
        return;
    }
    let (from, to) = (change.from.index(items.len()), change.to.index(items.len()));
    match change.kind {
        0 | 1 => {
            items.remove(from);
        }
        2 | 3 => items.insert(to, items[from].clone()),
        4 => items.swap(from, to),
        5 => {
            let moved = items.remove(from);
            items.insert(to.min(items.len()), moved);
        }
        6 => {
            // A member less: a signature, an id, a text.
            if let Some(members) = items[from].as_object_mut()
                && let Some(name) = members.keys().nth(to % members.len().max(1)).cloned()
                && name != "role"
            {
                members.remove(&name);
            }
        }
        _ => {
            if let Some(text) = items[from].get_mut("text").or(None) {
                *text = json!("");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn valid_requests_are_clean_and_stay_as_they_are(
        steps in prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), 0..6),
    ) {
        for wire in Wire::ALL {
            let body = request(wire, &steps).to_string();
            prop_assert_eq!(lint(wire, &body), vec![], "{}", body);
            let fixed = fix(wire, &body);
            prop_assert!(matches!(fixed.body, Cow::Borrowed(same) if same == body));
        }
    }

    #[test]
    fn broken_requests_are_repaired(
        steps in prop::collection::vec((0..4u8, any::<bool>(), any::<bool>()), 0..6),
        breaks in breaks(),
    ) {
        for wire in Wire::ALL {
            let mut value = request(wire, &steps);
            for change in &breaks {
                break_request(&mut value, change);
            }
            let body = serde_json::to_string_pretty(&value).unwrap();
            let fixed = fix(wire, &body);
            prop_assert!(
                fixed.remaining.iter().all(|finding| !finding.fixable),
                "{wire}: {body}\nbecame\n{}\nwith {:#?}", fixed.body, fixed.remaining
            );
            for said in body.split("found <").skip(1).filter_map(|rest| rest.split_once('>')) {
                let said = format!("found <{}>", said.0);
                prop_assert!(fixed.body.contains(&said), "{wire}: {said} is lost\n{body}\nbecame\n{}", fixed.body);
            }
            let again = fix(wire, &fixed.body);
            prop_assert_eq!(&again.body, &fixed.body);
            prop_assert!(again.repaired.is_empty());
            let found = lint(wire, &body);
            prop_assert_eq!(found.iter().filter(|finding| finding.fixable).count(), fixed.repaired.len());
        }
    }

    #[test]
    fn any_text_is_survived(text in r#"[\[\]{}:," a-z\\]{0,64}"#) {
        for wire in Wire::ALL {
            let fixed = fix(wire, &text);
            prop_assert_eq!(fixed.body.is_empty(), text.is_empty());
        }
    }
}
