//! Checks a file: SQLite's own check, then every row.

use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Instant;

use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use super::body::read_packed;
use super::status::{FileStatus, file_status};
use crate::check::{CheckWork, StoreReport};
use crate::error::StoreError;
use crate::sql::stored_row;
use crate::stored_row::StoredRow;

/// The most lines of SQLite's own check.
const LINES: u32 = 100;

/// Checks a file without changing it.
pub(crate) fn check(path: &Path, mut work: CheckWork) -> Result<StoreReport, StoreError> {
    let doing = "cannot check the store";
    let schema = match file_status(path).map_err(StoreError::database(doing))? {
        FileStatus::Empty => return Ok(work.report),
        FileStatus::NoDatabase => {
            work.add_database("the file does not begin like a database".to_owned());
            return Ok(work.report);
        }
        FileStatus::Foreign => {
            return Err(StoreError::database(doing)("the file is a database of another program"));
        }
        FileStatus::Store { schema, known } if schema > known => {
            return Err(StoreError::Newer { found: schema, known });
        }
        FileStatus::Store { schema, .. } => schema,
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(StoreError::database(doing))?;
    // A long statement ends with the time.
    let (done, ended) = channel::<()>();
    let (interrupt, end) = (connection.get_interrupt_handle(), work.end);
    let timer = thread::spawn(move || {
        let Some(end) = end else { return };
        if ended.recv_timeout(end.saturating_duration_since(Instant::now())) == Err(RecvTimeoutError::Timeout)
        {
            interrupt.interrupt();
        }
    });
    for step in [pages, sessions, messages, bodies, records, clippings] {
        match step(&connection, schema, &mut work) {
            Ok(()) => {}
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::OperationInterrupted) => {
                work.report.is_complete = false;
            }
            Err(error) => work.add_database(error.to_string()),
        }
        if work.is_over() {
            break;
        }
    }
    drop(done);
    _ = timer.join();
    Ok(work.report)
}

/// The database's own structure, and references from row to row.
fn pages(connection: &Connection, _: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(&format!("PRAGMA quick_check({LINES})"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let line: String = row.get(0)?;
        if line != "ok" {
            work.add_database(line);
        }
    }
    let mut statement = connection.prepare("PRAGMA foreign_key_check")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (table, number, parent): (String, Option<i64>, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        work.add_database(format!(
            "row {} of {table} refers to a row of {parent} that is missing",
            number.unwrap_or(0)
        ));
    }
    Ok(())
}

fn sessions(connection: &Connection, _: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT id, state, frame FROM sessions NOT INDEXED")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let (id, state, frame): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        work.session(&id, [("state", &state), ("envelope", &frame)]);
    }
    Ok(())
}

fn messages(connection: &Connection, schema: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    let (seal, sealed) = if schema < 5 { ("NULL", "FALSE") } else { ("seal", "sealed = revision") };
    let sql = format!(
        "SELECT m.seq, m.id, m.operation, m.pinned, m.hidden, m.time, m.facts, m.cuts, m.body, m.shown, {seal}, s.id, \
         {sealed} FROM messages m NOT INDEXED LEFT JOIN sessions s ON s.key = m.session"
    );
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let session: Option<String> = row.get(11)?;
        let is_sealed: Option<bool> = row.get(12)?;
        let session = session.as_deref().map(|id| (id, is_sealed.unwrap_or(false)));
        let stored = |row: &Row<'_>| -> rusqlite::Result<StoredRow> { Ok(stored_row!(row.get)) };
        work.message(session, &stored(row)?);
    }
    Ok(())
}

fn bodies(connection: &Connection, _: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    let mut statement = connection.prepare("SELECT digest, encoding, size, bytes FROM bodies NOT INDEXED")?;
    let mut of = connection.prepare(
        "SELECT s.id, m.seq FROM messages m JOIN sessions s ON s.key = m.session WHERE m.body = ?1 OR m.shown = ?1",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let digest: Vec<u8> = row.get(0)?;
        let Some(packed) = read_packed(row, 1)? else { continue };
        if let Err(why) = work.body(&digest, packed) {
            let mut messages = of.query([&digest])?;
            while let Some(message) = messages.next()? {
                work.body_of(message.get(0)?, message.get(1)?, why);
            }
        }
        if work.is_over() {
            break;
        }
    }
    Ok(())
}

fn records(connection: &Connection, _: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    for (table, what) in [("operations", "operation"), ("events", "event")] {
        let sql = format!(
            "SELECT s.id, r.number, r.data FROM {table} r NOT INDEXED LEFT JOIN sessions s ON s.key = r.session"
        );
        let mut statement = connection.prepare(&sql)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            work.record(row.get(0)?, what, row.get(1)?, &row.get::<_, String>(2)?);
        }
    }
    Ok(())
}

fn clippings(connection: &Connection, schema: u32, work: &mut CheckWork) -> rusqlite::Result<()> {
    if schema < 4 {
        return Ok(());
    }
    let mut statement = connection.prepare(
        "SELECT c.handle, c.part, (SELECT m.facts FROM messages m WHERE m.body = c.body LIMIT 1) \
         FROM clippings c NOT INDEXED",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let facts: Option<String> = row.get(2)?;
        work.clipping(&row.get::<_, String>(0)?, row.get(1)?, facts.as_deref());
    }
    Ok(())
}
