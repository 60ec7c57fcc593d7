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

mod branch;
mod chain;
mod layout;
mod lender;
mod matching;
mod registry;
mod spans;
mod talk;
mod window;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use secateur::session::Turn;
use secateur::{Catalogue, Usage};
use secateur_engine::{Engine, EngineError, Opening};
use secateur_formats::Wire;

use crate::route::Kind;
use branch::{Branch, Work};
use chain::{Id, Link};
use layout::{Composed, Layout};
use matching::Received;
use registry::Registry;
use spans::Opaque;
use window::Windows;

pub(crate) use lender::Lender;
use talk::Ask;
pub(crate) use talk::Talk;

/// How often a request is thought over again because somebody else changed the session.
const TRIES: u32 = 8;

/// How long the store may take to answer a simple question. Who waits longer is better served without us.
const PATIENCE: Duration = Duration::from_secs(5);

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
}

/// How a request went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Report {
    /// What the provider counted, if it said so.
    pub usage: Option<Usage>,
    /// Whether the model has more to do.
    pub turn: Turn,
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
}

/// Why a request is passed on with less done to it than might have been.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Hindrance {
    /// It is no conversation that could be read.
    #[error(transparent)]
    Opaque(#[from] Opaque),
    /// The conversation lies at the provider.
    #[error("the conversation is kept by the provider")]
    Remote,
    /// The provider keeps it small by itself.
    #[error("the provider is asked to keep the conversation small by itself")]
    Managed,
    /// The engine or its store did not do as it was asked.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The store did not answer.
    #[error("the store did not answer within {PATIENCE:?}")]
    Slow,
    /// What was decided would have been refused by the provider.
    #[error("the provider would refuse what was decided: {rule}")]
    Lint {
        /// The rule that would be broken, and where.
        rule: String,
    },
}

impl Hindrance {
    /// Whether somebody else was faster: it may be tried again.
    fn is_collision(&self) -> bool {
        matches!(self, Hindrance::Engine(error) if error.is_collision())
    }

    /// One word for a counter.
    fn cause(&self) -> &'static str {
        match self {
            Hindrance::Opaque(_) => "not-understood",
            Hindrance::Remote => "kept-by-provider",
            Hindrance::Managed => "managed-by-provider",
            Hindrance::Engine(EngineError::Store(_)) | Hindrance::Slow => "store",
            Hindrance::Engine(EngineError::NoRoom(_)) => "no-room",
            Hindrance::Engine(_) => "internal",
            Hindrance::Lint { .. } => "lint",
        }
    }
}

impl Conversations {
    /// Conversations that an engine decides about, by this profile.
    pub(crate) fn new(engine: Engine, profile: &str, catalogue: Catalogue) -> Self {
        let (registry, windows) = (Registry::new(), Windows::new(catalogue));
        Self { inside: Arc::new(Inside { engine, profile: profile.to_owned(), registry, windows }) }
    }

    /// What is to be sent in the place of a request.
    pub(crate) async fn prepare(&self, asked: Asked<'_>) -> Ready {
        let body = asked.body.clone();
        match self.try_prepare(asked).await {
            Ok(ready) => ready,
            Err(hindrance) => {
                if !matches!(hindrance, Hindrance::Remote | Hindrance::Managed) {
                    tracing::warn!(cause = hindrance.cause(), why = %hindrance, "a request is passed on as it came");
                }
                let bytes = body.len() as u64;
                let note = Note { did: "passed", cause: Some(hindrance.cause()), ..Note::default() };
                let note = Note { bytes_in: bytes, bytes_out: bytes, ..note };
                Ready { body: vec![body], note, talk: None, is_tight: false }
            }
        }
    }

