//! The conversations that pass through: what is known of each, and what becomes of a request.

use bytes::Bytes;
use http::HeaderMap;
use secateur::Usage;
use secateur::session::Turn;
use secateur_engine::provider::Overflow;
use secateur_formats::Wire;

use crate::route::Kind;

/// A request with a conversation in it.
pub(crate) struct Asked<'r> {
    pub wire: Wire,
    pub kind: Kind,
    /// The model, where the path names it.
    pub model: Option<&'r str>,
    pub headers: &'r HeaderMap,
    pub body: &'r Bytes,
}

/// A request that may be sent.
pub(crate) struct Ready {
    /// The body, piece by piece; slices of the original wherever nothing was cut.
    pub body: Vec<Bytes>,
    /// What was done.
    pub note: Note,
    /// The conversation that waits to hear how it went; none if the request was passed through unread.
    pub talk: Option<Talk>,
}

/// What was done to a request, for headers, logs and counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    /// One word: `passed`, `kept`, `replayed`, `pruned`, `compacted`.
    pub did: &'static str,
    /// Why it was passed through unread, as one word for a counter.
    pub cause: Option<&'static str>,
    pub session: Option<String>,
    pub cuts: u32,
    /// Bytes of the body as it came, and as it goes.
    pub bytes_in: u64,
    pub bytes_out: u64,
}

/// A conversation that waits to hear how its request went.
pub(crate) struct Talk {}

/// How a request went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// What the provider counted, if it said so.
    pub usage: Option<Usage>,
    /// Whether the model has more to do.
    pub turn: Turn,
}

/// All conversations.
#[derive(Default)]
pub(crate) struct Conversations {}

impl Conversations {
    /// What is to be sent in the place of a request.
    pub(crate) async fn prepare(&self, asked: Asked<'_>) -> Ready {
        let bytes = asked.body.len() as u64;
        let note = Note { did: "kept", bytes_in: bytes, bytes_out: bytes, ..Note::default() };
        Ready { body: vec![asked.body.clone()], note, talk: Some(Talk {}) }
    }
}

impl Talk {
    /// The provider refused the request as too long: what is to be sent instead; none if nothing can be done, and then
    /// the refusal is passed on.
    pub(crate) async fn overflowed(self, _said: Overflow) -> Option<Ready> {
        None
    }

    /// The model answered. Does not wait for anything: what follows is done apart.
    pub(crate) fn answered(self, _report: Report) {}
}
