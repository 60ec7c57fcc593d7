//! An answer, spelled in the language of the request.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use std::hash::{DefaultHasher, Hash, Hasher};

use std::fmt;

use serde_json::Value;

use super::cache::Reuse;
use super::scenario::Turn;
use super::talk::Talk;
use super::wire::Wire;

/// What the model signs its thoughts with.
pub(super) const SIGNATURE: &str = "c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=";

/// What the model says to a request.
#[derive(Debug)]
pub(super) struct Answer<'t> {
    talk: &'t Talk,
    turn: Turn,
    usage: Usage,
}

/// What an answer costs, in tokens.
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

impl<'t> Answer<'t> {
    pub(super) fn new(talk: &'t Talk, turn: Turn, reuse: Reuse) -> Self {
        let calls = turn.calls.iter().map(|call| call.input.to_string().len()).sum::<usize>();
        let output = (turn.text.len() + turn.thought.len() + calls) as u64 / 4 + 1;
        let input = talk.tokens();
        let usage = Usage { input, cached: reuse.cached.min(input), output };
        Self { talk, turn, usage }
    }

    /// The answer in one piece.
    pub(super) fn whole(&self) -> Value {
        match self.talk.wire {
            Wire::Anthropic => anthropic::whole(self),
            Wire::Chat => chat::whole(self),
            Wire::Responses => responses::whole(self),
            Wire::Gemini => gemini::whole(self),
        }
    }

    /// The answer as a stream.
    pub(super) fn events(&self) -> Vec<Event> {
        match self.talk.wire {
            Wire::Anthropic => anthropic::events(self),
            Wire::Chat => chat::events(self),
            Wire::Responses => responses::events(self),
            Wire::Gemini => gemini::events(self),
        }
    }

    /// What it thinks, if it was asked to show that.
    fn thought(&self) -> Option<&str> {
        (self.talk.thinks && !self.turn.thought.is_empty()).then_some(self.turn.thought.as_str())
    }

    /// Its text, if it has one.
    fn text(&self) -> Option<&str> {
        (!self.turn.text.is_empty()).then_some(self.turn.text.as_str())
    }

    /// A name for the answer that is the same whenever the request is, and otherwise another one: clients take answers
    /// of one name for one answer.
    fn id(&self, kind: &str) -> String {
        let mut hasher = DefaultHasher::new();
        self.talk.text.hash(&mut hasher);
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
