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

/// The result of a call.
#[derive(Debug)]
pub(super) struct Outcome {
    /// The id of the call.
    pub call: String,
    /// What came of it, as JSON if it is more than a text.
    pub text: String,
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

    /// What the calls of tools gave, oldest first, where the wire says of which call a result is.
    pub(super) fn results(&self) -> Vec<Outcome> {
        let messages = self.body.get(self.wire.messages()).and_then(Value::as_array).into_iter().flatten();
        let entries = messages.flat_map(|message| match self.wire {
            Wire::Anthropic => message["content"].as_array().map_or(&[][..], Vec::as_slice),
            _ => std::slice::from_ref(message),
        });
        let (call, text) = match self.wire {
            Wire::Anthropic => ("tool_use_id", "content"),
            Wire::Chat => ("tool_call_id", "content"),
            Wire::Responses => ("call_id", "output"),
            Wire::Gemini => return Vec::new(),
        };
        let outcomes = entries.filter_map(|entry| {
            let (call, text) = (entry.get(call)?.as_str()?.to_owned(), entry.get(text)?);
            let text = text.as_str().map_or_else(|| text.to_string(), str::to_owned);
            Some(Outcome { call, text })
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
