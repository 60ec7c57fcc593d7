//! A session: messages go in, requests that fit come out.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use secateur::Profile;
use secateur::Usage;
use secateur::session::{
    Event, Input, LiveMessage, RequestFacts as Asked, Seq, SessionCut, SessionMachine as Machine,
    SessionMessage, SessionState, TurnState,
};
use secateur_formats::Wire;
use secateur_store::{Commit, Lease, SessionRow, StoreError};
use uuid::Uuid;

use crate::background::Background;
use crate::dialect::{Dialect, frame_chars};
use crate::drive::{Outcome, Stretch};
use crate::engine::{Engine, Target};
use crate::error::EngineError;
use crate::following::Following;
use crate::handle;
use crate::live::Live;
use crate::prepare::Prepared;
use crate::record::to_json;
use crate::request::Request;

/// How often a step is tried again because somebody else changed the session.
pub(crate) const TRIES: u32 = 40;

/// How a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settlement {
    /// The model answered.
    Answered {
        /// What the provider reported.
        usage: Usage,
        /// Whether the model has more to do.
        turn: TurnState,
    },
    /// The provider refused it as too long.
    Overflow {
        /// What it counted, if it said so.
        tokens: Option<u64>,
    },
}

impl Settlement {
    /// What the machine is told, if the request had so many characters.
    pub(crate) fn input(self, sent: Option<u64>, now: i64) -> Input {
        match self {
            Settlement::Answered { usage, turn } => Input::Responded { usage, turn, sent, now },
            Settlement::Overflow { tokens } => Input::Refused { tokens, sent, now },
        }
    }
}

/// An open session.
///
/// A session may be open in several processes at once. Each notices what the others did before it does anything.
pub struct Session {
    pub(crate) engine: Engine,
    pub(crate) profile: Arc<Profile>,
    pub(crate) dialect: Dialect,
    pub(crate) row: SessionRow,
    pub(crate) machine: Machine,
    /// The bodies that are shown of living messages.
    pub(crate) bodies: HashMap<Seq, Bytes>,
    pub(crate) prepared: Option<Prepared>,
    pub(crate) background: Option<Background>,
    /// What became of a summary that was made in the background is just being stored.
    pub(crate) is_taking: bool,
    pub(crate) lease: Option<Lease>,
    pub(crate) owner: String,
    pub(crate) focus: Option<String>,
    /// What hooks want the summariser to know about the stretch that is compacted.
    pub(crate) notes: Vec<String>,
    pub(crate) stretch: Stretch,
    pub(crate) told: Vec<Event>,
    /// Characters of the last request that was let through here.
    pub(crate) sent: Option<u64>,
    /// What is in memory only, for a session that follows somebody else's history.
    pub(crate) following: Option<Following>,
    /// Something failed halfway: what is in memory is not to be relied on.
    pub(crate) is_dirty: bool,
}

