//! Brings out what can be read of a damaged file into a new store.
//!
//! The file is copied, and only the copy is opened. Rows are read in the order of their numbers; around a place that
//! cannot be read, the next number that can be is looked for. What is written to the new store was checked: bodies by
//! their digests, rows by their seals and references. If the first page is lost, where the tables begin follows from the
//! schema: SQLite puts the beginnings of all tables at the start of such a file, in the order of their creation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags, params_from_iter};

use super::migrate::{self, KNOWN};
use super::{SqliteResult, connection};
use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::StoredMessage;
use crate::stored_row::StoredRow;
use crate::validation::from_column;

const DOING: &str = "cannot recover the store";
const MAGIC: &[u8] = b"SQLite format 3\0";

/// The size of the pages of every store.
const PAGE: u64 = 4096;

/// Where the header has the number of pages.
const PAGES_AT: u64 = 28;

/// The widest gap between numbers that is looked over.
const WIDEST: i64 = 1 << 40;

/// The most lost messages of a session that are named.
const MOST_NAMED: usize = 10_000;

/// What was brought out of a damaged store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecoveryReport {
    /// How many sessions there are in the new store.
    pub sessions: u64,
    /// How many messages.
    pub messages: u64,
    /// How many bodies.
    pub bodies: u64,
    /// How many bodies were read and are damaged.
    pub damaged_bodies: u64,
    /// Messages of recovered sessions whose bodies are lost: by session, their numbers.
    pub lost_messages: BTreeMap<String, Vec<u64>>,
    /// Messages that were shortened and are whole again, because what was shown of them is lost.
    pub whole_messages: u64,
    /// Sessions whose operations are not whole. They have their messages without cuts and compactions.
    pub plain_sessions: BTreeSet<String>,
    /// How many messages were read whose sessions are lost.
    pub messages_without_session: u64,
    /// How often rows could not be read, by table.
    pub unreadable: BTreeMap<&'static str, u64>,
    /// Whether the beginning of the file was replaced by that of an empty store.
    pub is_beginning_replaced: bool,
}

/// Brings out what can be read of a damaged SQLite store into a new one. The damaged file is only read.
pub fn recover(damaged: &Path, new: &Path) -> Result<RecoveryReport, StoreError> {
    if new.exists() {
        return Err(StoreError::database(DOING)(format!("{} exists already", new.display())));
    }
    let mut copy = new.as_os_str().to_owned();
    copy.push(".copy");
    let copy = PathBuf::from(copy);
    let recovered = recover_through(damaged, &copy, new);
    for name in ["", "-wal", "-shm"] {
        _ = fs::remove_file(beside(&copy, name));
        if recovered.is_err() {
            _ = fs::remove_file(beside(new, name));
        }
    }
    recovered.map_err(|failure| failure.while_doing(DOING))
}

fn recover_through(damaged: &Path, copy: &Path, new: &Path) -> SqliteResult<RecoveryReport> {
    let target = connection::open_file(new)?;
    let io = |error: io::Error| StoreError::database(DOING)(error);
    copy_file(damaged, copy).map_err(io)?;
    let mut report = RecoveryReport::default();
    let Some(source) = open_copy(copy, new, &mut report)? else {
        let why = "no session can be read in it; restore a backup";
        return Err(StoreError::database(DOING)(why).into());
    };
    let mut recovery = Recovery { source, target, report };
    recovery.target.execute_batch("PRAGMA foreign_keys = off; BEGIN")?;
    recovery.carry_over()?;
    recovery.target.execute_batch("COMMIT; PRAGMA foreign_keys = on; PRAGMA wal_checkpoint(TRUNCATE)")?;
    Ok(recovery.report)
}

fn beside(path: &Path, name: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(name);
    PathBuf::from(path)
}

/// Copies a file and its log, readable by the owner only, up to a whole page, with the right number of pages.
fn copy_file(from: &Path, to: &Path) -> io::Result<()> {
    for name in ["", "-wal"] {
        let from = beside(from, name);
        if name.is_empty() || from.exists() {
            let mut options = fs::OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            io::copy(&mut File::open(from)?, &mut options.open(beside(to, name))?)?;
        }
    }
    let file = fs::OpenOptions::new().write(true).open(to)?;
    let pages = file.metadata()?.len().div_ceil(PAGE);
    file.set_len(pages * PAGE)?;
    write_at(&file, PAGES_AT, &u32::try_from(pages).unwrap_or(u32::MAX).to_be_bytes())
}

