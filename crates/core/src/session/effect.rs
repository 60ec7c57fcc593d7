//! What goes into the session machine and what comes out of it.
//!
//! Inputs say what happened, effects say what to do next. Neither holds text: effects name messages and parts by number.
//! The driver carries an effect out and reports its result as an input. Effects with a result carry a ticket. A result
//! with an old ticket is ignored, so results may come twice, late or never.

use serde::{Deserialize, Serialize};

use super::bound_thinking::BoundThinking;
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
    /// Messages were stored.
    Appended {
        /// Their numbers and facts, in order.
        messages: Vec<(Seq, SessionMessage)>,
    },
    /// The client replaced its newest messages by others before they were sent.
    Retracted {
        /// The first of them.
        from: Seq,
    },
    /// The client wants to send a request.
    Requested(RequestFacts),
    /// A response arrived.
    Responded {
        /// What the provider reported.
        usage: Usage,
        /// Whether the model has more to do.
        turn: TurnState,
        /// The characters of its request, which were [`SessionState::sent_chars`] when that was sent. Several requests
        /// may be in flight at once, and only the driver knows which of them this response belongs to. If it is unknown,
        /// nothing is learned about characters and tokens.
        ///
        /// [`SessionState::sent_chars`]: super::SessionState::sent_chars
        sent: Option<u64>,
        /// When.
        now: i64,
    },
    /// The provider reported what it did to a request before its model saw it.
    ProviderEdited(ProviderReport),
    /// The provider refused the request as too long.
    Refused {
        /// What it counted, if it said so.
        tokens: Option<u64>,
        /// The characters of the request, as in [`Input::Responded`].
        sent: Option<u64>,
        /// When.
        now: i64,
    },
    /// The provider refused thinking that was made behind other messages.
    ThinkingRefused {
        /// The first message with such thinking, if the provider named it.
        from: Option<Seq>,
        /// What can be done about it.
        thinking: BoundThinking,
        /// When.
        now: i64,
    },
    /// A compaction was asked for.
    Compact {
        /// When.
        now: i64,
    },
    /// The result of [`Effect::Store`].
    Stored {
        /// The effect.
        ticket: u64,
        /// The messages that the operations made, in order.
        messages: Vec<(Seq, SessionMessage)>,
        /// The number of the operation; of the first if there were several.
        operation: u64,
        /// The handles of the cuts, by message and part.
        handles: Vec<(Seq, u32, String)>,
    },
    /// The result of [`Effect::Consult`].
    Consulted {
        /// The effect.
        ticket: u64,
        /// What the hooks decided.
        consent: Consent,
    },
    /// There is a summary, and it passed its checks.
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
    /// The result of the last effect may be lost: emit it again.
    Retry,
}

/// A request that the client wants to send.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RequestFacts {
    /// The model's name.
    pub model: String,
    /// What the model can take.
    pub limits: Limits,
    /// What the provider's prompt cache is worth; none for the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// The lengths of a prompt above which the whole request costs more.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub band_limits: Vec<u64>,
    /// How the model binds its thinking, and what can be done about that; none if it does not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<BoundThinking>,
    /// Characters of the envelope: instructions, tools.
    #[serde(rename = "frame")]
    pub envelope: u64,
    /// When.
    pub now: i64,
}

/// What a provider did to a request before its model saw it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProviderReport {
    /// Tool results that it cleared.
    pub cleared_results: u64,
    /// Their tokens.
    pub cleared_tokens: u64,
    /// Blocks of thinking that it dropped, because they were made behind other messages.
    pub dropped_blocks: u64,
}

/// Whether the model has more to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnState {
    /// It called tools, or was cut off.
    Open,
    /// It is done; the user is next.
    #[default]
    Over,
}

/// What the hooks decide about a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Consent {
    /// Go on.
    Given,
    /// Go on, but leave these parts of messages alone.
    Except(Vec<(Seq, u32)>),
    /// Leave it.
    Refused,
    /// Leave it for now: another process does it, or the store is away.
    Elsewhere,
}

