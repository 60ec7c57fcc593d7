//! Reading messages with the bodies that are shown.
//!
//! A load reads two ranges of an index: pinned messages before `live_from`, and the live messages. It never touches
//! the rows in between.

use deadpool_postgres::Transaction;
use tokio::task::spawn_blocking;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::statement::{Values, query, query_after, query_all};
use super::{PostgresResult, body, session};
use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::{Loaded, StoredMessage};
use crate::sql::{BODY_AT, MESSAGE_FACTS, MESSAGE_ROWS, SHOWN_MESSAGES, stored_row};
use crate::stored_row::{RowBody, StoredRow};
use crate::tenant::SessionName;
use crate::validation::to_column;

const PINNED: &str = "session = $1 AND pinned AND seq < $2 AND NOT hidden";
const LIVE: &str = "session = $1 AND seq >= $2 AND NOT hidden";
const RANGE: &str = "session = $1 AND seq >= $2 AND seq < $3";

/// Loads a session with its live messages, in one snapshot.
pub(super) async fn load(moment: &Transaction<'_>, name: &SessionName) -> PostgresResult<Loaded> {
    let (session, (key, is_sealed)) =
        tokio::try_join!(session::find(moment, name), session::find_sealed_key(moment, name))?;
    let live_from = to_column(session.live_from);
    let values: [&(dyn ToSql + Sync); 2] = [&key, &live_from];
    let (mut rows, live) = tokio::try_join!(select(moment, PINNED, &values), select(moment, LIVE, &values))?;
    rows.extend(live);
    Ok(Loaded { session, messages: unpack(rows, (&name.id, is_sealed), RowBody::Shown).await? })
}

/// Reads the messages `from..to`, live or not.
pub(super) async fn range(
    client: &Transaction<'_>,
    name: &SessionName,
    from: u64,
    to: u64,
) -> PostgresResult<Vec<StoredMessage>> {
    let (key, is_sealed) = session::find_sealed_key(client, name).await?;
    let rows = select(client, RANGE, &[&key, &to_column(from), &to_column(to)]).await?;
    unpack(rows, (&name.id, is_sealed), RowBody::Shown).await
}

/// Reads the messages after a number without their bodies, live or not.
pub(super) async fn facts(
    c: &Transaction<'_>,
    after: (&SessionName, u64, usize),
) -> PostgresResult<Vec<StoredMessage>> {
    let (_, is_sealed) = session::find_sealed_key(c, after.0).await?;
    let rows = query_after(c, MESSAGE_FACTS, after, read_row).await?;
    let checked = |row: StoredRow| row.check(&after.0.id, is_sealed).map(|()| row.message);
    Ok(rows.into_iter().map(checked).collect::<Result<_, _>>()?)
}

/// Reads messages of a session without their bodies, in the order of their numbers.
pub(super) async fn rows(client: &Transaction<'_>, key: i64, seqs: &[i64]) -> PostgresResult<Vec<StoredRow>> {
    let sql = format!("{MESSAGE_ROWS} WHERE session = $1 AND seq = ANY($2) ORDER BY seq");
    query_all(client, &sql, &[&key, &seqs], read_row).await
}

async fn select(
    client: &Transaction<'_>,
    which: &str,
    values: Values<'_>,
) -> PostgresResult<Vec<(StoredRow, Option<PackedBody>)>> {
    let rows = query(client, &format!("{SHOWN_MESSAGES} WHERE {which} ORDER BY seq"), values).await?;
    let read = |row: &Row| Ok((read_row(row)?, body::read_packed(row, BODY_AT)?));
    rows.iter().map(read).collect()
}

/// Checks rows and decompresses their bodies, on a thread that may block.
pub(super) async fn unpack(
    rows: Vec<(StoredRow, Option<PackedBody>)>,
    (id, is_sealed): (&str, bool),
    which: RowBody,
) -> PostgresResult<Vec<StoredMessage>> {
    let id = id.to_owned();
    let open = move |(row, packed): (StoredRow, Option<PackedBody>)| {
        row.check(&id, is_sealed)?;
        row.open(&id, which, packed)
    };
    let opening = spawn_blocking(move || rows.into_iter().map(open).collect::<Result<_, StoreError>>());
    Ok(opening.await.map_err(StoreError::database("cannot unpack messages"))??)
}

fn read_row(row: &Row) -> Result<StoredRow, Error> {
    Ok(stored_row!(row.try_get))
}
