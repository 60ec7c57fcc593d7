//! The session machine: decides when to prune, compact, go on, try again or give up.
//!
//! ```text
//!                 messages appended, a request wanted, usage reported, a summary made …
//!                                            │ Input
//!                                            ▼
//!            Context (facts)  +  SessionState (small)  +  CompactionSettings (parameters)  ──▶  SessionMachine::handle
//!                                            │ Effect
//!                                            ▼
//!                 store this, ask the hooks, make a summary, send the request, reject it
//! ```
//!
//! The machine does no I/O and holds no text. It takes what happened and says what to do, one step at a time, and
//! whoever carries that out reports back. So every interleaving and every crash can be played through in a test.
//!
//! **Goals, not scripts.** The machine does not remember where in a procedure it is. It knows what is wanted (a
//! request that fits, a session at rest) and looks at the facts for the next step towards it. A lost answer, a repeated
//! one, or a new process that knows only what was stored all lead to the same next step.
//!
//! **Nothing changes before it is stored.** An operation takes hold when the store says that it has it. A pivot is
//! stored in one piece with its summary, so there is no half of one.
//!
//! **It always ends.** Each level of making room is tried once: the cuts of the policy, a summary with recent turns
//! kept, a summary with next to nothing kept, cutting whatever can be cut. A model that fails is asked again a few
//! times, then a digest takes its place. What then still does not fit is rejected with the reason.
//!
//! ```
//! use secateur::session::{Effect, SessionMessage, Input, RequestFacts, SessionMachine, SessionState};
//! use secateur::{Limits, Profiles, Role};
//!
//! let profile = Profiles::builtin().get("balanced")?;
//! let mut session = SessionMachine::new(&profile, SessionState::default(), []);
//! let hello = SessionMessage { id: "m1".into(), role: Role::User, ..SessionMessage::default() };
//! session.handle(Input::Appended { messages: vec![(1, hello)] });
//!
//! let limits = Limits { context: 200_000, ..Limits::default() };
//! let effects = session.handle(Input::Requested(RequestFacts { limits, ..RequestFacts::default() }));
//! assert!(matches!(effects[..], [Effect::Send { .. }]));
//! # Ok::<(), secateur::ProfileError>(())
//! ```

mod context;
mod effect;
mod errand;
mod event;
mod flight;
mod job;
mod message;
mod prune;
mod select;
mod state;

pub use context::{Context, LiveMessage};
pub use effect::{
    ChangeSet, CompactionRecord, Consent, Effect, Input, Operation, Proposal, RequestFacts, SummaryTask,
    TurnState,
};
pub use event::{CompactionFailure, Event, Means, NoRoom, Trigger};
pub use message::{MessageKind, Seq, SessionCut, SessionMessage, SessionPart};
pub use state::{Breaker, Pivot, SessionState};

use std::sync::Arc;

use crate::cache::Lifetime;
use crate::compaction::ForModel;
use crate::limits::Comparison;
use crate::profile::Profile;
use crate::usage::Usage;

use errand::{Errand, Purpose};
use flight::{Flight, Then};
use job::Job;

/// One session, as far as decisions are concerned.
#[derive(Clone, Debug)]
pub struct SessionMachine {
    profile: Arc<Profile>,
    window: Context,
    state: SessionState,
    errand: Option<Errand>,
    flight: Option<Flight>,
    job: Option<Job>,
    ticket: u64,
    events: Vec<Event>,
}

impl SessionMachine {
    /// A session with what a store knows of it: its state, and its living messages in any order.
    pub fn new(
        profile: &Profile,
        state: SessionState,
        living: impl IntoIterator<Item = LiveMessage>,
    ) -> Self {
        Self::sharing(Arc::new(profile.clone()), state, living)
    }

