//! Deleting sessions.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::statement::query_all;
use super::{SqliteResult, body, clipping, connection, forget, lease, session};
use crate::LONGEST_LEASE;
use crate::record::SessionCursor;
use crate::retention::Swept;
use crate::sql::{UNUSED_SESSIONS, session_cursor};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column, to_limit};

/// How many pages are returned to the file system in one step.
const PAGES: u32 = 64;

/// Takes or renews the right to apply retention.
pub(super) fn claim(connection: &Connection, owner: &str, ttl_ms: u64) -> SqliteResult<bool> {
    let now = lease::NOW;
    let sql = format!(
        "INSERT INTO retention (place, owner, expires) VALUES (1, ?1, {now} + ?2) \
         ON CONFLICT (place) DO UPDATE SET owner = excluded.owner, expires = excluded.expires \
         WHERE retention.owner = excluded.owner OR retention.expires <= {now} \
         OR retention.expires > {now} + {LONGEST_LEASE}"
    );
    let ttl = to_column(ttl_ms.min(LONGEST_LEASE));
    Ok(connection.prepare_cached(&sql)?.execute((owner, ttl))? > 0)
}

/// Lists sessions that were last used before a time, least recently used first.
pub(super) fn unused(
    connection: &Connection,
    tenant: &str,
    before: i64,
    after: &SessionCursor,
    limit: usize,
) -> SqliteResult<Vec<SessionCursor>> {
    let read = |row: &Row<'_>| Ok(session_cursor!(row.get));
    let values = (tenant, before, after.updated, &after.id, to_limit(limit));
    query_all(connection, UNUSED_SESSIONS, values, read)
}

/// Marks a session as deleted. It gets a name that no caller knows, so that it is not found by its id.
pub(super) fn delete(connection: &Connection, name: &SessionName, before: i64) -> SqliteResult<bool> {
    let key = session::find_key(connection, name)?;
    let sql = "UPDATE sessions SET id = 'deleted ' || lower(hex(randomblob(16))), title = NULL, frame = '', \
               state = '', deleted = 1 WHERE key = ?1 AND updated < ?2";
    Ok(connection.prepare_cached(sql)?.execute((key, before))? > 0)
}

/// Removes rows of a deleted session.
pub(super) fn sweep(connection: &Connection, rows: usize) -> SqliteResult<Swept> {
    let sql = "SELECT key FROM sessions WHERE deleted = 1 LIMIT 1";
    let key: Option<i64> = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    let Some(key) = key else {
        return Ok(Swept { is_done: true, ..Swept::default() });
    };
    let before = free_pages(connection)?;
    let mut room = rows.max(1);
    room -= sweep_messages(connection, key, room)?;
    for table in ["events", "operations"] {
        let sql = format!(
            "DELETE FROM {table} WHERE session = ?1 AND number IN \
             (SELECT number FROM {table} WHERE session = ?1 ORDER BY number LIMIT ?2)"
        );
        room -= connection.prepare_cached(&sql)?.execute((key, to_limit(room)))?;
    }
    let mut swept = Swept::default();
    if room > 0 {
        connection.prepare_cached("DELETE FROM leases WHERE session = ?1")?.execute([key])?;
        connection.prepare_cached("DELETE FROM sessions WHERE key = ?1")?.execute([key])?;
        swept.sessions = 1;
    }
    let freed = free_pages(connection)?.saturating_sub(before);
    swept.bytes = freed * pragma(connection, "page_size")?;
    Ok(swept)
}

/// Removes messages of a session, oldest first. Returns how many.
fn sweep_messages(connection: &Connection, key: i64, rows: usize) -> SqliteResult<usize> {
    type Reference = (i64, String, Option<Vec<u8>>, Option<Vec<u8>>);
    let sql = "SELECT seq, id, body, shown FROM messages WHERE session = ?1 ORDER BY seq LIMIT ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
    let messages: Vec<Reference> = query_all(connection, sql, (key, to_limit(rows)), read)?;
    let Some((last, ..)) = messages.last() else { return Ok(0) };
    let sql = "DELETE FROM messages WHERE session = ?1 AND seq <= ?2";
    connection.prepare_cached(sql)?.execute((key, last))?;
    let count = messages.len();
    let (mut originals, mut released) = (Vec::new(), Vec::new());
    for (_, id, body, shown) in messages {
        released.extend(shown);
        if let Some(body) = body {
            released.push(body.clone());
            originals.push((body, id));
        }
    }
    clipping::sweep(connection, &originals)?;
    released.sort_unstable();
    released.dedup();
    body::sweep(connection, &released)?;
    Ok(count)
}

/// The bytes of all pages that are used.
pub(super) fn size(connection: &Connection) -> SqliteResult<u64> {
    let used = pragma(connection, "page_count")?.saturating_sub(free_pages(connection)?);
    Ok(used * pragma(connection, "page_size")?)
}

/// The bytes of the bodies of each tenant. Only the sizes are read, not the bytes.
pub(super) fn tenant_sizes(connection: &Connection) -> SqliteResult<Vec<(String, u64)>> {
    let sql = "SELECT CAST(substr(digest, 33) AS TEXT), SUM(LENGTH(bytes)) FROM bodies GROUP BY 1";
    query_all(connection, sql, [], |row| Ok((row.get(0)?, from_column(row.get(1)?))))
}

/// Returns some free pages to the file system. After the last one, empties the log, unless others are reading it.
pub(super) fn give_back(connection: &Connection) -> SqliteResult<bool> {
    if free_pages(connection)? > 0 {
        forget::run(connection, &format!("PRAGMA incremental_vacuum({PAGES})"))?;
    }
    if free_pages(connection)? > 0 {
        return Ok(false);
    }
    connection.busy_timeout(Duration::ZERO)?;
    let emptied = forget::run(connection, "PRAGMA wal_checkpoint(TRUNCATE)");
    connection.busy_timeout(connection::PATIENCE)?;
    emptied?;
    Ok(true)
}

fn free_pages(connection: &Connection) -> rusqlite::Result<u64> {
    pragma(connection, "freelist_count")
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<u64> {
    connection.pragma_query_value(None, name, |row| row.get(0)).map(from_column)
}
