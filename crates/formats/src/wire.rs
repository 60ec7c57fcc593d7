//! The request formats of the model providers, and which one a body is in.
//!
//! A request says which format it is in by its path, but bodies are also found alone: in a log, in a capture,
//! in a test. So the format can be told from the content, too. Session files of agents look similar, since
//! they hold messages as well; what they have beside the messages gives them away, and they are no requests.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::json::{Token, decode, tokens};

/// A request format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub enum Wire {
    /// Anthropic: `POST /v1/messages`.
    #[serde(rename = "anthropic")]
    Anthropic,
    /// OpenAI: `POST /v1/chat/completions`, and the many that speak it.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI: `POST /v1/responses`.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// Google: `POST /v1beta/models/MODEL:generateContent`.
    #[serde(rename = "gemini")]
    Gemini,
}

/// A name that is no wire's.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown request format {name:?}; known are anthropic, openai-chat, openai-responses and gemini")]
pub struct UnknownWire {
    /// The name that was given.
    pub name: String,
}

impl Wire {
    /// Every wire, in the order in which they are listed.
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Gemini];

    /// The name that commands use.
    pub fn name(self) -> &'static str {
        match self {
            Wire::Anthropic => "anthropic",
            Wire::OpenAiChat => "openai-chat",
            Wire::OpenAiResponses => "openai-responses",
            Wire::Gemini => "gemini",
        }
    }

    /// Tells the format of a request from its body; nothing if it is no request.
    ///
    /// The two formats that call their list `messages` are told apart by what only one of them has. A body
    /// that has nothing of the kind could be either; it is taken for the one that more clients speak.
    ///
    /// ```
    /// use secateur_formats::Wire;
    ///
    /// let body = r#"{"model":"m","system":"be brief","messages":[{"role":"user","content":"hi"}]}"#;
    /// assert_eq!(Wire::detect(body), Some(Wire::Anthropic));
    /// assert_eq!(Wire::detect(r#"{"sessionId":"s1","messages":[]}"#), None);
    /// ```
    pub fn detect(body: &str) -> Option<Wire> {
        Evidence::of(body)?.verdict()
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Wire::Anthropic => "Anthropic Messages",
            Wire::OpenAiChat => "OpenAI Chat Completions",
            Wire::OpenAiResponses => "OpenAI Responses",
            Wire::Gemini => "Google Gemini",
        })
    }
}

impl FromStr for Wire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        match plain.as_str() {
            "anthropic" | "anthropicmessages" | "messages" | "claude" => Ok(Wire::Anthropic),
            "openaichat"
            | "openai"
            | "chat"
            | "chatcompletions"
            | "openaichatcompletions"
            | "openaicompatible" => Ok(Wire::OpenAiChat),
            "openairesponses" | "responses" | "response" => Ok(Wire::OpenAiResponses),
            "gemini" | "google" | "googlegemini" | "generatecontent" | "googlegenai" | "vertex" => {
                Ok(Wire::Gemini)
            }
            _ => Err(UnknownWire { name: name.to_owned() }),
        }
    }
}

/// How many tokens of a body are looked at. A request gives itself away long before that; a body of many
/// megabytes should not be read to its end for a second time.
const TOKENS: usize = 200_000;

/// What was seen in a body.
#[derive(Default)]
struct Evidence {
    messages: bool,
    contents: bool,
    /// `input`, or something that stands for it.
    input: bool,
    model: Option<String>,
    max_tokens: bool,
    /// Members of requests that generate; counting tokens has none of them.
    generates: bool,
    /// Members that session files have and requests do not.
    session: bool,
    version: bool,
    agent: bool,
    anthropic: u32,
    chat: u32,
}

impl Evidence {
    /// Looks through a body; nothing if it is no object.
    fn of(body: &str) -> Option<Self> {
        let mut evidence = Self::default();
        let mut depth = 0usize;
        // The member of the body that the walk is in, and the latest name at each depth that matters.
        let mut top = String::new();
        let mut key = "";
        for (_, token) in tokens(body.trim_start_matches('\u{FEFF}')).take(TOKENS) {
            match token {
                Token::ObjectStart | Token::ArrayStart => {
                    if depth == 0 && token == Token::ArrayStart {
                        return None;
                    }
                    if depth == 1 {
                        evidence.container(&top, token);
                    }
                    depth += 1;
                }
                Token::ObjectEnd | Token::ArrayEnd => depth -= 1,
                _ if depth == 0 => return None,
                Token::Key(raw) if depth == 1 => {
                    top = decode(raw).into_owned();
                    evidence.member(&top);
                }
                Token::Key(raw) => {
                    key = raw;
                    evidence.inner_key(&top, depth, raw);
                }
                Token::String(raw) if depth == 1 => evidence.value(&top, raw),
                Token::String(raw) => evidence.inner_value(&top, depth, key, raw),
                _ => {}
            }
        }
        Some(evidence)
    }

