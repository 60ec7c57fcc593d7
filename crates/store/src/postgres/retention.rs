//! Deleting sessions.

use deadpool_postgres::Transaction;
use tokio_postgres::Row;

use super::statement::{Values, execute, query, query_all, query_opt};
use super::{PostgresResult, body, clipping, lease, session};
use crate::LONGEST_LEASE;
use crate::record::SessionCursor;
use crate::retention::Swept;
use crate::sql::{UNUSED_SESSIONS, session_cursor};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column, to_limit};

/// Takes or renews the right to apply retention.
pub(super) async fn claim(client: &Transaction<'_>, owner: &str, ttl_ms: u64) -> PostgresResult<bool> {
    let now = lease::NOW;
    let sql = format!(
        "INSERT INTO retention (place, owner, expires) VALUES (1, $1, {now} + $2) \
         ON CONFLICT (place) DO UPDATE SET owner = excluded.owner, expires = {now} + $2 \
         WHERE retention.owner = excluded.owner OR retention.expires <= {now} \
         OR retention.expires > {now} + {LONGEST_LEASE} RETURNING place"
    );
    let ttl = to_column(ttl_ms.min(LONGEST_LEASE));
    Ok(query_opt(client, &sql, &[&owner, &ttl]).await?.is_some())
}

/// Lists sessions that were last used before a time, least recently used first.
pub(super) async fn unused(
    client: &Transaction<'_>,
    tenant: &str,
    before: i64,
    after: &SessionCursor,
    limit: usize,
) -> PostgresResult<Vec<SessionCursor>> {
    let read = |row: &Row| Ok(session_cursor!(row.try_get));
    let values: Values<'_> = &[&tenant, &before, &after.updated, &after.id, &to_limit(limit)];
    query_all(client, UNUSED_SESSIONS, values, read).await
}

/// Marks a session as deleted. It gets a name that no caller knows, so that it is not found by its id. Writers of the
/// session are waited for.
pub(super) async fn delete(
    client: &Transaction<'_>,
    name: &SessionName,
    before: i64,
) -> PostgresResult<bool> {
    let key = session::find_key(client, name).await?;
    let sql = "UPDATE sessions SET id = 'deleted ' || md5(random()::text || clock_timestamp()::text), title = NULL, \
               frame = '', state = '', deleted = TRUE WHERE key = $1 AND updated < $2 AND NOT deleted RETURNING key";
    Ok(query_opt(client, sql, &[&key, &before]).await?.is_some())
}

/// Removes rows of a deleted session.
pub(super) async fn sweep(transaction: &Transaction<'_>, rows: usize) -> PostgresResult<Swept> {
    let sql = "SELECT key FROM sessions WHERE deleted ORDER BY key LIMIT 1 FOR UPDATE SKIP LOCKED";
    let Some(row) = query_opt(transaction, sql, &[]).await? else {
        return Ok(Swept { is_done: true, ..Swept::default() });
    };
    let key: i64 = row.try_get(0)?;
    let mut swept = Swept::default();
    let mut room = rows.max(1);
    let (messages, bytes) = sweep_messages(transaction, key, room).await?;
    (room, swept.bytes) = (room - messages, bytes);
    for table in ["events", "operations"] {
        let sql = format!(
            "DELETE FROM {table} WHERE session = $1 AND number IN \
             (SELECT number FROM {table} WHERE session = $1 ORDER BY number LIMIT $2) RETURNING number"
        );
        room -= query(transaction, &sql, &[&key, &to_limit(room)]).await?.len();
    }
    if room > 0 {
        execute(transaction, "DELETE FROM leases WHERE session = $1", &[&key]).await?;
        execute(transaction, "DELETE FROM sessions WHERE key = $1", &[&key]).await?;
        swept.sessions = 1;
    }
    Ok(swept)
}

/// Removes messages of a session, oldest first. Returns how many, and the bytes of their bodies.
async fn sweep_messages(
    transaction: &Transaction<'_>,
    key: i64,
    rows: usize,
) -> PostgresResult<(usize, u64)> {
    let sql = "DELETE FROM messages WHERE session = $1 AND seq IN \
               (SELECT seq FROM messages WHERE session = $1 ORDER BY seq LIMIT $2) RETURNING id, body, shown";
    let messages = query(transaction, sql, &[&key, &to_limit(rows)]).await?;
    let (mut originals, mut released) = (Vec::new(), Vec::new());
    for row in &messages {
        released.extend(row.try_get::<_, Option<Vec<u8>>>(2)?);
        if let Some(body) = row.try_get::<_, Option<Vec<u8>>>(1)? {
            released.push(body.clone());
            originals.push((body, row.try_get(0)?));
        }
    }
    clipping::sweep(transaction, &originals).await?;
    released.sort_unstable();
    released.dedup();
    Ok((messages.len(), body::sweep(transaction, &released).await?))
}

/// The bytes of all bodies. The space of deleted rows is the server's matter, so it does not count.
pub(super) async fn size(client: &Transaction<'_>) -> PostgresResult<u64> {
    let sql = "SELECT COALESCE(SUM(octet_length(bytes)), 0)::bigint FROM bodies";
    let rows = query(client, sql, &[]).await?;
    let sum = rows.first().map(|row| row.try_get(0)).transpose()?;
    Ok(from_column(sum.unwrap_or_default()))
}

/// The bytes of the bodies of each tenant.
pub(super) async fn tenant_sizes(client: &Transaction<'_>) -> PostgresResult<Vec<(String, u64)>> {
    let sql = "SELECT convert_from(substr(digest, 33), 'UTF8'), SUM(octet_length(bytes))::bigint FROM bodies GROUP BY 1";
    query_all(client, sql, &[], |row| Ok((row.try_get(0)?, from_column(row.try_get(1)?)))).await
}
