//! Reading messages with what is shown of them.
//!
//! A load asks for two ranges of an index: pinned messages before the living part, and the living part. It never
//! looks at the rows in between, however many there are.

use deadpool_postgres::{GenericClient, Object};
use tokio::task::spawn_blocking;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, IsolationLevel, Row};

use super::{PostgresError, body, session};
use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::{Loaded, MessageRow};
use crate::validation::{from_column, to_column, to_limit};

const SHOWN: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts, encoding, size, bytes \
                     FROM messages LEFT JOIN bodies ON digest = COALESCE(shown, body)";
const FACTS: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts FROM messages \
                     WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3";
const PINNED: &str = "session = $1 AND pinned AND seq < $2 AND NOT hidden";
const LIVING: &str = "session = $1 AND seq >= $2 AND NOT hidden";
const RANGE: &str = "session = $1 AND seq >= $2 AND seq < $3";

/// A session with everything that is alive, as it was at one moment.
pub(super) async fn load(client: &mut Object, id: &str) -> Result<Loaded, PostgresError> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let moment = builder.start().await?;
    let (session, key) = tokio::try_join!(session::find(&moment, id), session::find_key(&moment, id))?;
    let live_from = to_column(session.live_from);
    let values: [&(dyn ToSql + Sync); 2] = [&key, &live_from];
    let (mut rows, living) =
        tokio::try_join!(select(&moment, PINNED, &values), select(&moment, LIVING, &values))?;
    rows.extend(living);
    Ok(Loaded { session, messages: unpack(rows).await? })
}

/// The messages `from..to`, whatever became of them.
pub(super) async fn range(
    client: &Object,
    id: &str,
    from: u64,
    to: u64,
) -> Result<Vec<MessageRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    unpack(select(client, RANGE, &[&key, &to_column(from), &to_column(to)]).await?).await
}

/// The messages after a number without their bodies, whatever became of them.
pub(super) async fn facts(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<MessageRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let statement = client.prepare_cached(FACTS).await?;
    let rows = client.query(&statement, &[&key, &to_column(after), &to_limit(limit)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}

async fn select(
    client: &impl GenericClient,
    which: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Vec<(MessageRow, Option<PackedBody>)>, PostgresError> {
    let statement = client.prepare_cached(&format!("{SHOWN} WHERE {which} ORDER BY seq")).await?;
    let rows = client.query(&statement, values).await?;
    let read = |row: &Row| Ok((read_row(row)?, body::read_packed(row, 8)?));
    rows.iter().map(read).collect()
}

/// Unpacks what is shown, on a thread that may take its time.
async fn unpack(rows: Vec<(MessageRow, Option<PackedBody>)>) -> Result<Vec<MessageRow>, PostgresError> {
    let unpack = |(message, packed): (MessageRow, Option<PackedBody>)| {
        let body = packed.map(PackedBody::unpack).transpose()?.unwrap_or_default();
        Ok(MessageRow { body, ..message })
    };
    let unpacking = spawn_blocking(move || rows.into_iter().map(unpack).collect::<Result<_, StoreError>>());
    Ok(unpacking.await.map_err(StoreError::database("cannot unpack messages"))??)
}

fn read_row(row: &Row) -> Result<MessageRow, Error> {
    Ok(MessageRow {
        seq: from_column(row.try_get(0)?),
        id: row.try_get(1)?,
        operation: row.try_get::<_, Option<i64>>(2)?.map(from_column),
        pinned: row.try_get(3)?,
        hidden: row.try_get(4)?,
        time: row.try_get(5)?,
        facts: row.try_get(6)?,
        cuts: row.try_get(7)?,
        body: Vec::new(),
    })
}
