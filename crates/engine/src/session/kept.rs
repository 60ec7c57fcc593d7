//! A kept session: the application appends messages, Secateur keeps them.

use secateur::session::{Context, Event, MessageKind, Seq, SessionState};
use secateur::{Memory, Plan, Profile};
use secateur_formats::Wire;
use secateur_store::Forgotten;

use super::core::SessionCore;
use super::drive::DriveOutcome;
use super::history::KeptHistory;
use super::json::from_json;
use super::message::NewMessage;
use super::request::ContextRequest;
use super::settlement::Settlement;
use crate::engine::{Engine, SessionOptions, Target};
use crate::error::EngineError;
use crate::recall::Recalled;

/// An open session whose messages Secateur keeps.
///
/// Messages go in with [`append`](Self::append), requests that fit the model come out of [`context`](Self::context),
/// and [`settle`](Self::settle) reports how they ended. Old tool results are cut, older history is summarised, and all of
/// it can be undone, because originals are kept.
///
/// A session may be open in several processes at once. Each of them catches up with the others before it does anything.
pub struct Session {
    pub(super) core: SessionCore<KeptHistory>,
}

/// An event of a session with its number, after which reading can continue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its number in the session.
    pub number: u64,
    /// When, in milliseconds since 1970.
    pub time: i64,
    /// What happened.
    pub event: Event,
}

impl Engine {
    /// Creates a session.
    pub async fn create(&self, options: SessionOptions) -> Result<Session, EngineError> {
        let row = options.into_row(&self.parts.clock)?;
        self.profile(&row.profile)?;
        let row = self.parts.store.create(row).await?;
        self.open(&row.id).await
    }

    /// Opens a session, and begins what is due.
    pub async fn open(&self, id: &str) -> Result<Session, EngineError> {
        Ok(Session { core: SessionCore::open(self.clone(), id, KeptHistory).await? })
    }

    /// Opens a session of any kind to look at it, or to undo something. Unlike [`open`](Self::open) it begins nothing,
    /// so a look changes nothing.
    pub async fn view(&self, id: &str) -> Result<Session, EngineError> {
        Ok(Session { core: SessionCore::load(self.clone(), id, KeptHistory).await? })
    }
}

impl Session {
    /// Appends messages; returns their numbers, 0 for one that was appended before and is no longer live. When this
    /// returns, they are stored.
    pub async fn append(
        &mut self,
        messages: impl IntoIterator<Item = NewMessage>,
    ) -> Result<Vec<Seq>, EngineError> {
        let (time, measures) = (self.core.now(), self.core.profile.policy.measures());
        let read = |message: NewMessage| message.read(self.core.wire, &measures, time);
        let rows = messages.into_iter().map(read).collect::<Result<_, _>>()?;
        self.core.append(rows, time).await
    }

    /// The request to send: the context, made to fit the model.
    pub async fn context(&mut self, target: &Target) -> Result<ContextRequest, EngineError> {
        let core = &mut self.core;
        let (tokens, usable, cuts) = retry!(core, async {
            core.refresh().await?;
            let envelope_chars = core.row.envelope.chars().count() as u64;
            match core.decide(target, envelope_chars).await? {
                DriveOutcome::Send { tokens, usable, cuts } => Ok(Some((tokens, usable, cuts))),
                DriveOutcome::Reject(no_room) => Err(EngineError::NoRoom(no_room)),
                DriveOutcome::Done => Ok(None),
            }
        });
        core.store_state().await?;
        core.write_request(target, tokens, usable, &cuts).await
    }

    /// Learns how the last request ended; returns what happened because of it.
    ///
    /// The last request is that of this open session, or if it made none, the last one in the store.
    pub async fn settle(&mut self, settlement: Settlement) -> Result<Vec<Event>, EngineError> {
        let sent = |core: &SessionCore<KeptHistory>| core.sent_chars.or(core.machine.state().sent_chars);
        self.core.settle_and_store(settlement, sent).await
    }

