//! Which module reads which kind of storage.

use std::path::Path;

use crate::source::{OpenedSource, Source, SourceContent, SourceKind};
use crate::{SourceError, database, openclaw, opencode, openhands, regular_file};

/// Lists the sessions in the database at `path`.
pub(crate) fn list_database(path: &Path) -> Result<Vec<Source>, SourceError> {
    database::read(path, |snapshot| {
        if snapshot.has_tables(&["transcript_events"])? {
            openclaw::list(snapshot)
        } else if snapshot.has_tables(&["session", "message", "part"])? {
            opencode::database::list(snapshot)
        } else {
            Err(SourceError::UnknownDatabase { path: path.to_path_buf() })
        }
    })
}

impl Source {
    /// Opens the session.
    ///
    /// A file is opened, not read. Rows of a database and small files of a folder are put together:
    ///
    /// * OpenCode: the document that its `export` prints, `{"info":…,"messages":[{"info":…,"parts":[…]}]}`.
    /// * OpenClaw: one event a line, in order.
    /// * OpenHands: an array of the events, in order.
    ///
    /// A database is read in one transaction, so the result is one moment of it, and nothing is written to it. If it
    /// has a write-ahead log with content, SQLite needs the shared-memory file beside it, which exists while the
    /// agent runs; after a crash SQLite creates a new one.
    ///
    /// # Errors
    ///
    /// If nothing can be read: the file or session is gone, may not be read, is not a regular file, or the database's
    /// list of messages is damaged.
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
