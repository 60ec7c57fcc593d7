//! What was passed over, and why.
//!
//! A machine's folders hold much that is no session, and sessions hold rows that somebody interrupted. None of that
//! stops a search or a reading; it is said here instead.

use std::fmt;
use std::path::PathBuf;

/// One thing that was passed over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceWarning {
    /// The file or folder.
    pub path: PathBuf,
    /// The row in it, if it is a database.
    pub row: Option<RowId>,
    /// What is wrong there, and what was done about it.
    pub reason: String,
}

/// A row of a database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowId {
    /// The table.
    pub table: &'static str,
    /// What the table calls the row.
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
