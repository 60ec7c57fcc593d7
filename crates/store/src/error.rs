//! Why a store refuses or fails.
//!
//! Errors end up in logs, so none of them holds content or credentials: ids and numbers at most.

/// Why a store did not do what it was asked for. Nothing was changed in any of these cases, but for one: if the
/// connection to a server breaks at the very end of a commit, [`Database`](Self::Database) leaves open whether it was
/// kept. Whoever commits the same messages again is told by [`Stale`](Self::Stale) or [`Known`](Self::Known).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is no session of that id.
    #[error("there is no session {id}")]
    NoSession {
        /// The id asked for.
        id: String,
    },
    /// A session of that id exists.
    #[error("a session {id} exists already")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// Somebody else changed the session since it was loaded.
    #[error("session {id} is at revision {found}, not at {expected}: it was changed since it was loaded")]
    Stale {
        /// The session.
        id: String,
        /// The revision that the writer built on.
        expected: u64,
        /// The revision there is.
        found: u64,
    },
    /// A message of that id was appended before.
    #[error("message {message} of session {id} was appended before")]
    Known {
        /// The session.
        id: String,
        /// The message's id.
        message: String,
    },
    /// The lease that a commit depends on is not held.
    #[error("the lease on session {id} was lost to another writer")]
    LeaseLost {
        /// The session.
        id: String,
    },
    /// There is no message of that number.
    #[error("session {id} has no message {seq}")]
    NoMessage {
        /// The session.
        id: String,
        /// The number that was named.
        seq: u64,
    },
    /// There is no operation of that number.
    #[error("session {id} has no operation {number}")]
    NoOperation {
        /// The session.
        id: String,
        /// The number that was named.
        number: u64,
    },
    /// The original of a message is to be shown again, but it is gone for good.
    #[error("the original of message {seq} of session {id} was forgotten: it cannot be shown again")]
    OriginalForgotten {
        /// The session.
        id: String,
        /// The message.
        seq: u64,
    },
    /// A message whose bodies are to go is still loaded.
    #[error(
        "message {seq} of session {id} is alive: its bodies cannot be forgotten, only what is not shown of it"
    )]
    Alive {
        /// The session.
        id: String,
        /// The message.
        seq: u64,
    },
    /// A value that no store takes, so that none takes what another one refuses.
    #[error("{what} cannot be kept: {why}")]
    Unfit {
        /// Which value.
        what: &'static str,
        /// What is wrong with it, and what would be accepted.
        why: &'static str,
    },
    /// A place that names no store.
    #[error("{url:?} names no store: expected a path, sqlite:PATH, sqlite::memory: or postgres://…")]
    NotAStore {
        /// What was given, without anything that may be a user or a password.
        url: String,
    },
    /// The database was made by a newer version.
    #[error(
        "the database has schema {found}, and this version of secateur knows schemas up to {known}: a newer version has \
         brought it further. Start that version here as well, or restore the backup from before it"
    )]
    Newer {
        /// The schema found.
        found: u32,
        /// The newest schema known.
        known: u32,
    },
    /// The database failed.
    #[error("{doing}: {source}")]
    Database {
        /// What was being done.
        doing: &'static str,
        /// What the database said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Wraps what a database said.
    pub(crate) fn database<E>(doing: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |source| Self::Database { doing, source: source.into() }
    }

    /// There is no session of that id.
    pub(crate) fn no_session(id: &str) -> Self {
        Self::NoSession { id: id.to_owned() }
    }

    /// There is no message of that number.
    pub(crate) fn no_message(id: &str, seq: u64) -> Self {
        Self::NoMessage { id: id.to_owned(), seq }
    }
}
