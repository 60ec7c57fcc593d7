//! Why a session could not be read at all.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a path has no session, or a session could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The path does not exist or may not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The path is not a regular file or folder.
    #[error("{path} is a {kind}; name a file or a folder", path = path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A database of an unknown program.
    #[error(
        "{path} is a database without the tables of a known agent \
         (session, message and part of OpenCode, or transcript_events of OpenClaw)",
        path = path.display()
    )]
    UnknownDatabase {
        /// The database.
        path: PathBuf,
    },
    /// A database that SQLite cannot read.
    #[error("cannot read the database {path}: {source}", path = path.display())]
    Database {
        /// The database.
        path: PathBuf,
        /// SQLite's error.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A database whose newest rows are in a write-ahead log that cannot be read in its folder.
    #[error(
        "cannot read the database {path}: its write-ahead log needs a shared-memory file, which cannot be made in \
         this folder; copy the database and the files beside it to a folder that can be written to",
        path = path.display()
    )]
    Log {
        /// The database.
        path: PathBuf,
    },
    /// A database that was changed during every attempt to read it.
    #[error("the database {path} was changed during each of {attempts} attempts to read it", path = path.display())]
    Changing {
        /// The database.
        path: PathBuf,
        /// The number of attempts.
        attempts: u32,
    },
    /// The session no longer exists.
    #[error("{path} has no session {session}", path = path.display())]
    NoSession {
        /// The database or folder.
        path: PathBuf,
        /// The requested session.
        session: String,
    },
    /// The session is too large to be put together in memory.
    #[error("session {session} of {path} is larger than {limit} bytes", path = path.display())]
    TooLarge {
        /// The database or folder.
        path: PathBuf,
        /// The session.
        session: String,
        /// The limit in bytes.
        limit: usize,
    },
}

impl SourceError {
    /// The error for a session that no longer exists.
    pub(crate) fn no_session(path: &Path, session: &str) -> Self {
        Self::NoSession { path: path.to_path_buf(), session: session.to_owned() }
    }

    /// Wraps an error of the system with a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_path_buf(), source }
    }

    /// Wraps an error of SQLite with a path.
    pub(crate) fn database(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { path: path.to_path_buf(), source: Box::new(source) }
    }

    /// The message without the path, for a warning that names the path itself.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("cannot be read: {source}"),
            Self::NotRegular { kind, .. } => format!("is a {kind}, skipped"),
            Self::UnknownDatabase { .. } => "is not a database of a known agent, skipped".to_owned(),
            Self::Database { source, .. } => format!("the database cannot be read: {source}"),
            Self::Log { .. } | Self::Changing { .. } | Self::NoSession { .. } | Self::TooLarge { .. } => {
                self.to_string()
            }
        }
    }
}
