//! One session: where it is, and how to get its bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Agent, SourceError, SourceWarning};

/// The most bytes that are put together in memory for one session.
const LARGEST: usize = 1 << 30;

/// The result of a search.
#[derive(Debug, Default)]
pub struct FoundSources {
    /// The sessions.
    pub sources: Vec<Source>,
    /// What was skipped, and why.
    pub warnings: Vec<SourceWarning>,
}

/// A session that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The agent, if the location tells.
    pub agent: Option<Agent>,
    /// The file, the database or the folder.
    pub path: PathBuf,
    /// The session's id, if the path contains several.
    pub session: Option<String>,
    /// The project as the agent names it: a folder, or a name derived from one.
    pub project: Option<String>,
    /// When the session was last changed.
    pub modified: Option<SystemTime>,
    /// The size: exact for a file, otherwise the sum of its rows or files.
    pub bytes: Option<u64>,
    pub(crate) kind: SourceKind,
}

/// How a session is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    File,
    OpenCodeDatabase,
    OpenCodeFolder,
    OpenClawDatabase,
    OpenHandsFolder,
}

/// A session's bytes, and what could not be read.
#[derive(Debug)]
pub struct OpenedSource {
    /// The bytes.
    pub content: SourceContent,
    /// The rows or files that were left out.
    pub warnings: Vec<SourceWarning>,
}

/// The bytes of a session.
#[derive(Debug)]
pub enum SourceContent {
    /// The session is a file.
    File(File),
    /// The session was put together from rows or small files.
    Bytes(Vec<u8>),
}

impl Source {
    /// The file at `path`, whatever it contains.
    pub(crate) fn file(path: PathBuf) -> Self {
        let metadata = fs::metadata(&path).ok();
        Self {
            agent: None,
            session: None,
            project: None,
            modified: metadata.as_ref().and_then(|metadata| metadata.modified().ok()),
            bytes: metadata.map(|metadata| metadata.len()),
            kind: SourceKind::File,
            path,
        }
    }

    /// The session `session` in a database or folder.
    pub(crate) fn inside(kind: SourceKind, path: &Path, session: String) -> Self {
        let agent = match kind {
            SourceKind::File => None,
            SourceKind::OpenCodeDatabase | SourceKind::OpenCodeFolder => Some(Agent::OpenCode),
            SourceKind::OpenClawDatabase => Some(Agent::OpenClaw),
            SourceKind::OpenHandsFolder => Some(Agent::OpenHands),
        };
        let path = path.to_path_buf();
        Self { agent, path, session: Some(session), project: None, modified: None, bytes: None, kind }
    }
}

impl SourceContent {
    /// Returns all bytes; a file is read to its end.
    ///
    /// # Errors
    ///
    /// If the file cannot be read.
    pub fn into_bytes(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            Self::File(mut file) => {
                let mut bytes = Vec::new();
                file.read_to_end(&mut bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// Refuses a session that is too large to be put together in memory.
pub(crate) fn check_size(bytes: usize, path: &Path, session: &str) -> Result<(), SourceError> {
    if bytes <= LARGEST {
        return Ok(());
    }
    Err(SourceError::TooLarge { path: path.to_path_buf(), session: session.to_owned(), limit: LARGEST })
}

/// Converts a time in milliseconds since 1970.
pub(crate) fn time(milliseconds: i64) -> Option<SystemTime> {
    let milliseconds = u64::try_from(milliseconds).ok().filter(|&milliseconds| milliseconds > 0)?;
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}
