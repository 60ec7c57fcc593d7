//! A followed session: a client keeps the history and sends it with every request.
//!
//! A proxy sees whole histories: each request repeats the one before and adds to it. The client sends all of it again, so
//! it need not be stored before it is passed on, nor stay in memory. A followed session differs from a kept one in this:
//!
//! * **It stores late.** Messages are taken in at once, and stored together with the next thing that has to be: a cut, a
//!   compaction, what was learned from a response. A conversation that never gets that far is never stored. Nothing can
//!   be lost: what is not stored was not cut, and the client sends it again.
//! * **Its newest messages may be taken back.** Some clients rewrite their last message with each request, edit a
//!   question, or go back a step. Messages that are [held](FollowedSession::hold) are not stored until they are confirmed.
//! * **It holds no bodies of the client's messages.** They are read from the store when they are summarised.
//!
//! When another process changes the session, all of it is loaded again and messages that were not stored are gone.
//! [`FollowedSession::reloads`] counts that, and the caller takes them in again.

use std::sync::Arc;

use bytes::Bytes;
use secateur::Role;
use secateur::session::{BoundThinking, Event, Input, ProviderClearing, ProviderReport, Seq, SessionCut};
use secateur_formats::Wire;
use secateur_store::SessionRow;

use super::core::SessionCore;
use super::drive::DriveOutcome;
use super::history::{ClientHistory, RequestBodies};
use super::json::to_json;
use super::message::NewMessage;
use super::provisional::ProvisionalEnds;
use super::settlement::Settlement;
use crate::engine::{Engine, SessionOptions, Target};
use crate::error::EngineError;
use crate::provider::LanguageModel;

/// The most bytes of the user's opening messages that are pinned. Instructions may be long, but what is longer is
/// material.
const MOST_PINNED: usize = 40_000;

/// How many bytes of messages are measured before other tasks get their turn.
const MEASURED_AT_ONCE: usize = 256 << 10;

/// How long a session that was used counts as used, in milliseconds. Retention keeps sessions for longer.
const NOTE_USE_MS: i64 = 3_600_000;

/// An open session that follows the history of a client.
///
/// ```
/// use secateur_engine::{Engine, NewMessage, SessionOptions, Target};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
/// let mut session = engine.follow_new(SessionOptions::default())?;
/// session.take([NewMessage::json(r#"{"role":"user","content":"What is a secateur?"}"#)]).await?;
///
/// // The whole history fits, so the client's request can be sent as it is.
/// let fitted = session.fit(&Target::new("a-model", 200_000), 0).await?;
/// assert!(fitted.once.is_empty() && fitted.events.is_empty());
/// session.store_confirmed().await?;
/// assert_eq!(session.head(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct FollowedSession {
    pub(super) core: SessionCore<ClientHistory>,
}

/// A context that fits the model.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedContext {
    /// Estimated tokens.
    pub tokens: i64,
    /// The usable tokens of the model's window, if they are known.
    pub usable: Option<i64>,
    /// Cuts for this request alone.
    pub once: Vec<(Seq, SessionCut)>,
    /// What happened since the session was refreshed.
    pub events: Vec<Event>,
}

impl Engine {
    /// Begins to follow a history. The session is stored once there is something to store.
    pub fn follow_new(&self, options: SessionOptions) -> Result<FollowedSession, EngineError> {
        let new = options.into_row(&self.parts.clock)?;
        let row = SessionRow {
            id: new.id,
            wire: new.wire,
            profile: new.profile,
            title: new.title,
            envelope: new.envelope,
            state: new.state,
            live_from: 1,
            created: new.time,
            updated: new.time,
            ..SessionRow::default()
        };
        Ok(FollowedSession { core: SessionCore::new(self.clone(), row, ClientHistory::default())? })
    }

    /// Opens a stored session to follow a history with it.
    pub async fn follow(&self, id: &str) -> Result<FollowedSession, EngineError> {
        let history = ClientHistory { is_stored: true, ..ClientHistory::default() };
        let mut core = SessionCore::open(self.clone(), id, history).await?;
        core.undo_foreign_compactions().await?;
        Ok(FollowedSession { core })
    }
}