    async fn try_prepare(&self, asked: Asked<'_>) -> Result<Ready, Hindrance> {
        let inside = &self.inside;
        let key = client_key(asked.headers);
        let (received, found) = matching::recognise(&inside.registry, asked.wire, asked.body, key)?;
        if received.frame.is_remote {
            return Err(Hindrance::Remote);
        }
        if received.frame.is_managed {
            return Err(Hindrance::Managed);
        }
        let model = received.frame.model.as_deref().or(asked.model).unwrap_or_default().to_owned();
        let target = inside.windows.target(&model, &received.frame, asked.headers);
        if asked.kind == Kind::Count {
            return self.replay(&received, found.as_deref()).await;
        }
        let key = key.or(received.frame.key.as_deref()).map(str::to_owned);
        let received = Arc::new(received);
        let lent = asked.lender.lend(asked.wire, &model, target.limits, asked.headers);
        let ask = Ask { received, target, lent };
        for _ in 0..TRIES {
            let branch = inside.branch(&ask.received, found.clone(), key.as_deref()).await?;
            match inside.fit(branch.clone(), &ask).await {
                Ok((branch, fitted)) => return Ok(self.ready(&branch, ask, fitted)),
                Err(hindrance) if hindrance.is_collision() => {
                    tracing::debug!(session = branch.session(), "somebody else was faster");
                }
                Err(hindrance @ Hindrance::Lint { .. }) => return Err(hindrance),
                Err(hindrance) => {
                    // What is in memory may be half done; the store knows.
                    inside.registry.remove(&branch);
                    return Err(hindrance);
                }
            }
        }
        Err(EngineError::Busy {
            session: found.map(|branch| branch.session().to_owned()).unwrap_or_default(),
        }
        .into())
    }

