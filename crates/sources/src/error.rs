//! Why a session could not be had at all.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Why a path yields no session, or a session no bytes.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The system refused: nothing is there, or it may not be read.
    #[error("cannot read {path}: {source}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The path names something that cannot be read to its end.
    #[error("{path} is a {kind}; name a file or a folder", path = path.display())]
    NotRegular {
        /// What was named.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A database, but not one of an agent that we know.
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
        /// What SQLite said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A database whose newest rows lie in a write-ahead log that cannot be used where it is.
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
        /// How often it was tried.
        attempts: u32,
    },
    /// The session is no longer there.
    #[error("{path} has no session {session}", path = path.display())]
    NoSession {
        /// The database or folder.
        path: PathBuf,
        /// The session that was asked for.
        session: String,
    },
    /// The session is larger than anything that is put together in memory.
    #[error("session {session} of {path} is larger than {limit} bytes", path = path.display())]
    TooLarge {
        /// The database or folder.
        path: PathBuf,
        /// The session.
        session: String,
        /// The most that is put together.
        limit: usize,
    },
}

impl SourceError {
    /// Blames a refusal of the system on `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_path_buf(), source }
    }

    /// Blames a refusal of SQLite on `path`.
    pub(crate) fn database(path: &Path) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Database { path: path.to_path_buf(), source: Box::new(source) }
    }

    /// What is wrong, without the path: for a warning that names the path itself.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Io { source, .. } => format!("cannot be read: {source}"),
            Self::NotRegular { kind, .. } => format!("is a {kind}, passed over"),
            Self::UnknownDatabase { .. } => "is no database of a known agent, passed over".to_owned(),
            Self::Database { source, .. } => format!("the database cannot be read: {source}"),
            Self::Log { .. } | Self::Changing { .. } | Self::NoSession { .. } | Self::TooLarge { .. } => {
                self.to_string()
            }
        }
    }
}
