//! One session: where it is, and how to get its bytes.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::{Agent, SourceError, SourceWarning, database, openclaw, opencode, openhands, regular_file};

/// The most that is put together in memory for one session.
pub(crate) const LARGEST: usize = 1 << 30;

/// What a search found.
#[derive(Debug, Default)]
pub struct FoundSources {
    /// The sessions.
    pub sources: Vec<Source>,
    /// What was passed over.
    pub warnings: Vec<SourceWarning>,
}

/// A session that can be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Whose session it is, if the place it was found in tells.
    pub agent: Option<Agent>,
    /// The file, the database or the folder.
    pub path: PathBuf,
    /// The session's id, if the path holds more than one.
    pub session: Option<String>,
    /// What the agent calls the project: a folder, or the name that it made of one.
    pub project: Option<String>,
    /// When the session was last changed.
    pub modified: Option<SystemTime>,
    /// The size: exact for a file, the sum of what will be put together otherwise.
    pub bytes: Option<u64>,
    pub(crate) kind: SourceKind,
}

/// How a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SourceKind {
    File,
    OpenCodeDatabase,
    OpenCodeFolder,
    OpenClawDatabase,
    OpenHandsFolder,
}

/// A session's bytes, and what is missing from them.
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
    /// The session is a file: read it as you like.
    File(File),
    /// The session was put together from rows or small files.
    Bytes(Vec<u8>),
}

impl Source {
    /// The file at `path`, whatever is in it.
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

    /// The session's bytes as of now.
    ///
    /// A file is opened, not read. What lies in a database or in a folder of small files is put together:
    ///
    /// * OpenCode: the document that its `export` prints, `{"info":…,"messages":[{"info":…,"parts":[…]}]}`.
    /// * OpenClaw: one event a line, in order.
    /// * OpenHands: an array of the events, in order.
    ///
    /// A database is read in one transaction, so the result is one moment of it. Nothing is written to it. If it has a
    /// write-ahead log with something in it, SQLite's own way of reading needs the shared-memory file beside it, which
    /// is there while the agent runs; after a crash SQLite makes a new one.
    ///
    /// # Errors
    ///
    /// If there is nothing left to read: the file or session is gone, may not be read, is no regular file, or the
    /// database is damaged beyond its list of messages.
    pub fn open(&self) -> Result<OpenedSource, SourceError> {
        let mut warnings = Vec::new();
        let session = self.session.as_deref().unwrap_or_default();
        let content = match self.kind {
            SourceKind::File => SourceContent::File(regular_file::open(&self.path)?),
            SourceKind::OpenCodeFolder => opencode::folder::compose(&self.path, session, &mut warnings)?,
            SourceKind::OpenHandsFolder => openhands::compose(&self.path, &mut warnings)?,
            SourceKind::OpenCodeDatabase | SourceKind::OpenClawDatabase => {
                return database::read(&self.path, |snapshot| match self.kind {
                    SourceKind::OpenClawDatabase => openclaw::compose(snapshot, session),
                    _ => opencode::database::compose(snapshot, session),
                });
            }
        };
        Ok(OpenedSource { content, warnings })
    }
}

impl SourceContent {
    /// All bytes; a file is read to its end.
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

/// A time that a database holds as milliseconds since 1970.
pub(crate) fn time(milliseconds: i64) -> Option<SystemTime> {
    let milliseconds = u64::try_from(milliseconds).ok().filter(|&milliseconds| milliseconds > 0)?;
    UNIX_EPOCH.checked_add(Duration::from_millis(milliseconds))
}
