//! SQLite databases that belong to somebody else, who may be writing to them.
//!
//! All readings happen in a [`DatabaseSnapshot`]: a read-only connection with one transaction open, so that everything read is
//! from one moment. How the connection is made depends on the state of the files, because SQLite's usual way of reading
//! a database in WAL mode makes two files beside it if they are missing, and we write nothing:
//!
//! * There is a write-ahead log and something in it. Then the newest rows are there. The usual way is the only way, and
//!   the files exist.
//! * There is none, or it is empty. Then everything is in the main file, which nobody changes without filling a log
//!   first. It is read as immutable, which needs no other file and no lock and also works where nothing can be written.
//!   That SQLite no longer looks for changes is made up for by us: if the files are not the same afterwards, what was
//!   read is thrown away and read again.
//! * The database keeps no write-ahead log. Then the usual way takes a shared lock and makes no file.

use std::ffi::OsString;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use crate::source::Source;
use crate::{SourceError, openclaw, opencode, regular_file};

const MAGIC: &[u8] = b"SQLite format 3\0";
const HEADER: u64 = 100;
/// The place in the header that says whether readers have to look for a write-ahead log, and the value that means so.
const READ_VERSION: (usize, u8) = (19, 2);
const ATTEMPTS: u32 = 3;
/// How long to wait for a writer who has locked everybody out, which takes milliseconds unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(5);

/// Whether the file at `path` is an SQLite database, to judge by its first bytes.
pub(crate) fn is_database(path: &Path) -> Result<bool, SourceError> {
    Ok(regular_file::beginning(path, HEADER)?.starts_with(MAGIC))
}

/// The sessions in the database at `path`.
pub(crate) fn sessions(path: &Path) -> Result<Vec<Source>, SourceError> {
    read(path, |snapshot| {
        if snapshot.has_tables(&["transcript_events"])? {
            openclaw::list(snapshot)
        } else if snapshot.has_tables(&["session", "message", "part"])? {
            opencode::database::list(snapshot)
        } else {
            Err(SourceError::UnknownDatabase { path: path.to_path_buf() })
        }
    })
}

/// One moment of a database.
pub(crate) struct DatabaseSnapshot<'a> {
    /// The path as it was named.
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
    /// Blames an error of SQLite on this database.
    pub(crate) fn error(&self, error: rusqlite::Error) -> SourceError {
        SourceError::database(self.path)(error)
    }

    /// The names of a table's columns: agents add some with every other version.
    pub(crate) fn columns(&self, table: &str) -> Result<Vec<String>, SourceError> {
        self.names("SELECT name FROM pragma_table_info(?1)", table)
    }

    fn has_tables(&self, tables: &[&str]) -> Result<bool, SourceError> {
        let found = self.names("SELECT name FROM sqlite_master WHERE type = ?1", "table")?;
        Ok(tables.iter().all(|table| found.iter().any(|name| name == table)))
    }

    fn names(&self, query: &str, parameter: &str) -> Result<Vec<String>, SourceError> {
        let mut statement = self.prepare(query).map_err(|error| self.error(error))?;
        let names = statement.query_map([parameter], |row| row.get(0)).map_err(|error| self.error(error))?;
        names.collect::<Result<_, _>>().map_err(|error| self.error(error))
    }
}

/// Whether an error is about what it stumbled upon and not about the database as a whole.
pub(crate) fn is_local(error: &rusqlite::Error) -> bool {
    match error.sqlite_error_code() {
        Some(code) => matches!(code, ErrorCode::DatabaseCorrupt | ErrorCode::TooBig),
        None => true,
    }
}

/// Reads one moment of the database at `path`. If the database turns out to have changed meanwhile in a way that SQLite
/// could not notice, `body` runs again.
pub(crate) fn read<T>(
    path: &Path,
    mut body: impl FnMut(&DatabaseSnapshot<'_>) -> Result<T, SourceError>,
) -> Result<T, SourceError> {
    // The log lies beside the file itself, not beside a link to it.
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
    // The transaction begins with its first reading; an unreadable file shows here.
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
    // Sorting must not spill into a file either, and a schema that somebody sent us gets no say.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    Ok(connection)
}

/// The address of a file that is not going to change, for SQLite.
fn immutable(real: &Path) -> String {
    let mut address = String::from("file://");
    for &byte in path_bytes(real).iter() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.') {
            address.push(char::from(byte));
        } else {
            address.push_str(&format!("%{byte:02x}"));
        }
    }
    address + "?immutable=1"
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
    /// The write-ahead log, if there is something in it.
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
