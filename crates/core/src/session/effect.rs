//! What goes into the session machine and what comes out of it.
//!
//! Inputs say what happened; effects say what to do next. Neither holds text: effects name messages and parts by
//! number, and whoever carries them out renders, stores and asks, and reports the outcome back as an input. Effects
//! that wait for an answer carry a ticket, and an answer to an old ticket means nothing, so that an answer may come
//! twice, late or never.

use serde::{Deserialize, Serialize};

use super::event::{CompactionFailure, Event, Means, NoRoom, Trigger};
use super::message::{MessageKind, Seq, SessionCut, SessionMessage};
use super::state::{Pivot, SessionState};
use crate::cache::Cache;
use crate::compaction::Occasion;
use crate::limits::Limits;
use crate::usage::Usage;

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// The session was opened.
    Opened {
        /// When.
        now: i64,
    },
    /// The store has these messages.
    Appended {
        /// Their numbers and facts, in order.
        messages: Vec<(Seq, SessionMessage)>,
    },
    /// Messages were taken back before anything was done with them: whoever said them says something else instead.
    Retracted {
        /// The first of them.
        from: Seq,
    },
    /// The application wants to ask a model.
    Requested(RequestFacts),
    /// The model answered.
    Responded {
        /// What the provider reported.
        usage: Usage,
        /// Whether the model has more to do.
        turn: TurnState,
        /// The characters of the request that it answers, as [`SessionState::sent_chars`] told them when that was let through.
        /// Several may be under way at once, and only whoever sent them knows which this one is. If he does not, nothing
        /// is learned about characters and tokens.
        ///
        /// [`SessionState::sent_chars`]: super::State::sent_chars
        sent: Option<u64>,
        /// When.
        now: i64,
    },
    /// The provider refused the request as too long.
    Refused {
        /// What it counted, if it said so.
        tokens: Option<u64>,
        /// The characters of the request, as for one that is answered.
        sent: Option<u64>,
        /// When.
        now: i64,
    },
    /// Somebody asks for a compaction.
    Compact {
        /// When.
        now: i64,
    },
    /// The store has what it was asked to keep.
    Stored {
        /// The answered effect.
        ticket: u64,
        /// The messages that the operations made, in order.
        messages: Vec<(Seq, SessionMessage)>,
        /// The number of the operation; of the first if there were several.
        operation: u64,
    },
    /// The hooks were asked.
    Consulted {
        /// The answered effect.
        ticket: u64,
        /// What they say.
        consent: Consent,
    },
    /// There is a summary, and it passed the checks.
    Summarised {
        /// The task.
        task: u64,
        /// The facts of the message that it will be.
        summary: SessionMessage,
        /// When.
        now: i64,
    },
    /// There is no summary.
    Failed {
        /// The task.
        task: u64,
        /// Why.
        why: CompactionFailure,
        /// When.
        now: i64,
    },
    /// Whatever was asked for last may have got lost: ask again.
    Retry,
}

/// A request that the application wants to make.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestFacts {
    /// The model's name.
    pub model: String,
    /// What the model can take.
    pub limits: Limits,
    /// What the provider's prompt cache is worth; the usual one if nobody knows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Characters of what is sent beside the messages: instructions, tools.
    #[serde(rename = "frame")]
    pub envelope: u64,
    /// When.
    pub now: i64,
}

/// Whether the model has more to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnState {
    /// It called tools, or was cut off.
    Open,
    /// It is done and waits for the user.
    #[default]
    Over,
}

/// What hooks say about a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Go on.
    Given,
    /// Go on, but leave these parts of messages alone.
    Except(Vec<(Seq, u32)>),
    /// Leave it.
    Refused,
    /// Leave it: somebody else does it. Only for what is prepared in the background; whoever needs it now waits.
    Elsewhere,
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Keep all of this, or nothing, and once: the same ticket may come again. Answered by [`Input::Stored`].
    Store(ChangeSet),
    /// Ask the hooks. Answered by [`Input::Consulted`].
    Consult {
        /// For the answer.
        ticket: u64,
        /// What about.
        about: Proposal,
    },
    /// Make a summary and check it. Answered by [`Input::Summarised`] or [`Input::Failed`].
    Summarise(SummaryTask),
    /// The request may be sent.
    Send {
        /// Its estimated tokens.
        tokens: i64,
        /// What is usable, if the window is known.
        usable: Option<i64>,
        /// Cuts for this request alone. Those that last are made already.
        cuts: Vec<(Seq, SessionCut)>,
    },
    /// The request must not be sent: it cannot be made to fit.
    Reject(NoRoom),
    /// What was asked for is done.
    Done,
}

