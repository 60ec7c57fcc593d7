//! From a request and the branch that it goes on to the request that is sent.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::Event;
use secateur_engine::{EngineError, SessionOptions};
use tokio::time::sleep;

use super::Inside;
use super::branch::Branch;
use super::branch_state::Work;
use super::chain::{Id, Link};
use super::error::Hindrance;
use super::layout::{Composed, Layout};
use super::lookup;
use super::pending_exchange::Ask;
use super::recognition::Received;
use super::spans::Opaque;

/// How often a request is thought over again because somebody else changed the session.
pub(super) const TRIES: u32 = 24;

/// How long it waits before that at most. Who is faster each time is soon done.
const PAUSE: Duration = Duration::from_millis(100);

/// A request that fits.
pub(crate) struct Fitted {
    pub composed: Composed,
    pub did: &'static str,
    /// What happened since the last request.
    pub happened: Vec<Event>,
    pub cause: Option<&'static str>,
    pub is_tight: bool,
    /// The characters that the session let through, if it was asked: what the provider says is about those.
    pub sent: Option<u64>,
}

impl Inside {
    /// Makes a request fit, on whichever branch it goes on.
    pub(super) async fn go_on(
        &self,
        found: Option<Arc<Branch>>,
        ask: &Ask,
    ) -> Result<(Arc<Branch>, Fitted), Hindrance> {
        let mut found = found;
        for attempt in 0..TRIES {
            let branch = self.branch(&ask.received, found.clone(), ask.key.as_deref()).await?;
            match self.fit(branch.clone(), ask).await {
                Ok(fitted) => return Ok(fitted),
                Err(hindrance) if hindrance.is_collision() => {
                    tracing::debug!(session = branch.session(), "somebody else was faster");
                    if let Some(doublings) = attempt.checked_sub(2) {
                        sleep(PAUSE.min(Duration::from_millis(1 << doublings.min(10)))).await;
                    }
                }
                Err(hindrance) if hindrance.is_orphaned() => {
                    tracing::warn!(
                        session = branch.session(),
                        "the store does not know the session any more"
                    );
                    self.registry.remove(&branch);
                    found = None;
                }
                Err(hindrance @ Hindrance::Lint { .. }) => return Err(hindrance),
                Err(hindrance) => {
                    // What is in memory may be half done; the store knows.
                    self.registry.remove(&branch);
                    return Err(hindrance);
                }
            }
        }
        let session = found.map(|branch| branch.session().to_owned()).unwrap_or_default();
        Err(EngineError::Busy { session }.into())
    }

