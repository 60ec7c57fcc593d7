//! The table of bodies.
//!
//! Bodies belong to no session, so writers can collide here. A writer that needs a body locks it against deletion;
//! one that deletes a body locks it exclusively and skips those that others have locked. All insert in the order of
//! keys, so that they cannot deadlock.

use std::collections::HashMap;

use deadpool_postgres::Transaction;
use tokio_postgres::{Error, Row};

use super::driver_error::DriverError;
use super::statement::{execute, query};
use super::{PostgresError, PostgresResult, load, session};
use crate::body::{BodyKey, PackedBodies, PackedBody};
use crate::sql::{BODY_AT, ORIGINAL_MESSAGES, stored_row};
use crate::stored_row::RowBody;
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// The most bytes in one statement, unless a single body is larger.
const BATCH: usize = 8 << 20;

/// Inserts the bodies that do not exist yet, and locks all of them against deletion. One whose bytes are not the same is
/// replaced: it is damaged, or another version has compressed it.
pub(super) async fn insert(transaction: &Transaction<'_>, bodies: &PackedBodies) -> PostgresResult<()> {
    let mut rest = bodies.iter().peekable();
    while rest.peek().is_some() {
        let mut batch = Vec::new();
        let mut room = BATCH;
        while let Some(body) = rest.next_if(|(_, packed)| batch.is_empty() || packed.bytes.len() <= room) {
            room = room.saturating_sub(body.1.bytes.len());
            batch.push(body);
        }
        insert_batch(transaction, &batch).await?;
    }
    if bodies.is_empty() {
        return Ok(());
    }
    let digests: Vec<&[u8]> = bodies.keys().map(BodyKey::as_slice).collect();
    let sql = "SELECT 1 FROM bodies WHERE digest = ANY($1) ORDER BY digest FOR KEY SHARE";
    let there = query(transaction, sql, &[&digests]).await?;
    if there.len() == digests.len() { Ok(()) } else { Err(PostgresError::Database(DriverError::swept())) }
}

async fn insert_batch(
    transaction: &Transaction<'_>,
    batch: &[(&BodyKey, &PackedBody)],
) -> PostgresResult<()> {
    let digests: Vec<&[u8]> = batch.iter().map(|(digest, _)| digest.as_slice()).collect();
    let encodings: Vec<i16> = batch.iter().map(|(_, packed)| packed.encoding).collect();
    let sizes: Vec<i64> = batch.iter().map(|(_, packed)| packed.size).collect();
    let bytes: Vec<&[u8]> = batch.iter().map(|(_, packed)| &packed.bytes[..]).collect();
    // An update on conflict would lock all rows that exist, so that writers of the same bodies would wait.
    let sql = "WITH new (digest, encoding, size, bytes) AS MATERIALIZED \
               (SELECT * FROM UNNEST($1::bytea[], $2::smallint[], $3::bigint[], $4::bytea[])), \
               mended AS (UPDATE bodies b SET encoding = new.encoding, size = new.size, bytes = new.bytes FROM new \
               WHERE b.digest = new.digest \
               AND (b.bytes <> new.bytes OR b.size <> new.size OR b.encoding <> new.encoding)) \
               INSERT INTO bodies (digest, encoding, size, bytes) SELECT * FROM new ON CONFLICT (digest) DO NOTHING";
    Ok(execute(transaction, sql, &[&digests, &encodings, &sizes, &bytes]).await?)
}

/// Reads a body from three columns; none if they are NULL.
pub(super) fn read_packed(row: &Row, at: usize) -> Result<Option<PackedBody>, Error> {
    let Some(encoding) = row.try_get(at)? else {
        return Ok(None);
    };
    Ok(Some(PackedBody {
        encoding,
        size: row.try_get(at + 1)?,
        bytes: row.try_get::<_, Vec<u8>>(at + 2)?.into(),
    }))
}

/// Reads the original bodies of messages, in the order of `seqs`.
pub(super) async fn originals(
    client: &Transaction<'_>,
    name: &SessionName,
    seqs: &[u64],
) -> PostgresResult<Vec<Option<Vec<u8>>>> {
    let (key, is_sealed) = session::find_sealed_key(client, name).await?;
    let columns: Vec<i64> = seqs.iter().copied().map(to_column).collect();
    let sql = format!("{ORIGINAL_MESSAGES} WHERE session = $1 AND seq = ANY($2)");
    let mut rows = Vec::new();
    for row in query(client, &sql, &[&key, &columns]).await? {
        rows.push((stored_row!(row.try_get), read_packed(&row, BODY_AT)?));
    }
    rows.retain(|(row, _)| row.body.is_some());
    let messages = load::unpack(rows, (&name.id, is_sealed), RowBody::Original).await?;
    let found: HashMap<u64, Vec<u8>> =
        messages.into_iter().map(|message| (message.seq, message.body)).collect();
    Ok(seqs.iter().map(|seq| found.get(seq).cloned()).collect())
}

/// Deletes the released bodies that no message refers to any more. Returns their bytes.
///
/// A body that another writer has locked stays, even if that writer rolls back: [`sweep_all`] deletes it.
pub(super) async fn sweep(transaction: &Transaction<'_>, released: &[Vec<u8>]) -> PostgresResult<u64> {
    if released.is_empty() {
        return Ok(0);
    }
    let sql = "SELECT digest FROM bodies WHERE digest = ANY($1) ORDER BY digest FOR UPDATE SKIP LOCKED";
    let locked = query(transaction, sql, &[&released]).await?;
    delete(transaction, &locked).await
}

/// Deletes all bodies that no message refers to.
pub(super) async fn sweep_all(transaction: &Transaction<'_>) -> PostgresResult<u64> {
    let sql = "SELECT digest FROM bodies WHERE NOT EXISTS (SELECT * FROM messages WHERE body = digest) \
               AND NOT EXISTS (SELECT * FROM messages WHERE shown = digest) FOR UPDATE SKIP LOCKED";
    let locked = transaction.query(sql, &[]).await?;
    delete(transaction, &locked).await
}

/// Checks again after the bodies are locked: only then no new reference can appear.
async fn delete(transaction: &Transaction<'_>, locked: &[Row]) -> PostgresResult<u64> {
    let digests: Vec<&[u8]> = locked.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let sql = "DELETE FROM bodies WHERE digest = ANY($1) \
               AND NOT EXISTS (SELECT * FROM messages WHERE body = digest) \
               AND NOT EXISTS (SELECT * FROM messages WHERE shown = digest) RETURNING octet_length(bytes)";
    let mut bytes = 0;
    for row in query(transaction, sql, &[&digests]).await? {
        bytes += from_column(i64::from(row.try_get::<_, i32>(0)?));
    }
    Ok(bytes)
}