/// What is kept together.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeSet {
    /// For the answer.
    pub ticket: u64,
    /// What is done.
    pub operations: Vec<Operation>,
    /// What happened.
    pub events: Vec<Event>,
    /// The state from now on, if no operation changes it further.
    pub state: Box<SessionState>,
}

/// A change of a session. Each can be undone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Operation {
    /// Parts are cut.
    Prune {
        /// When.
        occasion: Occasion,
        /// Which, and how.
        cuts: Vec<(Seq, SessionCut)>,
    },
    /// A marker is written.
    Mark {
        /// The task.
        task: u64,
    },
    /// A summary takes the place of older messages.
    Compact(CompactionRecord),
    /// The message that lets the work go on is written.
    Resume,
}

/// A compaction as an operation. The messages that it makes are, in order: the marker if there is none yet, the
/// summary, the repeated user message, the message that lets the work go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompactionRecord {
    /// The task.
    pub task: u64,
    /// The marker, if it is there already.
    pub marker: Option<Seq>,
    /// The messages that the summary replaces, in order of their numbers.
    pub replaced: Vec<Seq>,
    /// Earlier messages that stay verbatim.
    pub kept: Vec<Seq>,
    /// From this message on, all that is not replaced lives on as it is.
    pub live_from: Seq,
    /// The user message that is said again.
    pub replay: Option<Seq>,
    /// Whether the message that lets the work go on follows.
    pub resume: bool,
    /// Whether a model is sent the marker.
    pub shows_marker: bool,
    /// The compaction that held before.
    pub previous: Option<Pivot>,
}

impl CompactionRecord {
    /// The pivot that this makes, once the numbers of its messages are known.
    pub fn pivot(&self, made: &[(Seq, SessionMessage)]) -> Option<Pivot> {
        let of = |kind| made.iter().find(|(_, facts)| facts.kind == kind).map(|(seq, _)| *seq);
        let marker = self.marker.or_else(|| of(MessageKind::Marker)).filter(|_| self.shows_marker);
        let (kept, live_from) = (self.kept.clone(), self.live_from);
        Some(Pivot { marker, summary: of(MessageKind::Summary)?, live_from, kept })
    }

    /// Messages that are not sent although they lie behind `live_from`: some that were replaced, the earlier marker
    /// and summary, and the marker of this compaction if it is not shown.
    pub fn hidden(&self, made: &[(Seq, SessionMessage)]) -> Vec<Seq> {
        let before = self.previous.iter().flat_map(|pivot| pivot.marker.into_iter().chain([pivot.summary]));
        let marker = made.iter().filter(|(_, entry)| entry.kind == MessageKind::Marker).map(|(seq, _)| *seq);
        let marker = self.marker.into_iter().chain(marker).filter(|_| !self.shows_marker);
        let hidden = self.replaced.iter().copied().chain(before).chain(marker);
        hidden.filter(|&seq| seq >= self.live_from).collect()
    }
}

/// What hooks are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// These parts would be cut.
    Prune(Vec<(Seq, SessionCut)>),
    /// These messages would be summarised.
    Compaction(SummaryTask),
    /// The message that lets the work go on would be written.
    Resume,
}

/// A summary that is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryTask {
    /// Its number, unique in the session.
    pub id: u64,
    /// Why.
    pub trigger: Trigger,
    /// Who makes it.
    pub means: Means,
    /// Which attempt this is, from 1 on.
    pub attempt: u32,
    /// The messages to summarise, in order. An earlier summary is not among them.
    pub head: Vec<Seq>,
    /// The earlier summary, which is to be brought up to date.
    pub previous: Option<Seq>,
    /// Earlier messages that stay verbatim.
    pub kept: Vec<Seq>,
    /// The first message that lives on as it is.
    pub tail: Option<Seq>,
    /// The user message that is said again.
    pub replay: Option<Seq>,
    /// The longest summary, in estimated tokens.
    pub budget: i64,
    /// The same in characters.
    pub budget_chars: u64,
    /// Whether the conversation goes on meanwhile.
    pub background: bool,
}
