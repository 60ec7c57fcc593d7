//! An agent that works with the scripted model, on any of the wires.

mod model_output;

use std::net::SocketAddr;

use secateur_formats::Wire;
use serde_json::{Value, json};

use crate::client::{ClientResponse, post};
use crate::configuration::{BOUND_MODEL, MODEL};
use model_output::{ModelOutput, read_output};

/// An agent. It sends its whole history with each request.
#[derive(Clone, Debug)]
pub struct Agent {
    /// The wire of its requests.
    pub wire: Wire,
    /// Whether it asks for streams.
    pub streams: bool,
    /// The name of its model.
    pub model: String,
    /// Its name, in its system prompt.
    pub name: String,
    /// The history.
    pub items: Vec<Value>,
    /// Headers of its own, each with its line end.
    pub headers: String,
    /// The query of its requests.
    pub query: String,
    /// What it says about thinking, on the wire `anthropic`.
    pub thinking: Option<Value>,
}

impl Agent {
    /// An agent with a task.
    pub fn new(wire: Wire, task: &str) -> Self {
        let mut agent = Self {
            wire,
            streams: false,
            model: MODEL.to_owned(),
            name: "an agent".to_owned(),
            items: Vec::new(),
            headers: String::new(),
            query: String::new(),
            thinking: None,
        };
        agent.say(task);
        agent
    }

