//! Reading messages with the bodies that are shown.
//!
//! A load reads two ranges of an index: pinned messages before `live_from`, and the live messages. It never touches
//! the rows in between.

use rusqlite::{Connection, Params, Row};

use super::statement::query_after;
use super::{SqliteResult, body, session};
use crate::body::PackedBody;
use crate::record::{Loaded, StoredMessage};
use crate::sql::{BODY_AT, MESSAGE_FACTS, SHOWN_MESSAGES, stored_message};
use crate::validation::to_column;

const PINNED: &str = "session = ?1 AND pinned = 1 AND seq < ?2 AND NOT hidden";
const LIVE: &str = "session = ?1 AND seq >= ?2 AND NOT hidden";
const RANGE: &str = "session = ?1 AND seq >= ?2 AND seq < ?3";

/// Loads a session with its live messages.
pub(super) fn load(connection: &Connection, id: &str) -> SqliteResult<Loaded> {
    let session = session::find(connection, id)?;
    let from = (session::find_key(connection, id)?, to_column(session.live_from));
    let mut messages = select(connection, PINNED, from)?;
    messages.extend(select(connection, LIVE, from)?);
    Ok(Loaded { session, messages })
}

/// Reads the messages `from..to`, live or not.
pub(super) fn range(
    connection: &Connection,
    id: &str,
    from: u64,
    to: u64,
) -> SqliteResult<Vec<StoredMessage>> {
    let key = session::find_key(connection, id)?;
    select(connection, RANGE, (key, to_column(from), to_column(to)))
}

/// Reads the messages after a number without their bodies, live or not.
pub(super) fn facts(c: &Connection, after: (&str, u64, usize)) -> SqliteResult<Vec<StoredMessage>> {
    query_after(c, MESSAGE_FACTS, after, read_row)
}

fn select(connection: &Connection, which: &str, values: impl Params) -> SqliteResult<Vec<StoredMessage>> {
    let mut statement = connection.prepare_cached(&format!("{SHOWN_MESSAGES} WHERE {which} ORDER BY seq"))?;
    let mut rows = statement.query(values)?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let body = body::read_packed(row, BODY_AT)?;
        let body = body.map(PackedBody::unpack).transpose()?.unwrap_or_default();
        messages.push(StoredMessage { body, ..read_row(row)? });
    }
    Ok(messages)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<StoredMessage> {
    Ok(stored_message!(row.get))
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
