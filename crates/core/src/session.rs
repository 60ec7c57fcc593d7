//! The session machine: decides when to prune, compact, resume, retry or give up.
//!
//! ```text
//!              messages appended, a request to send, usage reported, a summary made …
//!                                            │ Input
//!                                            ▼
//!            Context (facts)  +  SessionState (small)  +  CompactionSettings (parameters)  ──▶  SessionMachine::handle
//!                                            │ Effect
//!                                            ▼
//!                 store this, ask the hooks, make a summary, send the request, reject it
//! ```
//!
//! The machine does no I/O and holds no text. It takes in what happened and says what to do, one step at a time. A driver
//! carries that out and reports back. So a test can play through every interleaving and every crash.
//!
//! **Goals, not scripts.** The machine does not remember where in a procedure it is. It knows its goal (a request that
//! fits, a session that is ready for the next request) and derives the next step from the facts. A lost result, a
//! repeated one, or a new process that knows only what was stored all lead to the same next step.
//!
//! **Nothing changes before it is stored.** An operation is applied once the store has confirmed it. A pivot is stored
//! in one piece with its summary.
//!
//! **It always ends.** Each remedy is tried at most once: cuts by the policy, a compaction that keeps recent
//! turns, one that keeps next to nothing, emergency cuts. A model that fails is called again a few times, then a digest
//! takes the place of the summary. If the request still does not fit, it is rejected with the reason.
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

mod bound_thinking;
mod compaction_task;
mod context;
mod effect;
mod event;
mod goal;
mod look_ahead;
mod message;
mod pending_effect;
mod prune;
mod remedy;
mod select;
mod state;

pub use bound_thinking::{BoundThinking, ProviderClearing};
pub use context::{Context, LiveMessage};
pub use effect::{
    ChangeSet, CompactionRecord, Consent, Effect, Input, Operation, Proposal, ProviderReport, RequestFacts,
    SummaryTask, TurnState,
};
pub use event::{CompactionFailure, Event, Means, NoRoom, Trigger};
pub use message::{CutBy, MessageKind, Seq, SessionCut, SessionMessage, SessionPart};
pub use state::{Breaker, Pivot, SessionState, UndoneCompaction};

use std::sync::Arc;

use crate::cache::Lifetime;
use crate::compaction::ForModel;
use crate::limits::Comparison;
use crate::profile::Profile;
use crate::usage::Usage;

use compaction_task::CompactionTask;
use goal::{Goal, GoalKind};
use pending_effect::{Continuation, PendingEffect};

/// The decisions of one session.
#[derive(Clone, Debug)]
pub struct SessionMachine {
    profile: Arc<Profile>,
    context: Context,
    state: SessionState,
    goal: Option<Goal>,
    pending: Option<PendingEffect>,
    compaction: Option<CompactionTask>,
    ticket: u64,
    events: Vec<Event>,
}

impl SessionMachine {
    /// A machine for what the store has: the state, and the messages of the context in any order.
    pub fn new(
        profile: &Profile,
        state: SessionState,
        messages: impl IntoIterator<Item = LiveMessage>,
    ) -> Self {
        Self::sharing(Arc::new(profile.clone()), state, messages)
    }

    /// The same with a profile that several sessions share.
    pub fn sharing(
        profile: Arc<Profile>,
        state: SessionState,
        messages: impl IntoIterator<Item = LiveMessage>,
    ) -> Self {
        let pivot = state.pivot.as_ref();
        let mut rows: Vec<LiveMessage> = messages.into_iter().collect();
        rows.sort_by_key(|row| Pivot::rank(pivot, row.seq, &row.facts));
        let context = Context::of(profile.policy.measures(), rows);
        Self {
            profile,
            context,
            state,
            goal: None,
            pending: None,
            compaction: None,
            ticket: 0,
            events: Vec::new(),
        }
    }