    /// The same with a profile that many sessions have in common.
    pub fn sharing(
        profile: Arc<Profile>,
        state: SessionState,
        living: impl IntoIterator<Item = LiveMessage>,
    ) -> Self {
        let pivot = state.pivot.as_ref();
        let mut rows: Vec<LiveMessage> = living.into_iter().collect();
        rows.sort_by_key(|row| Pivot::rank(pivot, row.seq, &row.facts));
        let window = Context::of(profile.policy.measures(), rows);
        Self { profile, window, state, errand: None, flight: None, job: None, ticket: 0, events: Vec::new() }
    }

    /// Takes in what happened and says what to do.
    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Opened { now } => self.errand = Some(Errand::new(Purpose::Open, now)),
            Input::Appended { messages } => self.append(messages),
            Input::Retracted { from } => self.retract(from),
            Input::Requested(request) => {
                self.errand = Some(Errand::new(Purpose::Request, request.now));
                if request.model != self.state.request.model {
                    // Another model has another cache.
                    self.state.lifetime = Lifetime::default();
                }
                self.state.request = request;
            }
            Input::Responded { usage, turn, sent, now } => self.learn(&usage, turn, sent, now),
            Input::Refused { tokens, sent, now } => self.learn_refusal(tokens, sent, now),
            Input::Compact { now } => self.errand = Some(Errand::new(Purpose::Compact, now)),
            Input::Stored { ticket, messages, operation } => {
                if let Some(flight) = self.land(ticket) {
                    self.take_stored(flight.then, messages, operation, &mut effects);
                }
            }
            Input::Consulted { ticket, consent } => {
                if let Some(flight) = self.land(ticket) {
                    self.take_verdict(flight.then, consent, &mut effects);
                }
            }
            Input::Summarised { task, summary, now } => self.take_summary(task, summary, now),
            Input::Failed { task, why, now } => self.take_failure(task, &why, now),
            Input::Retry => self.repeat(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    /// What the model would be sent.
    pub fn context(&self) -> &Context {
        &self.window
    }

    /// What is remembered beside the messages.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The summary that is being made, if one is.
    pub fn task(&self) -> Option<&SummaryTask> {
        self.job.as_ref().map(|job| &job.task)
    }

    /// Estimated tokens of the next request.
    pub fn tokens(&self) -> i64 {
        self.predict(self.window.chars())
    }

    /// What is usable of the window of the model that was last asked for; none if that is unknown.
    pub fn usable(&self) -> Option<i64> {
        let usable = self.profile.overflow.usable(&self.state.request.limits)?;
        let threshold = self.for_model().threshold;
        Some(threshold.map_or(usable, |threshold| usable.min(threshold.of(usable))))
    }

    fn for_model(&self) -> ForModel {
        self.profile.compaction.for_model(&self.state.request.model)
    }

    /// Estimated tokens of a request with messages of so many characters.
    fn predict(&self, chars: u64) -> i64 {
        let chars = chars.saturating_add(self.state.request.envelope);
        let (tokens, share) = (self.state.calibration.predict(chars), self.state.calibration.share(chars));
        i64::try_from(share.map_or(tokens, |share| share.min(tokens))).unwrap_or(i64::MAX)
    }

    fn is_over(&self, tokens: i64) -> bool {
        self.usable().is_some_and(|usable| match self.profile.overflow.comparison {
            Comparison::MoreThan => tokens > usable,
            Comparison::AtLeast => tokens >= usable,
        })
    }

    /// Adds messages that are new; one that is known already is not added twice.
    fn append(&mut self, messages: Vec<(Seq, SessionMessage)>) {
        for (seq, entry) in messages {
            if self.window.position(seq).is_none() {
                self.window.push(seq, entry, Vec::new());
            }
        }
    }

    /// Takes messages out that were taken back. A compaction that counts on one of them is left.
    fn retract(&mut self, from: Seq) {
        let rows: Vec<LiveMessage> = self
            .window
            .rows()
            .iter()
            .filter(|row| row.seq < from || row.facts.kind != MessageKind::Plain)
            .cloned()
            .collect();
        if rows.len() == self.window.rows().len() {
            return;
        }
        self.window = Context::of(self.window.outline().measures().clone(), rows);
        self.state.sent_to = self.state.sent_to.min(from.saturating_sub(1));
        let counts_on = |task: &SummaryTask| {
            task.head.iter().chain(&task.kept).chain(&task.tail).chain(&task.replay).any(|&seq| seq >= from)
        };
        if self.job.as_ref().is_some_and(|job| counts_on(&job.task)) {
            self.job = None;
        }
    }

    /// Learns from what the provider reported, and sees whether there is something to do.
    fn learn(&mut self, usage: &Usage, turn: TurnState, sent: Option<u64>, now: i64) {
        self.reported(sent);
        if let (Some(chars), Ok(tokens)) = (sent, u64::try_from(usage.context()))
            && tokens > 0
        {
            self.state.calibration.observe(chars, tokens);
            self.state.lifetime.observe(self.state.last_request, usage);
        }
        let mut errand = Errand::new(Purpose::Rest(turn), now);
        let mut tokens = self.profile.overflow.count(usage);
        let left = self.window.chars().saturating_add(self.state.request.envelope);
        if sent.is_some_and(|sent| left < sent) {
            // A summary came in while the answer was under way: what was reported is there no more.
            tokens = tokens.min(self.tokens());
        }
        if self.profile.compaction.auto
            && self.is_over(tokens)
            && !(self.profile.overflow.empty_fits && tokens <= 0)
        {
            errand.trigger = Some(Trigger::Usage);
            self.note_overflow(Trigger::Usage, tokens);
        } else {
            self.look_ahead(tokens, turn, now);
        }
        self.errand = Some(errand);
    }

    /// Learns that the last request was too long.
    fn learn_refusal(&mut self, tokens: Option<u64>, sent: Option<u64>, now: i64) {
        self.reported(sent);
        let usable = self.usable().and_then(|usable| u64::try_from(usable).ok());
        // Whatever the estimate said, it was more than there is room for.
        let least = usable.map(|usable| usable.saturating_add(1));
        if let (Some(tokens), Some(least)) = (tokens, least)
            && tokens < least
        {
            // Who has counted is believed, so it is the window that was thought larger than it is.
            self.state.request.limits.shrink(i64::try_from(least - tokens).unwrap_or(i64::MAX));
        }
        if let (Some(chars), Some(tokens)) = (sent, tokens.or(least)) {
            self.state.calibration.observe(chars, tokens);
        }
        let mut errand = Errand::new(Purpose::Rest(TurnState::Open), now);
        if self.profile.compaction.auto {
            errand.trigger = Some(Trigger::Refusal);
            self.note_overflow(Trigger::Refusal, self.tokens());
        }
        self.errand = Some(errand);
    }

    /// A request of so many characters was reported on, and is not under way any more.
    fn reported(&mut self, sent: Option<u64>) {
        self.state.sent_chars = self.state.sent_chars.filter(|chars| Some(*chars) != sent);
    }

    fn note_overflow(&mut self, trigger: Trigger, tokens: i64) {
        let usable = self.usable().unwrap_or(0);
        self.events.push(Event::Overflow { trigger, tokens, usable });
    }

    /// Begins a summary in the background if it will be needed soon.
    fn look_ahead(&mut self, tokens: i64, turn: TurnState, now: i64) {
        let Some((mark, usable)) = self.for_model().background.zip(self.usable()) else { return };
        let allowed =
            self.profile.compaction.auto && self.state.breaker.allows(&self.profile.compaction, now);
        if self.job.is_none() && allowed && tokens >= mark.of(usable) {
            // If it would not help yet, it is not needed yet.
            let _ = self.begin(Trigger::Ahead, turn, 0, now);
        }
    }

    /// Goes on as far as it can without an answer.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        while self.flight.is_none() {
            if self.advance_job(effects) || self.advance_errand(effects) {
                continue;
            }
            if self.flight.is_none() && self.errand.is_none() && !self.events.is_empty() {
                self.store(effects, Vec::new(), Then::Nothing);
            }
            return;
        }
    }
}
