//! Running statements that are prepared once for each connection.

use rusqlite::{Connection, Params, Row};

use super::{SqliteResult, session};
use crate::tenant::SessionName;
use crate::validation::{to_column, to_limit};

/// Reads all rows of a statement.
pub(super) fn query_all<T>(
    connection: &Connection,
    sql: &str,
    values: impl Params,
    read_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> SqliteResult<Vec<T>> {
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map(values, read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Reads rows of a session after a number, at most `limit`.
pub(super) fn query_after<T>(
    connection: &Connection,
    sql: &str,
    (name, after, limit): (&SessionName, u64, usize),
    read_row: impl FnMut(&Row<'_>) -> rusqlite::Result<T>,
) -> SqliteResult<Vec<T>> {
    let key = session::find_key(connection, name)?;
    query_all(connection, sql, (key, to_column(after), to_limit(limit)), read_row)
}
