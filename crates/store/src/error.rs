//! Why a store refuses or fails.

/// Why a store did not do what it was asked for. Nothing was changed in any of these cases.
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
    /// A place that names no store.
    #[error("{url:?} names no store: expected a path, sqlite:PATH, sqlite::memory: or postgres://…")]
    NotAStore {
        /// What was given.
        url: String,
    },
    /// The database was made by a newer version.
    #[error("the database has schema {found}, this version knows up to {known}: update secateur")]
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
