//! A conversation as a request to OpenAI's Chat Completions.

use serde_json::{Value, json};

use crate::scene::{Call, Found, PIXEL, Said, Scene, Shown, Step, Thought};

pub(crate) fn request(scene: &Scene) -> Value {
    let mut messages = vec![json!({"role": "system", "content": "Be brief."})];
    for (number, turn) in scene.turns.iter().enumerate() {
        if let Some(reported) = &turn.reported {
            messages.push(json!({"role": "developer", "content": [{"type": "text", "text": reported}]}));
        }
        messages.push(json!({"role": "user", "content": content(&turn.asked)}));
        for (at, step) in turn.steps.iter().enumerate() {
            take_step(&mut messages, step, &format!("call_{number}_{at}"));
        }
        if let Some(closing) = &turn.closing {
            messages.push(json!({"role": "assistant", "content": closing, "refusal": null}));
        }
    }
    json!({"model": "m", "stream": true, "messages": messages, "unknown": {"kept": 1.0}})
}

fn take_step(messages: &mut Vec<Value>, step: &Step, prefix: &str) {
    let id = |number: usize| format!("{prefix}_{number}");
    let spell = |(number, call): (usize, &Call)| {
        let id = id(number);
        if call.custom {
            return json!({"id": id, "type": "custom", "custom": {"name": call.tool, "input": "*** free \"text\""}});
        }
        let function = json!({"name": call.tool, "arguments": call.input.to_string()});
        json!({"id": id, "type": "function", "function": function})
    };
    let calls: Vec<Value> = step.calls.iter().enumerate().map(spell).collect();
    let said = step.said.as_ref().map_or(Value::Null, content);
    let mut message = json!({"role": "assistant", "content": said, "tool_calls": calls});
    if let Some(Thought::Open(text)) = &step.thought {
        message["reasoning_content"] = json!(text);
    }
    messages.push(message);
    for (number, call) in step.calls.iter().enumerate() {
        messages.push(json!({"role": "tool", "tool_call_id": id(number), "content": found(&call.found)}));
    }
    if let Some(text) = &step.beside {
        messages.push(json!({"role": "user", "content": text}));
    }
}

/// Content is not optional here, and not empty if it is a list.
fn found(found: &Found) -> Value {
    match found {
        Found::Nothing => json!(""),
        Found::Data(value) => json!(value.to_string()),
        Found::Said(Said::Blocks(blocks)) if blocks.is_empty() => json!(""),
        Found::Said(said) => content(said),
    }
}

fn content(said: &Said) -> Value {
    let Said::Blocks(blocks) = said else { return json!(said.texts().concat()) };
    let spell = |shows: &Shown| match shows {
        Shown::Text(text) => json!({"type": "text", "text": text}),
        Shown::Image => {
            json!({"type": "image_url", "image_url": {"url": format!("data:image/png;base64,{PIXEL}")}})
        }
        Shown::File => json!({"type": "file", "file": {"file_id": "file_1"}}),
    };
    blocks.iter().map(|block| spell(&block.shows)).collect()
}