fn write_at(mut file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
    file.seek(SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// Opens the copy. If its beginning is damaged, it gets the one of an empty store, of the newest schema that fits.
fn open_copy(copy: &Path, new: &Path, report: &mut RecoveryReport) -> SqliteResult<Option<Connection>> {
    if let Some(connection) = open_if_readable(copy) {
        return Ok(Some(connection));
    }
    report.is_beginning_replaced = true;
    let io = |error: io::Error| StoreError::database(DOING)(error);
    let empty = beside(new, ".empty");
    for schema in (1..=KNOWN).rev() {
        let made = first_page(&empty, schema);
        _ = fs::remove_file(&empty);
        let file = fs::OpenOptions::new().write(true).open(copy).map_err(io)?;
        let pages = file.metadata().map_err(io)?.len() / PAGE;
        write_at(&file, 0, &made?).map_err(io)?;
        write_at(&file, PAGES_AT, &u32::try_from(pages).unwrap_or(u32::MAX).to_be_bytes()).map_err(io)?;
        drop(file);
        if let Some(connection) = open_if_readable(copy) {
            return Ok(Some(connection));
        }
    }
    Ok(None)
}

/// The first page of an empty store of a schema.
fn first_page(path: &Path, schema: u32) -> SqliteResult<Vec<u8>> {
    _ = fs::remove_file(path);
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    migrate::make(&connection, schema)?;
    drop(connection);
    let mut page = vec![0; PAGE as usize];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut page));
    read.map_err(|error| StoreError::database(DOING)(error))?;
    Ok(page)
}

/// Opens a copy if at least one session can be read, by number or as the first one.
fn open_if_readable(copy: &Path) -> Option<Connection> {
    let mut start = [0; 16];
    File::open(copy).ok()?.read_exact(&mut start).ok()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(copy, flags).ok().filter(|_| start == *MAGIC)?;
    // Otherwise one damaged row of the schema would hide all tables.
    connection.pragma_update(None, "writable_schema", true).ok()?;
    let mut reader = TableReader::new("sessions", &["id", "dialect", "state"]);
    let mut is_found = false;
    let read = reader.read(&connection, |row| {
        is_found |= matches!(row.get(1), Some(Value::Text(_)));
        Ok(!is_found)
    });
    (read.is_ok() && is_found).then_some(connection)
}

/// Reads a table row by row, over places that cannot be read.
struct TableReader {
    table: &'static str,
    sql: String,
    columns: usize,
    failures: u64,
}

impl TableReader {
    fn new(table: &'static str, columns: &[&str]) -> Self {
        let sql = format!(
            "SELECT rowid, {} FROM {table} NOT INDEXED WHERE rowid >= ?1 ORDER BY rowid",
            columns.join(", ")
        );
        Self { table, sql, columns: columns.len(), failures: 0 }
    }

    /// Hands each row to `each`, until it returns false.
    fn read(
        &mut self,
        connection: &Connection,
        mut each: impl FnMut(Vec<Value>) -> SqliteResult<bool>,
    ) -> SqliteResult<()> {
        let mut from = i64::MIN;
        loop {
            let (reached, is_end) = self.run(connection, from, &mut each)?;
            if is_end {
                return Ok(());
            }
            self.failures += 1;
            // Rows are numbered from 1.
            let failed = reached.map_or(from.max(0), |last| last.saturating_add(1));
            match self.next_readable(connection, failed) {
                Some(next) => from = next,
                None => return Ok(()),
            }
        }
    }

    /// Reads from a number on. Returns the last number that was read, and whether that is the end.
    fn run(
        &self,
        connection: &Connection,
        from: i64,
        each: &mut impl FnMut(Vec<Value>) -> SqliteResult<bool>,
    ) -> SqliteResult<(Option<i64>, bool)> {
        let mut last = None;
        let Ok(mut statement) = connection.prepare(&self.sql) else { return Ok((None, true)) };
        let Ok(mut rows) = statement.query([from]) else { return Ok((None, false)) };
        loop {
            let Ok(next) = rows.next() else { return Ok((last, false)) };
            let Some(row) = next else { return Ok((last, true)) };
            let values: rusqlite::Result<Vec<Value>> = (0..=self.columns).map(|at| row.get(at)).collect();
            // A text that is no UTF-8 is damaged.
            let Ok(values) = values else { return Ok((last.or_else(|| row.get(0).ok()), false)) };
            if let Some(Value::Integer(number)) = values.first() {
                last = Some(*number);
            }
            if !each(values)? {
                return Ok((last, true));
            }
        }
    }

