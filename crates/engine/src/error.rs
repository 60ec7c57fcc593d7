//! Errors of the engine.

use std::fmt;

use secateur::session::{NoRoom, Seq};
use secateur::{ProfileError, Role};
use secateur_formats::{ApplyError, Wire};
use secateur_store::StoreError;

/// Why the engine refused or failed. What it acknowledged before is not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session's profile is unknown or invalid.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The next request cannot be made to fit.
    #[error(
        "the next request has about {} tokens where {} are usable, and nothing more can be left out{}",
        .0.tokens, .0.usable, .0.largest.map(|seq| format!("; the largest message is number {seq}")).unwrap_or_default()
    )]
    NoRoom(NoRoom),
    /// A message is not a JSON object of the session's wire.
    #[error("message {id:?} is not a message of {wire}: expected a JSON object as it stands in a request")]
    InvalidMessage {
        /// Its id.
        id: String,
        /// The session's wire.
        wire: Wire,
    },
    /// A message is too large.
    #[error("message {id:?} has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its id.
        id: String,
        /// Its size.
        bytes: usize,
        /// The largest size that is accepted.
        limit: usize,
    },
    /// A stored value cannot be read.
    #[error("{what} cannot be read: {source}")]
    Unreadable {
        /// What.
        what: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A cut cannot be made.
    #[error("a cut cannot be made: {source}")]
    Uncuttable {
        /// Why.
        source: ApplyError,
    },
    /// The envelope of a session is not a JSON object, or it contains messages.
    #[error("the envelope of a request must be a JSON object without the list of messages: {reason}")]
    InvalidEnvelope {
        /// What is wrong.
        reason: String,
    },
    /// The session has no such message or part.
    #[error("session {session} has no {what}")]
    NotFound {
        /// The session.
        session: String,
        /// What was looked for.
        what: String,
    },
    /// No cut has this handle.
    #[error(
        "nothing was cut under {name:?}, and none of the sessions changed last has a tool call of that id"
    )]
    NotCut {
        /// The name that was looked for.
        name: String,
    },
    /// Several different texts have this name.
    #[error("{name:?} names {} different texts: {}. Name the session, or one of them by session and number", .candidates.len(), listed(.candidates))]
    Ambiguous {
        /// The name that was looked for.
        name: String,
        /// What may be meant.
        candidates: Vec<RecallCandidate>,
    },
    /// The original was deleted on request.
    #[error("the original of message {seq} was forgotten; only what is shown of it is left")]
    Forgotten {
        /// Its number.
        seq: u64,
    },
    /// Messages with tool calls or results cannot be pinned.
    #[error(
        "message {id:?} holds tool calls or results ({role:?}) and cannot be pinned: one half cannot stay alone"
    )]
    NotPinnable {
        /// Its id.
        id: String,
        /// Its role.
        role: Role,
    },
    /// Other processes changed the session at every attempt.
    #[error("session {session} is being changed by others all the time; try again")]
    Busy {
        /// The session.
        session: String,
    },
    /// There is no such operation, or it is undone or redone already.
    #[error("operation {number} of session {session} cannot be {action}: {reason}")]
    CannotUndo {
        /// The session.
        session: String,
        /// The operation.
        number: u64,
        /// What was requested: "undone" or "done again".
        action: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

/// A text that a name may mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecallCandidate {
    /// The session that it is from.
    pub session: String,
    /// The number of its message.
    pub seq: Seq,
    /// The part of the message; none for all of it.
    pub part: Option<u32>,
    /// The tool of the call or result, if it is known.
    pub tool: Option<String>,
    /// What the tool call was about.
    pub subject: Option<String>,
}

impl fmt::Display for RecallCandidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { session, seq, part, tool, subject } = self;
        write!(f, "{seq}{} of session {session}", part.map(|part| format!(".{part}")).unwrap_or_default())?;
        for name in tool.iter().chain(subject) {
            write!(f, ", {}", name.lines().next().unwrap_or_default())?;
        }
        Ok(())
    }
}

fn listed(candidates: &[RecallCandidate]) -> String {
    candidates.iter().map(RecallCandidate::to_string).collect::<Vec<_>>().join("; ")
}

impl EngineError {
    /// Whether another process changed the session first. After a refresh the same call may succeed.
    pub fn is_collision(&self) -> bool {
        matches!(self, EngineError::Store(StoreError::Stale { .. } | StoreError::LeaseLost { .. }))
    }

    /// Whether the store is away: it failed, or did not answer in time. The same call may succeed later.
    pub fn is_store_outage(&self) -> bool {
        matches!(self, EngineError::Store(StoreError::Database { .. }))
    }
}
