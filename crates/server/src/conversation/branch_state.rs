//! The part of a branch that one request at a time works with.

use std::ops::{Deref, DerefMut};

use secateur::Role;
use secateur::session::Event;
use secateur_engine::{EngineError, FollowedSession, NewMessage, Settlement, Target};
use secateur_formats::lint;
use secateur_store::StoreError;

use super::Report;
use super::branch::{Branch, Lent};
use super::chain::{Id, Link};
use super::error::Hindrance;
use super::layout::{Composed, Layout};
use super::lookup::{find_in, number, stored};
use super::recognition::{Element, Received};

/// Messages that are this long together are stored as soon as the provider accepts them: until then they hold the whole
/// request in memory, and an answer may take minutes.
const HEAVY: usize = 64 << 10;

/// What a request works with.
pub(crate) struct Work {
    pub session: FollowedSession,
    reloads: u64,
    pub layout: Layout,
    /// What happened since the last request.
    happened: Vec<Event>,
    /// What happened apart from requests since then, and is counted.
    counted: Vec<Event>,
    /// What was decided was of no use: from now on nothing new is.
    pub is_resigned: bool,
}

impl Work {
    pub(super) fn new(session: FollowedSession) -> Self {
        let (reloads, layout) = (session.reloads(), Layout::default());
        Self { session, reloads, layout, happened: Vec::new(), counted: Vec::new(), is_resigned: false }
    }

    /// The same, with somebody to ask for summaries. Whatever happens, he is let go when this ends: a summary that was
    /// begun has its own hold on whoever writes it, and nobody else needs the credentials.
    pub(super) fn borrowing(&mut self, lent: Lent) -> Borrowing<'_> {
        self.session.set_client_model(lent);
        Borrowing(self)
    }

    /// Learns from an answer to a request of so many characters.
    pub(super) async fn settle(&mut self, report: Report, sent: Option<u64>) -> Result<(), EngineError> {
        // What is learned may lead to a decision.
        if let Some(usage) = report.usage.filter(|_| !self.is_resigned) {
            let settlement = Settlement::Responded { usage, turn: report.turn };
            let events = self.session.settle(settlement, sent).await?;
            self.happened.extend(events);
        }
        Ok(())
    }

    /// Stores what was said and learned.
    pub(crate) async fn keep(&mut self) -> Result<(), EngineError> {
        self.session.store_confirmed().await
    }

    /// Learns that the provider refused a request of so many characters as too long.
    pub(crate) async fn refuse(&mut self, tokens: Option<u64>, sent: Option<u64>) -> Result<(), EngineError> {
        let events = self.session.settle_and_store(Settlement::Overflow { tokens }, sent).await?;
        self.happened.extend(events);
        Ok(())
    }

    /// Takes note of what happened apart from requests, and is counted.
    pub(crate) fn note(&mut self, events: Vec<Event>) {
        self.counted.extend(events);
    }

    /// What happened since the last request: in one word, and what is not counted yet.
    pub(crate) fn happened(&mut self, now: Vec<Event>) -> (&'static str, Vec<Event>) {
        self.happened.extend(now);
        let (happened, counted) = (std::mem::take(&mut self.happened), std::mem::take(&mut self.counted));
        (done(&happened).or(done(&counted)).unwrap_or("kept"), happened)
    }

    /// Brings session and chain up to date with what others did.
    pub(crate) async fn catch_up(&mut self, branch: &Branch, received: &Received) -> Result<(), EngineError> {
        self.session.refresh().await?;
        if self.session.reloads() == self.reloads {
            return Ok(());
        }
        self.reloads = self.session.reloads();
        self.layout = Layout::default();
        let mut chain = branch.chain().as_ref().clone();
        let ids: Vec<Id> = chain.iter().map(|link| link.id).collect();
        chain.truncate(stored(&self.session, &ids).await?);
        if received.common(&chain) == chain.len() {
            // Others may have taken in more of what this request says.
            let ids: Vec<Id> = received.elements.iter().map(|element| element.id).collect();
            let stored = stored(&self.session, &ids).await?;
            let more = received.elements.get(chain.len()..stored).unwrap_or_default();
            chain.extend(more.iter().map(|element| Link::new(element.id, 0, element.spelling)));
        }
        number(&mut chain, &self.session).await?;
        branch.change(|old| *old = chain);
        Ok(())
    }

    /// Whether the session still says what the chain says, and nothing of others'; if not, the request is looked at again.
    pub(crate) fn check_current(&self, branch: &Branch) -> Result<(), EngineError> {
        if self.session.reloads() == self.reloads {
            return Ok(());
        }
        let id = branch.session().to_owned();
        Err(StoreError::Stale { id, expected: self.reloads, found: self.session.reloads() }.into())
    }

    /// Takes back what the branch says beyond the messages that it shares with a request. Says whether it could: what
    /// is stored may be gone on with, so leaving it makes another branch.
    pub(crate) async fn rewind(&mut self, branch: &Branch, shared: usize) -> Result<bool, EngineError> {
        let Some(next) = branch.chain().get(shared).map(|link| link.seq) else { return Ok(true) };
        if next == 0 || !self.session.rewind(next).await? {
            return Ok(false);
        }
        branch.change(|chain| chain.truncate(shared));
        self.layout = Layout::default();
        Ok(true)
    }

    /// Another branch that shares its first messages with this one, and what was decided about them.
    pub(crate) async fn fork(&mut self, branch: &Branch, shared: usize) -> Result<Branch, EngineError> {
        let mut chain = branch.chain().as_ref().clone();
        chain.truncate(shared);
        let last = chain.last().map_or(0, |link| link.seq);
        let at = if last > 0 || shared == 0 {
            last
        } else {
            let ids: Vec<Id> = chain.iter().map(|link| link.id).collect();
            let found = find_in(&self.session, &ids).await?;
            let found = found.filter(|(place, _)| place + 1 == shared).map(|(_, seq)| seq);
            // A branch that begins elsewhere would leave out what lies between.
            found.ok_or_else(|| EngineError::NotFound {
                session: self.session.id().to_owned(),
                what: format!("message {shared} of the conversation that branches off"),
            })?
        };
        let session = self.session.fork(at).await?;
        number(&mut chain, &session).await?;
        Ok(Branch::new(branch.root(), session, branch.key().map(str::to_owned), chain, branch.apart()))
    }

    /// Whether what is there fits a model, as far as is known.
    pub(crate) fn has_room(&self, target: &Target) -> bool {
        let tokens = self.session.tokens();
        target.limits.context == 0 || tokens < target.limits.context - target.limits.output.unwrap_or(0)
    }

    /// Makes sure that a provider takes what was made of a request as willingly as the request. If not, what was done
    /// last is taken back.
    pub(crate) async fn check(&mut self, received: &Received, composed: &Composed) -> Result<(), Hindrance> {
        let body = composed.body.concat();
        let Some(rule) = worse(received, &body) else { return Ok(()) };
        self.is_resigned = true;
        self.session.undo_last().await?;
        self.layout = Layout::default();
        Err(Hindrance::Lint { rule })
    }

    /// Takes in the messages of a request that are new, after the `shared` ones that are not. What the branch says
    /// beyond those must have been taken back.
    pub(crate) async fn take(
        &mut self,
        branch: &Branch,
        received: &Received,
        shared: usize,
    ) -> Result<(), EngineError> {
        let fresh = received.elements.get(shared..).unwrap_or_default();
        let message = |element: &Element| NewMessage {
            id: Some(element.id.to_string()),
            json: received.slice(element),
            pinned: false,
        };
        let seqs = self.session.take(fresh.iter().map(message)).await?;
        let links = fresh.iter().zip(seqs).map(|(element, seq)| Link::new(element.id, seq, element.spelling));
        branch.change(|chain| {
            for (link, element) in chain.iter_mut().zip(&received.elements) {
                link.respell(element.spelling);
            }
            chain.extend(links);
        });
        if fresh.iter().map(|element| element.range.len()).sum::<usize>() > HEAVY {
            branch.weigh();
        }
        self.hold();
        Ok(())
    }

    /// What was said since the model spoke last may still be said otherwise.
    fn hold(&mut self) {
        let answered = self.session.shown_messages().rfind(|row| row.facts.role == Role::Assistant);
        let from = answered.map_or(1, |row| row.seq + 1);
        self.session.hold(from);
    }
}

