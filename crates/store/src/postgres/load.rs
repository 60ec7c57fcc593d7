//! Reading messages with the bodies that are shown.
//!
//! A load reads two ranges of an index: pinned messages before `live_from`, and the live messages. It never touches
//! the rows in between.

use deadpool_postgres::{GenericClient, Object};
use tokio::task::spawn_blocking;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, IsolationLevel, Row};

use super::statement::{Values, query, query_after};
use super::{PostgresResult, body, session};
use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::{Loaded, StoredMessage};
use crate::sql::{BODY_AT, MESSAGE_FACTS, SHOWN_MESSAGES, stored_message};
use crate::validation::to_column;

const PINNED: &str = "session = $1 AND pinned AND seq < $2 AND NOT hidden";
const LIVE: &str = "session = $1 AND seq >= $2 AND NOT hidden";
const RANGE: &str = "session = $1 AND seq >= $2 AND seq < $3";

/// Loads a session with its live messages, in one snapshot.
pub(super) async fn load(client: &mut Object, id: &str) -> PostgresResult<Loaded> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let moment = builder.start().await?;
    let (session, key) = tokio::try_join!(session::find(&moment, id), session::find_key(&moment, id))?;
    let live_from = to_column(session.live_from);
    let values: [&(dyn ToSql + Sync); 2] = [&key, &live_from];
    let (mut rows, live) =
        tokio::try_join!(select(&moment, PINNED, &values), select(&moment, LIVE, &values))?;
    rows.extend(live);
    Ok(Loaded { session, messages: unpack(rows).await? })
}

/// Reads the messages `from..to`, live or not.
pub(super) async fn range(
    client: &Object,
    id: &str,
    from: u64,
    to: u64,
) -> PostgresResult<Vec<StoredMessage>> {
    let key = session::find_key(client, id).await?;
    unpack(select(client, RANGE, &[&key, &to_column(from), &to_column(to)]).await?).await
}

/// Reads the messages after a number without their bodies, live or not.
pub(super) async fn facts(c: &Object, after: (&str, u64, usize)) -> PostgresResult<Vec<StoredMessage>> {
    query_after(c, MESSAGE_FACTS, after, read_row).await
}

async fn select(
    client: &impl GenericClient,
    which: &str,
    values: Values<'_>,
) -> PostgresResult<Vec<(StoredMessage, Option<PackedBody>)>> {
    let rows = query(client, &format!("{SHOWN_MESSAGES} WHERE {which} ORDER BY seq"), values).await?;
    let read = |row: &Row| Ok((read_row(row)?, body::read_packed(row, BODY_AT)?));
    rows.iter().map(read).collect()
}

/// Decompresses the bodies, on a thread that may block.
async fn unpack(rows: Vec<(StoredMessage, Option<PackedBody>)>) -> PostgresResult<Vec<StoredMessage>> {
    let unpack = |(message, packed): (StoredMessage, Option<PackedBody>)| {
        let body = packed.map(PackedBody::unpack).transpose()?.unwrap_or_default();
        Ok(StoredMessage { body, ..message })
    };
    let unpacking = spawn_blocking(move || rows.into_iter().map(unpack).collect::<Result<_, StoreError>>());
    Ok(unpacking.await.map_err(StoreError::database("cannot unpack messages"))??)
}

fn read_row(row: &Row) -> Result<StoredMessage, Error> {
    Ok(stored_message!(row.try_get))
}