    /// The branch that a request goes on. If nobody knows one, it is a new one.
    async fn branch(
        &self,
        received: &Received,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Arc<Branch>, Hindrance> {
        if let Some(branch) = self.known_branch(received, found, key).await? {
            return Ok(branch);
        }
        let opening = SessionOptions {
            wire: received.wire,
            profile: Some(self.profile.clone()),
            title: key.map(str::to_owned),
            ..SessionOptions::default()
        };
        let session = self.engine.follow_new(opening)?;
        let branch =
            Branch::new(root(received)?, session, key.map(str::to_owned), Vec::new(), self.apart.clone());
        Ok(self.registry.add(Arc::new(branch)))
    }

    /// The branch that a request goes on, if there is one: this one that was found in memory, or one in the store.
    pub(super) async fn known_branch(
        &self,
        received: &Received,
        found: Option<Arc<Branch>>,
        key: Option<&str>,
    ) -> Result<Option<Arc<Branch>>, Hindrance> {
        let root = root(received)?;
        let shared = found.as_ref().map_or(0, |branch| received.common(&branch.chain()));
        if let Some(branch) = found.filter(|_| shared > 0) {
            // Another process may have heard what is new here, or the same as we did: the session to go on with is the
            // same for both, then. If the store does not say, what is known is good enough.
            let known = shared.min(received.elements.len() - 1);
            let stored = self.stored_branch(root, received, known, key).await.unwrap_or_default();
            // One that ends here need not be left for one that goes on otherwise.
            let ends = |branch: &Branch| branch.chain().len() == received.elements.len();
            let stored = stored.filter(|stored| ends(stored) || !ends(&branch));
            return Ok(Some(stored.unwrap_or(branch)));
        }
        if received.elements.len() > 2 {
            return self.stored_branch(root, received, 0, key).await;
        }
        Ok(None)
    }

    /// The branch of a session in the store that shares more than these `shared` messages with a request.
    async fn stored_branch(
        &self,
        root: Id,
        received: &Received,
        shared: usize,
        key: Option<&str>,
    ) -> Result<Option<Arc<Branch>>, Hindrance> {
        let ids: Vec<Id> = received.elements.iter().skip(shared).map(|element| element.id).collect();
        let Some((place, found)) = lookup::find(&self.engine, &ids).await? else { return Ok(None) };
        let place = shared + place;
        if let Some(branch) = self.registry.of_session(root, &found.session) {
            return Ok(Some(branch));
        }
        let session = self.engine.follow(&found.session).await?;
        if session.wire() != received.wire {
            return Ok(None);
        }
        let known = received.elements.get(..=place).unwrap_or_default();
        let mut chain: Vec<Link> =
            known.iter().map(|element| Link::new(element.id, 0, element.spelling)).collect();
        lookup::number(&mut chain, &session).await?;
        let branch = Branch::new(root, session, key.map(str::to_owned), chain, self.apart.clone());
        Ok(Some(self.registry.add(Arc::new(branch))))
    }

    /// Makes a request fit on a branch, or on another one if it leaves this one on the way.
    pub(super) async fn fit(
        &self,
        branch: Arc<Branch>,
        ask: &Ask,
    ) -> Result<(Arc<Branch>, Fitted), Hindrance> {
        let received = &ask.received;
        let mut branch = branch;
        loop {
            let mut work = branch.work().await;
            if let Err(error) = work.catch_up(&branch, received).await {
                let hindrance = Hindrance::from(error);
                if hindrance.is_orphaned() {
                    return Err(hindrance);
                }
                let fitted = replay_without_store(&mut work, &branch, received, hindrance)?;
                drop(work);
                return Ok((branch, fitted));
            }
            let shared = received.common(&branch.chain());
            if !work.rewind(&branch, shared).await? {
                let fork = self.registry.add(Arc::new(work.fork(&branch, shared).await?));
                drop(work);
                branch = fork;
                continue;
            }
            ask.hold.on(&branch);
            work.take(&branch, received, shared).await?;
            let fitted = match self.decide(&mut work, &branch, ask).await {
                Err(hindrance @ Hindrance::Engine(EngineError::Store(_)))
                    if !hindrance.is_collision() && !hindrance.is_orphaned() =>
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
    pub(super) async fn decide(
        &self,
        work: &mut Work,
        branch: &Branch,
        ask: &Ask,
    ) -> Result<Fitted, Hindrance> {
        let received = &ask.received;
        let mut borrowing = work.borrowing(ask.lent.clone());
        let work: &mut Work = &mut borrowing;
        let chain = branch.chain();
        let (mut once, mut events, mut cause, mut is_tight) = (Vec::new(), Vec::new(), None, false);
        let mut sent = None;
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
                    (events, cause, is_tight) = (work.session.take_events(), Some("no-room"), true);
                }
                Err(error) => return Err(error.into()),
            }
            sent = work.session.sent_chars();
        }
        // While it waited for others, the session may have taken in what they said, and this request does not say.
        work.check_current(branch)?;
        work.layout.update(&work.session, &chain);
        let composed = if once.is_empty() {
            work.layout.apply(received)?
        } else {
            Layout::of(&work.session, &chain, &once).apply(received)?
        };
        let (mut did, happened) = work.happened(events);
        if did != "kept" {
            work.check(received, &composed).await?;
        } else if composed.cuts + composed.replaced > 0 {
            did = "replayed";
        }
        Ok(Fitted { composed, did, happened, cause, is_tight, sent })
    }
}

/// The first message of a request: that of its family of branches.
fn root(received: &Received) -> Result<Id, Hindrance> {
    let root = received.elements.first().map(|element| element.id);
    root.ok_or(Hindrance::Opaque(Opaque::NoList))
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
    Ok(Fitted {
        composed,
        did,
        happened: Vec::new(),
        cause: Some(hindrance.cause()),
        is_tight: true,
        sent: None,
    })
}
