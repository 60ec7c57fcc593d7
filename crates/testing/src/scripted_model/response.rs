//! An response, spelled in the language of the request.

mod anthropic;
mod gemini;
mod openai_chat;
mod openai_responses;

use std::hash::{DefaultHasher, Hash, Hasher};

use std::fmt;

use serde_json::Value;

use super::prompt_cache::Reuse;
use super::request::ClientRequest;
use super::scenario::Reply;
use crate::client::without_handles;

use secateur_formats::Wire;

/// What the model signs its thoughts with.
pub(super) const SIGNATURE: &str = "c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=";

/// What the model says to a request.
#[derive(Debug)]
pub(super) struct ModelResponse<'t> {
    request: &'t ClientRequest,
    reply: Reply,
    usage: Usage,
}

/// What an response costs, in tokens.
#[derive(Clone, Copy, Debug)]
struct Usage {
    input: u64,
    cached: u64,
    output: u64,
}

/// One event of a stream.
#[derive(Debug)]
pub(super) struct Event {
    name: Option<&'static str>,
    data: String,
}

impl Event {
    fn new(data: &Value) -> Self {
        Self { name: None, data: data.to_string() }
    }

    fn named(name: &'static str, data: &Value) -> Self {
        Self { name: Some(name), data: data.to_string() }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = self.name {
            writeln!(f, "event: {name}")?;
        }
        write!(f, "data: {}\n\n", self.data)
    }
}

impl<'t> ModelResponse<'t> {
    pub(super) fn new(request: &'t ClientRequest, reply: Reply, reuse: Reuse) -> Self {
        let calls = reply.calls.iter().map(|call| call.input.to_string().len()).sum::<usize>();
        let output = (reply.text.len() + reply.thought.len() + calls) as u64 / 4 + 1;
        let input = request.tokens();
        let usage = Usage { input, cached: reuse.cached.min(input), output };
        Self { request, reply, usage }
    }

    /// The response in one piece.
    pub(super) fn whole(&self) -> Value {
        match self.request.wire {
            Wire::Anthropic => anthropic::whole(self),
            Wire::OpenAiChat => openai_chat::whole(self),
            Wire::OpenAiResponses => openai_responses::whole(self),
            Wire::Gemini => gemini::whole(self),
        }
    }

    /// The response as a stream.
    pub(super) fn events(&self) -> Vec<Event> {
        match self.request.wire {
            Wire::Anthropic => anthropic::events(self),
            Wire::OpenAiChat => openai_chat::events(self),
            Wire::OpenAiResponses => openai_responses::events(self),
            Wire::Gemini => gemini::events(self),
        }
    }

    /// What it thinks, if it was asked to show that.
    fn thought(&self) -> Option<&str> {
        (self.request.thinks && !self.reply.thought.is_empty()).then_some(self.reply.thought.as_str())
    }

    /// Its text, if it has one.
    fn text(&self) -> Option<&str> {
        (!self.reply.text.is_empty()).then_some(self.reply.text.as_str())
    }

    /// A name for the response that is the same whenever the request is, and otherwise another one: clients take answers
    /// of one name for one response. Handles do not count: they differ from store to store.
    fn id(&self, kind: &str) -> String {
        let mut hasher = DefaultHasher::new();
        without_handles(&self.request.text).hash(&mut hasher);
        format!("{kind}{:016x}", hasher.finish())
    }
}

/// A text in pieces, as models stream it.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ').flat_map(|word| {
        // Long words come in several pieces too.
        let mut rest = word;
        std::iter::from_fn(move || {
            let end = rest.char_indices().nth(24).map_or(rest.len(), |(at, _)| at);
            let (piece, behind) = rest.split_at_checked(end)?;
            rest = behind;
            (!piece.is_empty()).then_some(piece)
        })
    })
}
