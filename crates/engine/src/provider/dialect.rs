//! How each wire asks, and how it answers.
//!
//! A dialect is three functions: the body of a request, one event of a streamed answer, and an answer in one piece
//! (some servers send that whatever they are asked for). Both ways of answering end in the same [`Draft`].

mod anthropic;
mod chat;
mod responses;

use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::Value;

use super::Question;
use super::draft::Draft;
use super::endpoint::{ConnectError, Endpoint};
use super::error::AskError;

/// A wire that a model can be asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Chat,
    Responses,
    Anthropic,
}

/// Whether there is more of a stream to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    More,
    Last,
}

impl Dialect {
    pub(super) fn of(wire: Wire) -> Result<Self, ConnectError> {
        match wire {
            Wire::OpenAiChat => Ok(Self::Chat),
            Wire::OpenAiResponses => Ok(Self::Responses),
            Wire::Anthropic => Ok(Self::Anthropic),
            Wire::Gemini => Err(ConnectError::Wire { wire }),
        }
    }

    /// What the endpoint's URL ends in.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/chat/completions",
            Self::Responses => "/responses",
            Self::Anthropic => "/messages",
        }
    }

    /// The body of a request.
    pub(super) fn body(self, endpoint: &Endpoint, question: &Question<'_>) -> Value {
        match self {
            Self::Chat => chat::body(endpoint, question),
            Self::Responses => responses::body(endpoint, question),
            Self::Anthropic => anthropic::body(endpoint, question),
        }
    }

    /// Takes one event of a stream in.
    pub(super) fn event(self, data: &str, draft: &mut Draft<'_>) -> Result<Step, AskError> {
        match self {
            Self::Chat => chat::event(data, draft),
            Self::Responses => responses::event(data, draft),
            Self::Anthropic => anthropic::event(data, draft),
        }
    }

    /// Takes an answer in one piece in.
    pub(super) fn whole(self, data: &str, draft: &mut Draft<'_>) -> Result<(), AskError> {
        match self {
            Self::Chat => chat::whole(data, draft),
            Self::Responses => responses::whole(data, draft),
            Self::Anthropic => anthropic::whole(data, draft),
        }
    }
}

/// Reads what a provider sent, or says why it cannot be read.
fn parse<'a, T: Deserialize<'a>>(data: &'a str, draft: &Draft<'_>) -> Result<T, AskError> {
    serde_json::from_str(data).map_err(|error| draft.malformed(&error.to_string()))
}

/// Whether there is something where there may be null, an empty list or an empty object.
fn is_there(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::Object(map)) => !map.is_empty(),
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

/// A count of tokens somewhere in what a provider counted. What is no number was not counted.
fn count(usage: &Value, pointer: &str) -> Option<i64> {
    usage.pointer(pointer).and_then(Value::as_i64).filter(|&count| count >= 0)
}
