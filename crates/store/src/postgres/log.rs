//! Reading operations and events, from any point on.

use deadpool_postgres::Object;
use tokio_postgres::{Error, Row};

use super::{PostgresError, session};
use crate::record::{EventRow, OperationRow};
use crate::validation::{from_column, to_column, to_limit};

/// The operations of a session after a number.
pub(super) async fn operations(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<OperationRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let sql = "SELECT number, kind, time, undone, data FROM operations \
               WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&key, &to_column(after), &to_limit(limit)]).await?;
    let read_row = |row: &Row| {
        Ok(OperationRow {
            number: from_column(row.try_get(0)?),
            kind: row.try_get(1)?,
            time: row.try_get(2)?,
            undone: row.try_get(3)?,
            data: row.try_get(4)?,
        })
    };
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}

/// The events of a session after a number.
pub(super) async fn events(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<EventRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let sql =
        "SELECT number, time, data FROM events WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&key, &to_column(after), &to_limit(limit)]).await?;
    let read_row = |row: &Row| {
        Ok(EventRow { number: from_column(row.try_get(0)?), time: row.try_get(1)?, data: row.try_get(2)? })
    };
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}