impl FollowedSession {
    /// Takes messages in without storing them yet; returns their numbers. What the user says before the model speaks for
    /// the first time is the task, and is pinned.
    pub async fn take(
        &mut self,
        messages: impl IntoIterator<Item = NewMessage>,
    ) -> Result<Vec<Seq>, EngineError> {
        let (time, measures) = (self.core.now(), self.core.profile.policy.measures());
        let mut room = self.room_for_pins();
        let mut rows = Vec::new();
        let mut measured = 0;
        for message in messages {
            measured += message.json.len();
            if measured > MEASURED_AT_ONCE {
                // A history may be long, and others wait for this thread.
                measured = 0;
                tokio::task::yield_now().await;
            }
            let (mut row, mut facts) = message.read(self.core.wire, &measures, time)?;
            if facts.role == Role::Assistant {
                room = 0;
            } else if facts.is_from_user() && !facts.has_tool_parts() && row.body.len() <= room {
                room -= row.body.len();
                (row.pinned, facts.pinned) = (true, true);
                row.facts = to_json(&facts)?;
            }
            rows.push((row, facts));
        }
        let pending = &mut self.core.history.pending;
        let first = self.core.row.head + pending.len() as u64 + 1;
        let mut messages = Vec::with_capacity(rows.len());
        for (seq, (row, facts)) in (first..).zip(rows) {
            pending.push(row);
            messages.push((seq, facts));
        }
        let seqs = messages.iter().map(|(seq, _)| *seq).collect();
        self.core.drive(Input::Appended { messages }).await?;
        Ok(seqs)
    }

    /// How many more bytes of the user's messages are pinned.
    fn room_for_pins(&self) -> usize {
        let rows = self.core.machine.context().rows();
        if rows.iter().any(|row| row.facts.role == Role::Assistant) {
            return 0;
        }
        let pinned = rows.iter().filter(|row| row.facts.pinned).map(|row| row.chars);
        MOST_PINNED.saturating_sub(usize::try_from(pinned.sum::<u64>()).unwrap_or(MOST_PINNED))
    }

    /// Messages from this one on may still be taken back; those before are confirmed.
    pub fn hold(&mut self, from: Seq) {
        self.core.history.held_from = Some(from);
    }

    /// Takes messages from this one on back. False if it is stored, which cannot be taken back.
    pub async fn rewind(&mut self, from: Seq) -> Result<bool, EngineError> {
        let head = self.core.row.head;
        if from <= head {
            return Ok(false);
        }
        let keep = usize::try_from(from - head - 1).unwrap_or(usize::MAX);
        self.core.history.pending.truncate(keep);
        self.core.drive(Input::Retracted { from }).await?;
        Ok(true)
    }

    /// Makes the request fit: prunes, compacts, or fails with [`EngineError::NoRoom`]. `envelope_chars` are sent beside
    /// the messages.
    ///
    /// If another process changed the session meanwhile, that is an error ([`EngineError::is_collision`]); the caller
    /// catches up and tries again.
    pub async fn fit(&mut self, target: &Target, envelope_chars: u64) -> Result<FittedContext, EngineError> {
        match self.core.decide(target, envelope_chars).await? {
            DriveOutcome::Send { tokens, usable, cuts } => {
                Ok(FittedContext { tokens, usable, once: cuts, events: self.take_events() })
            }
            DriveOutcome::Reject(no_room) => Err(EngineError::NoRoom(no_room)),
            DriveOutcome::Done => Err(EngineError::Busy { session: self.id().to_owned() }),
        }
    }

    /// Characters of the last request that was made to fit here, until it is settled.
    pub fn sent_chars(&self) -> Option<u64> {
        self.core.sent_chars
    }

    /// Learns how a request ended, without storing that yet; returns what happened because of it. `sent` is what
    /// [`sent_chars`](Self::sent_chars) was for that request; without it, nothing is learned about characters and tokens.
    pub async fn settle(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        self.core.settle(settlement, sent).await?;
        Ok(self.take_events())
    }

    /// The same after catching up with other processes, and stores it.
    pub async fn settle_and_store(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        self.core.settle_and_store(settlement, |_| sent).await
    }

    /// The provider refused thinking that was made behind other messages, the first of it in this message: it is not sent
    /// again. Says whether anything changed by that.
    pub async fn drop_thinking(
        &mut self,
        from: Option<Seq>,
        thinking: BoundThinking,
    ) -> Result<bool, EngineError> {
        let (before, now) = (self.last_operation(), self.core.now());
        self.core.drive(Input::ThinkingRefused { from, thinking, now }).await?;
        Ok(self.last_operation() != before)
    }

    /// The provider reported what it did to a request.
    pub async fn provider_edited(&mut self, report: ProviderReport) -> Result<(), EngineError> {
        self.core.drive(Input::ProviderEdited(report)).await.map(drop)
    }

    /// What the provider is to be asked to clear with the next request; none if nothing.
    pub fn provider_clearing(&self) -> Option<ProviderClearing> {
        let machine = &self.core.machine;
        machine.context().provider_clearing(&machine.state().calibration)
    }

    /// Stores confirmed messages, and what was learned.
    pub async fn store_confirmed(&mut self) -> Result<(), EngineError> {
        let stored = self.core.store_state().await;
        self.copy_pending();
        stored
    }

