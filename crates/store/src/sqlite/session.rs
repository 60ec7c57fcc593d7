//! Rows of sessions.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::SqliteError;
use crate::error::StoreError;
use crate::prepared_commit::SessionHead;
use crate::record::{NewSession, SessionCursor, SessionRow};
use crate::validation::{from_column, to_limit};

const COLUMNS: &str = "id, dialect, profile, title, frame, state, revision, head, live_from, last_operation, \
                       last_event, created, updated";

/// Creates a session.
pub(super) fn create(connection: &Connection, session: NewSession) -> Result<SessionRow, SqliteError> {
    let sql = "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, live_from, \
               last_operation, last_event, created, updated) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 1, 0, 0, ?7, ?7) ON CONFLICT (id) DO NOTHING";
    let new = &session;
    let values = params![new.id, new.wire, new.profile, new.title, new.envelope, new.state, new.time];
    match connection.prepare_cached(sql)?.execute(values)? {
        0 => Err(StoreError::SessionExists { id: session.id }.into()),
        _ => find(connection, &session.id),
    }
}

/// One session.
pub(super) fn find(connection: &Connection, id: &str) -> Result<SessionRow, SqliteError> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE id = ?1");
    let row = connection.prepare_cached(&sql)?.query_row([id], read_row).optional()?;
    row.ok_or_else(|| StoreError::no_session(id).into())
}

/// All sessions, the one changed last first.
pub(super) fn list(connection: &Connection, limit: usize) -> Result<Vec<SessionRow>, SqliteError> {
    let sql = format!("SELECT {COLUMNS} FROM sessions ORDER BY updated DESC, id DESC LIMIT ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([to_limit(limit)], read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The sessions behind a place in that list.
pub(super) fn list_after(
    connection: &Connection,
    place: &SessionCursor,
    limit: usize,
) -> Result<Vec<SessionRow>, SqliteError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE (updated, id) < (?1, ?2) ORDER BY updated DESC, id DESC LIMIT ?3"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map((place.updated, &place.id, to_limit(limit)), read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// A session's number in the database.
pub(super) fn find_key(connection: &Connection, id: &str) -> Result<i64, SqliteError> {
    let sql = "SELECT key FROM sessions WHERE id = ?1";
    let key = connection.prepare_cached(sql)?.query_row([id], |row| row.get(0)).optional()?;
    key.ok_or_else(|| StoreError::no_session(id).into())
}

/// What a change has to know of a session. Nobody else can change it before the transaction is over.
pub(super) fn find_head(connection: &Connection, id: &str) -> Result<SessionHead, SqliteError> {
    let sql = "SELECT key, revision, head, live_from, last_operation, last_event, \
               (SELECT token FROM leases WHERE session = key AND owner IS NOT NULL) FROM sessions WHERE id = ?1";
    let read_head = |row: &Row<'_>| {
        Ok(SessionHead {
            key: row.get(0)?,
            revision: from_column(row.get(1)?),
            head: from_column(row.get(2)?),
            live_from: from_column(row.get(3)?),
            last_operation: from_column(row.get(4)?),
            last_event: from_column(row.get(5)?),
            lease: row.get::<_, Option<i64>>(6)?.map(from_column),
        })
    };
    let head = connection.prepare_cached(sql)?.query_row([id], read_head).optional()?;
    head.ok_or_else(|| StoreError::no_session(id).into())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(SessionRow {
        id: row.get(0)?,
        wire: row.get(1)?,
        profile: row.get(2)?,
        title: row.get(3)?,
        envelope: row.get(4)?,
        state: row.get(5)?,
        revision: from_column(row.get(6)?),
        head: from_column(row.get(7)?),
        live_from: from_column(row.get(8)?),
        last_operation: from_column(row.get(9)?),
        last_event: from_column(row.get(10)?),
        created: row.get(11)?,
        updated: row.get(12)?,
    })
}
