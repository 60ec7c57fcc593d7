//! The story as a request of each wire. Spaces and numbers are spelled oddly on purpose: they have to stay.

use serde_json::{Value, json};

use super::{Body, Sample};

const ANTHROPIC: &str = r#"{"model": "claude-sonnet-4-5", "max_tokens": 1e3, "system": [{"type":"text","text":"Be kind."}],
 "tools": [{"name":"read","input_schema":{"type":"object"}}, {"name":"list","input_schema":{"type":"object"}}], "messages": [
  {"role":"user","content":"Water\u0020the ferns."},
  {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"c2ln"}, {"type":"text","text":"I look."},
    {"type":"tool_use","id":"t1","name":"read","input":{"path": "fern.txt", "n": 1.50}},
    {"type":"tool_use","id":"t2","name":"list","input":{"path":"pots"}}]},
  {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"dry soil"},
      {"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]},
    {"type":"tool_result","tool_use_id":"t2","is_error":true,"content":"no such pot"}]},
  {"role":"assistant","content":"Done."}, {"role":"user","content":"And now?"}]}"#;

const CHAT: &str = r#"{"model":"gpt-5", "messages":[ {"role":"system","content":"Be kind."},
  {"role":"user","content":[{"type":"text","text":"Water the ferns."},{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]},
  {"role":"assistant","content":"I look.","tool_calls":[
    {"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"fern.txt\"}"}},
    {"id":"t2","type":"function","function":{"name":"list","arguments":"{\"path\":\"pots\"}"}}]},
  {"role":"tool","tool_call_id":"t1","content":"dry soil"},
  {"role":"tool","tool_call_id":"t2","content":[{"type":"text","text":"no such pot"}]},
  {"role":"assistant","content":"Done."}, {"role":"user","content":"And now?"}], "temperature": 0.70}"#;

const RESPONSES: &str = r#"{"model":"gpt-5", "instructions":"Be kind.", "input":[
  {"role":"user","content":"Water the ferns."},
  {"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":"ZW5j"},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]},
  {"type":"function_call","call_id":"t1","name":"read","arguments":"{\"path\":\"fern.txt\"}"},
  {"type":"function_call","call_id":"t2","name":"list","arguments":"{\"path\":\"pots\"}"},
  {"type":"function_call_output","call_id":"t1","output":"dry soil"},
  {"type":"function_call_output","call_id":"t2","output":[{"type":"input_text","text":"no such pot"}]},
  {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]},
  {"type":"message","role":"user","content":[{"type":"input_text","text":"And now?"}]}], "store": false}"#;

const GEMINI: &str = r#"{"systemInstruction":{"parts":[{"text":"Be kind."}]}, "contents":[
  {"role":"user","parts":[{"text":"Water the ferns."},{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}]},
  {"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"read","args":{"path":"fern.txt"}},"thoughtSignature":"c2ln"},
    {"functionCall":{"name":"list","args":{"path":"pots"}}}]},
  {"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"dry soil"}}},
    {"functionResponse":{"name":"list","response":{"error":"no such pot"}}}]},
  {"role":"model","parts":[{"text":"Done."}]}, {"role":"user","parts":[{"text":"And now?"}]}],
 "generationConfig":{"temperature":0.70}}"#;

pub(crate) fn all() -> Vec<Sample> {
    let request = |name, format, body: &str, errors: u64, images: u64, chars: Value| Sample {
        name,
        format,
        body: Body::Text(body.to_owned()),
        // Two questions, two answers and two results. Only two wires have a mark for a result that is an error.
        counts: json!({ "messages": 6, "tool_calls": 2, "tool_results": 2, "errors": errors, "images": images,
                        "chars": chars }),
    };
    let chars = |calls: u64, own: Value| {
        let mut chars = json!({ "system": 8, "user": 16 + 8, "assistant": 7 + 5, "tool_call": calls,
                                "tool_result": 8 + 11 });
        let (Value::Object(all), Value::Object(own)) = (&mut chars, own) else {
            panic!("counts are objects")
        };
        all.extend(own);
        chars
    };
    let thought = json!({ "reasoning": 3 });
    let wrapped = json!({ "tool_result": 8 + 11 });
    vec![
        request("anthropic.json", "anthropic-request", ANTHROPIC, 1, 1, chars(28 + 15, thought.clone())),
        request("openai-chat.json", "openai-chat-request", CHAT, 0, 1, chars(19 + 15, json!({}))),
        request(
            "openai-responses.json",
            "openai-responses-request",
            RESPONSES,
            0,
            0,
            chars(19 + 15, thought),
        ),
        request("gemini.json", "gemini-request", GEMINI, 1, 1, chars(19 + 15, wrapped)),
    ]
}
