//! An agent that works by the script, in any of the four languages.

use std::net::SocketAddr;

use serde_json::{Value, json};

use crate::client::{Answer, post};
use crate::said::{Said, said};
use crate::stage::MODEL;

/// A language that requests are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Chat,
    Responses,
    Gemini,
}

pub(crate) const WIRES: [Wire; 4] = [Wire::Anthropic, Wire::Chat, Wire::Responses, Wire::Gemini];

/// An agent. It sends its whole history with each request.
#[derive(Clone, Debug)]
pub(crate) struct Agent {
    pub wire: Wire,
    pub streams: bool,
    pub model: String,
    /// Its name for itself, in its instructions.
    pub name: String,
    /// The history.
    pub items: Vec<Value>,
    /// Headers of its own, each with its line end.
    pub headers: String,
    /// What its requests are asked with, behind the path.
    pub query: String,
}

impl Agent {
    /// An agent with a task.
    pub(crate) fn new(wire: Wire, task: &str) -> Self {
        let mut agent = Self {
            wire,
            streams: false,
            model: MODEL.to_owned(),
            name: "an agent".to_owned(),
            items: Vec::new(),
            headers: String::new(),
            query: String::new(),
        };
        agent.say(task);
        agent
    }

    /// The same, but its answers come bit by bit.
    pub(crate) fn streaming(self) -> Self {
        Self { streams: true, ..self }
    }

    /// The same with another name.
    pub(crate) fn named(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }

    /// The user says something.
    pub(crate) fn say(&mut self, text: &str) {
        self.items.push(match self.wire {
            Wire::Anthropic => json!({ "role": "user", "content": [{ "type": "text", "text": text }] }),
            Wire::Chat => json!({ "role": "user", "content": text }),
            Wire::Responses => json!({ "role": "user", "content": [{ "type": "input_text", "text": text }] }),
            Wire::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
        });
    }

    /// The model said something that nobody asked a model for.
    pub(crate) fn answer(&mut self, text: &str) {
        self.items.push(match self.wire {
            Wire::Anthropic => json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] }),
            Wire::Chat => json!({ "role": "assistant", "content": text }),
            Wire::Responses => {
                json!({ "role": "assistant", "content": [{ "type": "output_text", "text": text }] })
            }
            Wire::Gemini => json!({ "role": "model", "parts": [{ "text": text }] }),
        });
    }

    /// Where its requests go.
    pub(crate) fn path(&self) -> String {
        let path = match self.wire {
            Wire::Anthropic => "/v1/messages".to_owned(),
            Wire::Chat => "/v1/chat/completions".to_owned(),
            Wire::Responses => "/v1/responses".to_owned(),
            Wire::Gemini if self.streams => {
                format!("/v1beta/models/{}:streamGenerateContent?alt=sse", self.model)
            }
            Wire::Gemini => format!("/v1beta/models/{}:generateContent", self.model),
        };
        let mark = if path.contains('?') { "&" } else { "?" };
        if self.query.is_empty() { path } else { format!("{path}{mark}{}", self.query) }
    }

    /// Its next request.
    pub(crate) fn body(&self) -> String {
        let (model, streams, name) = (&self.model, self.streams, &self.name);
        let system = format!("You are {name}. Work with the tool.");
        let schema = json!({
            "type": "object", "properties": { "command": { "type": "string" } }, "required": ["command"],
        });
        let tool = json!({ "name": "bash", "description": "Runs a command.", "parameters": schema });
        let body = match self.wire {
            Wire::Anthropic => {
                let tools = json!([{ "name": "bash", "input_schema": schema }]);
                json!({
                    "model": model, "max_tokens": 1000, "stream": streams, "system": system, "tools": tools,
                    "messages": self.marked(),
                })
            }
            Wire::Chat => {
                let system = json!({ "role": "system", "content": system });
                let messages: Vec<&Value> = [&system].into_iter().chain(&self.items).collect();
                let tools = json!([{ "type": "function", "function": tool }]);
                json!({
                    "model": model, "max_tokens": 1000, "stream": streams, "tools": tools,
                    "stream_options": { "include_usage": true }, "messages": messages,
                })
            }
            Wire::Responses => {
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
    pub(crate) async fn ask(&self, to: SocketAddr) -> Answer {
        let headers = format!("content-type: application/json\r\n{}", self.headers);
        post(to, &self.path(), &headers, &self.body()).await
    }

    /// Takes an answer into its history and does what the model wants. The model's text, if it wants nothing more.
    pub(crate) fn take(&mut self, answer: &Answer) -> Option<String> {
        assert_eq!(answer.status(), 200, "{} {}", answer.head, answer.body);
        assert!(answer.is_whole, "{}", answer.body);
        let Said { items, calls, text } = said(self.wire, self.streams, &answer.body);
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
            Wire::Chat => {
                let message =
                    |id: &str, out: String| json!({ "role": "tool", "tool_call_id": id, "content": out });
                self.items.extend(results.map(|(call, out)| message(&call.id, out)));
            }
            Wire::Responses => {
                let item = |id: &str, out: String| json!({ "type": "function_call_output", "call_id": id, "output": out });
                self.items.extend(results.map(|(call, out)| item(&call.id, out)));
            }
            Wire::Anthropic | Wire::Gemini => {}
        }
        calls.is_empty().then_some(text)
    }

    /// Asks and takes the answer.
    pub(crate) async fn step(&mut self, to: SocketAddr) -> (Answer, Option<String>) {
        let answer = self.ask(to).await;
        let text = self.take(&answer);
        (answer, text)
    }

    /// Works until the model has nothing more to be done.
    pub(crate) async fn work(&mut self, to: SocketAddr) -> (String, Vec<Answer>) {
        let mut answers = Vec::new();
        loop {
            let (answer, text) = self.step(to).await;
            answers.push(answer);
            if let Some(text) = text {
                return (text, answers);
            }
        }
    }

    /// Works for so many steps, or until there is nothing to do.
    pub(crate) async fn work_for(&mut self, steps: usize, to: SocketAddr) -> Vec<Answer> {
        let mut answers = Vec::new();
        for _ in 0..steps {
            let (answer, text) = self.step(to).await;
            answers.push(answer);
            if text.is_some() {
                break;
            }
        }
        answers
    }
}

/// What the model's command would print: so many bytes of lines that are all a little different.
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
