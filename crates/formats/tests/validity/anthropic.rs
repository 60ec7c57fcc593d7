//! A conversation as a request to Anthropic.

use serde_json::{Value, json};

use crate::scene::{Block, Call, Found, PIXEL, Said, Scene, Shown, Step, Thought};

/// At most four blocks carry a cache mark.
struct Marks(usize);

impl Marks {
    fn put(&mut self, wanted: bool, block: &mut Value) {
        if wanted && self.0 > 0 {
            self.0 -= 1;
            block["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
        }
    }
}

pub(crate) fn request(scene: &Scene) -> Value {
    let mut marks = Marks(3);
    let mut messages = Vec::new();
    for (number, turn) in scene.turns.iter().enumerate() {
        messages.push(json!({"role": "user", "content": content(&turn.asked, &mut marks)}));
        for (at, step) in turn.steps.iter().enumerate() {
            let prefix = format!("toolu_{number}_{at}");
            let (answer, results) = exchange(step, &prefix, &mut marks);
            messages.push(json!({"role": "assistant", "content": answer}));
            messages.push(json!({"role": "user", "content": results}));
        }
        if let Some(closing) = &turn.closing {
            messages.push(json!({"role": "assistant", "content": closing}));
        }
    }
    json!({
        "model": "m", "max_tokens": 1_024, "stream": true,
        "system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}],
        "tools": [{"name": "read", "input_schema": {"type": "object"}}],
        "messages": messages,
        "unknown": {"kept": [1.0, -0.0, 1e2]},
    })
}

/// The blocks of a response, and those of its tool results.
fn exchange(step: &Step, prefix: &str, marks: &mut Marks) -> (Vec<Value>, Vec<Value>) {
    let mut answer = Vec::new();
    match &step.thought {
        Some(Thought::Open(text)) => {
            answer.push(json!({"type": "thinking", "thinking": text, "signature": "c2ln"}));
        }
        Some(Thought::Sealed) => answer.push(json!({"type": "redacted_thinking", "data": "c2VhbGVk"})),
        None => {}
    }
    answer.extend(step.said.iter().flat_map(|said| blocks(&said.blocks(), marks)));
    let mut results = Vec::new();
    for (number, call) in step.calls.iter().enumerate() {
        let id = format!("{prefix}_{number}");
        answer.push(json!({"type": "tool_use", "id": id, "name": call.tool, "input": call.input}));
        results.push(result(call, &id, marks));
    }
    if let Some(text) = &step.beside {
        results.push(json!({"type": "text", "text": text}));
    }
    (answer, results)
}

fn result(call: &Call, id: &str, marks: &mut Marks) -> Value {
    let mut block = json!({"type": "tool_result", "tool_use_id": id});
    let content = match &call.found {
        Found::Nothing => None,
        Found::Data(value) => Some(json!(value.to_string())),
        Found::Said(said) => Some(content(said, marks)),
    };
    let is_empty = content.as_ref().is_none_or(|content| *content == json!("") || *content == json!([]));
    if let Some(content) = content {
        block["content"] = content;
    }
    if call.failed && !is_empty {
        block["is_error"] = json!(true);
    }
    marks.put(call.marked, &mut block);
    block
}

fn content(said: &Said, marks: &mut Marks) -> Value {
    match said {
        Said::Plain(text) => json!(text),
        Said::Blocks(list) => json!(blocks(list, marks)),
    }
}

fn blocks(list: &[Block], marks: &mut Marks) -> Vec<Value> {
    let spell = |block: &Block| {
        let mut value = match &block.shows {
            Shown::Text(text) => json!({"type": "text", "text": text}),
            Shown::Image => {
                json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}})
            }
            Shown::File => {
                json!({"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}})
            }
        };
        marks.put(block.marked, &mut value);
        value
    };
    list.iter().map(spell).collect()
}
