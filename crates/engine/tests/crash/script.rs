//! What is said in these tests. Every message follows from its id, so that it need not be remembered to
//! find out later whether it is still there.

use std::time::Duration;

use secateur::Limits;
use secateur_engine::{Engine, NewMessage, Target};
use serde_json::json;

/// Short, because a process that takes over from a killed one waits that long.
const LEASE: Duration = Duration::from_millis(60);

/// The engine of all processes of a test.
pub(crate) async fn engine(url: &str) -> Engine {
    Engine::new(secateur_store::open(url).await.unwrap()).with_lease(LEASE)
}

/// A small model, so that something is always about to be pruned or compacted.
pub(crate) fn target() -> Target {
    let limits = Limits { context: 4_000, output: Some(500), ..Limits::default() };
    Target { limits, ..Target::new("model", 4_000) }
}

/// A source of chance that can be asked again for the same.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`.
    pub(crate) fn below(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % sides
    }
}

/// The messages that are appended at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Batch {
    /// A request, a call, its result and an answer.
    Turn,
    /// A request and a call,
    Begin,
    /// and what follows them.
    End,
    /// A request alone.
    Ask,
}

impl Batch {
    fn roles(self) -> &'static [&'static str] {
        match self {
            Batch::Turn => &["user", "call", "result", "answer"],
            Batch::Begin => &["user", "call"],
            Batch::End => &["result", "answer"],
            Batch::Ask => &["user"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Batch::Turn => "turn",
            Batch::Begin => "begin",
            Batch::End => "end",
            Batch::Ask => "ask",
        }
    }

    /// The ids of its messages. The name of the turn ties a call to its result.
    pub(crate) fn ids(self, turn: &str) -> Vec<String> {
        self.roles().iter().map(|role| format!("{turn}/{}/{role}", self.name())).collect()
    }

    /// Its messages.
    pub(crate) fn messages(self, turn: &str) -> Vec<NewMessage> {
        let message = |id: String| NewMessage { json: said(&id).into(), id: Some(id), pinned: false };
        self.ids(turn).into_iter().map(message).collect()
    }
}

/// The ids of all messages that were appended together with this one.
pub(crate) fn companions(id: &str) -> Vec<String> {
    let mut names = id.split('/');
    let (turn, name) = (names.next().unwrap(), names.next().unwrap());
    let batches = [Batch::Turn, Batch::Begin, Batch::End, Batch::Ask];
    let batch = batches.into_iter().find(|batch| batch.name() == name).unwrap();
    batch.ids(turn)
}

/// What the message of this id says.
pub(crate) fn said(id: &str) -> String {
    let (turn, role) = (id.split('/').next().unwrap(), id.rsplit('/').next().unwrap());
    let seed = id.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let lines = usize::try_from(Random::new(seed).below(200)).unwrap();
    let call = format!("call-{turn}");
    let message = match role {
        "user" => json!({"role": "user", "content": format!("Please look at file {turn}.rs.")}),
        "call" => {
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": call, "type": "function",
            "function": {"name": "read", "arguments": format!("{{\"path\":\"src/{turn}.rs\"}}")}}]})
        }
        "result" => {
            json!({"role": "tool", "tool_call_id": call, "content": format!("line of {turn}\n").repeat(lines)})
        }
        _ => json!({"role": "assistant", "content": format!("File {turn}.rs is fine.")}),
    };
    message.to_string()
}
