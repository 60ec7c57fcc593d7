//! Opening connections.

use std::fs;
use std::io;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{SqliteResult, migrate};
use crate::error::StoreError;

/// How long a writer waits for a writer of another process.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How often the switch to a write-ahead log is tried. SQLite does not wait for others in that step.
const ATTEMPTS: u32 = 200;

const READERS: usize = 4;
const STATEMENTS: usize = 64;

/// Opens the writer's connection to a file; creates and migrates the file if needed.
pub(super) fn open_file(path: &Path) -> SqliteResult<Connection> {
    prepare_file(path).map_err(StoreError::database("cannot create the file of the store"))?;
    let mut connection = Connection::open_with_flags(path, flags())?;
    set_up(&connection)?;
    // Before anything is changed: the file may belong to another program.
    migrate::check_owner(&connection)?;
    migrate::missing_steps(&connection)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    switch_to_log(&connection)?;
    migrate::migrate(&mut connection)?;
    Ok(connection)
}

/// Reads a whole file and checks that SQLite understands all of it. It is not changed.
pub(super) fn check_file(path: &Path) -> SqliteResult<()> {
    let connection = Connection::open_with_flags(path, flags())?;
    connection.busy_timeout(PATIENCE)?;
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0))?;
    if found == "ok" {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    Err(rusqlite::Error::SqliteFailure(code, Some(found)).into())
}

/// Opens the only connection to a database in memory.
pub(super) fn open_memory() -> SqliteResult<Connection> {
    let mut connection = Connection::open_in_memory()?;
    set_up(&connection)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    migrate::migrate(&mut connection)?;
    Ok(connection)
}

/// Opens connections for reading only.
pub(super) fn open_readers(path: &Path) -> rusqlite::Result<Vec<Connection>> {
    let open_reader = |_| {
        let connection = Connection::open_with_flags(path, flags())?;
        set_up(&connection)?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    (0..READERS).map(open_reader).collect()
}

/// Without the flag for URIs: a path is a path, whatever it begins with. Each connection stays on one thread.
fn flags() -> OpenFlags {
    OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX
}

fn set_up(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", true)?;
    // Deleted content is overwritten, not only unlinked.
    connection.pragma_update_and_check(None, "secure_delete", true, |_| Ok(()))
}

fn switch_to_log(connection: &Connection) -> rusqlite::Result<()> {
    let mut attempt = 1;
    loop {
        match connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(())) {
            Err(error)
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && attempt < ATTEMPTS =>
            {
                attempt += 1;
                sleep(Duration::from_millis(10));
            }
            result => return result,
        }
    }
}

/// Creates the file, readable by its owner only, and its folder. SQLite gives the files beside it the same mode.
fn prepare_file(path: &Path) -> io::Result<()> {
    let (mut folders, mut file) = (fs::DirBuilder::new(), fs::OpenOptions::new());
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        folders.mode(0o700);
        file.mode(0o600);
    }
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        folders.recursive(true).create(folder)?;
    }
    match file.create_new(true).write(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
