//! Reading messages with the bodies that are shown.
//!
//! A load reads two ranges of an index: pinned messages before `live_from`, and the live messages. It never touches
//! the rows in between.

use rusqlite::{Connection, Params, Row};

use super::statement::query_after;
use super::{SqliteResult, body, session};
use crate::record::{Loaded, StoredMessage};
use crate::sql::{BODY_AT, MESSAGE_FACTS, MESSAGE_ROWS, SHOWN_MESSAGES, stored_row};
use crate::stored_row::{RowBody, StoredRow};
use crate::tenant::SessionName;
use crate::validation::to_column;

const PINNED: &str = "session = ?1 AND pinned = 1 AND seq < ?2 AND NOT hidden";
const LIVE: &str = "session = ?1 AND seq >= ?2 AND NOT hidden";
const RANGE: &str = "session = ?1 AND seq >= ?2 AND seq < ?3";

/// Loads a session with its live messages.
pub(super) fn load(connection: &Connection, name: &SessionName) -> SqliteResult<Loaded> {
    let session = session::find(connection, name)?;
    let (key, is_sealed) = session::find_sealed_key(connection, name)?;
    let from = (key, to_column(session.live_from));
    let mut messages = select(connection, (&name.id, is_sealed), PINNED, from)?;
    messages.extend(select(connection, (&name.id, is_sealed), LIVE, from)?);
    Ok(Loaded { session, messages })
}

/// Reads the messages `from..to`, live or not.
pub(super) fn range(
    connection: &Connection,
    name: &SessionName,
    from: u64,
    to: u64,
) -> SqliteResult<Vec<StoredMessage>> {
    let (key, is_sealed) = session::find_sealed_key(connection, name)?;
    select(connection, (&name.id, is_sealed), RANGE, (key, to_column(from), to_column(to)))
}

/// Reads the messages after a number without their bodies, live or not.
pub(super) fn facts(c: &Connection, after: (&SessionName, u64, usize)) -> SqliteResult<Vec<StoredMessage>> {
    let (_, is_sealed) = session::find_sealed_key(c, after.0)?;
    let rows = query_after(c, MESSAGE_FACTS, after, read_row)?;
    let checked = |row: StoredRow| row.check(&after.0.id, is_sealed).map(|()| row.message);
    Ok(rows.into_iter().map(checked).collect::<Result<_, _>>()?)
}

/// Reads one message without its bodies.
pub(super) fn row(connection: &Connection, key: i64, seq: u64) -> rusqlite::Result<StoredRow> {
    let sql = format!("{MESSAGE_ROWS} WHERE session = ?1 AND seq = ?2");
    connection.prepare_cached(&sql)?.query_row((key, to_column(seq)), read_row)
}

fn select(
    connection: &Connection,
    (id, is_sealed): (&str, bool),
    which: &str,
    values: impl Params,
) -> SqliteResult<Vec<StoredMessage>> {
    let mut statement = connection.prepare_cached(&format!("{SHOWN_MESSAGES} WHERE {which} ORDER BY seq"))?;
    let mut rows = statement.query(values)?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let packed = body::read_packed(row, BODY_AT)?;
        let row = read_row(row)?;
        row.check(id, is_sealed)?;
        messages.push(row.open(id, RowBody::Shown, packed)?);
    }
    Ok(messages)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<StoredRow> {
    Ok(stored_row!(row.get))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::open_memory;

    #[test]
    fn a_load_asks_the_indexes_for_what_is_alive_and_sorts_nothing() {
        let connection = open_memory().ok().unwrap();
        let plan = |which: &str, numbers: usize| {
            let sql = format!("EXPLAIN QUERY PLAN {SHOWN_MESSAGES} WHERE {which} ORDER BY seq");
            let mut statement = connection.prepare(&sql).unwrap();
            let values = rusqlite::params_from_iter(vec![1; numbers]);
            let steps = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
            steps.collect::<Result<Vec<_>, _>>().unwrap()
        };
        let body = "SEARCH bodies USING INDEX sqlite_autoindex_bodies_1 (digest=?) LEFT-JOIN";
        let pinned = "SEARCH messages USING INDEX messages_pinned (session=? AND seq<?)";
        assert_eq!(plan(PINNED, 2), [pinned, body]);
        let live = "SEARCH messages USING INDEX sqlite_autoindex_messages_1 (session=? AND seq>?)";
        assert_eq!(plan(LIVE, 2), [live, body]);
        let range = "SEARCH messages USING INDEX sqlite_autoindex_messages_1 (session=? AND seq>? AND seq<?)";
        assert_eq!(plan(RANGE, 3), [range, body]);
    }
}
