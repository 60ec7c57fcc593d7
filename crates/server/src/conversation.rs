//! The conversations that pass through: what is known of each, and what becomes of a request.
//!
//! ```text
//!   body ──recognise──▶ Received + Branch ──take──▶ Session ──fit──▶ Layout ──apply──▶ slices of the body
//!          (spans,       (the longest        (new      (prune,        (what stands
//!           chain)        chain shared)       tail)     compact)       where)
//! ```
//!
//! A branch of a conversation is a session of the engine that follows the client's history. What was decided about it is
//! in the store before it is sent, so that every process decides the same; what was only said is stored later, after the
//! answer. When anything goes wrong, the request goes on as it came.

mod background_tasks;
mod branch;
mod branch_state;
mod cache_miss;
mod chain;
mod client_model;
mod compaction_request;
mod decision;
mod error;
mod fidelity;
mod layout;
mod lookup;
mod model_windows;
mod pending_exchange;
mod recognition;
mod registry;
mod spans;
mod timeout_store;

use std::sync::Arc;

use bytes::Bytes;
use http::HeaderMap;
use secateur::session::{Event, TurnState};
use secateur::{Catalogue, Price, Usage};
use secateur_engine::Engine;
use secateur_formats::Wire;

use crate::metrics::Tally;
use crate::route::Kind;
use background_tasks::Apart;
use branch::Branch;
use decision::Fitted;
use error::Hindrance;
use layout::{Composed, Layout};
use model_windows::{Window, Windows};
use pending_exchange::{Ask, Hold};
use recognition::Received;
use registry::Registry;
use timeout_store::Patient;

pub(crate) use client_model::Lender;
pub(crate) use error::TooDeep;
pub(crate) use pending_exchange::Talk;

/// A request with a conversation in it.
pub(crate) struct Asked<'r> {
    pub wire: Wire,
    pub kind: Kind,
    /// The model, where the path names it.
    pub model: Option<&'r str>,
    pub headers: &'r HeaderMap,
    pub body: &'r Bytes,
    /// Where the request goes, and what it is allowed by: summaries are made through the same door.
    pub lender: Lender,
}

/// A request that may be sent.
pub(crate) struct Ready {
    /// The body, piece by piece; slices of the original wherever nothing was cut.
    pub body: Vec<Bytes>,
    /// What was done.
    pub note: Note,
    /// The conversation that waits to hear how it went; none if the request was passed through unread.
    pub talk: Option<Talk>,
    /// It may turn out to be too long all the same.
    pub is_tight: bool,
}

/// What was done to a request, for headers, logs and counters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Note {
    /// One word: `passed`, `kept`, `replayed`, `pruned`, `compacted`.
    pub did: &'static str,
    /// Why less was done than might have been, as one word for a counter.
    pub cause: Option<&'static str>,
    pub session: Option<String>,
    /// Cuts in what is sent.
    pub cuts: u32,
    /// Messages that a summary stands for in what is sent.
    pub replaced: u32,
    /// Bytes of the body as it came, and as it goes.
    pub bytes_in: u64,
    pub bytes_out: u64,
    /// The model that is asked, its window, and what it costs.
    pub model: String,
    pub window: i64,
    pub price: Option<Price>,
    /// Bytes that are another than they were, outside of cuts and summaries. There are none.
    pub altered: u64,
    /// What happened to the conversation since its last request.
    pub happened: Vec<Event>,
}

/// How a request went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// What the provider counted, if it said so.
    pub usage: Option<Usage>,
    /// Whether the model has more to do.
    pub turn: TurnState,
}

/// All conversations.
#[derive(Clone)]
pub(crate) struct Conversations {
    inside: Arc<Inside>,
}

struct Inside {
    engine: Engine,
    profile: String,
    registry: Registry,
    windows: Windows,
    apart: Arc<Apart>,
}

impl Conversations {
    /// Conversations that an engine decides about, by this profile.
    pub(crate) fn new(engine: Engine, profile: &str, catalogue: Catalogue, tally: Arc<Tally>) -> Self {
        let engine = engine.with_store_behind(Patient::in_front_of);
        let (registry, windows, apart) = (Registry::new(), Windows::new(catalogue), Apart::new(tally));
        Self { inside: Arc::new(Inside { engine, profile: profile.to_owned(), registry, windows, apart }) }
    }

