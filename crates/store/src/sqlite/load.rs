//! Reading messages with what is shown of them.
//!
//! A load asks for two ranges of an index: pinned messages before the living part, and the living part. It never
//! looks at the rows in between, however many there are.

use rusqlite::{Connection, Params, Row};

use super::{SqliteError, body, session};
use crate::body::PackedBody;
use crate::record::{Loaded, MessageRow};
use crate::validation::{from_column, to_column, to_limit};

const SHOWN: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts, encoding, size, bytes \
                     FROM messages LEFT JOIN bodies ON digest = COALESCE(shown, body)";
const FACTS: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts FROM messages \
                     WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
const PINNED: &str = "session = ?1 AND pinned = 1 AND seq < ?2 AND NOT hidden";
const LIVING: &str = "session = ?1 AND seq >= ?2 AND NOT hidden";
const RANGE: &str = "session = ?1 AND seq >= ?2 AND seq < ?3";

/// A session with everything that is alive.
pub(super) fn load(connection: &Connection, id: &str) -> Result<Loaded, SqliteError> {
    let session = session::find(connection, id)?;
    let from = (session::find_key(connection, id)?, to_column(session.live_from));
    let mut messages = select(connection, PINNED, from)?;
    messages.extend(select(connection, LIVING, from)?);
    Ok(Loaded { session, messages })
}

/// The messages `from..to`, whatever became of them.
pub(super) fn range(
    connection: &Connection,
    id: &str,
    from: u64,
    to: u64,
) -> Result<Vec<MessageRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    select(connection, RANGE, (key, to_column(from), to_column(to)))
}

/// The messages after a number without their bodies, whatever became of them.
pub(super) fn facts(
    connection: &Connection,
    id: &str,
    after: u64,
    limit: usize,
) -> Result<Vec<MessageRow>, SqliteError> {
    let key = session::find_key(connection, id)?;
    let mut statement = connection.prepare_cached(FACTS)?;
    let rows = statement.query_map((key, to_column(after), to_limit(limit)), read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn select(connection: &Connection, which: &str, values: impl Params) -> Result<Vec<MessageRow>, SqliteError> {
    let mut statement = connection.prepare_cached(&format!("{SHOWN} WHERE {which} ORDER BY seq"))?;
    let mut rows = statement.query(values)?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        let body = body::read_packed(row, 8)?;
        let body = body.map(PackedBody::unpack).transpose()?.unwrap_or_default();
        messages.push(MessageRow { body, ..read_row(row)? });
    }
    Ok(messages)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<MessageRow> {
    Ok(MessageRow {
        seq: from_column(row.get(0)?),
        id: row.get(1)?,
        operation: row.get::<_, Option<i64>>(2)?.map(from_column),
        pinned: row.get(3)?,
        hidden: row.get(4)?,
        time: row.get(5)?,
        facts: row.get(6)?,
        cuts: row.get(7)?,
        body: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::open_memory;

    #[test]
    fn a_load_asks_the_indexes_for_what_is_alive_and_sorts_nothing() {
        let connection = open_memory().ok().unwrap();
        let plan = |which: &str, numbers: usize| {
            let sql = format!("EXPLAIN QUERY PLAN {SHOWN} WHERE {which} ORDER BY seq");
            let mut statement = connection.prepare(&sql).unwrap();
            let values = rusqlite::params_from_iter(vec![1; numbers]);
            let steps = statement.query_map(values, |row| row.get::<_, String>(3)).unwrap();
            steps.collect::<Result<Vec<_>, _>>().unwrap()
        };
        let body = "SEARCH bodies USING INDEX sqlite_autoindex_bodies_1 (digest=?) LEFT-JOIN";
        let pinned = "SEARCH messages USING INDEX messages_pinned (session=? AND seq<?)";
        assert_eq!(plan(PINNED, 2), [pinned, body]);
        let living = "SEARCH messages USING INDEX sqlite_autoindex_messages_1 (session=? AND seq>?)";
        assert_eq!(plan(LIVING, 2), [living, body]);
        let range = "SEARCH messages USING INDEX sqlite_autoindex_messages_1 (session=? AND seq>? AND seq<?)";
        assert_eq!(plan(RANGE, 3), [range, body]);
    }
}
