//! Reading operations and events, from any point on.

use rusqlite::Connection;

use super::{SqliteError, session};
use crate::record::{EventRow, OperationRow};
use crate::validation::{from_column, to_column, to_limit};

/// The operations of a session after a number.
pub(super) fn operations(
    connection: &Connection,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<OperationRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    let mut statement = connection.prepare_cached(
        "SELECT number, kind, time, undone, data FROM operations \
         WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let rows = statement.query_map((key, to_column(after), to_limit(limit)), |row| {
        Ok(OperationRow {
            number: from_column(row.get(0)?),
            kind: row.get(1)?,
            time: row.get(2)?,
            undone: row.get(3)?,
            data: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// The events of a session after a number.
pub(super) fn events(
    connection: &Connection,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<EventRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    let mut statement = connection.prepare_cached(
        "SELECT number, time, data FROM events WHERE session = ?1 AND number > ?2 ORDER BY number LIMIT ?3",
    )?;
    let rows = statement.query_map((key, to_column(after), to_limit(limit)), |row| {
        Ok(EventRow { number: from_column(row.get(0)?), time: row.get(1)?, data: row.get(2)? })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
