//! Reading operations and events from a given number on.

use rusqlite::Connection;

use super::SqliteResult;
use super::statement::query_after;
use crate::record::{EventRow, OperationRow};
use crate::sql::{EVENTS, OPERATIONS, event_row, operation_row};
use crate::tenant::SessionName;

/// The operations after a number: id of the session, number, limit.
pub(super) fn operations(
    c: &Connection,
    after: (&SessionName, u64, usize),
) -> SqliteResult<Vec<OperationRow>> {
    query_after(c, OPERATIONS, after, |row| Ok(operation_row!(row.get)))
}

/// The events after a number: id of the session, number, limit.
pub(super) fn events(c: &Connection, after: (&SessionName, u64, usize)) -> SqliteResult<Vec<EventRow>> {
    query_after(c, EVENTS, after, |row| Ok(event_row!(row.get)))
}
