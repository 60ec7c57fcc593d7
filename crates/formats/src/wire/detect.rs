//! Which wire a request body is in, told from the body alone.
//!
//! A request names its wire by its path, but bodies are also found alone: in a log, in a capture, in a test. Session
//! files of agents look similar, since they hold messages as well. The members beside the messages tell them apart.

use crate::json::{Token, decode, tokens};
use crate::wire_spec::Wire;

/// How many JSON tokens of a body are read at most. That is enough to tell the wire, and a body of many megabytes is
/// not read to its end a second time.
const MAX_TOKENS: usize = 200_000;

/// The wire of a request body; none if it is not a request.
///
/// The two wires that call their list `messages` are told apart by what only one of them has. A body without any such
/// member could be either; it is taken for the one that more clients use.
pub(super) fn detect(body: &str) -> Option<Wire> {
    Evidence::of(body)?.verdict()
}

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
    /// Reads a body; none if it is not an object.
    fn of(body: &str) -> Option<Self> {
        let mut evidence = Self::default();
        let mut depth = 0usize;
        // The member of the body that the walk is in, and the latest name inside it.
        let mut top = String::new();
        let mut key = "";
        for (_, token) in tokens(body.trim_start_matches('\u{FEFF}')).take(MAX_TOKENS) {
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
        // Anthropic requires a limit for generating; a body without one asks for a token count.
        let model = self.model.as_deref().unwrap_or_default();
        let counts = model.starts_with("claude") && !self.generates;
        let is_claude = counts || (self.max_tokens && model.contains("claude"));
        // A model name is no proof: gateways serve Claude over Chat Completions. Any member that only one wire has
        // outweighs it.
        match (self.anthropic, self.chat) {
            (0, 0) if is_claude => Some(Wire::Anthropic),
            (0, _) => Some(Wire::OpenAiChat),
            (_, 0) => Some(Wire::Anthropic),
            (anthropic, chat) if anthropic > chat => Some(Wire::Anthropic),
            _ => Some(Wire::OpenAiChat),
        }
    }
}