    /// Notes that the session is used, so that [retention](crate::Retention) keeps it: at most once an hour, and not if
    /// a commit noted it. Nothing happens if it is not stored.
    pub async fn note_use(&mut self) -> Result<(), EngineError> {
        let now = self.core.now();
        if !self.is_stored() || now.saturating_sub(self.core.row.updated) < NOTE_USE_MS {
            return Ok(());
        }
        self.core.engine.parts.store.touch(&self.core.row.id, now).await?;
        self.core.row.updated = now;
        Ok(())
    }

    /// Copies messages that are not stored yet. They may be slices of a whole request, which is freed by that.
    pub fn copy_pending(&mut self) {
        for row in &mut self.core.history.pending {
            row.body = Bytes::copy_from_slice(&row.body);
        }
    }

    /// Sets the model that writes summaries if none is configured, or removes it.
    pub fn set_client_model(&mut self, model: Option<Arc<dyn LanguageModel>>) {
        self.core.history.client_model = model;
    }

    /// Sets the messages of the request that is being decided, or removes them. What is there need not be read from the
    /// store.
    pub fn set_request_bodies(&mut self, bodies: Option<Arc<dyn RequestBodies>>) {
        self.core.history.request = bodies;
    }

    /// Decisions that the store could not take yet: how many there are, and the bytes of memory that they hold. They are
    /// stored as soon as the store answers again.
    pub fn provisional(&self) -> (usize, usize) {
        let provisional = &self.core.history.provisional;
        (provisional.len(), provisional.bytes())
    }

    /// Whether the store was away since the session was refreshed.
    pub fn is_store_away(&self) -> bool {
        self.core.history.is_store_away
    }

    /// What became of such decisions since this was last called.
    pub fn take_provisional_ends(&mut self) -> ProvisionalEnds {
        std::mem::take(&mut self.core.history.provisional.ends)
    }

    /// How often everything was loaded again, or messages of other processes were added. Messages that were taken in
    /// and not stored are gone then.
    pub fn reloads(&self) -> u64 {
        self.core.history.reloads
    }

    /// Catches up with other processes, and uses a summary that was finished in the background.
    pub async fn refresh(&mut self) -> Result<(), EngineError> {
        self.core.refresh().await
    }

    /// Waits, without borrowing the session, for the end of the summary in the background; none if there is none, or if
    /// this was called before. [`refresh`](Self::refresh) uses the summary then. Until that is called, other processes
    /// can neither use it nor make their own.
    pub fn background_end(&mut self) -> Option<impl Future<Output = ()> + Send + use<>> {
        self.core.compaction.background.as_mut()?.end()
    }

    /// What happened since the session was refreshed, or since this was last called.
    pub fn take_events(&mut self) -> Vec<Event> {
        self.core.take_events()
    }

    /// Compacts now; `focus` says what the summary should pay attention to.
    pub async fn compact(&mut self, focus: Option<&str>) -> Result<Vec<Event>, EngineError> {
        self.core.compact(focus).await
    }

    /// Undoes the operations that need a provider which drops thinking of the open turn: this one does not.
    pub async fn undo_dropping(&mut self) -> Result<(), EngineError> {
        while let Some(operation) = self.core.machine.context().dropping_operation() {
            // A compaction follows the cuts of the thinking that it makes invalid.
            let rows = self.core.engine.all_operations(self.id()).await?;
            let compaction = rows.iter().find(|row| row.number == operation + 1 && row.kind == "compact");
            if let Some(row) = compaction.filter(|row| !row.undone) {
                self.core.take_back(Some(row.number)).await?;
            }
            self.core.take_back(Some(operation)).await?;
        }
        Ok(())
    }

    /// Undoes the newest operation that is not undone; returns its number.
    pub async fn undo_last(&mut self) -> Result<u64, EngineError> {
        self.core.take_back(None).await
    }

    /// Another session that shares the history up to this message, with everything that was decided about it. That
    /// message must be stored.
    pub async fn fork(&mut self, at: Seq) -> Result<FollowedSession, EngineError> {
        let id = self.core.store_fork(at).await?;
        self.core.engine.follow(&id).await
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.core.row.id
    }

    /// The wire of its messages.
    pub fn wire(&self) -> Wire {
        self.core.wire.0
    }

    /// Estimated tokens of the next request.
    pub fn tokens(&self) -> i64 {
        self.core.machine.tokens()
    }

    /// The number of the newest message that is stored, as far as this process knows.
    pub fn head(&self) -> Seq {
        self.core.row.head
    }

    /// The number of the newest operation; it changes whenever something was cut or compacted.
    pub fn last_operation(&self) -> u64 {
        self.core.row.last_operation
    }

    /// Whether the session itself is stored.
    pub fn is_stored(&self) -> bool {
        self.core.history.is_stored
    }
}
