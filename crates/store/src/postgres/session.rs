//! The table of sessions.

use deadpool_postgres::Transaction;
use tokio_postgres::{Error, Row};

use super::PostgresResult;
use super::statement::{Values, execute, query_all, query_opt};
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
pub(super) async fn create(
    client: &Transaction<'_>,
    tenant: &str,
    session: &NewSession,
) -> PostgresResult<SessionRow> {
    let sql = format!(
        "INSERT INTO sessions ({SESSION_COLUMNS}) \
         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 1, 0, 0, $7, $7, $8) ON CONFLICT (id) DO NOTHING \
         RETURNING {SESSION_COLUMNS}"
    );
    let NewSession { id, wire, profile, title, envelope, state, time } = session;
    let made = query_opt(client, &sql, &[id, wire, profile, title, envelope, state, time, &tenant]).await?;
    match made {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::SessionExists { id: id.clone() }.into()),
    }
}

/// Reads one session.
pub(super) async fn find(client: &Transaction<'_>, name: &SessionName) -> PostgresResult<SessionRow> {
    let SessionName { tenant, id } = name;
    check_name(id)?;
    match query_opt(client, &find_session(), &[id, tenant]).await? {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// Lists sessions, most recently changed first.
pub(super) async fn list(
    client: &Transaction<'_>,
    tenant: &str,
    limit: usize,
) -> PostgresResult<Vec<SessionRow>> {
    query_all(client, &list_sessions(), &[&tenant, &to_limit(limit)], read_row).await
}

/// Lists the sessions after a cursor.
pub(super) async fn list_after(
    client: &Transaction<'_>,
    tenant: &str,
    cursor: &SessionCursor,
    limit: usize,
) -> PostgresResult<Vec<SessionRow>> {
    // No stored id contains a NUL character, so an id with one sorts like the same id with the next character.
    let id = cursor.id.replace('\0', "\u{1}");
    let values: Values<'_> = &[&tenant, &cursor.updated, &id, &to_limit(limit)];
    query_all(client, &list_sessions_after(), values, read_row).await
}

/// Notes that a session was used.
pub(super) async fn touch(client: &Transaction<'_>, name: &SessionName, time: i64) -> PostgresResult<()> {
    if name.id.contains('\0') {
        return Ok(());
    }
    Ok(execute(client, TOUCH_SESSION, &[&time, &name.id, &name.tenant]).await?)
}

/// The key of a session in the database.
pub(super) async fn find_key(client: &Transaction<'_>, name: &SessionName) -> PostgresResult<i64> {
    Ok(find_sealed_key(client, name).await?.0)
}

/// The same, and whether the seals of its messages hold.
pub(super) async fn find_sealed_key(
    client: &Transaction<'_>,
    name: &SessionName,
) -> PostgresResult<(i64, bool)> {
    let SessionName { tenant, id } = name;
    check_name(id)?;
    match query_opt(client, SESSION_KEY, &[id, tenant]).await? {
        Some(row) => Ok((row.try_get(0)?, row.try_get(1)?)),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// The tenant of a session.
pub(super) async fn tenant_of(client: &Transaction<'_>, id: &str) -> PostgresResult<String> {
    check_name(id)?;
    match query_opt(client, SESSION_TENANT, &[&id]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// The tenants that have sessions.
pub(super) async fn tenants(client: &Transaction<'_>) -> PostgresResult<Vec<String>> {
    query_all(client, TENANTS, &[], |row| row.try_get(0)).await
}

/// Reads what a change needs to know about its session, and locks the session's row and its lease until the end of
/// the transaction.
pub(super) async fn find_head(
    transaction: &Transaction<'_>,
    name: &SessionName,
) -> PostgresResult<SessionHead> {
    let SessionName { tenant, id } = name;
    check_name(id)?;
    // `NO KEY`, so that taking a lease, which only refers to the row, need not wait.
    let sql = "SELECT key, revision, head, live_from, last_operation, last_event, sealed = revision \
               FROM sessions WHERE id = $1 AND tenant = $2 FOR NO KEY UPDATE";
    let Some(row) = query_opt(transaction, sql, &[id, tenant]).await? else {
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
        is_sealed: row.try_get(6)?,
    })
}

/// PostgreSQL cannot look for an id with a NUL character, and no session has one.
fn check_name(id: &str) -> Result<(), StoreError> {
    if id.contains('\0') { Err(StoreError::no_session(id)) } else { Ok(()) }
}

fn read_row(row: &Row) -> Result<SessionRow, Error> {
    Ok(session_row!(row.try_get))
}
