//! What a file is, before it is opened as a store: whose database, and which schema.
//!
//! Opening a store migrates it. Reading the first bytes of the file tells beforehand whether that will happen and
//! work, and changes nothing.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::migrate::{KNOWN, OWNER};

/// The first bytes of every SQLite database.
const MAGIC: &[u8] = b"SQLite format 3\0";

/// Where the header has the schema's number and the owner.
const VERSION_AT: usize = 60;
pub(super) const OWNER_AT: usize = 68;
pub(super) const HEADER: usize = 100;

/// What a file is, judged by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileStatus {
    /// The file is empty.
    Empty,
    /// It is not a database.
    NoDatabase,
    /// It is a database of another program.
    Foreign,
    /// It is a store.
    Store {
        /// Its schema.
        schema: u32,
        /// The newest schema that this version knows.
        known: u32,
    },
}

/// Inspects the file of a store without changing it.
pub fn file_status(path: &Path) -> io::Result<FileStatus> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file"));
    }
    let mut header = Vec::with_capacity(HEADER);
    File::open(path)?.take(HEADER as u64).read_to_end(&mut header)?;
    if header.is_empty() {
        return Ok(FileStatus::Empty);
    }
    if header.len() < HEADER || !header.starts_with(MAGIC) {
        return Ok(FileStatus::NoDatabase);
    }
    let number = |at: usize| header[at..].first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes));
    let (mut schema, mut owner) = (number(VERSION_AT), number(OWNER_AT));
    if has_log(path) {
        // The latest changes may not be in the file itself yet.
        let newest = newest(path).map_err(io::Error::other)?;
        (schema, owner) = newest;
    }
    let is_ours = i64::from(owner) == i64::from(OWNER);
    Ok(if is_ours { FileStatus::Store { schema, known: KNOWN } } else { FileStatus::Foreign })
}

fn has_log(path: &Path) -> bool {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    fs::metadata(log).is_ok_and(|metadata| metadata.len() > 0)
}

fn newest(path: &Path) -> rusqlite::Result<(u32, u32)> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    let read = |name: &str| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((read("user_version")?, read("application_id")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::Sqlite;

    #[test]
    fn a_store_is_told_from_other_files_and_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        drop(Sqlite::open(&path).unwrap());
        // The threads of its connections close the file, and the last one writes its log into it. If several close at the
        // same moment, none of them is the last, and the log stays.
        let log = folder.path().join("store.db-wal");
        let is_closed = |_: &i32| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            !log.exists()
        };
        let _ = (0..300).find(is_closed);
        let ours = FileStatus::Store { schema: KNOWN, known: KNOWN };
        assert_eq!(file_status(&path).unwrap(), ours);
        let before = fs::read(&path).unwrap();
        assert_eq!(file_status(&path).unwrap(), ours);
        assert_eq!(fs::read(&path).unwrap(), before);
        let other = folder.path().join("other");
        fs::write(&other, "").unwrap();
        assert_eq!(file_status(&other).unwrap(), FileStatus::Empty);
        fs::write(&other, "no database").unwrap();
        assert_eq!(file_status(&other).unwrap(), FileStatus::NoDatabase);
        assert!(file_status(folder.path()).is_err());
    }

    #[test]
    fn what_is_only_in_the_log_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let open = Sqlite::open(&path).unwrap();
        assert!(has_log(&path));
        assert_eq!(file_status(&path).unwrap(), FileStatus::Store { schema: KNOWN, known: KNOWN });
        drop(open);
    }
}
