//! Reading operations and events from a given number on.

use deadpool_postgres::Object;
use tokio_postgres::{Error, Row};

use super::statement::query;
use super::{PostgresError, session};
use crate::record::{EventRow, OperationRow};
use crate::sql::{EVENTS, OPERATIONS, event_row, operation_row};
use crate::validation::{to_column, to_limit};

/// The operations after a number.
pub(super) async fn operations(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<OperationRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let rows = query(client, OPERATIONS, &[&key, &to_column(after), &to_limit(limit)]).await?;
    let read_row = |row: &Row| Ok(operation_row!(row.try_get));
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}

/// The events after a number.
pub(super) async fn events(
    client: &Object,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<EventRow>, PostgresError> {
    let key = session::find_key(client, id).await?;
    let rows = query(client, EVENTS, &[&key, &to_column(after), &to_limit(limit)]).await?;
    let read_row = |row: &Row| Ok(event_row!(row.try_get));
    Ok(rows.iter().map(read_row).collect::<Result<_, Error>>()?)
}