    /// The first number after one that cannot be read from which rows can be read.
    fn next_readable(&self, connection: &Connection, failed: i64) -> Option<i64> {
        let is_readable = |from: i64| {
            let Ok(mut statement) = connection.prepare(&self.sql) else { return false };
            let Ok(mut rows) = statement.query([from]) else { return false };
            rows.next().is_ok()
        };
        let mut step = 1;
        while !is_readable(failed + step) {
            step *= 2;
            if step > WIDEST {
                return None;
            }
        }
        let (mut low, mut high) = (failed + step / 2, failed + step);
        while low < high {
            let middle = low.midpoint(high);
            if is_readable(middle) { high = middle } else { low = middle + 1 }
        }
        Some(high)
    }
}

/// A recovery that is going on.
struct Recovery {
    source: Connection,
    target: Connection,
    report: RecoveryReport,
}

impl Recovery {
    fn carry_over(&mut self) -> SqliteResult<()> {
        self.carry_key()?;
        self.carry_sessions()?;
        self.carry("operations", &["session", "number", "kind", "time", "undone", "data"])?;
        self.carry_bodies()?;
        self.carry_messages()?;
        self.make_plain()?;
        self.carry("events", &["session", "number", "time", "data"])?;
        self.carry("clippings", &["key", "body", "part", "handle", "facts", "letters", "tenant"])?;
        self.carry_words()?;
        self.drop_orphans()?;
        self.name_missing()?;
        self.count()
    }

    /// Reads a table, and counts where it could not be read.
    fn rows(
        &mut self,
        table: &'static str,
        columns: &[&'static str],
        mut each: impl FnMut(&Connection, &mut RecoveryReport, Vec<Value>) -> SqliteResult<()>,
    ) -> SqliteResult<()> {
        let existing = self.columns(table)?;
        let value = |name: &&'static str| match *name {
            name if existing.contains(name) => name,
            "tenant" => "''",
            "sealed" => "0",
            _ => "NULL",
        };
        let columns: Vec<&str> = columns.iter().map(value).collect();
        let mut reader = TableReader::new(table, &columns);
        let Self { source, target, report } = self;
        reader.read(source, |row| each(target, report, row).map(|()| true))?;
        if reader.failures > 0 {
            report.unreadable.insert(reader.table, reader.failures);
        }
        Ok(())
    }

    /// The columns that a table has in the damaged file; older schemas have fewer.
    fn columns(&self, table: &str) -> SqliteResult<BTreeSet<String>> {
        let mut statement = self.source.prepare("SELECT name FROM pragma_table_info(?1)")?;
        let names = statement.query_map([table], |row| row.get(0))?;
        Ok(names.collect::<Result<_, _>>()?)
    }

