//! What kept and followed sessions have in common: a machine that decides, and what its decisions are about.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use bytes::Bytes;
use secateur::Profile;
use secateur::session::{Event, LiveMessage, Seq, SessionCut, SessionMachine, SessionMessage, SessionState};
use secateur_store::{Committed, NewSession, SessionRow, StoreError};

use super::compaction::CompactionState;
use super::history::History;
use super::json::from_json;
use super::lease::CompactionLease;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::events::EngineEvent;
use crate::session_wire::SessionWire;
use crate::stored::session_wire_of;

/// An open session, as far as its kind does not matter.
///
/// A session may be open in several processes at once. Each of them catches up with the others before it does
/// anything.
pub(crate) struct SessionCore<H> {
    pub engine: Engine,
    pub profile: Arc<Profile>,
    pub wire: SessionWire,
    /// The session as it is stored, as far as this process knows.
    pub row: SessionRow,
    /// Decides. It knows the live messages without their bodies.
    pub machine: SessionMachine,
    pub history: H,
    /// Bodies of live messages as they are shown. Not all have to be here.
    pub bodies: HashMap<Seq, Bytes>,
    /// Originals that were read for the cuts that are being decided.
    pub read_originals: HashMap<Seq, Bytes>,
    /// Has to be dropped before the lease, which a summary in the background renews.
    pub compaction: CompactionState,
    pub lease: CompactionLease,
    /// What happened since the session was refreshed.
    pub events: Vec<Event>,
    /// What happened when the session was opened, until the caller takes the events.
    pub opening_events: Vec<Event>,
    /// Characters of the last request that was decided here, until it is settled.
    pub sent_chars: Option<u64>,
    /// A step failed or was abandoned halfway: everything has to be loaded again.
    pub is_dirty: bool,
    /// Handles that other texts have.
    pub taken_handles: BTreeSet<String>,
}

impl<H: History> SessionCore<H> {
    /// A session without its messages.
    pub(crate) fn new(engine: Engine, row: SessionRow, history: H) -> Result<Self, EngineError> {
        let profile = engine.shared_profile(&row.profile, H::KIND)?;
        let wire = session_wire_of(&row)?;
        let machine = SessionMachine::sharing(Arc::clone(&profile), SessionState::default(), []);
        let lease = CompactionLease::new(&engine, &row.id);
        Ok(Self {
            engine,
            profile,
            wire,
            row,
            machine,
            history,
            bodies: HashMap::new(),
            read_originals: HashMap::new(),
            compaction: CompactionState::default(),
            lease,
            events: Vec::new(),
            opening_events: Vec::new(),
            sent_chars: None,
            is_dirty: false,
            taken_handles: BTreeSet::new(),
        })
    }

    /// The session as it is stored. Nothing that is due is begun.
    pub(crate) async fn load(engine: Engine, id: &str, history: H) -> Result<Self, EngineError> {
        let row = engine.parts.store.session(id).await?;
        let mut session = Self::new(engine, row, history)?;
        session.reload().await?;
        Ok(session)
    }

    /// Loads everything again.
    pub(crate) async fn reload(&mut self) -> Result<(), EngineError> {
        match self.store_provisional().await {
            // Others continued the session differently.
            Err(error) if error.is_collision() => {}
            stored => stored?,
        }
        let (mut state, mut living) = (SessionState::default(), Vec::new());
        let mut bodies = HashMap::new();
        if self.history.is_stored() {
            let loaded = self.engine.parts.store.load(&self.row.id).await?;
            let named = |what: &str| format!("{what} of session {}", loaded.session.id);
            state = from_json(&loaded.session.state, || named("the state"))?;
            for message in loaded.messages {
                let facts: SessionMessage = from_json(&message.facts, || named("a message"))?;
                let cuts: Vec<SessionCut> = match message.cuts.as_str() {
                    "" => Vec::new(),
                    cuts => from_json(cuts, || named("a cut"))?,
                };
                if H::holds_body(facts.kind) {
                    bodies.insert(message.seq, message.body.into());
                }
                living.push(LiveMessage { seq: message.seq, facts, cuts, chars: 0 });
            }
            self.row = loaded.session;
        }
        // Storing the end of a summary may have been abandoned.
        self.compaction.is_storing_end = false;
        self.history.discard_pending();
        self.machine = SessionMachine::sharing(Arc::clone(&self.profile), state, living);
        self.bodies = bodies;
        (self.compaction.background, self.compaction.prepared) = (None, None);
        self.is_dirty = false;
        self.lease.release().await;
        Ok(())
    }

    /// Stores the session itself, if it is not stored yet.
    pub(crate) async fn ensure_stored(&mut self) -> Result<(), EngineError> {
        if self.history.is_stored() {
            return Ok(());
        }
        let row = NewSession {
            id: self.row.id.clone(),
            wire: self.row.wire.clone(),
            profile: self.row.profile.clone(),
            title: self.row.title.clone(),
            envelope: self.row.envelope.clone(),
            state: self.row.state.clone(),
            time: self.now(),
        };
        let store = &self.engine.parts.store;
        let created = match store.create(row).await {
            // The id is new, so this process created it before, and the store's response got lost.
            Err(exists @ StoreError::SessionExists { .. }) => {
                let row = store.session(&self.row.id).await?;
                if row.revision > 0 || row.wire != self.row.wire {
                    return Err(exists.into());
                }
                row
            }
            created => created?,
        };
        // The numbers in memory may be ahead, by what was decided while the store was away.
        self.row.created = created.created;
        self.history.set_stored();
        Ok(())
    }

    /// Notes what a commit stored.
    pub(crate) fn note_commit(&mut self, committed: &Committed) {
        let appended = usize::try_from(committed.head - self.row.head).unwrap_or(usize::MAX);
        self.history.remove_stored(appended);
        (self.row.revision, self.row.head) = (committed.revision, committed.head);
        self.row.updated = self.now();
    }

    /// Notes events and sends them to watchers.
    pub(crate) fn announce(&mut self, events: &[Event]) {
        self.events.extend_from_slice(events);
        for event in events {
            let (session, event) = (self.row.id.clone(), event.clone());
            _ = self.engine.parts.events.send(EngineEvent::Session { session, event });
        }
    }

    /// What happened since the session was refreshed, or since this was last called; the first time also what happened
    /// when it was opened.
    pub(crate) fn take_events(&mut self) -> Vec<Event> {
        let mut events = std::mem::take(&mut self.opening_events);
        events.append(&mut self.events);
        events
    }

    pub(crate) fn now(&self) -> i64 {
        self.engine.now()
    }

    /// A live message.
    pub(crate) fn live_message(&self, seq: Seq) -> Option<&LiveMessage> {
        let messages = self.machine.context();
        messages.position(seq).and_then(|at| messages.rows().get(at))
    }
}
