//! The wires by name, and the table of their differences: everything that is data rather than code.
//!
//! The code of each wire is in [`wire`](crate::wire).

use std::fmt;
use std::str::FromStr;

use secateur::Role;
use serde::{Serialize, Serializer};

use crate::json::encode;

/// How a provider's API writes requests and responses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Wire {
    /// Anthropic: `POST /v1/messages`.
    Anthropic,
    /// OpenAI: `POST /v1/chat/completions`, and the many servers that are compatible with it.
    OpenAiChat,
    /// OpenAI: `POST /v1/responses`.
    OpenAiResponses,
    /// Google: `POST /v1beta/models/MODEL:generateContent`.
    Gemini,
}

/// A name that is not the name of a wire.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("unknown request format {name:?}; known are {}", known_wires())]
pub struct UnknownWire {
    /// The name that was given.
    pub name: String,
}

fn known_wires() -> String {
    let [first @ .., last] = Wire::ALL.map(Wire::name);
    format!("{} and {last}", first.join(", "))
}

impl Wire {
    /// Every wire, in the order in which they are listed.
    pub const ALL: [Wire; 4] = [Wire::Anthropic, Wire::OpenAiChat, Wire::OpenAiResponses, Wire::Gemini];

    /// In what the wire differs from others.
    pub const fn spec(self) -> &'static WireSpec {
        match self {
            Wire::Anthropic => &ANTHROPIC,
            Wire::OpenAiChat => &OPENAI_CHAT,
            Wire::OpenAiResponses => &OPENAI_RESPONSES,
            Wire::Gemini => &GEMINI,
        }
    }

    /// The name that commands use.
    pub const fn name(self) -> &'static str {
        self.spec().name
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.spec().title)
    }
}

impl Serialize for Wire {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Wire {
    type Err = UnknownWire;

    fn from_str(name: &str) -> Result<Self, UnknownWire> {
        let letters = name.chars().filter(char::is_ascii_alphanumeric);
        let plain: String = letters.map(|letter| letter.to_ascii_lowercase()).collect();
        let found = Wire::ALL.into_iter().find(|wire| wire.spec().aliases.contains(&plain.as_str()));
        found.ok_or_else(|| UnknownWire { name: name.to_owned() })
    }
}

/// The service behind an API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Anthropic.
    Anthropic,
    /// OpenAI, and the many that are compatible with it.
    OpenAi,
    /// Google.
    Gemini,
}

/// What a request with a conversation asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// A response of the model.
    Generate,
    /// The number of tokens.
    Count,
}

/// The header that carries the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    /// Its name, in lower case.
    pub name: &'static str,
    /// What comes before the key.
    pub prefix: &'static str,
}

/// How a provider takes the thinking of its models back. It signs or encrypts it, and takes it only unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThinkingReturn {
    /// Not at all.
    NotTaken,
    /// As text with its signature. At most this many parts of thinking belong to one signature.
    Signed {
        /// How many parts.
        parts: usize,
    },
    /// As text alone; signatures are on tool calls.
    OnCalls,
}

