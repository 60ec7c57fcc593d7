//! SQLite databases that belong to another program, which may be writing to them.
//!
//! All reads happen in a [`DatabaseSnapshot`]: a read-only connection with one open transaction, so that everything
//! read is from one moment. How the connection is opened depends on the database's files, because SQLite's usual way
//! of reading a database in WAL mode creates two files beside it if they are missing, and this crate writes nothing:
//!
//! * There is a write-ahead log with content. It has the newest rows, so the usual way is the only one, and the files
//!   exist.
//! * There is no log, or it is empty. Then everything is in the main file, which does not change unless a log is
//!   filled first. It is opened as immutable, which needs no other file and no lock and also works on read-only
//!   media. Since SQLite does not look for changes then, this module does: if the files have changed afterwards, the
//!   result is discarded and read again.
//! * The database uses no write-ahead log. Then the usual way takes a shared lock and creates no file.

use std::ffi::OsString;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Params, Row, TransactionBehavior};

use crate::{SourceError, SourceWarning, regular_file};

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: u64 = 100;
/// The position in the header that says whether readers must look for a write-ahead log, and the value that means
/// yes.
const READ_VERSION: (usize, u8) = (19, 2);
/// The bytes of a path that are escaped in a URI.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.');
const ATTEMPTS: u32 = 3;
/// How long to wait for a writer with an exclusive lock, which normally takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the file at `path` begins like an SQLite database.
pub(crate) fn is_database(path: &Path) -> Result<bool, SourceError> {
    Ok(regular_file::beginning(path, HEADER)?.starts_with(MAGIC))
}

/// One moment of a database.
pub(crate) struct DatabaseSnapshot<'a> {
    /// The path as the caller named it.
    pub(crate) path: &'a Path,
    connection: &'a Connection,
}

impl Deref for DatabaseSnapshot<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl DatabaseSnapshot<'_> {
    /// Wraps an error of SQLite with the path of the database.
    pub(crate) fn error(&self, error: rusqlite::Error) -> SourceError {
        SourceError::database(self.path)(error)
    }

    /// The names of a table's columns: they vary between versions of an agent.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, SourceError> {
        self.rows("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get(0))
    }

    pub(crate) fn has_tables(&self, tables: &[&str]) -> Result<bool, SourceError> {
        let query = "SELECT name FROM sqlite_master WHERE type = 'table'";
        let found: Vec<String> = self.rows(query, [], |row| row.get(0))?;
        Ok(tables.iter().all(|table| found.iter().any(|name| name == table)))
    }

    /// The ids of a session's rows. What cannot be read is left out with a warning.
    pub(crate) fn ids<T>(
        &self,
        table: &'static str,
        query: &str,
        session: &str,
        id: impl Fn(&Row<'_>) -> rusqlite::Result<T>,
        warnings: &mut Vec<SourceWarning>,
    ) -> Result<Vec<T>, SourceError> {
        let mut statement = self.prepare(query).map_err(|error| self.error(error))?;
        let mut rows = statement.query([session]).map_err(|error| self.error(error))?;
        let mut warn = |id: &str, reason| warnings.push(SourceWarning::row(self.path, table, id, reason));
        let mut ids = Vec::new();
        loop {
            match rows.next() {
                Ok(None) => return Ok(ids),
                Ok(Some(row)) => match id(row) {
                    Ok(id) => ids.push(id),
                    Err(reason) => warn("without a readable id", format!("left out: {reason}")),
                },
                // Damage in the middle of a table: the rows before it are still good.
                Err(reason) if is_local(&reason) && !ids.is_empty() => {
                    warn("after the last readable one", format!("left out with all others: {reason}"));
                    return Ok(ids);
                }
                Err(reason) => return Err(self.error(reason)),
            }
        }
    }

    /// What `read` makes of each row of a query.
    pub(crate) fn rows<T>(
        &self,
        query: &str,
        parameters: impl Params,
        read: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, SourceError> {
        let all = || -> rusqlite::Result<Vec<T>> {
            let mut statement = self.prepare(query)?;
            statement.query_map(parameters, read)?.collect()
        };
        all().map_err(|error| self.error(error))
    }
}

/// Whether an error concerns a single row and not the database as a whole.
pub(crate) fn is_local(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::TooBig),
        None => true,
    }
}

/// Reads one moment of the database at `path`. If the database has changed meanwhile in a way that SQLite could not
/// notice, `body` runs again.
pub(crate) fn read<T>(
    path: &Path,
    mut body: impl FnMut(&DatabaseSnapshot<'_>) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    // The log is beside the file itself, not beside a link to it.
    let real = fs::canonicalize(path).map_err(SourceError::io(path))?;
    for _ in 0..ATTEMPTS {
        let state = DatabaseFiles::of(path, &real)?;
        let result = read_once(path, &real, &state, &mut body);
        if state.access() == Access::Usual || DatabaseFiles::of(path, &real)? == state {
            return result;
        }
    }
    Err(SourceError::Changing { path: path.to_path_buf(), attempts: ATTEMPTS })
}

fn read_once<T>(
    path: &Path,
    real: &Path,
    state: &DatabaseFiles,
    body: &mut impl FnMut(&DatabaseSnapshot<'_>) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    let lacks_index = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if state.log.is_some() => {
            SourceError::Log { path: path.to_path_buf() }
        }
        _ => SourceError::database(path)(error),
    };
    let mut connection = connect(real, state.access()).map_err(lacks_index)?;
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Deferred).map_err(lacks_index)?;
    // The transaction begins with the first read; an unreadable file fails here.
    transaction.query_row("SELECT count(*) FROM sqlite_master", [], |_| Ok(())).map_err(lacks_index)?;
    body(&DatabaseSnapshot { path, connection: &transaction })
}

fn connect(real: &Path, access: Access) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = match access {
        Access::Usual => Connection::open_with_flags(real, flags)?,
        Access::Immutable => {
            Connection::open_with_flags(immutable(real), flags | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    connection.busy_timeout(PATIENCE)?;
    // Sorting must not create a temporary file, and functions in a foreign schema must not run.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(connection)
}

/// The URI with which SQLite opens a file as immutable.
fn immutable(real: &Path) -> String {
    format!("file://{}?immutable=1", percent_encode(&path_bytes(real), ESCAPED))
}

#[cfg(unix)]
fn path_bytes(path: &Path) -> std::borrow::Cow<'_, [u8]> {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str()).into()
}

#[cfg(not(unix))]
fn path_bytes(path: &Path) -> std::borrow::Cow<'_, [u8]> {
    let text = path.to_string_lossy();
    let plain = text.strip_prefix(r"\\?\").unwrap_or(&text).replace('\\', "/");
    format!("/{plain}").into_bytes().into()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Usual,
    Immutable,
}

/// The state of a database's files.
#[derive(PartialEq, Eq)]
struct DatabaseFiles {
    header: Vec<u8>,
    main: Option<(u64, Option<SystemTime>)>,
    /// The write-ahead log, if it has content.
    log: Option<(u64, Option<SystemTime>)>,
}

impl DatabaseFiles {
    fn of(path: &Path, real: &Path) -> Result<Self, SourceError> {
        let header = regular_file::beginning(path, HEADER)?;
        let log = stamp(&beside(real, "-wal")).filter(|&(bytes, _)| bytes > 0);
        Ok(Self { header, main: stamp(real), log })
    }

    fn access(&self) -> Access {
        let (place, logged) = READ_VERSION;
        let logs = self.header.get(place) == Some(&logged);
        if logs && self.log.is_none() { Access::Immutable } else { Access::Usual }
    }
}

fn stamp(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}