    /// A member of the body itself.
    fn member(&mut self, name: &str) {
        match name {
            "max_tokens" => self.max_tokens = true,
            "stream" | "temperature" | "top_p" => self.generates = true,
            "previous_response_id" | "instructions" => self.input = true,
            "sessionId" | "session_id" | "info" => self.session = true,
            "version" => self.version = true,
            "agent" => self.agent = true,
            "system" | "anthropic_version" | "anthropic_beta" | "stop_sequences" | "thinking"
            | "context_management" => self.anthropic += 1,
            "stop"
            | "n"
            | "max_completion_tokens"
            | "response_format"
            | "stream_options"
            | "parallel_tool_calls"
            | "frequency_penalty"
            | "presence_penalty"
            | "logprobs"
            | "logit_bias"
            | "functions"
            | "seed"
            | "reasoning_effort" => self.chat += 1,
            _ => {}
        }
    }

    /// A member of the body that is an array or an object.
    fn container(&mut self, name: &str, token: Token<'_>) {
        match (name, token) {
            ("messages", Token::ArrayStart) => self.messages = true,
            ("contents", _) => self.contents = true,
            ("input", Token::ArrayStart) => self.input = true,
            _ => {}
        }
    }

    /// A member of the body that is a string.
    fn value(&mut self, name: &str, raw: &str) {
        match name {
            "model" => self.model = Some(decode(raw).to_ascii_lowercase()),
            "input" => self.input = true,
            _ => {}
        }
    }

    /// A name inside a member: depth 3 is that of a message or a tool, 5 that of a block.
    fn inner_key(&mut self, top: &str, depth: usize, raw: &str) {
        match (top, depth, raw) {
            ("tools", 3, "\"input_schema\"" | "\"cache_control\"") => self.anthropic += 1,
            ("tools", 3, "\"function\"") => self.chat += 1,
            ("messages", 5, "\"cache_control\"" | "\"tool_use_id\"" | "\"signature\"") => self.anthropic += 1,
            ("messages", 3, "\"tool_calls\"" | "\"tool_call_id\"" | "\"function_call\"") => self.chat += 1,
            _ => {}
        }
    }

    /// A string inside a member.
    fn inner_value(&mut self, top: &str, depth: usize, key: &str, raw: &str) {
        match (top, depth, key, raw) {
            ("messages", 3, "\"role\"", "\"system\"" | "\"developer\"" | "\"tool\"" | "\"function\"") => {
                self.chat += 1;
            }
            ("messages", 5, "\"type\"", "\"image_url\"" | "\"input_audio\"" | "\"file\"" | "\"refusal\"") => {
                self.chat += 1;
            }
            (
                "messages",
                5,
                "\"type\"",
                "\"tool_use\""
                | "\"tool_result\""
                | "\"thinking\""
                | "\"redacted_thinking\""
                | "\"image\""
                | "\"document\""
                | "\"server_tool_use\"",
            ) => self.anthropic += 1,
            _ => {}
        }
    }

    fn verdict(&self) -> Option<Wire> {
        if self.contents {
            return Some(Wire::Gemini);
        }
        if !self.messages {
            return self.input.then_some(Wire::OpenAiResponses);
        }
        if self.session || (self.version && self.agent) {
            return None;
        }
        // Generating needs a limit there; a body without one is a question for the number of tokens.
        let model = self.model.as_deref().unwrap_or_default();
        let counts = model.starts_with("claude") && !self.generates;
        let is_claude = counts || (self.max_tokens && model.contains("claude"));
        // A name is no proof: gateways serve Claude under the other format. Any shape outweighs it.
        match (self.anthropic, self.chat) {
            (0, 0) if is_claude => Some(Wire::Anthropic),
            (0, _) => Some(Wire::OpenAiChat),
            (_, 0) => Some(Wire::Anthropic),
            (anthropic, chat) if anthropic > chat => Some(Wire::Anthropic),
            _ => Some(Wire::OpenAiChat),
        }
    }
}

#[cfg(test)]
mod tests;
