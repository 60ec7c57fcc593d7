//! Rows of sessions.

use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::{Error, Row};

use super::PostgresError;
use crate::error::StoreError;
use crate::prepared_commit::SessionHead;
use crate::record::{NewSession, SessionCursor, SessionRow};
use crate::validation::{from_column, to_limit};

const COLUMNS: &str = "id, dialect, profile, title, frame, state, revision, head, live_from, last_operation, \
                       last_event, created, updated";

/// Creates a session.
pub(super) async fn create(client: &Object, session: NewSession) -> Result<SessionRow, PostgresError> {
    let sql = format!(
        "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, live_from, \
         last_operation, last_event, created, updated) \
         VALUES ($1, $2, $3, $4, $5, $6, 0, 0, 1, 0, 0, $7, $7) ON CONFLICT (id) DO NOTHING RETURNING {COLUMNS}"
    );
    let statement = client.prepare_cached(&sql).await?;
    let NewSession { id, wire, profile, title, envelope, state, time } = &session;
    let made = client.query_opt(&statement, &[id, wire, profile, title, envelope, state, time]).await?;
    match made {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::SessionExists { id: session.id }.into()),
    }
}

/// One session.
pub(super) async fn find(client: &impl GenericClient, id: &str) -> Result<SessionRow, PostgresError> {
    check_name(id)?;
    let statement = client.prepare_cached(&format!("SELECT {COLUMNS} FROM sessions WHERE id = $1")).await?;
    match client.query_opt(&statement, &[&id]).await? {
        Some(row) => Ok(read_row(&row)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// All sessions, the one changed last first.
pub(super) async fn list(client: &Object, limit: usize) -> Result<Vec<SessionRow>, PostgresError> {
    let sql = format!("SELECT {COLUMNS} FROM sessions ORDER BY updated DESC, id DESC LIMIT $1");
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &[&to_limit(limit)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

/// The sessions behind a place in that list.
pub(super) async fn list_after(
    client: &Object,
    place: &SessionCursor,
    limit: usize,
) -> Result<Vec<SessionRow>, PostgresError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM sessions WHERE (updated, id) < ($1, $2) ORDER BY updated DESC, id DESC LIMIT $3"
    );
    // No id has a NUL character, so what comes before one with it is what comes before the same with the next character.
    let id = place.id.replace('\0', "\u{1}");
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &[&place.updated, &id, &to_limit(limit)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

/// A session's number in the database.
pub(super) async fn find_key(client: &impl GenericClient, id: &str) -> Result<i64, PostgresError> {
    check_name(id)?;
    let statement = client.prepare_cached("SELECT key FROM sessions WHERE id = $1").await?;
    match client.query_opt(&statement, &[&id]).await? {
        Some(row) => Ok(row.try_get(0)?),
        None => Err(StoreError::no_session(id).into()),
    }
}

/// What a change has to know of a session. The row is locked: nobody else can change the session before the
/// transaction is over. So is the lease, if there is one, so that nobody can take it over in the meantime.
pub(super) async fn find_head(transaction: &Transaction<'_>, id: &str) -> Result<SessionHead, PostgresError> {
    check_name(id)?;
    // Without KEY, so that somebody who takes a lease need not wait: that only refers to the row.
    let sql = "SELECT key, revision, head, live_from, last_operation, last_event FROM sessions \
               WHERE id = $1 FOR NO KEY UPDATE";
    let statement = transaction.prepare_cached(sql).await?;
    let Some(row) = transaction.query_opt(&statement, &[&id]).await? else {
        return Err(StoreError::no_session(id).into());
    };
    let key: i64 = row.try_get(0)?;
    let sql = "SELECT token FROM leases WHERE session = $1 AND owner IS NOT NULL FOR SHARE";
    let statement = transaction.prepare_cached(sql).await?;
    let token = transaction.query_opt(&statement, &[&key]).await?;
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

/// There cannot be a session whose name PostgreSQL cannot even look for.
fn check_name(id: &str) -> Result<(), StoreError> {
    if id.contains('\0') { Err(StoreError::no_session(id)) } else { Ok(()) }
}

fn read_row(row: &Row) -> Result<SessionRow, Error> {
    Ok(SessionRow {
        id: row.try_get(0)?,
        wire: row.try_get(1)?,
        profile: row.try_get(2)?,
        title: row.try_get(3)?,
        envelope: row.try_get(4)?,
        state: row.try_get(5)?,
        revision: from_column(row.try_get(6)?),
        head: from_column(row.try_get(7)?),
        live_from: from_column(row.try_get(8)?),
        last_operation: from_column(row.try_get(9)?),
        last_event: from_column(row.try_get(10)?),
        created: row.try_get(11)?,
        updated: row.try_get(12)?,
    })
}