    /// Copies a table. Rows that do not fit into it are left out.
    fn carry(&mut self, table: &'static str, columns: &[&'static str]) -> SqliteResult<()> {
        self.rows(table, columns, |target, _, row| insert(target, table, columns, &row[1..]))
    }

    fn carry_key(&mut self) -> SqliteResult<()> {
        self.rows("handle_key", &["key"], |target, _, row| {
            if let Some(Value::Blob(key)) =
                row.get(1).filter(|key| matches!(key, Value::Blob(key) if key.len() == 32))
            {
                target.execute("UPDATE handle_key SET key = ?1", [key])?;
            }
            Ok(())
        })
    }

    fn carry_sessions(&mut self) -> SqliteResult<()> {
        let columns = [
            "key",
            "id",
            "dialect",
            "profile",
            "title",
            "revision",
            "head",
            "live_from",
            "last_operation",
            "last_event",
            "created",
            "updated",
            "state",
            "frame",
            "sealed",
            "tenant",
        ];
        self.rows("sessions", &columns, |target, _, row| insert(target, "sessions", &columns, &row[1..]))
    }

    /// Carries over bodies that have their digest.
    fn carry_bodies(&mut self) -> SqliteResult<()> {
        let columns = ["digest", "encoding", "size", "bytes"];
        self.rows("bodies", &columns, |target, report, row| {
            let is_whole = match &row[1..] {
                [Value::Blob(digest), Value::Integer(encoding), Value::Integer(size), Value::Blob(bytes)] => {
                    let encoding = i16::try_from(*encoding).unwrap_or(i16::MAX);
                    let packed = PackedBody { encoding, size: *size, bytes: bytes.clone().into() };
                    packed.unpack(digest).is_ok()
                }
                _ => false,
            };
            if !is_whole {
                report.damaged_bodies += 1;
                return Ok(());
            }
            insert(target, "bodies", &columns, &row[1..])
        })
    }

    /// Carries over messages whose rows and bodies are whole.
    fn carry_messages(&mut self) -> SqliteResult<()> {
        let columns = [
            "session",
            "seq",
            "id",
            "operation",
            "pinned",
            "hidden",
            "time",
            "body",
            "shown",
            "facts",
            "cuts",
            "seal",
        ];
        self.rows("messages", &columns, |target, report, row| {
            let Some((key, mut stored)) = stored_row(&row[1..]) else { return Ok(()) };
            let find = "SELECT id, sealed = revision FROM sessions WHERE key = ?1";
            let found = target.query_row(find, [key], |row| Ok((row.get::<_, String>(0)?, row.get(1)?)));
            let Ok((session, is_sealed)) = found else {
                report.messages_without_session += 1;
                return Ok(());
            };
            let has = |digest: &Option<Vec<u8>>| match digest {
                None => Ok(true),
                Some(digest) => {
                    target.prepare_cached("SELECT 1 FROM bodies WHERE digest = ?1")?.exists([digest])
                }
            };
            let (has_body, has_shown) = (has(&stored.body)?, has(&stored.shown)?);
            let seq = stored.message.seq;
            let is_row_whole = stored.check(&session, is_sealed).is_ok() && is_json(&stored.message);
            let is_left = if has_body { true } else { stored.shown.is_some() && has_shown };
            if !is_row_whole || !is_left {
                if stored.message.operation.is_some() {
                    report.plain_sessions.insert(session.clone());
                }
                report.lost_messages.entry(session).or_default().push(seq);
                return Ok(());
            }
            if !has_body {
                stored.body = None;
            }
            if !has_shown {
                // Without what is shown, the original is.
                stored.shown = None;
                stored.message.cuts.clear();
                report.whole_messages += 1;
            }
            let StoredMessage { id, operation, pinned, hidden, time, facts, cuts, .. } = &stored.message;
            let integer = |number: u64| Value::Integer(i64::try_from(number).unwrap_or(i64::MAX));
            let blob = |bytes: &Option<Vec<u8>>| bytes.clone().map_or(Value::Null, Value::Blob);
            let values = [
                Value::Integer(key),
                integer(seq),
                Value::Text(id.clone()),
                operation.map_or(Value::Null, integer),
                Value::Integer(i64::from(*pinned)),
                Value::Integer(i64::from(*hidden)),
                Value::Integer(*time),
                blob(&stored.body),
                blob(&stored.shown),
                Value::Text(facts.clone()),
                Value::Text(cuts.clone()),
                Value::Blob(stored.seal().to_vec()),
            ];
            insert(target, "messages", &columns, &values)
        })
    }

    /// Sessions whose operations are not whole get their messages back without cuts and compactions.
    fn make_plain(&mut self) -> SqliteResult<()> {
        let broken = "SELECT id FROM sessions s WHERE (SELECT count(*) FROM operations WHERE session = s.key) \
                      <> last_operation OR NOT json_valid(state) OR EXISTS (SELECT * FROM operations \
                      WHERE session = s.key AND NOT json_valid(data))";
        let mut statement = self.target.prepare(broken)?;
        let ids: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
        drop(statement);
        self.report.plain_sessions.extend(ids);
        for id in &self.report.plain_sessions {
            let key: i64 =
                self.target.query_row("SELECT key FROM sessions WHERE id = ?1", [id], |row| row.get(0))?;
            let steps = [
                "DELETE FROM messages WHERE session = ?1 AND operation IS NOT NULL",
                // What was forgotten is shown as it was.
                "UPDATE messages SET hidden = FALSE, cuts = '', seal = NULL, \
                 shown = CASE WHEN body IS NULL THEN shown END WHERE session = ?1",
                "DELETE FROM operations WHERE session = ?1",
                "UPDATE sessions SET state = '{}', live_from = 1, last_operation = 0 WHERE key = ?1",
            ];
            for step in steps {
                self.target.execute(step, [key])?;
            }
        }
        Ok(())
    }

    /// The words of clippings. Without them, a clipping is found by its handle alone.
    fn carry_words(&mut self) -> SqliteResult<()> {
        self.rows("clippings_words_content", &["id", "c0"], |target, _, row| {
            let [Value::Integer(key), words @ Value::Text(_)] = &row[1..] else { return Ok(()) };
            let sql = "INSERT INTO clippings_words (rowid, words) SELECT ?1, ?2 \
                       WHERE EXISTS (SELECT * FROM clippings WHERE key = ?1)";
            target.prepare_cached(sql)?.execute((key, words))?;
            Ok(())
        })
    }

    /// Removes rows that refer to others that are lost.
    fn drop_orphans(&mut self) -> SqliteResult<()> {
        Ok(self.target.execute_batch(
            "DELETE FROM operations WHERE session NOT IN (SELECT key FROM sessions);
             DELETE FROM events WHERE session NOT IN (SELECT key FROM sessions);
             DELETE FROM bodies WHERE NOT EXISTS (SELECT * FROM messages WHERE body = digest)
                 AND NOT EXISTS (SELECT * FROM messages WHERE shown = digest);
             DELETE FROM clippings WHERE body NOT IN (SELECT digest FROM bodies);
             UPDATE sessions SET frame = '{}' WHERE NOT json_valid(frame);
             UPDATE sessions SET last_event = MAX(last_event,
                 COALESCE((SELECT MAX(number) FROM events WHERE session = key), 0));
             UPDATE sessions SET head = MAX(head, COALESCE((SELECT MAX(seq) FROM messages WHERE session = key), 0));",
        )?)
    }

    /// Names the messages of recovered sessions whose rows could not be read. A fork may lack numbers of its own.
    fn name_missing(&mut self) -> SqliteResult<()> {
        if !self.report.unreadable.contains_key("messages") {
            return Ok(());
        }
        let mut sessions = self.target.prepare("SELECT key, id, head FROM sessions")?;
        let mut there = self.target.prepare("SELECT seq FROM messages WHERE session = ?1 ORDER BY seq")?;
        let mut rows = sessions.query([])?;
        while let Some(row) = rows.next()? {
            let (key, id, head): (i64, String, i64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            let seqs: BTreeSet<u64> =
                there.query_map([key], |row| Ok(from_column(row.get(0)?)))?.collect::<Result<_, _>>()?;
            let missing: Vec<u64> =
                (1..=from_column(head)).filter(|seq| !seqs.contains(seq)).take(MOST_NAMED).collect();
            if !missing.is_empty() {
                self.report.lost_messages.insert(id, missing);
            }
        }
        Ok(())
    }

    fn count(&mut self) -> SqliteResult<()> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            self.target.query_row(&sql, [], |row| row.get::<_, i64>(0)).map(from_column)
        };
        (self.report.sessions, self.report.messages) = (count("sessions")?, count("messages")?);
        self.report.bodies = count("bodies")?;
        Ok(())
    }
}

