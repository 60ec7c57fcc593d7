//! How each wire asks, and how it answers.
//!
//! A dialect is three functions: the body of a request, one event of a streamed answer, and an answer in one piece
//! (some servers send that whatever they are asked for). Both ways of answering end in the same [`ResponseBuilder`].

mod anthropic;
mod chat;
mod gemini;
mod responses;

use secateur_formats::Wire;
use serde::Deserialize;
use serde_json::Value;

use super::ModelRequest;
use super::endpoint::Endpoint;
use super::error::ModelError;
use super::response_builder::ResponseBuilder;

/// A wire that a model can be asked by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Chat,
    Responses,
    Anthropic,
    Gemini,
}

/// Whether there is more of a stream to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    More,
    Last,
}

impl Dialect {
    /// Every wire can be asked by. A new one has to be added here.
    pub(super) fn of(wire: Wire) -> Self {
        match wire {
            Wire::OpenAiChat => Self::Chat,
            Wire::OpenAiResponses => Self::Responses,
            Wire::Anthropic => Self::Anthropic,
            Wire::Gemini => Self::Gemini,
        }
    }

    /// What the endpoint's URL ends in.
    pub(super) fn path(self, model: &str) -> String {
        match self {
            Self::Chat => "/chat/completions".to_owned(),
            Self::Responses => "/responses".to_owned(),
            Self::Anthropic => "/messages".to_owned(),
            Self::Gemini => gemini::path(model),
        }
    }

    /// Whether a path is that of an endpoint already, whatever the model in it.
    pub(super) fn ends(self, path: &str) -> bool {
        match self {
            Self::Gemini => path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"),
            _ => path.ends_with(&self.path("")),
        }
    }

    /// The version that is spoken if the URL names none.
    pub(super) fn version(self) -> &'static str {
        if self == Self::Gemini { "/v1beta" } else { "/v1" }
    }

    /// The body of a request.
    pub(super) fn body(self, endpoint: &Endpoint, question: &ModelRequest<'_>) -> Value {
        match self {
            Self::Chat => chat::body(endpoint, question),
            Self::Responses => responses::body(endpoint, question),
            Self::Anthropic => anthropic::body(endpoint, question),
            Self::Gemini => gemini::body(question),
        }
    }

    /// Takes one event of a stream in.
    pub(super) fn event(self, data: &str, draft: &mut ResponseBuilder<'_>) -> Result<Step, ModelError> {
        match self {
            Self::Chat => chat::event(data, draft),
            Self::Responses => responses::event(data, draft),
            Self::Anthropic => anthropic::event(data, draft),
            Self::Gemini => gemini::event(data, draft),
        }
    }

    /// Takes an answer in one piece in.
    pub(super) fn whole(self, data: &str, draft: &mut ResponseBuilder<'_>) -> Result<(), ModelError> {
        match self {
            Self::Chat => chat::whole(data, draft),
            Self::Responses => responses::whole(data, draft),
            Self::Anthropic => anthropic::whole(data, draft),
            Self::Gemini => gemini::whole(data, draft),
        }
    }
}

/// Reads what a provider sent, or says why it cannot be read.
fn parse<'a, T: Deserialize<'a>>(data: &'a str, draft: &ResponseBuilder<'_>) -> Result<T, ModelError> {
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