    /// Waits until what was said and learned is stored, for whoever stops.
    pub(crate) async fn rest(&self) {
        self.inside.apart.rest().await;
    }

    /// What is to be sent in the place of a request.
    pub(crate) async fn prepare(&self, asked: Asked<'_>) -> Result<Ready, TooDeep> {
        let body = asked.body.clone();
        Ok(match self.try_prepare(asked).await {
            Ok(ready) => ready,
            Err(hindrance) if hindrance.is_hostile() => return Err(TooDeep),
            Err(hindrance) => {
                if !matches!(hindrance, Hindrance::Remote | Hindrance::Managed) {
                    tracing::warn!(cause = hindrance.cause(), why = %hindrance, "a request is passed on as it came");
                }
                let bytes = body.len() as u64;
                let note = Note { did: "passed", cause: Some(hindrance.cause()), ..Note::default() };
                let note = Note { bytes_in: bytes, bytes_out: bytes, ..note };
                Ready { body: vec![body], note, talk: None, is_tight: false }
            }
        })
    }

    async fn try_prepare(&self, asked: Asked<'_>) -> Result<Ready, Hindrance> {
        let inside = &self.inside;
        let key = client_key(asked.headers);
        let (received, found) = recognition::recognise(&inside.registry, asked.wire, asked.body, key)?;
        if received.frame.is_remote {
            return Err(Hindrance::Remote);
        }
        if received.frame.is_managed {
            return Err(Hindrance::Managed);
        }
        let model = received.frame.model.as_deref().or(asked.model).unwrap_or_default().to_owned();
        let key = key.or(received.frame.key.as_deref()).map(str::to_owned);
        if asked.kind == Kind::Count {
            return self.replay(&received, found, key.as_deref()).await;
        }
        let window = Window::new(&model, asked.headers);
        let target = inside.windows.target(&window, &received.frame);
        let lent = asked.lender.lend(asked.wire, &model, target.limits, asked.headers);
        let ask = Ask { received: Arc::new(received), key, target, window, lent, hold: Hold::default() };
        let (branch, fitted) = inside.go_on(found, &ask).await?;
        Ok(self.ready(&branch, ask, fitted))
    }

    /// A request that is not part of the conversation but about it: what was decided is replayed, nothing is decided.
    async fn replay(
        &self,
        received: &Received,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Ready, Hindrance> {
        let mut note = Note { did: "kept", bytes_in: received.body.len() as u64, ..Note::default() };
        let mut body = vec![received.body.clone()];
        if let Some(branch) = self.inside.known_branch(received, found, key).await? {
            let work = branch.work().await;
            let chain = branch.chain();
            if received.common(&chain) == chain.len() && work.check_current(&branch).is_ok() {
                let composed = Layout::of(&work.session, &chain, &[]).apply(received)?;
                note = Note {
                    did: if composed.cuts + composed.replaced > 0 { "replayed" } else { "kept" },
                    ..note
                };
                (note.cuts, note.replaced) = (composed.cuts, composed.replaced);
                body = composed.body;
            }
            note.session = Some(branch.session().to_owned());
        }
        note.bytes_out = body.iter().map(|piece| piece.len() as u64).sum();
        Ok(Ready { body, note, talk: None, is_tight: false })
    }

    fn ready(&self, branch: &Arc<Branch>, ask: Ask, fitted: Fitted) -> Ready {
        let Fitted { composed, did, happened, cause, is_tight, sent } = fitted;
        let Composed { body, cuts, replaced, altered } = composed;
        let note = Note {
            did,
            cause,
            session: Some(branch.session().to_owned()),
            cuts,
            replaced,
            bytes_in: ask.received.body.len() as u64,
            bytes_out: body.iter().map(|piece| piece.len() as u64).sum(),
            model: ask.target.model.clone(),
            window: ask.target.limits.context,
            price: self.inside.windows.price(&ask.target.model),
            altered,
            happened,
        };
        let talk = Talk::new(self.clone(), branch.clone(), ask, sent, &note);
        Ready { body, note, talk: Some(talk), is_tight }
    }
}

/// What a client calls its conversation, if it says so in a header.
fn client_key(headers: &HeaderMap) -> Option<&str> {
    const NAMES: [&str; 4] = ["x-claude-code-session-id", "x-session-affinity", "x-session-id", "session-id"];
    NAMES.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests;
