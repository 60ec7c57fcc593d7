//! A conversation as a request to Google's Gemini.

use serde_json::{Value, json};

use crate::scene::{Block, Call, Found, PIXEL, Said, Scene, Shown, Step, Thought};

pub(crate) fn request(scene: &Scene) -> Value {
    let mut contents = Vec::new();
    for (number, turn) in scene.turns.iter().enumerate() {
        contents.push(json!({"role": "user", "parts": parts(&turn.asked.blocks())}));
        for (at, step) in turn.steps.iter().enumerate() {
            let prefix = scene.ids.then(|| format!("{number}-{at}"));
            let (answer, results) = exchange(step, prefix.as_deref());
            contents.push(json!({"role": "model", "parts": answer}));
            contents.push(json!({"role": "user", "parts": results}));
        }
        if let Some(closing) = &turn.closing {
            contents.push(json!({"role": "model", "parts": [{"text": closing}]}));
        }
    }
    json!({
        "systemInstruction": {"parts": [{"text": "Be brief."}]},
        "contents": contents,
        "generationConfig": {"temperature": 1.0},
    })
}

/// The parts of a response, and those of its tool results.
fn exchange(step: &Step, prefix: Option<&str>) -> (Vec<Value>, Vec<Value>) {
    let mut answer = Vec::new();
    if let Some(Thought::Open(text)) = &step.thought {
        answer.push(json!({"text": text, "thought": true}));
    }
    answer.extend(step.said.iter().flat_map(|said| parts(&said.blocks())));
    let mut results = Vec::new();
    for (number, call) in step.calls.iter().enumerate() {
        let id = prefix.map(|prefix| format!("{prefix}-{number}"));
        let mut made = json!({"functionCall": {"name": call.tool, "args": call.input}});
        let mut found = json!({"functionResponse": response(call)});
        if let Some(id) = id {
            made["functionCall"]["id"] = json!(id);
            found["functionResponse"]["id"] = json!(id);
        }
        if number == 0 && step.thought.is_some() {
            made["thoughtSignature"] = json!("c2ln");
        }
        answer.push(made);
        results.push(found);
    }
    if let Some(text) = &step.beside {
        results.push(json!({"text": text}));
    }
    (answer, results)
}

/// Text is in the response, media beside it.
fn response(call: &Call) -> Value {
    let response = match &call.found {
        Found::Nothing => json!({}),
        Found::Data(value) => value.clone(),
        Found::Said(said) if call.failed => json!({"error": said.texts().concat()}),
        Found::Said(said) => json!({"output": said.texts().concat()}),
    };
    let mut answer = json!({"name": call.tool, "response": response});
    if let Found::Said(said @ Said::Blocks(_)) = &call.found {
        let blocks = said.blocks().into_iter();
        let media: Vec<Block> = blocks.filter(|block| !matches!(block.shows, Shown::Text(_))).collect();
        if !media.is_empty() {
            answer["parts"] = json!(parts(&media));
        }
    }
    answer
}

fn parts(blocks: &[Block]) -> Vec<Value> {
    let spell = |block: &Block| match &block.shows {
        Shown::Text(text) => json!({"text": text}),
        Shown::Image => json!({"inlineData": {"mimeType": "image/png", "data": PIXEL}}),
        Shown::File => json!({"fileData": {"fileUri": "https://example.org/a.pdf"}}),
    };
    blocks.iter().map(spell).collect()
}
