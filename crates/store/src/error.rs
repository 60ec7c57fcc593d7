//! The errors of a store.
//!
//! Errors end up in logs, so they contain ids and numbers at most, never content or credentials.

use rusqlite::ErrorCode;

/// Why a store refused or failed. Nothing was changed, with one exception: if the connection to a server breaks at
/// the very end of a commit, [`Database`](Self::Database) does not say whether the commit was stored. Committing the
/// same messages again then yields [`Stale`](Self::Stale) or [`Known`](Self::Known).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No session has that id.
    #[error("there is no session {id}")]
    NoSession {
        /// The requested id.
        id: String,
    },
    /// A session with that id exists.
    #[error("a session {id} exists already")]
    SessionExists {
        /// The id.
        id: String,
    },
    /// Another writer changed the session since it was loaded.
    #[error("session {id} is at revision {found}, not at {expected}: it was changed since it was loaded")]
    Stale {
        /// The session.
        id: String,
        /// The revision that the writer expected.
        expected: u64,
        /// The current revision.
        found: u64,
    },
    /// A message with that id was appended before.
    #[error("message {message} of session {id} was appended before")]
    Known {
        /// The session.
        id: String,
        /// The message's id.
        message: String,
    },
    /// The lease that the commit names is no longer held.
    #[error("the lease on session {id} was lost to another writer")]
    LeaseLost {
        /// The session.
        id: String,
    },
    /// No message has that number.
    #[error("session {id} has no message {seq}")]
    NoMessage {
        /// The session.
        id: String,
        /// The requested number.
        seq: u64,
    },
    /// No operation has that number.
    #[error("session {id} has no operation {number}")]
    NoOperation {
        /// The session.
        id: String,
        /// The requested number.
        number: u64,
    },
    /// The original of a message cannot be shown again because it was deleted.
    #[error("the original of message {seq} of session {id} was forgotten and cannot be shown again")]
    OriginalForgotten {
        /// The session.
        id: String,
        /// The message.
        seq: u64,
    },
    /// A message whose bodies were to be deleted is still loaded.
    #[error(
        "message {seq} of session {id} is still loaded: its original can be forgotten, but not the body that is shown"
    )]
    Alive {
        /// The session.
        id: String,
        /// The message.
        seq: u64,
    },
    /// A value that one of the databases cannot store. Both refuse it, so that they accept the same values.
    #[error("{what} cannot be stored: {why}")]
    Unfit {
        /// The name of the value.
        what: &'static str,
        /// What is wrong with it, and what is accepted.
        why: &'static str,
    },
    /// The URL or path does not name a store.
    #[error("{url:?} names no store: expected a path, sqlite:PATH, sqlite::memory: or postgres://…")]
    NotAStore {
        /// What was given, without user and password.
        url: String,
    },
    /// The database was migrated by a newer version.
    #[error(
        "the database has schema {found}, but this version of secateur supports schemas up to {known}: a newer version has \
         migrated it. Use that version, or restore a backup from before the migration"
    )]
    Newer {
        /// The schema of the database.
        found: u32,
        /// The newest schema that this version supports.
        known: u32,
    },
    /// A handle names another text already. The same text has to get a longer one.
    #[error("the handle {handle} names another text already")]
    HandleTaken {
        /// The handle.
        handle: String,
    },
    /// What is stored is not what was stored: bytes were changed, lost or exchanged below the database. Asking again
    /// gives the same answer.
    #[error("{what} is damaged: {why}. `secateur store verify` lists what else is")]
    Damaged {
        /// What is damaged.
        what: String,
        /// How that was noticed.
        why: String,
    },
    /// The database failed.
    #[error("{doing}: {source}")]
    Database {
        /// The action that failed.
        doing: &'static str,
        /// The database's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
}

impl StoreError {
    /// Wraps an error of the database.
    pub(crate) fn database<E>(doing: &'static str) -> impl FnOnce(E) -> Self
    where
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        move |source| Self::Database { doing, source: source.into() }
    }

    /// A message is damaged.
    pub(crate) fn damaged_message(id: &str, seq: u64, why: &str) -> Self {
        Self::Damaged { what: format!("message {seq} of session {id}"), why: why.to_owned() }
    }

    /// Whether SQLite says that the store's file is malformed, or no database. That does not pass by itself.
    pub fn is_malformed(&self) -> bool {
        let Self::Database { source, .. } = self else { return false };
        let code = source.downcast_ref().and_then(rusqlite::Error::sqlite_error_code);
        matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
    }

    /// No session has that id.
    pub(crate) fn no_session(id: &str) -> Self {
        Self::NoSession { id: id.to_owned() }
    }

    /// No message has that number.
    pub(crate) fn no_message(id: &str, seq: u64) -> Self {
        Self::NoMessage { id: id.to_owned(), seq }
    }
}
