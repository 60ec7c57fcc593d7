//! Files that SQLite cannot read as a database any more.
//!
//! Such a file is kept under another name, with the files beside it, and a new store is begun in its place. That is done
//! only if SQLite itself says so, and only to a file that is ours: never to one that is locked, that may not be read,
//! that a newer version has migrated, or that belongs to another program.
//!
//! Damage may show only when a page of it is read. Then the file is marked, and the next start checks all of it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::migrate::OWNER;
use super::status::{FileStatus, HEADER, OWNER_AT, file_status};
use super::{Sqlite, connection};
use crate::error::StoreError;

/// What the name of a file that was set aside has after the store's own.
const SET_ASIDE: &str = ".malformed-";

/// What the name of a mark has after the store's own.
const MARK: &str = ".suspect";

/// The files that SQLite keeps beside a database. They are moved before it, so that none is ever applied to another.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Where stores are by default.
const DEFAULT_PLACE: &str = "secateur/sessions.db";

/// Opens a file. If it is malformed and ours, it is set aside and a new one is begun; returns where it is then.
pub(crate) fn open_or_set_aside(path: &Path) -> Result<(Sqlite, Option<PathBuf>), StoreError> {
    match check_file(path).and_then(|()| Sqlite::open(path)) {
        Err(error) if error.is_malformed() && is_ours(path) => {
            let moved =
                set_aside(path).map_err(StoreError::database("cannot set the malformed file aside"))?;
            Ok((Sqlite::open(path)?, moved))
        }
        opened => Ok((opened?, None)),
    }
}

/// Marks a file in which something malformed was found, so that the next start checks all of it.
pub(crate) fn mark(path: &Path) -> io::Result<()> {
    File::create(beside(path, MARK)).map(drop)
}

/// The files that were set aside when the store was found malformed, oldest first.
pub fn set_aside_files(path: &Path) -> Vec<PathBuf> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Vec::new() };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let start = format!("{}{SET_ASIDE}", name.to_string_lossy());
    let is_one = |name: &str| name.starts_with(&start) && !BESIDE.iter().any(|end| name.ends_with(end));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .filter(|entry| is_one(&entry.file_name().to_string_lossy()))
        .map(|entry| entry.path())
        .collect();
    files.sort();
    files
}

/// Checks the beginning of a file, before SQLite opens it: SQLite would delete what is beside a file that is no database.
/// Checks all of it if it is marked.
fn check_file(path: &Path) -> Result<(), StoreError> {
    const DOING: &str = "cannot open the store";
    if matches!(file_status(path), Ok(FileStatus::NoDatabase)) {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_NOTADB);
        return Err(StoreError::database(DOING)(rusqlite::Error::SqliteFailure(code, None)));
    }
    let mark = beside(path, MARK);
    if mark.exists() && path.exists() {
        let checked = connection::check_file(path);
        checked.map_err(|failure| failure.while_doing("cannot check the store"))?;
        // The file is sound: what was found malformed has been repaired, or replaced.
        fs::remove_file(mark).ok();
    }
    Ok(())
}

/// Moves a malformed file and those beside it. None if another process did that meanwhile.
///
/// One process at a time does this, and looks at the file again first: the file may be the new one of another process.
fn set_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    let lock = File::open(path)?;
    lock.lock()?;
    let open = || connection::open_file(path).map_err(|failure| failure.while_doing("cannot open the store"));
    // The connection is closed before the lock's file: closing that takes SQLite's locks away.
    let opened = check_file(path).and_then(|()| open()).map(drop);
    if !opened.is_err_and(|error| error.is_malformed()) {
        return Ok(None);
    }
    let time: String = Connection::open_in_memory()
        .and_then(|clock| {
            clock.query_row("SELECT strftime('%Y-%m-%dT%H-%M-%S', 'now')", [], |row| row.get(0))
        })
        .map_err(io::Error::other)?;
    let mut moved = beside(path, &format!("{SET_ASIDE}{time}"));
    let mut count = 1;
    while fs::symlink_metadata(&moved).is_ok() || BESIDE.iter().any(|end| beside(&moved, end).exists()) {
        count += 1;
        moved = beside(path, &format!("{SET_ASIDE}{time}-{count}"));
    }
    for end in BESIDE {
        match fs::rename(beside(path, end), beside(&moved, end)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    fs::rename(path, &moved)?;
    fs::remove_file(beside(path, MARK)).ok();
    Ok(Some(moved))
}

/// Whether a file that is no readable database is ours: its header has our mark, or it is where stores are by default.
fn is_ours(path: &Path) -> bool {
    let mut header = Vec::with_capacity(HEADER);
    let read = File::open(path).and_then(|file| file.take(HEADER as u64).read_to_end(&mut header));
    let owner = header.get(OWNER_AT..).and_then(|rest| rest.first_chunk());
    read.is_ok() && owner == Some(&OWNER.to_be_bytes()) || path.ends_with(DEFAULT_PLACE)
}

/// The path of a file beside another one, with a longer name.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = OsString::from(path.as_os_str());
    name.push(end);
    PathBuf::from(name)
}
