//! The state of a branch, used by one request at a time.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use secateur::Role;
use secateur::session::Event;
use secateur_engine::provider::LanguageModel;
use secateur_engine::{EngineError, FollowedSession, NewMessage, Settlement, Target};
use secateur_formats::lint;

use super::ResponseReport;
use super::chain::{ChainId, ChainLink, SharedChain};
use super::error::ConversationError;
use super::layout::{BodyLayout, ComposedBody};
use super::lookup::{find_in, number, stored};
use super::pending_exchange::ManagedRequest;
use super::recognition::{ReceivedMessage, ReceivedRequest};
use super::request_messages::RequestMessages;
use crate::outcome::Outcome;

/// Messages longer than this together are stored as soon as the provider accepts them: until then they keep the whole
/// request in memory, and a response may take minutes.
const LONG_MESSAGES: usize = 64 << 10;

/// The state of a branch.
pub(crate) struct BranchState {
    pub session: FollowedSession,
    chain: Arc<SharedChain>,
    reloads: u64,
    pub layout: BodyLayout,
    /// Events since the last request.
    events: Vec<Event>,
    /// Events since the last request that were counted already.
    counted_events: Vec<Event>,
    /// A decision would have been rejected by the provider, so no new ones are made.
    pub is_resigned: bool,
}

impl BranchState {
    pub(super) fn new(session: FollowedSession, chain: Arc<SharedChain>) -> Self {
        Self {
            reloads: session.reloads(),
            session,
            chain,
            layout: BodyLayout::default(),
            events: Vec::new(),
            counted_events: Vec::new(),
            is_resigned: false,
        }
    }

    /// The chain of the branch's messages.
    pub(crate) fn chain(&self) -> Arc<Vec<ChainLink>> {
        self.chain.get()
    }

