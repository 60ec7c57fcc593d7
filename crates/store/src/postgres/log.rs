//! Reading operations and events from a given number on.

use deadpool_postgres::Transaction;

use super::PostgresResult;
use super::statement::query_after;
use crate::record::{EventRow, OperationRow};
use crate::sql::{EVENTS, OPERATIONS, event_row, operation_row};
use crate::tenant::SessionName;

/// The operations after a number: id of the session, number, limit.
pub(super) async fn operations(
    c: &Transaction<'_>,
    after: (&SessionName, u64, usize),
) -> PostgresResult<Vec<OperationRow>> {
    query_after(c, OPERATIONS, after, |row| Ok(operation_row!(row.try_get))).await
}

/// The events after a number: id of the session, number, limit.
pub(super) async fn events(
    c: &Transaction<'_>,
    after: (&SessionName, u64, usize),
) -> PostgresResult<Vec<EventRow>> {
    query_after(c, EVENTS, after, |row| Ok(event_row!(row.try_get))).await
}