    /// Takes in what happened and returns what to do.
    pub fn handle(&mut self, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Opened { now } => self.goal = Some(Goal::new(GoalKind::Open, now)),
            Input::Appended { messages } => self.append(messages),
            Input::Retracted { from } => self.retract(from),
            Input::Requested(request) => {
                self.goal = Some(Goal::new(GoalKind::Request, request.now));
                if request.model != self.state.request.model {
                    // Another model has another cache.
                    self.state.lifetime = Lifetime::default();
                }
                self.state.request = request;
            }
            Input::Responded { usage, turn, sent, now } => self.take_response(&usage, turn, sent, now),
            Input::ProviderEdited(report) => self.note_provider_report(report),
            Input::Refused { tokens, sent, now } => self.take_refusal(tokens, sent, now),
            Input::ThinkingRefused { from, thinking, now } => {
                self.state.request.thinking = Some(thinking);
                self.goal = Some(Goal::new(GoalKind::DropThinking { from }, now));
            }
            Input::Compact { now } => self.goal = Some(Goal::new(GoalKind::Compact, now)),
            Input::Stored { ticket, messages, operation, handles } => {
                if let Some(pending) = self.take_pending(ticket) {
                    self.take_stored(pending.then, messages, (operation, &handles), &mut effects);
                }
            }
            Input::Consulted { ticket, consent } => {
                if let Some(pending) = self.take_pending(ticket) {
                    self.take_consent(pending.then, consent, &mut effects);
                }
            }
            Input::Summarised { task, summary, now } => self.take_summary(task, summary, now),
            Input::Failed { task, why, now } => self.take_failure(task, &why, now),
            Input::Retry => self.repeat_pending(&mut effects),
        }
        self.advance(&mut effects);
        effects
    }

    /// The messages that the model would be sent.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What the session keeps beside its messages.
    pub fn state(&self) -> &SessionState {
        &self.state
    }

    /// The summary that is being made, if one is.
    pub fn task(&self) -> Option<&SummaryTask> {
        self.compaction.as_ref().map(|compaction| &compaction.task)
    }

    /// Estimated tokens of the next request.
    pub fn tokens(&self) -> i64 {
        self.predict(self.context.chars())
    }

    /// The usable part of the window of the last request's model; none if the window is unknown.
    pub fn usable(&self) -> Option<i64> {
        let usable = self.profile.overflow.usable(&self.state.request.limits)?;
        let threshold = self.for_model().threshold;
        Some(threshold.map_or(usable, |threshold| usable.min(threshold.of(usable))))
    }

    fn for_model(&self) -> ForModel {
        self.profile.compaction.for_model(&self.state.request.model)
    }

    /// Estimated tokens of a request whose messages have `chars` characters.
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

    /// Adds messages, except those that are there already.
    fn append(&mut self, messages: Vec<(Seq, SessionMessage)>) {
        for (seq, facts) in messages {
            if self.context.position(seq).is_none() {
                self.context.push(seq, facts, Vec::new());
            }
        }
    }

    /// Removes messages that the client replaced, and drops a compaction that involves one of them.
    fn retract(&mut self, from: Seq) {
        let rows: Vec<LiveMessage> = self
            .context
            .rows()
            .iter()
            .filter(|row| row.seq < from || row.facts.kind != MessageKind::Plain)
            .cloned()
            .collect();
        if rows.len() == self.context.rows().len() {
            return;
        }
        self.context = Context::of(self.context.outline().measures().clone(), rows);
        self.state.sent_to = self.state.sent_to.min(from.saturating_sub(1));
        let involves = |task: &SummaryTask| {
            task.head.iter().chain(&task.kept).chain(&task.tail).chain(&task.replay).any(|&seq| seq >= from)
        };
        if self.compaction.as_ref().is_some_and(|compaction| involves(&compaction.task)) {
            self.compaction = None;
        }
    }

    /// Learns from the reported usage and sets the goal that follows.
    fn take_response(&mut self, usage: &Usage, turn: TurnState, sent: Option<u64>, now: i64) {
        self.note_reported(sent);
        if let (Some(chars), Ok(tokens)) = (sent, u64::try_from(usage.context()))
            && tokens > 0
        {
            self.state.calibration.observe(chars, tokens);
            self.state.lifetime.observe(self.state.last_request, usage);
        }
        let mut goal = Goal::new(GoalKind::AfterResponse(turn), now);
        let mut tokens = self.profile.overflow.count(usage);
        let left = self.context.chars().saturating_add(self.state.request.envelope);
        if sent.is_some_and(|sent| left < sent) {
            // Something was cut or compacted while the response was awaited, so the report is out of date.
            tokens = tokens.min(self.tokens());
        }
        if self.profile.compaction.auto
            && self.is_over(tokens)
            && !(self.profile.overflow.empty_fits && tokens <= 0)
        {
            goal.trigger = Some(Trigger::Usage);
            self.note_overflow(Trigger::Usage, tokens);
        } else {
            goal.ahead = Some(tokens);
        }
        self.goal = Some(goal);
    }

    /// Learns that a request was too long.
    fn take_refusal(&mut self, tokens: Option<u64>, sent: Option<u64>, now: i64) {
        self.note_reported(sent);
        let usable = self.usable().and_then(|usable| u64::try_from(usable).ok());
        // Whatever the estimate was, the request had more tokens than are usable.
        let least = usable.map(|usable| usable.saturating_add(1));
        if let (Some(tokens), Some(least)) = (tokens, least)
            && tokens < least
        {
            // The provider's count is right, so the window must be smaller than assumed.
            self.state.request.limits.shrink(i64::try_from(least - tokens).unwrap_or(i64::MAX));
        }
        if let (Some(chars), Some(tokens)) = (sent, tokens.or(least)) {
            self.state.calibration.observe(chars, tokens);
        }
        let mut goal = Goal::new(GoalKind::AfterResponse(TurnState::Open), now);
        if self.profile.compaction.auto {
            goal.trigger = Some(Trigger::Refusal);
            self.note_overflow(Trigger::Refusal, self.tokens());
        }
        self.goal = Some(goal);
    }

    /// Notes that a request with `sent` characters is no longer in flight.
    fn note_reported(&mut self, sent: Option<u64>) {
        self.state.sent_chars = self.state.sent_chars.filter(|chars| Some(*chars) != sent);
    }

    /// Notes what the provider did. It does the same at each request, so only changes are told.
    fn note_provider_report(&mut self, report: ProviderReport) {
        let before = std::mem::replace(&mut self.state.provider, report);
        let is_same = before.cleared_results == report.cleared_results
            && before.dropped_blocks == report.dropped_blocks;
        if !is_same {
            self.events.push(Event::ProviderEdited(report));
        }
    }

    fn note_overflow(&mut self, trigger: Trigger, tokens: i64) {
        let usable = self.usable().unwrap_or(0);
        self.events.push(Event::Overflow { trigger, tokens, usable });
    }

    /// Goes on as far as possible without waiting for a result.
    fn advance(&mut self, effects: &mut Vec<Effect>) {
        while self.pending.is_none() {
            if self.advance_compaction(effects) || self.advance_goal(effects) {
                continue;
            }
            if self.pending.is_none() && self.goal.is_none() && !self.events.is_empty() {
                self.store(effects, Vec::new(), Continuation::Nothing);
            }
            return;
        }
    }
}