    /// The state with a model that writes summaries, until the guard is dropped. A summary that was begun keeps its own
    /// reference to the model; nothing else needs the client's credentials.
    pub(super) fn with_client_model(&mut self, model: Arc<dyn LanguageModel>) -> WithClientModel<'_> {
        self.session.set_client_model(Some(model));
        WithClientModel(self)
    }

    /// The same, and with the messages of a request that the branch has taken in. They are read from the request, so that
    /// a decision does not need the store for them.
    pub(super) fn with_request(&mut self, request: &ManagedRequest) -> WithClientModel<'_> {
        let bodies = RequestMessages::new(Arc::clone(&request.received), self.chain());
        self.session.set_request_bodies(Some(Arc::new(bodies)));
        self.with_client_model(request.client_model.clone())
    }

    /// Brings session and chain up to date with what other processes did.
    pub(crate) async fn catch_up(&mut self, received: &ReceivedRequest) -> Result<(), EngineError> {
        self.session.refresh().await?;
        let reloads = self.session.reloads();
        if reloads == self.reloads {
            return Ok(());
        }
        self.layout = BodyLayout::default();
        let mut chain = self.chain.get().as_ref().clone();
        let ids: Vec<ChainId> = chain.iter().map(|link| link.id).collect();
        chain.truncate(stored(&self.session, &ids).await?);
        if received.common(&chain) == chain.len() {
            // Another process may have taken in more of this request.
            let ids: Vec<ChainId> = received.messages.iter().map(|message| message.id).collect();
            let stored = stored(&self.session, &ids).await?;
            let more = received.messages.get(chain.len()..stored).unwrap_or_default();
            chain.extend(more.iter().map(|message| ChainLink::new(message.id, 0, message.fingerprint)));
        }
        number(&mut chain, &self.session).await?;
        self.chain.change(|old| *old = chain);
        // Not before: if the store fails in between, another request that waits for this branch must catch up, too.
        self.reloads = reloads;
        Ok(())
    }

    /// Fails if the session took in messages that the chain does not have. Then the request is decided anew.
    pub(crate) fn check_current(&self) -> Result<(), ConversationError> {
        if self.session.reloads() == self.reloads {
            return Ok(());
        }
        Err(ConversationError::Outdated { session: self.session.id().to_owned() })
    }

    /// Takes back messages beyond the first `shared` ones. Returns whether it could: other requests may continue stored
    /// messages, so leaving those needs a fork.
    pub(crate) async fn rewind(&mut self, shared: usize) -> Result<bool, EngineError> {
        let Some(next) = self.chain.get().get(shared).map(|link| link.seq) else { return Ok(true) };
        if next == 0 || !self.session.rewind(next).await? {
            return Ok(false);
        }
        self.chain.change(|chain| chain.truncate(shared));
        self.layout = BodyLayout::default();
        Ok(true)
    }

    /// Takes summaries back until the last message of a request is shown. A client that goes back to where a summary ends
    /// would otherwise send a request without its last message.
    pub(crate) async fn show_last(&mut self, received: &ReceivedRequest) -> Result<(), EngineError> {
        let is_last = |chain: &[ChainLink]| chain.len() == received.messages.len();
        let is_hidden = |chain: &[ChainLink]| chain.last().is_some_and(|link| link.seq == 0);
        while is_last(&self.chain.get()) && is_hidden(&self.chain.get()) {
            self.session.undo_last().await?;
            self.catch_up(received).await?;
        }
        Ok(())
    }

    /// A session of its own with the first `shared` messages and the decisions about them, and its chain.
    pub(crate) async fn fork(
        &mut self,
        shared: usize,
    ) -> Result<(FollowedSession, Vec<ChainLink>), ConversationError> {
        let mut chain = self.chain.get().as_ref().clone();
        chain.truncate(shared);
        let last = chain.last().map_or(0, |link| link.seq);
        let at = if last > 0 || shared == 0 {
            last
        } else {
            let ids: Vec<ChainId> = chain.iter().map(|link| link.id).collect();
            let found = find_in(&self.session, &ids).await?;
            let found = found.filter(|(place, _)| place + 1 == shared).map(|(_, seq)| seq);
            // A branch that began elsewhere would leave out the messages in between.
            let session = || self.session.id().to_owned();
            found.ok_or_else(|| ConversationError::NoBranchPoint { session: session(), message: shared })?
        };
        let session = self.session.fork(at).await?;
        number(&mut chain, &session).await?;
        Ok((session, chain))
    }

    /// Takes in the messages of a request after the first `shared` ones. Messages of the branch beyond those must have
    /// been taken back. Returns whether the new ones are long.
    pub(crate) async fn take_in(
        &mut self,
        received: &ReceivedRequest,
        shared: usize,
    ) -> Result<bool, EngineError> {
        let fresh = received.messages.get(shared..).unwrap_or_default();
        let message = |message: &ReceivedMessage| NewMessage {
            id: Some(message.id.to_string()),
            json: received.slice(message),
            pinned: false,
        };
        let seqs = self.session.take(fresh.iter().map(message)).await?;
        let links = fresh.iter().zip(seqs);
        let links = links.map(|(message, seq)| ChainLink::new(message.id, seq, message.fingerprint));
        self.chain.change(|chain| {
            for (link, message) in chain.iter_mut().zip(&received.messages) {
                link.seen_as(message.fingerprint);
            }
            chain.extend(links);
        });
        self.hold_unanswered();
        Ok(fresh.iter().map(|message| message.range.len()).sum::<usize>() > LONG_MESSAGES)
    }

    /// Messages since the last one of the model may still be taken back.
    fn hold_unanswered(&mut self) {
        let answered = self.session.shown_messages().rfind(|row| row.facts.role == Role::Assistant);
        let from = answered.map_or(1, |row| row.seq + 1);
        self.session.hold(from);
    }

    /// Whether everything fits the model, as far as is known.
    pub(crate) fn has_room(&self, target: &Target) -> bool {
        let tokens = self.session.tokens();
        target.limits.context == 0 || tokens < target.limits.context - target.limits.output.unwrap_or(0)
    }

    /// Ends the count of events for this request: what they amount to, and those that are not counted yet.
    pub(crate) fn take_events(&mut self, now: Vec<Event>) -> (Option<Outcome>, Vec<Event>) {
        self.events.extend(now);
        let (events, counted) = (std::mem::take(&mut self.events), std::mem::take(&mut self.counted_events));
        (Outcome::of_events(&events).or(Outcome::of_events(&counted)), events)
    }

    /// Adds events that happened between requests and are counted.
    pub(crate) fn add_counted_events(&mut self, events: Vec<Event>) {
        self.counted_events.extend(events);
    }

    /// Fails if the provider would reject the composed body but not the request as it came. Then the last operation is
    /// undone.
    pub(crate) async fn check_acceptable(
        &mut self,
        received: &ReceivedRequest,
        composed: &ComposedBody,
    ) -> Result<(), ConversationError> {
        let body = composed.pieces.concat();
        let Some(rule) = new_finding(received, &body) else { return Ok(()) };
        self.is_resigned = true;
        self.session.undo_last().await?;
        self.layout = BodyLayout::default();
        Err(ConversationError::Lint { rule })
    }

    /// Learns that the provider refused a request of this many characters as too long.
    pub(crate) async fn refused(
        &mut self,
        tokens: Option<u64>,
        characters: Option<u64>,
    ) -> Result<(), EngineError> {
        let events = self.session.settle_and_store(Settlement::Overflow { tokens }, characters).await?;
        self.events.extend(events);
        Ok(())
    }

    /// Learns from the response to a request of this many characters.
    pub(super) async fn settle(
        &mut self,
        report: ResponseReport,
        characters: Option<u64>,
    ) -> Result<(), EngineError> {
        if let Some(report) = report.provider {
            self.session.provider_edited(report).await?;
        }
        // Learning may lead to a decision.
        if let Some(usage) = report.usage.filter(|_| !self.is_resigned) {
            let settlement = Settlement::Responded { usage, turn: report.turn };
            let events = self.session.settle(settlement, characters).await?;
            self.events.extend(events);
        }
        Ok(())
    }

    /// Stores messages and what was learned.
    pub(crate) async fn store(&mut self) -> Result<(), EngineError> {
        self.session.store_confirmed().await
    }
}

/// The state of a branch while the client's model may write summaries, and a request may be read.
pub(super) struct WithClientModel<'s>(&'s mut BranchState);

impl Deref for WithClientModel<'_> {
    type Target = BranchState;

    fn deref(&self) -> &BranchState {
        self.0
    }
}

impl DerefMut for WithClientModel<'_> {
    fn deref_mut(&mut self) -> &mut BranchState {
        self.0
    }
}

impl Drop for WithClientModel<'_> {
    fn drop(&mut self) {
        self.0.session.set_client_model(None);
        self.0.session.set_request_bodies(None);
    }
}

/// A rule that a body breaks and the request does not; none if there is none.
fn new_finding(received: &ReceivedRequest, body: &[u8]) -> Option<String> {
    let Ok(body) = std::str::from_utf8(body) else { return Some("not UTF-8".to_owned()) };
    let findings = lint::lint(received.wire, body);
    if findings.is_empty() {
        return None;
    }
    let before = std::str::from_utf8(&received.body).unwrap_or_default();
    let before = lint::lint(received.wire, before);
    let is_new = |finding: &&lint::Finding| !before.iter().any(|old| old.rule == finding.rule);
    // The rule and the path, but not the message, which may quote content.
    findings.iter().find(is_new).map(|finding| format!("{} at {}", finding.rule.name(), finding.path))
}