    /// A request that is not part of the conversation but about it: what was decided is replayed, nothing is decided.
    async fn replay(&self, received: &Received, branch: Option<&Branch>) -> Result<Ready, Hindrance> {
        let mut note = Note { did: "kept", bytes_in: received.body.len() as u64, ..Note::default() };
        let mut body = vec![received.body.clone()];
        if let Some(branch) = branch {
            let work = branch.work().await;
            let chain = branch.chain();
            if received.common(&chain) == chain.len() {
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
        let Fitted { composed: Composed { body, cuts, replaced }, did, cause, is_tight } = fitted;
        let note = Note {
            did,
            cause,
            session: Some(branch.session().to_owned()),
            cuts,
            replaced,
            bytes_in: ask.received.body.len() as u64,
            bytes_out: body.iter().map(|piece| piece.len() as u64).sum(),
        };
        let talk = Talk::new(self.clone(), branch.clone(), ask);
        Ready { body, note, talk: Some(talk), is_tight }
    }
}

/// A request that fits.
pub(crate) struct Fitted {
    composed: Composed,
    did: &'static str,
    cause: Option<&'static str>,
    is_tight: bool,
}

impl Inside {
    /// The branch that a request goes on.
    async fn branch(
        &self,
        received: &Received,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Arc<Branch>, Hindrance> {
        /// So many messages come new with a request if an agent calls many tools at once.
        const USUAL: usize = 12;
        let root = received.elements.first().map(|element| element.id);
        let root = root.ok_or(Hindrance::Opaque(Opaque::NoList))?;
        let shared = found.as_ref().map_or(0, |branch| received.common(&branch.chain()));
        let fresh = received.elements.len() - shared;
        let is_usual = if shared == 0 { fresh < 3 } else { fresh <= USUAL };
        if !is_usual && let Some(branch) = self.stored_branch(root, received, shared, key).await? {
            return Ok(branch);
        }
        if let Some(branch) = found.filter(|_| shared > 0) {
            return Ok(branch);
        }
        let opening = Opening {
            wire: received.wire,
            profile: Some(self.profile.clone()),
            title: key.map(str::to_owned),
            ..Opening::default()
        };
        let session = self.engine.begin(opening)?;
        let branch = Branch::new(root, session, key.map(str::to_owned), Vec::new());
        Ok(self.registry.add(Arc::new(branch)))
    }

    /// The branch of a session in the store that shares more than `shared` messages with a request.
    async fn stored_branch(
        &self,
        root: Id,
        received: &Received,
        shared: usize,
        key: Option<&str>,
    ) -> Result<Option<Arc<Branch>>, Hindrance> {
        let ids: Vec<Id> = received.elements.iter().map(|element| element.id).collect();
        let found = patiently(branch::find(&self.engine, &ids, |_| true)).await?;
        let Some((place, found)) = found.filter(|(place, _)| *place + 1 > shared) else { return Ok(None) };
        if let Some(branch) = self.registry.of_session(root, &found.session) {
            return Ok(Some(branch));
        }
        let session = patiently(self.engine.follow(&found.session)).await?;
        if session.wire() != received.wire {
            return Ok(None);
        }
        let known = received.elements.get(..=place).unwrap_or_default();
        let mut chain: Vec<Link> =
            known.iter().map(|element| Link::new(element.id, 0, element.spelling)).collect();
        branch::number(&mut chain, &session);
        let branch = Branch::new(root, session, key.map(str::to_owned), chain);
        Ok(Some(self.registry.add(Arc::new(branch))))
    }

    /// Makes a request fit on a branch, or on another one if it leaves this one on the way.
    async fn fit(&self, branch: Arc<Branch>, ask: &Ask) -> Result<(Arc<Branch>, Fitted), Hindrance> {
        let received = &ask.received;
        let mut branch = branch;
        loop {
            let mut work = branch.work().await;
            if let Err(hindrance) = patiently(work.catch_up(&self.engine, &branch, received)).await {
                let fitted = replay_without_store(&mut work, &branch, received, hindrance)?;
                drop(work);
                return Ok((branch, fitted));
            }
            let shared = received.common(&branch.chain());
            if !work.rewind(&branch, shared).await? {
                let fork = self.registry.add(Arc::new(work.fork(&self.engine, &branch, shared).await?));
                drop(work);
                branch = fork;
                continue;
            }
            work.take(&branch, received, shared).await?;
            let fitted = match self.decide(&mut work, &branch, ask).await {
                Err(hindrance @ (Hindrance::Engine(EngineError::Store(_)) | Hindrance::Slow))
                    if !hindrance.is_collision() =>
                {
                    replay_without_store(&mut work, &branch, received, hindrance)?
                }
                decided => decided?,
            };
            drop(work);
            return Ok((branch, fitted));
        }
    }

    /// Lets the session decide, and looks at what comes of it.
    async fn decide(&self, work: &mut Work, branch: &Branch, ask: &Ask) -> Result<Fitted, Hindrance> {
        let received = &ask.received;
        work.session.lend(ask.lent.clone());
        let chain = branch.chain();
        let (mut once, mut events, mut cause, mut is_tight) = (Vec::new(), Vec::new(), None, false);
        if received.is_compaction() && work.has_room(&ask.target) {
            // The client makes a summary of its own: it should see all that there is to see.
            cause = Some("client-compacts");
        } else if work.is_resigned {
            cause = Some("lint");
        } else {
            match work.session.fit(&ask.target, received.frame.bytes).await {
                Ok(fit) => {
                    is_tight = fit.usable.is_some_and(|usable| fit.tokens > usable / 2);
                    (once, events) = (fit.once, fit.events);
                }
                Err(EngineError::NoRoom(_)) => {
                    // The provider has the last word: it may count otherwise.
                    (events, cause, is_tight) = (work.session.happened(), Some("no-room"), true);
                }
                Err(error) => return Err(error.into()),
            }
        }
        work.layout.update(&work.session, &chain);
        let composed = if once.is_empty() {
            work.layout.apply(received)?
        } else {
            Layout::of(&work.session, &chain, &once).apply(received)?
        };
        let mut did = work.done(events);
        if did != "kept" {
            work.check(received, &composed).await?;
        } else if composed.cuts + composed.replaced > 0 {
            did = "replayed";
        }
        work.session.lend(None);
        Ok(Fitted { composed, did, cause, is_tight })
    }
}

/// The store is away. What was decided is still known, and sending more than before would only make it worse.
fn replay_without_store(
    work: &mut Work,
    branch: &Branch,
    received: &Received,
    hindrance: Hindrance,
) -> Result<Fitted, Hindrance> {
    let speaks_of = work.layout.len();
    if speaks_of == 0 || received.common(&branch.chain()) < speaks_of {
        return Err(hindrance);
    }
    tracing::warn!(cause = hindrance.cause(), why = %hindrance, "what was decided before is replayed");
    let composed = work.layout.apply(received)?;
    let did = if composed.cuts + composed.replaced > 0 { "replayed" } else { "kept" };
    Ok(Fitted { composed, did, cause: Some(hindrance.cause()), is_tight: true })
}

/// What a client calls its conversation, if it says so in a header.
fn client_key(headers: &HeaderMap) -> Option<&str> {
    const NAMES: [&str; 4] = ["x-claude-code-session-id", "x-session-affinity", "x-session-id", "session-id"];
    NAMES.iter().find_map(|name| headers.get(*name)).and_then(|value| value.to_str().ok())
}

/// Waits for the store, but not for ever.
async fn patiently<T>(work: impl Future<Output = Result<T, EngineError>>) -> Result<T, Hindrance> {
    match tokio::time::timeout(PATIENCE, work).await {
        Ok(done) => Ok(done?),
        Err(_) => Err(Hindrance::Slow),
    }
}

#[cfg(test)]
mod tests;