impl Session {
    pub(crate) async fn load(
        engine: Engine,
        id: &str,
        following: Option<Following>,
    ) -> Result<Self, EngineError> {
        let row = engine.parts.store.session(id).await?;
        let mut session = Self::of(engine, row, following)?;
        session.reload().await?;
        for attempt in 0..TRIES {
            let now = session.now();
            match session.drive(Input::Opened { now }).await {
                Ok(_) => return Ok(session),
                Err(error) if error.is_collision() => session.pause(attempt).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Busy { session: id.to_owned() })
    }

    /// A session without its messages.
    pub(crate) fn of(
        engine: Engine,
        row: SessionRow,
        following: Option<Following>,
    ) -> Result<Self, EngineError> {
        let profile = engine.shared_profile(&row.profile, following.is_some())?;
        let dialect = handle::dialect(&row)?;
        let machine = Machine::sharing(Arc::clone(&profile), SessionState::default(), []);
        Ok(Self {
            engine,
            profile,
            dialect,
            row,
            machine,
            bodies: HashMap::new(),
            prepared: None,
            background: None,
            is_taking: false,
            lease: None,
            owner: Uuid::now_v7().to_string(),
            focus: None,
            notes: Vec::new(),
            stretch: Stretch::default(),
            told: Vec::new(),
            sent: None,
            following,
            is_dirty: false,
        })
    }

    /// Takes everything from the store again.
    pub(crate) async fn reload(&mut self) -> Result<(), EngineError> {
        // Whoever was about to store the end of a summary may have been dropped on the way.
        self.is_taking = false;
        if self.start_over() {
            return Ok(());
        }
        let loaded = self.engine.parts.store.load(&self.row.id).await?;
        let unreadable = |what: &str, source: serde_json::Error| EngineError::Unreadable {
            what: format!("{what} of session {}", loaded.session.id),
            source: source.into(),
        };
        let state: SessionState =
            serde_json::from_str(&loaded.session.state).map_err(|error| unreadable("the state", error))?;
        let mut living = Vec::with_capacity(loaded.messages.len());
        self.bodies.clear();
        for message in loaded.messages {
            let entry: SessionMessage =
                serde_json::from_str(&message.facts).map_err(|error| unreadable("a message", error))?;
            let cuts: Vec<SessionCut> = match message.cuts.as_str() {
                "" => Vec::new(),
                cuts => serde_json::from_str(cuts).map_err(|error| unreadable("a cut", error))?,
            };
            if self.holds(entry.kind) {
                self.bodies.insert(message.seq, message.body.into());
            }
            living.push(LiveMessage { seq: message.seq, facts: entry, cuts, chars: 0 });
        }
        self.machine = Machine::sharing(Arc::clone(&self.profile), state, living);
        self.row = loaded.session;
        self.background = None;
        self.prepared = None;
        self.is_dirty = false;
        self.give_back().await;
        Ok(())
    }

    pub(crate) fn now(&self) -> i64 {
        self.engine.parts.clock.now()
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.row.id
    }

    /// The form of its messages.
    pub fn wire(&self) -> Wire {
        self.dialect.0
    }

    /// Its profile.
    pub fn profile(&self) -> &Profile {
        &self.profile
    }

    /// The decisions behind it: what a model would be sent, and what was learned.
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The request to send: what is alive of the conversation, made to fit the model.
    pub async fn context(&mut self, target: &Target) -> Result<Request, EngineError> {
        for attempt in 0..TRIES {
            self.refresh().await?;
            match self.ask(target, frame_chars(&self.row.envelope)).await {
                Ok(Outcome::Sent { tokens, usable, cuts }) => {
                    self.keep_state().await?;
                    return self.request(target, tokens, usable, &cuts).await;
                }
                Ok(Outcome::Rejected(no_room)) => return Err(EngineError::NoRoom(no_room)),
                Ok(Outcome::Done) => {}
                Err(error) if error.is_collision() => self.pause(attempt).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Busy { session: self.row.id.clone() })
    }

    /// Asks the machine for a request beside whose messages so many characters are sent.
    pub(crate) async fn ask(&mut self, target: &Target, frame: u64) -> Result<Outcome, EngineError> {
        let asked = Asked {
            model: target.model.clone(),
            limits: target.limits,
            cache: target.cache(&self.machine.state().lifetime),
            envelope: frame,
            now: self.now(),
        };
        let outcome = self.drive(Input::Requested(asked)).await?;
        self.sent = self.machine.state().sent_chars;
        Ok(outcome)
    }

    /// Says how the last request ended; gives what happened because of it.
    ///
    /// That is the last one that this session made, or if it made none, the last one that any did.
    pub async fn settle(&mut self, settlement: Settlement) -> Result<Vec<Event>, EngineError> {
        self.settle_by(settlement, |session| session.sent.or(session.machine.state().sent_chars)).await
    }

    /// Characters of the last request that was made here, until it is settled.
    pub fn sent(&self) -> Option<u64> {
        self.sent
    }

    /// Says how a request of so many characters ended, for whoever has several under way: [`Session::sent`] told when it was
    /// made. If nobody knows, nothing is learned about characters and tokens.
    pub async fn settle_sent(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        self.settle_by(settlement, |_| sent).await
    }

    /// Settles a request whose length is known once the session is up to date.
    async fn settle_by(
        &mut self,
        settlement: Settlement,
        sent: impl Fn(&Self) -> Option<u64>,
    ) -> Result<Vec<Event>, EngineError> {
        for attempt in 0..TRIES {
            self.refresh().await?;
            let sent = sent(self);
            match self.report(settlement, sent).await {
                Ok(()) => {
                    self.keep_state().await?;
                    return Ok(std::mem::take(&mut self.told));
                }
                Err(error) if error.is_collision() => self.pause(attempt).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Busy { session: self.row.id.clone() })
    }

    /// Tells the machine how a request of so many characters ended.
    pub(crate) async fn report(
        &mut self,
        settlement: Settlement,
        sent: Option<u64>,
    ) -> Result<(), EngineError> {
        let now = self.now();
        self.drive(settlement.input(sent, now)).await?;
        self.sent = self.sent.filter(|chars| Some(*chars) != sent);
        Ok(())
    }

    /// Compacts now; `focus` says what the summary should pay attention to.
    pub async fn compact(&mut self, focus: Option<&str>) -> Result<Vec<Event>, EngineError> {
        for attempt in 0..TRIES {
            self.refresh().await?;
            self.focus = focus.map(str::to_owned);
            let now = self.now();
            let outcome = self.drive(Input::Compact { now }).await;
            self.focus = None;
            match outcome {
                Ok(_) => return Ok(std::mem::take(&mut self.told)),
                Err(error) if error.is_collision() => self.pause(attempt).await?,
                Err(error) => return Err(error),
            }
        }
        Err(EngineError::Busy { session: self.row.id.clone() })
    }

    /// Waits for the summary that is made in the background, if one is.
    pub async fn wait(&mut self) -> Result<Vec<Event>, EngineError> {
        self.told.clear();
        // Whoever failed may be asked again.
        while self.background.is_some() {
            self.take_background().await?;
        }
        Ok(std::mem::take(&mut self.told))
    }

    /// Keeps what was learned.
    pub(crate) async fn keep_state(&mut self) -> Result<(), EngineError> {
        let state = to_json(self.machine.state())?;
        let append = self.settled();
        if append.is_empty() && (state == self.row.state || self.is_unborn()) {
            return Ok(());
        }
        self.be_born().await?;
        let commit = Commit {
            revision: self.row.revision,
            time: self.now(),
            append,
            state: Some(state.clone()),
            ..Commit::default()
        };
        match self.engine.parts.store.commit(&self.row.id, commit).await {
            Ok(committed) => {
                self.note_kept(&committed);
                self.row.state = state;
            }
            // Another process is ahead; what was learned here is not worth a quarrel, nor a summary on its way.
            Err(StoreError::Stale { .. }) if self.background.is_some() => self.catch_up().await?,
            Err(StoreError::Stale { .. }) => self.is_dirty = true,
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// Takes note of events, and passes them on to whoever watches.
    pub(crate) fn tell(&mut self, events: &[Event]) {
        self.told.extend_from_slice(events);
        for event in events {
            self.engine.parts.live.send(Live::Event { session: self.row.id.clone(), event: event.clone() });
        }
    }
}
