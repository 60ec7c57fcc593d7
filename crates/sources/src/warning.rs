//! What was skipped, and why.
//!
//! Folders contain many files that are not sessions, and databases contain rows whose writing was interrupted.
//! Neither stops a search or a read; each yields a warning instead.

use std::fmt;
use std::path::PathBuf;

/// Something that was skipped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceWarning {
    /// The file or folder.
    pub path: PathBuf,
    /// The row in it, if it is a database.
    pub row: Option<RowId>,
    /// What is wrong, and what was done about it.
    pub reason: String,
}

/// A row of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowId {
    /// The table.
    pub table: &'static str,
    /// The row's id in the table.
    pub id: String,
}

impl SourceWarning {
    pub(crate) fn new(path: impl Into<PathBuf>, reason: impl Into<String>) -> Self {
        Self { path: path.into(), row: None, reason: reason.into() }
    }

    pub(crate) fn row(
        path: impl Into<PathBuf>,
        table: &'static str,
        id: impl Into<String>,
        reason: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), row: Some(RowId { table, id: id.into() }), reason: reason.into() }
    }
}

impl fmt::Display for SourceWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if let Some(RowId { table, id }) = &self.row {
            write!(f, "row {id} of table {table}: ")?;
        }
        f.write_str(&self.reason)
    }
}
