//! Gemini.

use serde_json::{Value, json};

use super::{Event, ModelResponse, SIGNATURE};

pub(super) fn whole(response: &ModelResponse<'_>) -> Value {
    chunk(response, &parts(response), Some("STOP"))
}

/// Parts are streamed whole; only the last chunk tells how the response ended.
pub(super) fn events(response: &ModelResponse<'_>) -> Vec<Event> {
    let mut parts = parts(response);
    let last = parts.pop();
    let chunks = parts.into_iter().map(|part| chunk(response, &[part], None));
    let end = chunk(response, last.as_slice(), Some("STOP"));
    chunks.chain([end]).map(|chunk| Event::new(&chunk)).collect()
}

fn parts(response: &ModelResponse<'_>) -> Vec<Value> {
    let thought = response.thought().map(|thought| json!({ "text": thought, "thought": true }));
    let text = response.text().map(|text| json!({ "text": text }));
    let calls = response.reply.calls.iter().enumerate().map(|(at, call)| {
        let id = format!("call_{}", call.id);
        let mut part = json!({ "functionCall": { "id": id, "name": call.name, "args": call.input } });
        if at == 0 {
            part["thoughtSignature"] = SIGNATURE.into();
        }
        part
    });
    thought.into_iter().chain(text).chain(calls).collect()
}

fn chunk(response: &ModelResponse<'_>, parts: &[Value], finish: Option<&str>) -> Value {
    let usage = response.usage;
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
        "modelVersion": response.request.model, "responseId": response.id("r"),
    })
}
