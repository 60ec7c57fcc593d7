//! The table of sessions.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::SqliteResult;
use super::statement::query_all;
use crate::error::StoreError;
use crate::prepared_commit::SessionHead;
use crate::record::{NewSession, SessionCursor, SessionRow};
use crate::sql::{
    SESSION_COLUMNS, SESSION_KEY, SESSION_TENANT, TENANTS, TOUCH_SESSION, find_session, list_sessions,
    list_sessions_after, session_row,
};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_limit};

/// Creates a session of a tenant.
pub(super) fn create(
    connection: &Connection,
    tenant: String,
    session: NewSession,
) -> SqliteResult<SessionRow> {
    let sql = format!(
        "INSERT INTO sessions ({SESSION_COLUMNS}) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 0, 0, 1, 0, 0, ?7, ?7, ?8) ON CONFLICT (id) DO NOTHING"
    );
    let new = &session;
    let values = params![new.id, new.wire, new.profile, new.title, new.envelope, new.state, new.time, tenant];
    match connection.prepare_cached(&sql)?.execute(values)? {
        0 => Err(StoreError::SessionExists { id: session.id }.into()),
        _ => find(connection, &SessionName { tenant, id: session.id }),
    }
}

/// Reads one session.
pub(super) fn find(connection: &Connection, name: &SessionName) -> SqliteResult<SessionRow> {
    let mut statement = connection.prepare_cached(&find_session())?;
    let row = statement.query_row((&name.id, &name.tenant), read_row).optional()?;
    row.ok_or_else(|| StoreError::no_session(&name.id).into())
}

/// Lists sessions, most recently changed first.
pub(super) fn list(connection: &Connection, tenant: &str, limit: usize) -> SqliteResult<Vec<SessionRow>> {
    query_all(connection, &list_sessions(), (tenant, to_limit(limit)), read_row)
}

/// Lists the sessions after a cursor.
pub(super) fn list_after(
    connection: &Connection,
    tenant: &str,
    cursor: &SessionCursor,
    limit: usize,
) -> SqliteResult<Vec<SessionRow>> {
    let values = (tenant, cursor.updated, &cursor.id, to_limit(limit));
    query_all(connection, &list_sessions_after(), values, read_row)
}

/// Notes that a session was used.
pub(super) fn touch(connection: &Connection, name: &SessionName, time: i64) -> SqliteResult<()> {
    connection.prepare_cached(TOUCH_SESSION)?.execute((time, &name.id, &name.tenant))?;
    Ok(())
}

/// The key of a session in the database.
pub(super) fn find_key(connection: &Connection, name: &SessionName) -> SqliteResult<i64> {
    Ok(find_sealed_key(connection, name)?.0)
}

/// The same, and whether the seals of its messages hold.
pub(super) fn find_sealed_key(connection: &Connection, name: &SessionName) -> SqliteResult<(i64, bool)> {
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let mut statement = connection.prepare_cached(SESSION_KEY)?;
    let key = statement.query_row((&name.id, &name.tenant), read).optional()?;
    key.ok_or_else(|| StoreError::no_session(&name.id).into())
}

/// The tenant of a session.
pub(super) fn tenant_of(connection: &Connection, id: &str) -> SqliteResult<String> {
    let tenant = connection.prepare_cached(SESSION_TENANT)?.query_row([id], |row| row.get(0)).optional()?;
    tenant.ok_or_else(|| StoreError::no_session(id).into())
}

/// The tenants that have sessions.
pub(super) fn tenants(connection: &Connection) -> SqliteResult<Vec<String>> {
    query_all(connection, TENANTS, [], |row| row.get(0))
}

/// Reads what a change needs to know about its session. No other writer can change it during the transaction.
pub(super) fn find_head(connection: &Connection, name: &SessionName) -> SqliteResult<SessionHead> {
    let sql = "SELECT key, revision, head, live_from, last_operation, last_event, \
               (SELECT token FROM leases WHERE session = key AND owner IS NOT NULL), sealed = revision \
               FROM sessions WHERE id = ?1 AND tenant = ?2";
    let read_head = |row: &Row<'_>| {
        Ok(SessionHead {
            key: row.get(0)?,
            revision: from_column(row.get(1)?),
            head: from_column(row.get(2)?),
            live_from: from_column(row.get(3)?),
            last_operation: from_column(row.get(4)?),
            last_event: from_column(row.get(5)?),
            lease: row.get::<_, Option<i64>>(6)?.map(from_column),
            is_sealed: row.get(7)?,
        })
    };
    let head = connection.prepare_cached(sql)?.query_row((&name.id, &name.tenant), read_head).optional()?;
    head.ok_or_else(|| StoreError::no_session(&name.id).into())
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<SessionRow> {
    Ok(session_row!(row.get))
}
