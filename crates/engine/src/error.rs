//! Why the engine did not do what it was asked for.

use secateur::session::NoRoom;
use secateur::{ProfileError, Role};
use secateur_formats::{ApplyError, Wire};
use secateur_store::StoreError;

/// Why the engine did not do what it was asked for. What was acknowledged before is not affected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The store refused or failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session's profile is not known or wrong.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The next request cannot be made to fit.
    #[error(
        "the next request has about {} tokens where {} are usable, and nothing more can be left out{}",
        .0.tokens, .0.usable, .0.largest.map(|seq| format!("; the largest message is number {seq}")).unwrap_or_default()
    )]
    NoRoom(NoRoom),
    /// A message is not a JSON object of the session's format.
    #[error("message {id:?} is not a message of {wire}: expected a JSON object as it stands in a request")]
    NotAMessage {
        /// Its id.
        id: String,
        /// The session's format.
        wire: Wire,
    },
    /// A message is too large.
    #[error("message {id:?} has {bytes} bytes, more than {limit}")]
    TooLarge {
        /// Its id.
        id: String,
        /// Its size.
        bytes: usize,
        /// The largest that is taken.
        limit: usize,
    },
    /// Something that the store holds cannot be read.
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
    /// The frame of a session is not a JSON object.
    #[error("the frame of a request must be a JSON object without the list of messages: {reason}")]
    NotAFrame {
        /// What is wrong.
        reason: String,
    },
    /// There is no such message or part.
    #[error("session {session} has no {what}")]
    NothingThere {
        /// The session.
        session: String,
        /// What was asked for.
        what: String,
    },
    /// Nothing was cut under this name.
    #[error(
        "nothing was cut under {name:?}, and none of the sessions changed last has a tool call of that id"
    )]
    NotCut {
        /// The name that was asked for.
        name: String,
    },
    /// The original was deleted on request.
    #[error("the original of message {seq} was forgotten; only what is shown of it is left")]
    Forgotten {
        /// Its number.
        seq: u64,
    },
    /// Only instructions and what people say can be pinned.
    #[error(
        "message {id:?} holds tool calls or results ({role:?}) and cannot be pinned: one half cannot stay alone"
    )]
    NotPinnable {
        /// Its id.
        id: String,
        /// Who speaks in it.
        role: Role,
    },
    /// Others changed the session again and again.
    #[error("session {session} is being changed by others all the time; try again")]
    Busy {
        /// The session.
        session: String,
    },
    /// There is no such operation, or it is already in the state that is asked for.
    #[error("operation {number} of session {session} cannot be {wish}: {reason}")]
    CannotTurn {
        /// The session.
        session: String,
        /// The operation.
        number: u64,
        /// What was wanted.
        wish: &'static str,
        /// Why not.
        reason: &'static str,
    },
}

impl EngineError {
    /// Whether somebody else changed the session first; whoever catches up may try again.
    pub fn is_collision(&self) -> bool {
        matches!(self, EngineError::Store(StoreError::Stale { .. } | StoreError::LeaseLost { .. }))
    }
}