fn insert(target: &Connection, table: &str, columns: &[&str], values: &[Value]) -> SqliteResult<()> {
    let places: Vec<String> = (1..=columns.len()).map(|at| format!("?{at}")).collect();
    let sql =
        format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({})", columns.join(", "), places.join(", "));
    // A value of another type than its column's is damaged.
    _ = target.prepare_cached(&sql)?.execute(params_from_iter(values));
    Ok(())
}

/// Reads a message: its session's key and its row. None if a value has another type than its column.
fn stored_row(values: &[Value]) -> Option<(i64, StoredRow)> {
    let integer = |at: usize| match values.get(at) {
        Some(Value::Integer(number)) => Some(*number),
        _ => None,
    };
    let text = |at: usize| match values.get(at) {
        Some(Value::Text(text)) => Some(text.clone()),
        _ => None,
    };
    let blob = |at: usize| match values.get(at) {
        Some(Value::Blob(bytes)) => Some(bytes.clone()),
        _ => None,
    };
    let message = StoredMessage {
        seq: from_column(integer(1)?),
        id: text(2)?,
        operation: integer(3).map(from_column),
        pinned: integer(4)? != 0,
        hidden: integer(5)? != 0,
        time: integer(6)?,
        facts: text(9)?,
        cuts: text(10)?,
        body: Vec::new(),
    };
    Some((integer(0)?, StoredRow { message, body: blob(7), shown: blob(8), seal: blob(11) }))
}

fn is_json(message: &StoredMessage) -> bool {
    let is_json = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
    is_json(&message.facts) && (message.cuts.is_empty() || is_json(&message.cuts))
}
