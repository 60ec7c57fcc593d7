//! Keeps a session in memory and the store in step while other processes work on the same session.

use std::time::Duration;

use secateur::session::{Event, Input, RequestFacts};
use secateur_formats::Wire;
use secateur_store::{Commit, NewStoredMessage, StoreError};

use super::background::BackgroundSummary;
use super::core::SessionCore;
use super::drive::DriveOutcome;
use super::history::History;
use super::json::to_json;
use super::remote_changes::RemoteChanges;
use super::settlement::Settlement;
use crate::engine::{Engine, Target};
use crate::error::EngineError;

/// How often a step is tried again because another process changed the session.
const ATTEMPTS: u32 = 40;

/// The most messages, and bytes of messages, in one commit of a long history.
const MOST_MESSAGES: usize = 1_000;
const LARGEST_COMMIT: usize = 8 << 20;

impl<H: History> SessionCore<H> {
    /// Opens a session, and begins what is due.
    pub(crate) async fn open(engine: Engine, id: &str, history: H) -> Result<Self, EngineError> {
        let mut session = Self::load(engine, id, history).await?;
        retry!(session, async {
            let now = session.now();
            session.drive(Input::Opened { now }).await.map(Some)
        });
        session.opening_events = session.take_events();
        Ok(session)
    }

    /// What [`retry!`] does after an attempt: catches up after a collision, and gives up after too many.
    pub(super) async fn after_attempt<T>(
        &mut self,
        outcome: Result<Option<T>, EngineError>,
        attempt: u32,
    ) -> Result<Option<T>, EngineError> {
        match outcome {
            Ok(None) => {}
            Err(error) if error.is_collision() => self.pause(attempt).await?,
            ended => return ended,
        }
        if attempt + 1 < ATTEMPTS {
            Ok(None)
        } else {
            Err(EngineError::Busy { session: self.row.id.clone() })
        }
    }

    /// Waits a little, then catches up with other processes.
    async fn pause(&mut self, attempt: u32) -> Result<(), EngineError> {
        // Processes that collide must not stay in step, so the wait is random: new ids end with random bits.
        let [.., high, low] = *self.engine.parts.clock.new_id().as_bytes();
        let longest = 8 << attempt.min(5);
        let wait = u64::from(u16::from_be_bytes([high, low])) % longest;
        tokio::time::sleep(Duration::from_millis(wait)).await;
        self.catch_up().await
    }

    /// Catches up with other processes, and uses a summary that was finished in the background.
    pub(crate) async fn refresh(&mut self) -> Result<(), EngineError> {
        self.history.set_store_away(false);
        self.catch_up().await?;
        self.events.clear();
        if self.compaction.background.as_ref().is_some_and(BackgroundSummary::is_finished) {
            self.finish_background().await?;
        }
        Ok(())
    }

    /// Catches up with other processes.
    async fn catch_up(&mut self) -> Result<(), EngineError> {
        if self.is_dirty {
            return self.reload().await;
        }
        match self.remote_changes().await? {
            RemoteChanges::None => Ok(()),
            RemoteChanges::Messages(messages) => self.drive(Input::Appended { messages }).await.map(drop),
            RemoteChanges::Other { .. } => self.reload().await,
        }
    }

    /// Decides about a request for this model, with this many characters in its envelope.
    pub(crate) async fn decide(
        &mut self,
        target: &Target,
        envelope_chars: u64,
    ) -> Result<DriveOutcome, EngineError> {
        let asked = RequestFacts {
            model: target.model.clone(),
            limits: target.limits,
            cache: target.cache(&self.machine.state().lifetime),
            band_limits: target.band_limits(),
            thinking: target.thinking.filter(|_| self.wire.0 == Wire::Anthropic),
            envelope: envelope_chars,
            now: self.now(),
        };
        let outcome = self.drive(Input::Requested(asked)).await?;
        self.sent_chars = self.machine.state().sent_chars;
        Ok(outcome)
    }

    /// Learns how a request ended, and stores that. `sent` is asked for the characters of the request once the session
    /// is up to date.
    pub(crate) async fn settle_and_store(
        &mut self,
        settlement: Settlement,
        sent: impl Fn(&Self) -> Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        retry!(self, async {
            self.refresh().await?;
            let sent = sent(self);
            self.settle(settlement, sent).await.map(Some)
        });
        self.store_state().await?;
        Ok(self.take_events())
    }

    /// Learns how a request of this many characters ended, without storing that yet.
    pub(crate) async fn settle(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<(), EngineError> {
        let now = self.now();
        self.drive(settlement.input(sent, now)).await?;
        self.sent_chars = self.sent_chars.filter(|chars| Some(*chars) != sent);
        Ok(())
    }

    /// Compacts now.
    pub(crate) async fn compact(&mut self, focus: Option<&str>) -> Result<Vec<Event>, EngineError> {
        retry!(self, async {
            self.refresh().await?;
            self.compaction.focus = focus.map(str::to_owned);
            let now = self.now();
            let outcome = self.drive(Input::Compact { now }).await;
            self.compaction.focus = None;
            outcome.map(Some)
        });
        Ok(self.take_events())
    }

    /// Stores confirmed messages, and what was learned. What a followed session cannot store stays in memory.
    pub(crate) async fn store_state(&mut self) -> Result<(), EngineError> {
        match self.try_store_state().await {
            Err(error) if error.is_collision() => {
                self.is_dirty = true;
                Ok(())
            }
            Err(error) if self.goes_on_after(&error) => Ok(()),
            stored => stored,
        }
    }

    /// Stores confirmed messages of a long history, except for the last ones. One commit of all of them would take longer
    /// than a store may take to answer, and would never succeed.
    pub(crate) async fn store_long_history(&mut self) -> Result<(), EngineError> {
        loop {
            let confirmed = self.history.confirmed(self.row.head);
            let mut bytes = 0;
            let fits = |row: &&NewStoredMessage| {
                bytes += row.body.len();
                bytes <= LARGEST_COMMIT
            };
            let count = confirmed.iter().take(MOST_MESSAGES).take_while(fits).count().max(1);
            if count >= confirmed.len() {
                return Ok(());
            }
            let append = confirmed.iter().take(count).cloned().collect();
            self.store_provisional().await?;
            self.ensure_stored().await?;
            let (revision, time) = (self.row.revision, self.now());
            let commit = Commit { revision, time, append, ..Commit::default() };
            let committed = self.engine.parts.store.commit(&self.row.id, commit).await?;
            self.note_commit(&committed);
        }
    }

    async fn try_store_state(&mut self) -> Result<(), EngineError> {
        self.store_provisional().await?;
        self.store_long_history().await?;
        let state = to_json(self.machine.state())?;
        let append = self.history.confirmed(self.row.head).to_vec();
        if append.is_empty() && (state == self.row.state || !self.history.is_stored()) {
            return Ok(());
        }
        self.ensure_stored().await?;
        let commit = Commit {
            revision: self.row.revision,
            time: self.now(),
            append,
            state: Some(state.clone()),
            ..Commit::default()
        };
        match self.engine.parts.store.commit(&self.row.id, commit).await {
            Ok(committed) => {
                self.note_commit(&committed);
                self.row.state = state;
            }
            // Another process is ahead. What was learned here is not worth a retry, nor the loss of a summary.
            Err(StoreError::Stale { .. }) if self.compaction.background.is_some() => self.catch_up().await?,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}
