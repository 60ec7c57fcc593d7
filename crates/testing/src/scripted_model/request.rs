//! A request, as far as the script needs to know it.

use serde_json::Value;

use super::response::SIGNATURE;
use super::tool::Tool;
use super::wire;
use crate::thinking_binding::{Judgement, ThinkingBinding, judge, sign};
use secateur_formats::Wire;

/// What a client said.
#[derive(Debug)]
pub(super) struct ClientRequest {
    pub wire: Wire,
    pub model: String,
    /// Whether the answer is to come in pieces.
    pub streams: bool,
    /// Whether the answer may hold thoughts.
    pub thinks: bool,
    /// Instructions.
    pub system: String,
    /// The user's texts, oldest first.
    pub said: Vec<String>,
    pub tools: Vec<Tool>,
    /// All of it, as it came.
    pub text: String,
    /// The same, read.
    pub body: Value,
    /// The model binds its thinking, and did this to the request; none if it does not bind it.
    pub judgement: Option<Judgement>,
}

/// The result of a call.
#[derive(Debug)]
pub(super) struct ToolResult {
    /// The id of the call.
    pub call: String,
    /// What came of it, as JSON if it is more than a text.
    pub text: String,
}

impl ClientRequest {
    /// Reads a request; none if it is not JSON.
    pub(super) fn read(wire: Wire, path: &str, body: &[u8]) -> Option<Self> {
        let text = String::from_utf8(body.to_vec()).ok()?;
        let body: Value = serde_json::from_str(&text).ok()?;
        let in_path = || Some(path.rsplit('/').next()?.split_once(':')?.0);
        let model = body.get("model").and_then(Value::as_str).or_else(in_path).unwrap_or_default().to_owned();
        let streams =
            path.ends_with(":streamGenerateContent") || body.get("stream") == Some(&Value::Bool(true));
        let (mut system, mut said) = (texts(body.get(wire::system_field(wire))), Vec::new());
        match body.get(wire::messages_field(wire)) {
            Some(Value::String(text)) => said.push(text.clone()),
            Some(Value::Array(messages)) => {
                for message in messages {
                    let content = message.get("content").or_else(|| message.get("parts"));
                    match message.get("role").and_then(Value::as_str) {
                        Some("user") => said.push(texts(content)),
                        Some("system" | "developer") => system += &texts(content),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        said.retain(|text| !text.is_empty());
        let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
        let tools = tools.flat_map(tools_in).collect();
        Some(Self {
            wire,
            model,
            streams,
            thinks: thinks(wire, &body),
            system,
            said,
            tools,
            text,
            body,
            judgement: None,
        })
    }

    /// The request at a provider that binds thinking, with the value of its beta header; or the refusal.
    pub(super) fn judged(self, betas: &str, binding: Option<ThinkingBinding>) -> (Self, Result<(), String>) {
        let Some(binding) = binding.filter(|_| self.wire == Wire::Anthropic) else { return (self, Ok(())) };
        match judge(&self.body, betas, binding) {
            Ok(judgement) => (Self { judgement: Some(judgement), ..self }, Ok(())),
            Err(refusal) => (self, Err(refusal)),
        }
    }

    /// The length of the request in tokens, without what the provider cleared.
    pub(super) fn tokens(&self) -> u64 {
        let cleared = self.judgement.as_ref().map_or(0, |judgement| judgement.cleared_bytes);
        (self.text.len() as u64 - cleared).div_ceil(4)
    }

    /// The signature of thinking that answers it.
    pub(super) fn signature(&self) -> String {
        self.judgement.as_ref().map_or_else(|| SIGNATURE.to_owned(), |_| sign(&self.body))
    }

    /// What the calls of tools gave, oldest first, where the wire says of which call a result is.
    pub(super) fn results(&self) -> Vec<ToolResult> {
        let messages =
            self.body.get(wire::messages_field(self.wire)).and_then(Value::as_array).into_iter().flatten();
        let entries = messages.flat_map(|message| match self.wire {
            Wire::Anthropic => message["content"].as_array().map_or(&[][..], Vec::as_slice),
            _ => std::slice::from_ref(message),
        });
        let (call, text) = match self.wire {
            Wire::Anthropic => ("tool_use_id", "content"),
            Wire::OpenAiChat => ("tool_call_id", "content"),
            Wire::OpenAiResponses => ("call_id", "output"),
            Wire::Gemini => return Vec::new(),
        };
        let outcomes = entries.filter_map(|entry| {
            let (call, text) = (entry.get(call)?.as_str()?.to_owned(), entry.get(text)?);
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            Some(ToolResult { call, text })
        });
        outcomes.collect()
    }

    /// A text in the body, by its place.
    pub(super) fn flag(&self, place: &str) -> bool {
        self.body.pointer(place) == Some(&Value::Bool(true))
    }
}

fn thinks(wire: Wire, body: &Value) -> bool {
    let text = |place: &str| body.pointer(place).and_then(Value::as_str);
    match wire {
        Wire::Anthropic => matches!(text("/thinking/type"), Some("enabled" | "adaptive")),
        Wire::OpenAiResponses => body.get("reasoning").is_some_and(Value::is_object),
        Wire::Gemini => body.pointer("/generationConfig/thinkingConfig").is_some(),
        Wire::OpenAiChat => false,
    }
}

/// The text of a message's content, without results of tools.
fn texts(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.collect::<Vec<_>>().join("\n")
        }
        Some(Value::Object(one)) => texts(one.get("parts")),
        _ => String::new(),
    }
}

/// The tools in one entry of a list: some entries hold many, or one a level deeper.
fn tools_in(entry: &Value) -> Vec<Tool> {
    let name = |entry: &Value| entry.get("name").and_then(Value::as_str).map(str::to_owned);
    for group in ["tools", "functionDeclarations", "function_declarations"] {
        if let Some(inner) = entry.get(group).and_then(Value::as_array) {
            let tools = inner.iter().flat_map(tools_in);
            return tools.map(|tool| Tool { group: name(entry), ..tool }).collect();
        }
    }
    let entry = entry.get("function").unwrap_or(entry);
    let schema = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"]
        .iter()
        .find_map(|key| entry.get(key));
    match (name(entry), schema) {
        (Some(name), Some(schema)) => vec![Tool { group: None, name, schema: schema.clone() }],
        _ => Vec::new(),
    }
}