/// What was done, in one word.
fn done(events: &[Event]) -> Option<&'static str> {
    if events.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })) {
        Some("compacted")
    } else if events.iter().any(|event| matches!(event, Event::Pruned { .. })) {
        Some("pruned")
    } else {
        None
    }
}

/// What a request works with, while it may ask for summaries on the client's account.
pub(super) struct Borrowing<'w>(&'w mut Work);

impl Deref for Borrowing<'_> {
    type Target = Work;

    fn deref(&self) -> &Work {
        self.0
    }
}

impl DerefMut for Borrowing<'_> {
    fn deref_mut(&mut self) -> &mut Work {
        self.0
    }
}

impl Drop for Borrowing<'_> {
    fn drop(&mut self) {
        self.0.session.set_client_model(None);
    }
}

/// What a provider rejects in a body that it would not have rejected in the request; none if there is nothing.
fn worse(received: &Received, body: &[u8]) -> Option<String> {
    let Ok(body) = std::str::from_utf8(body) else { return Some("not UTF-8".to_owned()) };
    let findings = lint::lint(received.wire, body);
    if findings.is_empty() {
        return None;
    }
    let before = std::str::from_utf8(&received.body).unwrap_or_default();
    let before = lint::lint(received.wire, before);
    let is_new = |finding: &&lint::Finding| !before.iter().any(|old| old.rule == finding.rule);
    // The rule and the place, but not the message, which may quote what was said.
    findings.iter().find(is_new).map(|finding| format!("{} at {}", finding.rule.name(), finding.path))
}
