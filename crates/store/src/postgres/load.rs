//! Reading messages with the bodies that are shown.
//!
//! A load reads two ranges of an index: pinned messages before `live_from`, and the live messages. It never touches
//! the rows in between.

use deadpool_postgres::{GenericClient, Object};
use tokio::task::spawn_blocking;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, IsolationLevel, Row};

use super::statement::{Values, query};
use super::{PostgresError, body, session};
use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::{Loaded, StoredMessage};
use crate::sql::{BODY_AT, MESSAGE_FACTS, SHOWN_MESSAGES, stored_message};
use crate::validation::{to_column, to_limit};

const PINNED: &str = "session = $1 AND pinned AND seq < $2 AND NOT hidden";
const LIVE: &str = "session = $1 AND seq >= $2 AND NOT hidden";
const RANGE: &str = "session = $1 AND seq >= $2 AND seq < $3";

/// Loads a session with its live messages, in one snapshot.
pub(super) async fn load(client: &mut Object, id: &str) -> Result<Loaded, PostgresError> {
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
) -> Result<Vec<StoredMessage>, PostgresError> {
    let key = session::find_key(client, id).await?;
    unpack(select(client, RANGE, &[&key, &to_column(from), &to_column(to)]).await?).await
}

/// Reads the messages after a number without their bodies, live or not.
pub(super) async fn facts(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<StoredMessage>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let rows = query(client, MESSAGE_FACTS, &[&key, &to_column(after), &to_limit(limit)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}

async fn select(
    client: &impl GenericClient,
    which: &str,
    values: Values<'_>,
) -> Result<Vec<(StoredMessage, Option<PackedBody>)>, PostgresError> {
    let rows = query(client, &format!("{SHOWN_MESSAGES} WHERE {which} ORDER BY seq"), values).await?;
    let read = |row: &Row| Ok((read_row(row)?, body::read_packed(row, BODY_AT)?));
    rows.iter().map(read).collect()
}

/// Decompresses the bodies, on a thread that may block.
async fn unpack(rows: Vec<(StoredMessage, Option<PackedBody>)>) -> Result<Vec<StoredMessage>, PostgresError> {
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