    /// The same, with streamed responses.
    pub fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }

    /// An agent whose model thinks and binds its thinking, as the version in its name says.
    pub fn thinking(task: &str) -> Self {
        let thinking = Some(json!({ "type": "adaptive" }));
        Self { model: BOUND_MODEL.to_owned(), thinking, ..Self::new(Wire::Anthropic, task) }
    }

    /// The same with another name.
    pub fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// Adds a message of the user.
    pub fn say(&mut self, text: &str) {
        self.items.push(match self.wire {
            Wire::Anthropic => json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            Wire::OpenAiChat => json!({ "role": "user", "content": text }),
            Wire::OpenAiResponses => {
                json!({ "role": "user", "content": [{ "type": "input_text", "text": text }] })
            }
            Wire::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
        });
    }

    /// Adds a text of the model to the history without a request.
    pub fn add_model_text(&mut self, text: &str) {
        self.items.push(match self.wire {
            Wire::Anthropic => json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
            Wire::OpenAiChat => json!({ "role": "assistant", "content": text }),
            Wire::OpenAiResponses => {
                json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
            }
            Wire::Gemini => json!({ "role": "model", "parts": [{ "text": text }] }),
        });
    }

    /// Where its requests go.
    pub fn path(&self) -> String {
        let path = match self.wire {
            Wire::Anthropic => "/v1/messages".to_owned(),
            Wire::OpenAiChat => "/v1/chat/completions".to_owned(),
            Wire::OpenAiResponses => "/v1/responses".to_owned(),
            Wire::Gemini if self.streams => {
                format!("/v1beta/models/{}:streamGenerateContent?alt=sse", self.model)
            }
            Wire::Gemini => format!("/v1beta/models/{}:generateContent", self.model),
        };
        let mark = if path.contains('?') { "&" } else { "?" };
        if self.query.is_empty() { path } else { format!("{path}{mark}{}", self.query) }
    }

    /// Its next request.
    pub fn body(&self) -> String {
        let (model, streams, name) = (&self.model, self.streams, &self.name);
        let system = format!("You are {name}. Work with the tool.");
        let schema = json!({
            "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"],
        });
        let tool = json!({ "name": "bash", "description": "Runs a command.", "parameters": schema });
        let body = match self.wire {
            Wire::Anthropic => {
                let tools = json!([{ "name": "bash", "input_schema": schema }]);
                let mut body = json!({
                    "model": model, "max_tokens": 1000, "stream": streams, "system": system, "tools": tools,
                    "messages": self.marked(),
                });
                if let Some(thinking) = &self.thinking {
                    body["thinking"] = thinking.clone();
                }
                body
            }
            Wire::OpenAiChat => {
                let system = json!({ "role": "system", "content": system });
                let messages: Vec<&Value> = [&system].into_iter().chain(&self.items).collect();
                let tools = json!([{ "type": "function", "function": tool }]);
                json!({
                    "model": model, "max_tokens": 1000, "stream": streams, "tools": tools,
                    "stream_options": { "include_usage": true }, "messages": messages,
                })
            }
            Wire::OpenAiResponses => {
                let tools = json!([{ "type": "function", "name": "bash", "parameters": schema }]);
                json!({
                    "model": model, "instructions": system, "stream": streams, "store": false,
                    "max_output_tokens": 1000, "tools": tools, "input": self.items,
                })
            }
            Wire::Gemini => json!({
                "systemInstruction": { "parts": [{ "text": system }] },
                "tools": [{ "functionDeclarations": [tool] }],
                "generationConfig": { "maxOutputTokens": 1000 },
                "contents": self.items,
            }),
        };
        body.to_string()
    }

    /// The history with a mark for the cache at its end, as the real agents set it.
    fn marked(&self) -> Vec<Value> {
        let mut items = self.items.clone();
        let last = items.last_mut().and_then(|last| last["content"].as_array_mut()?.last_mut());
        if let Some(last) = last {
            last["cache_control"] = json!({ "type": "ephemeral" });
        }
        items
    }

    /// Sends its next request.
    pub async fn ask(&self, to: SocketAddr) -> ClientResponse {
        let headers = format!("content-type: application/json\r\n{}", self.headers);
        post(to, &self.path(), &headers, &self.body()).await
    }

    /// Adds a response to its history and runs the calls in it. Returns the model's text if there are no calls.
    pub fn take(&mut self, response: &ClientResponse) -> Option<String> {
        assert_eq!(response.status(), 200, "{} {}", response.head, response.body);
        assert!(response.is_whole, "{}", response.body);
        let ModelOutput { items, calls, text } = read_output(self.wire, self.streams, &response.body);
        self.items.extend(items);
        let results = calls.iter().map(|call| (call, run(&call.command)));
        match self.wire {
            Wire::Anthropic if !calls.is_empty() => {
                let result = |id: &str, out: String| json!({ "type": "tool_result", "tool_use_id": id, "content": out });
                let results: Vec<Value> = results.map(|(call, out)| result(&call.id, out)).collect();
                self.items.push(json!({ "role": "user", "content": results }));
            }
            Wire::Gemini if !calls.is_empty() => {
                let part = |id: &str, out: String| json!({ "functionResponse": { "id": id, "name": "bash", "response": { "output": out } } });
                let parts: Vec<Value> = results.map(|(call, out)| part(&call.id, out)).collect();
                self.items.push(json!({ "role": "user", "parts": parts }));
            }
            Wire::OpenAiChat => {
                let message =
                    |id: &str, out: String| json!({ "role": "tool", "tool_call_id": id, "content": out });
                self.items.extend(results.map(|(call, out)| message(&call.id, out)));
            }
            Wire::OpenAiResponses => {
                let item = |id: &str, out: String| json!({ "type": "function_call_output", "call_id": id, "output": out });
                self.items.extend(results.map(|(call, out)| item(&call.id, out)));
            }
            Wire::Anthropic | Wire::Gemini => {}
        }
        calls.is_empty().then_some(text)
    }

    /// Sends a request and adds the response.
    pub async fn step(&mut self, to: SocketAddr) -> (ClientResponse, Option<String>) {
        let response = self.ask(to).await;
        let text = self.take(&response);
        (response, text)
    }

    /// Works until the model makes no more calls.
    pub async fn work(&mut self, to: SocketAddr) -> (String, Vec<ClientResponse>) {
        let mut responses = Vec::new();
        loop {
            let (response, text) = self.step(to).await;
            responses.push(response);
            if let Some(text) = text {
                return (text, responses);
            }
        }
    }

    /// Works for this many steps, or until the model makes no more calls.
    pub async fn work_for(&mut self, steps: usize, to: SocketAddr) -> Vec<ClientResponse> {
        let mut responses = Vec::new();
        for _ in 0..steps {
            let (response, text) = self.step(to).await;
            responses.push(response);
            if text.is_some() {
                break;
            }
        }
        responses
    }
}

/// The output of the model's command: this many bytes, in lines that all differ a little.
fn run(command: &str) -> String {
    let between = |from: &str, to: &str| Some(command.split_once(from)?.1.split_once(to)?.0);
    let (Some(line), Some(bytes)) = (between("s = \"", "\""), between("(n < ", ")")) else {
        return command.to_owned();
    };
    let bytes: usize = bytes.parse().unwrap();
    let mut out = String::new();
    let mut number: u64 = 0;
    while out.len() < bytes {
        number += 1;
        out += &format!("{line}{number}: {} lies somewhere\n", number * 7919 % 10007);
    }
    out
}
