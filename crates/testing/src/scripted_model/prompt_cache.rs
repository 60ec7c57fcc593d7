//! A model of a provider's prompt cache: how much of a request was known from earlier ones.
//!
//! A request is laid out in the order in which providers read it: tools, instructions, messages, all without cache
//! marks, which move. The layout is cut into blocks; a block is known if it came before with the same beginning.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash, Hasher};

use serde_json::Value;

use super::request::ClientRequest;
use super::wire;

/// The bytes of a block: 64 tokens.
const BLOCK: usize = 256;

/// Less than this many tokens are not worth keeping.
const LEAST: u64 = 1_024;

/// What earlier requests left behind.
#[derive(Debug, Default)]
pub(super) struct PromptCache {
    known: HashMap<String, HashSet<u64>>,
    last: HashMap<(String, u64), Layout>,
}

/// How a request relates to earlier ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reuse {
    /// The tokens at its beginning that some earlier request of the model began with.
    pub cached: u64,
    /// The tokens that it has in common with the previous request of its conversation.
    pub kept: u64,
    /// How many there were to keep: those of the previous request without its last message.
    pub keepable: u64,
}

impl Reuse {
    /// Whether something was changed before the end of the previous request.
    pub(super) fn is_broken(self) -> bool {
        self.kept < self.keepable
    }
}

#[derive(Debug)]
struct Layout {
    text: String,
    /// Where the last message begins.
    last: usize,
    /// Tools and instructions, which tell conversations apart that run at the same time.
    tools: u64,
}

impl PromptCache {
    /// Puts a request in.
    pub(super) fn enter(&mut self, request: &ClientRequest) -> Reuse {
        let layout = Layout::of(request);
        let known = self.known.entry(request.model.clone()).or_default();
        let mut chain = DefaultHasher::new();
        let mut found = 0;
        let mut is_prefix = true;
        for block in layout.text.as_bytes().chunks_exact(BLOCK) {
            block.hash(&mut chain);
            is_prefix &= !known.insert(chain.finish());
            found += usize::from(is_prefix);
        }
        let cached = tokens(found * BLOCK);
        let cached = if cached < LEAST { 0 } else { cached };
        let key = (request.model.clone(), layout.tools);
        let (kept, keepable) = self.last.get(&key).map_or((0, 0), |previous| {
            let pairs = previous.text.bytes().zip(layout.text.bytes());
            (pairs.take_while(|(one, other)| one == other).count(), previous.last)
        });
        self.last.insert(key, layout);
        Reuse { cached, kept: tokens(kept), keepable: tokens(keepable) }
    }
}

impl Layout {
    fn of(request: &ClientRequest) -> Self {
        let mut text = String::new();
        let mut add = |value: Option<&Value>| {
            if let Some(value) = value {
                text += &unmarked(value).to_string();
            }
        };
        add(request.body.get("tools"));
        add(request.body.get(wire::system_field(request.wire)));
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let mut last = text.len();
        match request.body.get(wire::messages_field(request.wire)) {
            Some(Value::Array(messages)) => {
                for message in messages {
                    last = text.len();
                    text += &unmarked(message).to_string();
                }
            }
            Some(other) => text += &other.to_string(),
            None => {}
        }
        Self { text, last, tools: hasher.finish() }
    }
}

/// A value without cache marks.
fn unmarked(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(unmarked).collect(),
        Value::Object(map) => map
            .iter()
            .filter(|(key, _)| *key != "cache_control")
            .map(|(key, value)| (key.clone(), unmarked(value)))
            .collect(),
        other => other.clone(),
    }
}

fn tokens(bytes: usize) -> u64 {
    bytes as u64 / 4
}