/// In what one wire differs from the others.
#[derive(Debug)]
pub struct WireSpec {
    /// The name that commands use.
    pub name: &'static str,
    /// The name that people use.
    pub title: &'static str,
    /// The name of its requests among the formats.
    pub request_name: &'static str,
    /// Other names, in lower case and without anything but letters and digits.
    pub(crate) aliases: &'static [&'static str],
    /// Whose API it is.
    pub provider: Provider,
    /// How paths of requests end, and what those requests ask for.
    pub paths: &'static [(&'static str, RequestKind)],
    /// Part of a path that ends in the same way but is not this wire's.
    pub(crate) foreign_path: Option<&'static str>,
    /// Where a streamed response is requested, behind the version. `{model}` stands for the model.
    pub(crate) stream_path: &'static str,
    /// What the query must have for a stream of events.
    pub stream_query: &'static [(&'static str, &'static str)],
    /// The version in the path, if the URL has none.
    pub version: &'static str,
    /// The header that carries the key.
    pub key_header: KeyHeader,
    /// Headers that every request must have.
    pub headers: &'static [(&'static str, &'static str)],
    /// The member of a body that holds the messages.
    pub messages: &'static str,
    /// The same with its quotes, as it is written in a body.
    pub messages_key: &'static str,
    /// Whether one message, or a text, may take the place of the list of messages.
    pub takes_single_message: bool,
    /// Whether the body names the model. Else the path does.
    pub has_model_in_body: bool,
    /// Whether a stream with a status of success may still say that the prompt is too long.
    pub may_fail_late: bool,
    /// Whether the first message must be the user's.
    pub starts_with_user: bool,
    /// The longest id of a tool call.
    pub(crate) longest_call_id: usize,
    /// The longest name of a tool.
    pub(crate) longest_tool_name: usize,
    /// What a tool's name may contain beside letters, digits, `_` and `-`.
    pub(crate) tool_name_extra: &'static str,
    /// Whether a tool's name must begin with a letter or `_`.
    pub(crate) tool_name_starts_with_letter: bool,
    /// How thinking is taken back.
    pub(crate) thinking: ThinkingReturn,
    /// A message with a text, given as JSON: what comes before and behind it, of the user and of the model.
    pub(crate) text_message: TextMessage,
}

/// A message that is nothing but a text.
#[derive(Debug)]
pub(crate) struct TextMessage {
    /// What comes before the text in a message of the user.
    pub(crate) user: &'static str,
    /// What comes before the text in a message of the model.
    pub(crate) model: &'static str,
    /// What comes behind it.
    pub(crate) end: &'static str,
}

impl TextMessage {
    /// The one that most wires have.
    pub(crate) const CONTENT: Self =
        Self { user: r#"{"role":"user","content":"#, model: r#"{"role":"assistant","content":"#, end: "}" };
}

impl WireSpec {
    /// What a request to this path asks for; none if it is not a request of this wire that holds a conversation.
    pub fn kind_of(&self, path: &str) -> Option<RequestKind> {
        if self.foreign_path.is_some_and(|foreign| path.contains(foreign)) {
            return None;
        }
        self.paths.iter().find(|(end, _)| path.ends_with(end)).map(|(_, kind)| *kind)
    }

    /// Where a streamed response of a model is requested, behind the version. A model's name with a kind in front
    /// (`tunedModels/x`) is taken as it is.
    pub fn stream_path(&self, model: &str) -> String {
        let kind = if model.contains('/') { "" } else { "models/" };
        self.stream_path.replace("{model}", &format!("{kind}{model}"))
    }

    /// Whether a path is one at which a stream is requested.
    pub fn is_stream_path(&self, path: &str) -> bool {
        path.ends_with(self.stream_path.rsplit('}').next().unwrap_or_default())
    }

    /// A message with nothing but a text.
    pub fn text_message(&self, role: Role, text: &str) -> String {
        self.text_message_of_literal(role, &encode(text))
    }

