//! Which sessions know a message.

use rusqlite::{Connection, Row};

use super::Failure;
use crate::record::Found;
use crate::text::{from_column, to_limit};

/// The ids come as one JSON array, so that a statement serves any number of them.
const FIND: &str = "SELECT m.id, s.id, m.seq, s.head, s.updated \
                    FROM messages m CROSS JOIN sessions s ON s.key = m.session \
                    WHERE m.operation IS NULL AND m.id IN (SELECT value FROM json_each(?1)) \
                    ORDER BY s.updated DESC, s.id, m.seq LIMIT ?2";

/// The messages that have one of these ids, those of the session changed last first.
pub(super) fn find(connection: &Connection, ids: &str) -> Result<Vec<Found>, Failure> {
    let mut statement = connection.prepare_cached(FIND)?;
    let rows = statement.query_map((ids, to_limit(crate::MOST_FOUND)), read_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Found> {
    Ok(Found {
        id: row.get(0)?,
        session: row.get(1)?,
        seq: from_column(row.get(2)?),
        head: from_column(row.get(3)?),
        updated: row.get(4)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::connection::open_memory;

    #[test]
    fn messages_are_found_by_the_index_alone() {
        let connection = open_memory().ok().unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {FIND}")).unwrap();
        let steps = statement.query_map(("[]", 9), |row| row.get::<_, String>(3)).unwrap();
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        assert_eq!(steps[0], "SEARCH m USING COVERING INDEX messages_id (id=?)");
        assert!(steps.contains(&"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)".to_owned()), "{steps:?}");
        assert!(
            !steps.iter().any(|step| step.starts_with("SCAN m") || step.starts_with("SCAN s")),
            "{steps:?}"
        );
    }
}
