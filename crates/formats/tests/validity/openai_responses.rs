//! A conversation as a request to OpenAI's Responses.

use serde_json::{Value, json};

use crate::scene::{Block, Call, Found, PIXEL, Said, Scene, Shown, Step, Thought};

pub(crate) fn request(scene: &Scene) -> Value {
    let mut items = Vec::new();
    for (number, turn) in scene.turns.iter().enumerate() {
        if let Some(reported) = &turn.reported {
            let content = json!([{"type": "input_text", "text": reported}]);
            items.push(json!({"type": "message", "role": "developer", "content": content}));
        }
        items.push(json!({"role": "user", "content": input(&turn.asked)}));
        for (at, step) in turn.steps.iter().enumerate() {
            take_step(&mut items, step, &format!("{number}_{at}"));
        }
        if scene.reference {
            items.push(json!({"type": "item_reference", "id": format!("msg_ref_{number}")}));
        }
        if let Some(closing) = &turn.closing {
            items.push(json!({"role": "assistant", "content": closing}));
        }
    }
    json!({"model": "m", "store": scene.stored, "instructions": "Be brief.", "input": items, "unknown": [1.0]})
}

fn take_step(items: &mut Vec<Value>, step: &Step, prefix: &str) {
    let id = format!("rs_{prefix}");
    match &step.thought {
        Some(Thought::Open(text)) => {
            let summary = json!([{"type": "summary_text", "text": text}]);
            items.push(json!({"type": "reasoning", "id": id, "summary": summary}));
        }
        Some(Thought::Sealed) => {
            let sealed = "c2VhbGVk";
            items.push(json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": sealed}));
        }
        None => {}
    }
    if let Some(said) = &step.said {
        let spell = |text| json!({"type": "output_text", "text": text, "annotations": []});
        let content: Vec<Value> = said.texts().into_iter().map(spell).collect();
        let id = format!("msg_{prefix}");
        items.push(json!({"type": "message", "id": id, "role": "assistant", "content": content}));
    }
    let id = |number: usize| format!("call_{prefix}_{number}");
    for (number, call) in step.calls.iter().enumerate() {
        items.push(made(call, &id(number), &format!("fc_{prefix}_{number}")));
    }
    for (number, call) in step.calls.iter().enumerate() {
        let kind = if call.custom { "custom_tool_call_output" } else { "function_call_output" };
        items.push(json!({"type": kind, "call_id": id(number), "output": output(&call.found)}));
    }
    if let Some(text) = &step.beside {
        items.push(json!({"role": "user", "content": text}));
    }
}

fn made(call: &Call, id: &str, item: &str) -> Value {
    if call.custom {
        return json!({"type": "custom_tool_call", "call_id": id, "name": call.tool, "input": "*** free"});
    }
    let arguments = call.input.to_string();
    json!({"type": "function_call", "id": item, "call_id": id, "name": call.tool, "arguments": arguments})
}

fn output(found: &Found) -> Value {
    match found {
        Found::Nothing => json!(""),
        Found::Data(value) => json!(value.to_string()),
        Found::Said(said) => input(said),
    }
}

fn input(said: &Said) -> Value {
    let Said::Blocks(blocks) = said else { return json!(said.texts().concat()) };
    let spell = |block: &Block| match &block.shows {
        Shown::Text(text) => json!({"type": "input_text", "text": text}),
        Shown::Image => json!({"type": "input_image", "image_url": format!("data:image/png;base64,{PIXEL}")}),
        Shown::File => json!({"type": "input_file", "file_id": "file_1"}),
    };
    blocks.iter().map(spell).collect()
}