    /// A message with nothing but a text, which is given as JSON.
    pub fn text_message_of_literal(&self, role: Role, literal: &str) -> String {
        let TextMessage { user, model, end } = &self.text_message;
        [*if role == Role::Assistant { model } else { user }, literal, end].concat()
    }
}

/// Anthropic's Messages API.
static ANTHROPIC: WireSpec = WireSpec {
    name: "anthropic",
    title: "Anthropic Messages",
    request_name: "anthropic-request",
    aliases: &["anthropic", "anthropicmessages", "messages", "claude"],
    provider: Provider::Anthropic,
    paths: &[("/messages", RequestKind::Generate), ("/messages/count_tokens", RequestKind::Count)],
    // OpenAI has messages too, those of threads.
    foreign_path: Some("/threads/"),
    stream_path: "/messages",
    stream_query: &[],
    version: "/v1",
    key_header: KeyHeader { name: "x-api-key", prefix: "" },
    headers: &[("anthropic-version", "2023-06-01")],
    messages: "messages",
    messages_key: "\"messages\"",
    takes_single_message: false,
    has_model_in_body: true,
    may_fail_late: false,
    starts_with_user: true,
    longest_call_id: 64,
    longest_tool_name: 128,
    tool_name_extra: "",
    tool_name_starts_with_letter: false,
    thinking: ThinkingReturn::Signed { parts: 1 },
    text_message: TextMessage::CONTENT,
};

/// OpenAI's Chat Completions API, and the many servers that are compatible with it.
static OPENAI_CHAT: WireSpec = WireSpec {
    name: "openai-chat",
    title: "OpenAI Chat Completions",
    request_name: "openai-chat-request",
    aliases: &[
        "openaichat",
        "openai",
        "chat",
        "chatcompletions",
        "openaichatcompletions",
        "openaicompatible",
    ],
    provider: Provider::OpenAi,
    paths: &[("/chat/completions", RequestKind::Generate)],
    foreign_path: None,
    stream_path: "/chat/completions",
    stream_query: &[],
    version: "/v1",
    key_header: KeyHeader { name: "authorization", prefix: "Bearer " },
    headers: &[],
    messages: "messages",
    messages_key: "\"messages\"",
    takes_single_message: false,
    has_model_in_body: true,
    may_fail_late: false,
    starts_with_user: false,
    longest_call_id: 40,
    longest_tool_name: 64,
    tool_name_extra: "",
    tool_name_starts_with_letter: false,
    thinking: ThinkingReturn::NotTaken,
    text_message: TextMessage::CONTENT,
};

/// OpenAI's Responses API.
static OPENAI_RESPONSES: WireSpec = WireSpec {
    name: "openai-responses",
    title: "OpenAI Responses",
    request_name: "openai-responses-request",
    aliases: &["openairesponses", "responses", "response"],
    provider: Provider::OpenAi,
    paths: &[("/responses", RequestKind::Generate)],
    foreign_path: None,
    stream_path: "/responses",
    stream_query: &[],
    version: "/v1",
    key_header: KeyHeader { name: "authorization", prefix: "Bearer " },
    headers: &[],
    messages: "input",
    messages_key: "\"input\"",
    takes_single_message: true,
    has_model_in_body: true,
    may_fail_late: true,
    starts_with_user: false,
    longest_call_id: 64,
    longest_tool_name: 64,
    tool_name_extra: "",
    tool_name_starts_with_letter: false,
    // A summary and a text.
    thinking: ThinkingReturn::Signed { parts: 2 },
    text_message: TextMessage::CONTENT,
};

/// Google's Gemini API.
static GEMINI: WireSpec = WireSpec {
    name: "gemini",
    title: "Google Gemini",
    request_name: "gemini-request",
    aliases: &["gemini", "google", "googlegemini", "generatecontent", "googlegenai", "vertex"],
    provider: Provider::Gemini,
    paths: &[
        (":generateContent", RequestKind::Generate),
        (":streamGenerateContent", RequestKind::Generate),
        (":countTokens", RequestKind::Count),
    ],
    foreign_path: None,
    stream_path: "/{model}:streamGenerateContent",
    // Without it, the stream is a JSON list.
    stream_query: &[("alt", "sse")],
    version: "/v1beta",
    key_header: KeyHeader { name: "x-goog-api-key", prefix: "" },
    headers: &[],
    messages: "contents",
    messages_key: "\"contents\"",
    takes_single_message: true,
    has_model_in_body: false,
    may_fail_late: false,
    starts_with_user: false,
    longest_call_id: 64,
    longest_tool_name: 63,
    tool_name_extra: ".",
    tool_name_starts_with_letter: true,
    thinking: ThinkingReturn::OnCalls,
    text_message: TextMessage {
        user: r#"{"role":"user","parts":[{"text":"#,
        model: r#"{"role":"model","parts":[{"text":"#,
        end: "}]}",
    },
};
