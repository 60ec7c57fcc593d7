//! The table of sessions.

use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::{Error, Row};

use super::PostgresResult;
use super::statement::{query_all, query_opt};
use crate::error::StoreError;
use crate::prepared_commit::SessionHead;
use crate::record::{NewSession, SessionCursor, SessionRow};
use crate::sql::{
    SESSION_COLUMNS, SESSION_KEY, find_session, list_sessions, list_sessions_after, session_row,
};
use crate::validation::{from_column, to_limit};

/// Creates a session.
pub(super) async fn create(client: &Object, session: NewSession) -> PostgresResult<SessionRow> {
    let sql = format!(
        "INSERT INTO sessions ({SESSION_COLUMNS}) \
         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 1, 0, 0, $7, $7) ON CONFLICT (id) DO NOTHING RETURNING {SESSION_COLUMNS}"
    );
    let NewSession { id, wire, profile, title, envelope, state, time } = &session;
    let made = query_opt(client, &sql, &[id, wire, profile, title, envelope, state, time]).await?;
    match made {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::SessionExists { id: session.id }.into()),
    }
}

/// Reads one session.
pub(super) async fn find(client: &impl GenericClient, id: &str) -> PostgresResult<SessionRow> {
    check_name(id)?;
    match query_opt(client, &find_session(), &[&id]).await? {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Lists sessions, most recently changed first.
pub(super) async fn list(client: &Object, limit: usize) -> PostgresResult<Vec<SessionRow>> {
    query_all(client, &list_sessions(), &[&to_limit(limit)], read_row).await
}

/// Lists the sessions after a cursor.
pub(super) async fn list_after(
    client: &Object,
    cursor: &SessionCursor,
    limit: usize,
) -> PostgresResult<Vec<SessionRow>> {
    // No stored id contains a NUL character, so an id with one sorts like the same id with the next character.
    let id = cursor.id.replace('\0', "\u{1}");
    query_all(client, &list_sessions_after(), &[&cursor.updated, &id, &to_limit(limit)], read_row).await
}

/// The key of a session in the database.
pub(super) async fn find_key(client: &impl GenericClient, id: &str) -> PostgresResult<i64> {
    check_name(id)?;
    match query_opt(client, SESSION_KEY, &[&id]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Reads what a change needs to know about its session, and locks the session's row and its lease until the end of
/// the transaction.
pub(super) async fn find_head(transaction: &Transaction<'_>, id: &str) -> PostgresResult<SessionHead> {
    check_name(id)?;
    // `NO KEY`, so that taking a lease, which only refers to the row, need not wait.
    let sql = "SELECT key, revision, head, live_from, last_operation, last_event FROM sessions \
               WHERE id = $1 FOR NO KEY UPDATE";
    let Some(row) = query_opt(transaction, sql, &[&id]).await? else {
        return Err(StoreError::no_session(id).into());
    };
    let key: i64 = row.try_get(0)?;
    let sql = "SELECT token FROM leases WHERE session = $1 AND owner IS NOT NULL FOR SHARE";
    let token = query_opt(transaction, sql, &[&key]).await?;
    Ok(SessionHead {
        key,
        revision: from_column(row.try_get(1)?),
        head: from_column(row.try_get(2)?),
        live_from: from_column(row.try_get(3)?),
        last_operation: from_column(row.try_get(4)?),
        last_event: from_column(row.try_get(5)?),
        lease: token.map(|row| row.try_get(0)).transpose()?.map(from_column),
    })
}

/// PostgreSQL cannot look for an id with a NUL character, and no session has one.
fn check_name(id: &str) -> Result<(), StoreError> {
    if id.contains('\0') { Err(StoreError::no_session(id)) } else { Ok(()) }
}

fn read_row(row: &Row) -> Result<SessionRow, Error> {
    Ok(session_row!(row.try_get))
}