    /// Compacts now; `focus` says what the summary should pay attention to.
    pub async fn compact(&mut self, focus: Option<&str>) -> Result<Vec<Event>, EngineError> {
        self.core.compact(focus).await
    }

    /// Waits for the summary that is being made in the background, if there is one.
    pub async fn wait(&mut self) -> Result<Vec<Event>, EngineError> {
        self.core.events.clear();
        // After a failure the machine may begin another one.
        while self.core.compaction.background.is_some() {
            self.core.finish_background().await?;
        }
        Ok(self.core.take_events())
    }

    /// Undoes an operation; without a number the newest one that is not undone. Returns its number.
    pub async fn undo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.core.undo(operation).await
    }

    /// Redoes an undone operation; without a number the oldest one that is undone. Returns its number.
    pub async fn redo(&mut self, operation: Option<u64>) -> Result<u64, EngineError> {
        self.core.redo(operation).await
    }

    /// Deletes the originals of messages from before `before` that were cut or compacted away. The context stays as it
    /// is. What was forgotten cannot be recalled, and the operations behind it cannot be undone.
    pub async fn forget(&mut self, before: i64) -> Result<Forgotten, EngineError> {
        self.core.forget(before).await
    }

    /// What [`forget`](Self::forget) would delete.
    pub async fn would_forget(&self, before: i64) -> Result<Forgotten, EngineError> {
        self.core.would_forget(before).await
    }

    /// The original of a message, or of one part of it, whatever was cut or compacted since.
    ///
    /// A part is named like `12.0`: message 12, its first part. `12` is the whole message. A handle names what was cut,
    /// and the id of a tool call its result.
    pub async fn recall(&self, name: &str) -> Result<Recalled, EngineError> {
        self.core.engine.recall(name, Some(self.id())).await
    }

    /// The text of the summary in the context; none if nothing was compacted.
    pub async fn summary(&self) -> Result<Option<String>, EngineError> {
        let mut messages = self.live_messages().rows().iter();
        match messages.find(|message| message.facts.kind == MessageKind::Summary) {
            Some(summary) => Ok(Some(self.recall(&summary.seq.to_string()).await?.text)),
            None => Ok(None),
        }
    }

    /// The events after number `after`, oldest first.
    pub async fn events(&self, after: u64, limit: usize) -> Result<Vec<RecordedEvent>, EngineError> {
        let recorded = |row: secateur_store::EventRow| {
            let event = from_json(&row.data, || format!("event {} of session {}", row.number, self.id()))?;
            Ok(RecordedEvent { number: row.number, time: row.time, event })
        };
        self.core.engine.events(self.id(), after, limit).await?.into_iter().map(recorded).collect()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.core.row.id
    }

    /// The wire of its messages.
    pub fn wire(&self) -> Wire {
        self.core.wire.0
    }

    /// Its profile.
    pub fn profile(&self) -> &Profile {
        &self.core.profile
    }

    /// Everything in its requests except for the messages, as JSON.
    pub fn envelope(&self) -> &str {
        &self.core.row.envelope
    }

    /// The number of its newest message.
    pub fn head(&self) -> Seq {
        self.core.row.head
    }

    /// Estimated tokens of the next request.
    pub fn tokens(&self) -> i64 {
        self.core.machine.tokens()
    }

    /// The usable tokens of the model that the last request was for; none if they are unknown.
    pub fn usable(&self) -> Option<i64> {
        self.core.machine.usable()
    }

    /// What its profile would cut now, with what policies remember. Nothing is done.
    pub fn plan(&self, now: i64) -> (Plan, Memory) {
        self.core.machine.plan(now)
    }

    /// The messages in the context.
    pub fn live_messages(&self) -> &Context {
        self.core.machine.context()
    }

    /// What was learned about it, and where it was compacted.
    pub fn state(&self) -> &SessionState {
        self.core.machine.state()
    }
}
