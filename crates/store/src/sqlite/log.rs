//! Reading operations and events from a given number on.

use rusqlite::Connection;

use super::{SqliteError, session};
use crate::record::{EventRow, OperationRow};
use crate::sql::{EVENTS, OPERATIONS, event_row, operation_row};
use crate::validation::{to_column, to_limit};

/// The operations after a number.
pub(super) fn operations(
    connection: &Connection,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<OperationRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    let mut statement = connection.prepare_cached(OPERATIONS)?;
    let rows =
        statement.query_map((key, to_column(after), to_limit(limit)), |row| Ok(operation_row!(row.get)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The events after a number.
pub(super) fn events(
    connection: &Connection,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<EventRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    let mut statement = connection.prepare_cached(EVENTS)?;
    let rows =
        statement.query_map((key, to_column(after), to_limit(limit)), |row| Ok(event_row!(row.get)))?;
    Ok(rows.collect::<Result<_, _>>()?)
}
