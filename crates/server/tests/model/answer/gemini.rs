//! Gemini.

use serde_json::{Value, json};

use super::{Answer, Event, SIGNATURE};

pub(super) fn whole(answer: &Answer<'_>) -> Value {
    chunk(answer, &parts(answer), Some("STOP"))
}

/// Parts are streamed whole; only the last chunk tells how the answer ended.
pub(super) fn events(answer: &Answer<'_>) -> Vec<Event> {
    let mut parts = parts(answer);
    let last = parts.pop();
    let chunks = parts.into_iter().map(|part| chunk(answer, &[part], None));
    let end = chunk(answer, last.as_slice(), Some("STOP"));
    chunks.chain([end]).map(|chunk| Event::new(&chunk)).collect()
}

fn parts(answer: &Answer<'_>) -> Vec<Value> {
    let thought = answer.thought().map(|thought| json!({ "text": thought, "thought": true }));
    let text = answer.text().map(|text| json!({ "text": text }));
    let calls = answer.turn.calls.iter().enumerate().map(|(at, call)| {
        let id = format!("call_{}", call.id);
        let mut part = json!({ "functionCall": { "id": id, "name": call.name, "args": call.input } });
        if at == 0 {
            part["thoughtSignature"] = SIGNATURE.into();
        }
        part
    });
    thought.into_iter().chain(text).chain(calls).collect()
}

fn chunk(answer: &Answer<'_>, parts: &[Value], finish: Option<&str>) -> Value {
    let usage = answer.usage;
    let mut candidate = json!({ "content": { "role": "model", "parts": parts }, "index": 0 });
    if let Some(finish) = finish {
        candidate["finishReason"] = finish.into();
    }
    json!({
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input, "cachedContentTokenCount": usage.cached,
            "candidatesTokenCount": usage.output, "totalTokenCount": usage.input + usage.output,
        },
        "modelVersion": answer.talk.model, "responseId": answer.id("r"),
    })
}
