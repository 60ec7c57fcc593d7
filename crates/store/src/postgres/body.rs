//! The table of bodies.
//!
//! Bodies belong to no session, so writers can collide here. A writer that needs a body locks it against deletion;
//! one that deletes a body locks it exclusively and skips those that others have locked. All insert in the order of
//! hashes, so that they cannot deadlock.

use std::collections::HashMap;

use deadpool_postgres::{Object, Transaction};
use tokio::task::spawn_blocking;
use tokio_postgres::{Error, Row};

use super::driver_error::DriverError;
use super::statement::{execute, query};
use super::{PostgresError, PostgresResult, session};
use crate::body::{BodyHash, PackedBodies, PackedBody};
use crate::error::StoreError;
use crate::validation::{from_column, to_column};

/// The most bytes in one statement, unless a single body is larger.
const BATCH: usize = 8 << 20;

/// Inserts the bodies that do not exist yet, and locks all of them against deletion.
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
    let digests: Vec<&[u8]> = bodies.keys().map(<BodyHash>::as_slice).collect();
    let sql = "SELECT 1 FROM bodies WHERE digest = ANY($1) ORDER BY digest FOR KEY SHARE";
    let there = query(transaction, sql, &[&digests]).await?;
    if there.len() == digests.len() { Ok(()) } else { Err(PostgresError::Database(DriverError::swept())) }
}

async fn insert_batch(
    transaction: &Transaction<'_>,
    batch: &[(&BodyHash, &PackedBody)],
) -> PostgresResult<()> {
    let digests: Vec<&[u8]> = batch.iter().map(|(digest, _)| digest.as_slice()).collect();
    let encodings: Vec<i16> = batch.iter().map(|(_, packed)| packed.encoding).collect();
    let sizes: Vec<i64> = batch.iter().map(|(_, packed)| packed.size).collect();
    let bytes: Vec<&[u8]> = batch.iter().map(|(_, packed)| &packed.bytes[..]).collect();
    let sql = "INSERT INTO bodies (digest, encoding, size, bytes) \
               SELECT * FROM UNNEST($1::bytea[], $2::smallint[], $3::bigint[], $4::bytea[]) \
               ON CONFLICT (digest) DO NOTHING";
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
    client: &Object,
    id: &str,
    seqs: &[u64],
) -> PostgresResult<Vec<Option<Vec<u8>>>> {
    let key = session::find_key(client, id).await?;
    let columns: Vec<i64> = seqs.iter().copied().map(to_column).collect();
    let sql = "SELECT encoding, size, bytes, seq FROM messages JOIN bodies ON digest = body \
               WHERE session = $1 AND seq = ANY($2)";
    let mut packed = Vec::new();
    for row in query(client, sql, &[&key, &columns]).await? {
        packed.extend(read_packed(&row, 0)?.map(|body| (row.try_get(3), body)));
    }
    let unpack = |(seq, body): (Result<i64, Error>, PackedBody)| Ok((from_column(seq?), body.unpack()?));
    let unpacking = spawn_blocking(move || packed.into_iter().map(unpack).collect::<PostgresResult<_>>());
    let found: HashMap<u64, Vec<u8>> =
        unpacking.await.map_err(StoreError::database("cannot unpack originals"))??;
    Ok(seqs.iter().map(|seq| found.get(seq).cloned()).collect())
}

/// Deletes the released bodies that no message refers to any more.
///
/// A body that another writer has locked stays, even if that writer rolls back: [`sweep_all`] deletes it.
pub(super) async fn sweep(transaction: &Transaction<'_>, released: &[Vec<u8>]) -> PostgresResult<()> {
    if released.is_empty() {
        return Ok(());
    }
    let sql = "SELECT digest FROM bodies WHERE digest = ANY($1) ORDER BY digest FOR UPDATE SKIP LOCKED";
    let locked = query(transaction, sql, &[&released]).await?;
    delete(transaction, &locked).await
}

/// Deletes all bodies that no message refers to.
pub(super) async fn sweep_all(transaction: &Transaction<'_>) -> PostgresResult<()> {
    let sql = "SELECT digest FROM bodies WHERE NOT EXISTS (SELECT * FROM messages WHERE body = digest) \
               AND NOT EXISTS (SELECT * FROM messages WHERE shown = digest) FOR UPDATE SKIP LOCKED";
    let locked = transaction.query(sql, &[]).await?;
    delete(transaction, &locked).await
}

/// Checks again after the bodies are locked: only then no new reference can appear.
async fn delete(transaction: &Transaction<'_>, locked: &[Row]) -> PostgresResult<()> {
    let digests: Vec<&[u8]> = locked.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>()?;
    let sql = "DELETE FROM bodies WHERE digest = ANY($1) \
               AND NOT EXISTS (SELECT * FROM messages WHERE body = digest) \
               AND NOT EXISTS (SELECT * FROM messages WHERE shown = digest)";
    Ok(execute(transaction, sql, &[&digests]).await?)
}
