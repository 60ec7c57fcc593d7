//! A request, as far as the script needs to know it.

use serde_json::Value;

use super::tool::Tool;
use super::wire::Wire;

/// What a client said.
#[derive(Debug)]
pub(super) struct Talk {
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
}

impl Talk {
    /// Reads a request; none if it is not JSON.
    pub(super) fn read(wire: Wire, path: &str, body: &[u8]) -> Option<Self> {
        let text = String::from_utf8(body.to_vec()).ok()?;
        let body: Value = serde_json::from_str(&text).ok()?;
        let in_path = || Some(path.rsplit('/').next()?.split_once(':')?.0);
        let model = body.get("model").and_then(Value::as_str).or_else(in_path).unwrap_or_default().to_owned();
        let streams =
            path.ends_with(":streamGenerateContent") || body.get("stream") == Some(&Value::Bool(true));
        let (mut system, mut said) = (texts(body.get(wire.system())), Vec::new());
        match body.get(wire.messages()) {
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
        Some(Self { wire, model, streams, thinks: thinks(wire, &body), system, said, tools, text, body })
    }

    /// The length of the request in tokens.
    pub(super) fn tokens(&self) -> u64 {
        (self.text.len() as u64).div_ceil(4)
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
        Wire::Responses => body.get("reasoning").is_some_and(Value::is_object),
        Wire::Gemini => body.pointer("/generationConfig/thinkingConfig").is_some(),
        Wire::Chat => false,
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
    for group in ["tools", "functionDeclarations", "function_declarations"] {
        if let Some(inner) = entry.get(group).and_then(Value::as_array) {
            return inner.iter().flat_map(tools_in).collect();
        }
    }
    let entry = entry.get("function").unwrap_or(entry);
    let schema = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"]
        .iter()
        .find_map(|key| entry.get(key));
    match (entry.get("name").and_then(Value::as_str), schema) {
        (Some(name), Some(schema)) => vec![Tool { name: name.to_owned(), schema: schema.clone() }],
        _ => Vec::new(),
    }
}