impl Consent {
    /// The same, but these parts of messages are left alone as well.
    ///
    /// ```
    /// use secateur::session::Consent;
    ///
    /// assert_eq!(Consent::Given.except(vec![(7, 0)]), Consent::Except(vec![(7, 0)]));
    /// assert_eq!(Consent::Refused.except(vec![(7, 0)]), Consent::Refused);
    /// ```
    pub fn except(self, parts: Vec<(Seq, u32)>) -> Self {
        match self {
            Consent::Given if !parts.is_empty() => Consent::Except(parts),
            Consent::Except(mut kept) => {
                kept.extend(parts);
                Consent::Except(kept)
            }
            consent => consent,
        }
    }
}

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Store all of this or nothing, and only once: the same ticket may come again. Its result is [`Input::Stored`].
    Store(ChangeSet),
    /// Ask the hooks. Its result is [`Input::Consulted`].
    Consult {
        /// For the result.
        ticket: u64,
        /// What would be done.
        about: Proposal,
    },
    /// Make a summary and check it. Its result is [`Input::Summarised`] or [`Input::Failed`].
    Summarise(SummaryTask),
    /// The request may be sent.
    Send {
        /// Its estimated tokens.
        tokens: i64,
        /// What is usable, if the window is known.
        usable: Option<i64>,
        /// Cuts for this request alone. Lasting ones are in effect already.
        cuts: Vec<(Seq, SessionCut)>,
    },
    /// The request must not be sent: it cannot be made to fit.
    Reject(NoRoom),
    /// The input was handled; there is nothing to send.
    Done,
}

/// What is stored together.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeSet {
    /// For the result.
    pub ticket: u64,
    /// The operations.
    pub operations: Vec<Operation>,
    /// The events.
    pub events: Vec<Event>,
    /// The new state, without what the operations change in it.
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
    /// A marker is added.
    Mark {
        /// The task.
        task: u64,
    },
    /// A summary takes the place of older messages.
    Compact(CompactionRecord),
    /// The message that resumes the work is added.
    Resume,
}

/// A compaction as an operation. It adds these messages, in order: the marker if there is none yet, the summary, the
/// repeated user message, the message that resumes the work.
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
    /// From this message on, everything that is not replaced stays as it is.
    pub live_from: Seq,
    /// The user message that is repeated after the summary.
    pub replay: Option<Seq>,
    /// Whether the message that resumes the work follows.
    pub resume: bool,
    /// Whether the marker is sent to the model.
    pub shows_marker: bool,
    /// The compaction that was in effect before.
    pub previous: Option<Pivot>,
}

impl CompactionRecord {
    /// The pivot, once the numbers of the added messages are known; none without a summary among them.
    pub fn pivot(&self, made: &[(Seq, SessionMessage)]) -> Option<Pivot> {
        let of = |kind| made.iter().find(|(_, facts)| facts.kind == kind).map(|(seq, _)| *seq);
        let marker = self.marker.or_else(|| of(MessageKind::Marker)).filter(|_| self.shows_marker);
        let (kept, live_from) = (self.kept.clone(), self.live_from);
        Some(Pivot { marker, summary: of(MessageKind::Summary)?, live_from, kept })
    }

    /// Messages from `live_from` on that are not sent: replaced ones, the earlier marker and summary, and the marker of
    /// this compaction if it is not shown.
    pub fn hidden(&self, made: &[(Seq, SessionMessage)]) -> Vec<Seq> {
        let before = self.previous.iter().flat_map(|pivot| pivot.marker.into_iter().chain([pivot.summary]));
        let marker = made.iter().filter(|(_, facts)| facts.kind == MessageKind::Marker).map(|(seq, _)| *seq);
        let marker = self.marker.into_iter().chain(marker).filter(|_| !self.shows_marker);
        let hidden = self.replaced.iter().copied().chain(before).chain(marker);
        hidden.filter(|&seq| seq >= self.live_from).collect()
    }
}

/// What the hooks are asked about.
#[derive(Clone, Debug, PartialEq)]
pub enum Proposal {
    /// These parts would be cut.
    Prune(Vec<(Seq, SessionCut)>),
    /// These messages would be summarised.
    Compaction(SummaryTask),
    /// The message that resumes the work would be added.
    Resume,
}

/// A summary to make.
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
    /// The earlier summary, which the new one continues.
    pub previous: Option<Seq>,
    /// Earlier messages that stay verbatim.
    pub kept: Vec<Seq>,
    /// The first recent message that stays as it is.
    pub tail: Option<Seq>,
    /// The user message that is repeated after the summary.
    pub replay: Option<Seq>,
    /// The longest summary, in estimated tokens.
    pub budget: i64,
    /// The same in characters.
    pub budget_chars: u64,
    /// Whether the conversation goes on meanwhile.
    pub background: bool,
}
