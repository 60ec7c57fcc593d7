//! The table of sessions.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::SqliteResult;
use super::statement::query_all;
use crate::error::StoreError;
use crate::prepared_commit::SessionHead;
use crate::record::{NewSession, SessionCursor, SessionRow};
use crate::sql::{
    SESSION_COLUMNS, SESSION_KEY, find_session, list_sessions, list_sessions_after, session_row,
};
use crate::validation::{from_column, to_limit};

/// Creates a session.
pub(super) fn create(connection: &Connection, session: NewSession) -> SqliteResult<SessionRow> {
    let sql = format!(
        "INSERT INTO sessions ({SESSION_COLUMNS}) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 1, 0, 0, ?7, ?7) ON CONFLICT (id) DO NOTHING"
    );
    let new = &session;
    let values = params![new.id, new.wire, new.profile, new.title, new.envelope, new.state, new.time];
    match connection.prepare_cached(&sql)?.execute(values)? {
        0 => Err(StoreError::SessionExists { id: session.id }.into()),
        _ => find(connection, &session.id),
    }
}

/// Reads one session.
pub(super) fn find(connection: &Connection, id: &str) -> SqliteResult<SessionRow> {
    let row = connection.prepare_cached(&find_session())?.query_row([id], read_row).optional()?;
    row.ok_or_else(|| StoreError::no_session(id).into())
}

/// Lists sessions, most recently changed first.
pub(super) fn list(connection: &Connection, limit: usize) -> SqliteResult<Vec<SessionRow>> {
    query_all(connection, &list_sessions(), [to_limit(limit)], read_row)
}

/// Lists the sessions after a cursor.
pub(super) fn list_after(
    connection: &Connection,
    cursor: &SessionCursor,
    limit: usize,
) -> SqliteResult<Vec<SessionRow>> {
    query_all(connection, &list_sessions_after(), (cursor.updated, &cursor.id, to_limit(limit)), read_row)
}

/// The key of a session in the database.
pub(super) fn find_key(connection: &Connection, id: &str) -> SqliteResult<i64> {
    let key = connection.prepare_cached(SESSION_KEY)?.query_row([id], |row| row.get(0)).optional()?;
    key.ok_or_else(|| StoreError::no_session(id).into())
}

/// Reads what a change needs to know about its session. No other writer can change it during the transaction.
pub(super) fn find_head(connection: &Connection, id: &str) -> SqliteResult<SessionHead> {
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
    Ok(session_row!(row.get))
}
