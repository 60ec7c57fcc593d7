//! Finding messages by id.

use rusqlite::{Connection, Row};

use super::SqliteResult;
use super::statement::query_all;
use crate::record::FoundMessage;
use crate::sql::found_message;
use crate::tenant::SessionName;
use crate::validation::to_limit;

/// The ids are one JSON array, so that one statement serves any number of them.
const FIND: &str = "SELECT m.id, s.id, m.seq, s.head, s.updated \
                    FROM messages m CROSS JOIN sessions s ON s.key = m.session AND s.tenant = ?1 AND NOT s.deleted \
                    WHERE m.operation IS NULL AND m.id IN (SELECT value FROM json_each(?2)) \
                    ORDER BY s.updated DESC, s.id, m.seq LIMIT ?3";

/// Finds messages of a tenant by id, those of the most recently changed session first.
pub(super) fn find(connection: &Connection, tenant: &str, ids: &str) -> SqliteResult<Vec<FoundMessage>> {
    query_all(connection, FIND, (tenant, ids, to_limit(crate::MOST_FOUND)), read_row)
}

const FIND_IN: &str = "SELECT m.id, s.id, m.seq, s.head, s.updated \
                       FROM sessions s CROSS JOIN messages m INDEXED BY messages_id ON m.session = s.key \
                       WHERE s.id = ?1 AND s.tenant = ?2 AND m.operation IS NULL \
                       AND m.id IN (SELECT value FROM json_each(?3)) ORDER BY m.seq LIMIT ?4";

/// Finds messages by id within one session.
pub(super) fn find_in(
    connection: &Connection,
    name: &SessionName,
    ids: &str,
) -> SqliteResult<Vec<FoundMessage>> {
    let values = (&name.id, &name.tenant, ids, to_limit(crate::MOST_FOUND));
    query_all(connection, FIND_IN, values, read_row)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<FoundMessage> {
    Ok(found_message!(row.get))
}

#[cfg(test)]
mod tests {
    use rusqlite::Params;

    use super::*;
    use crate::sqlite::connection::open_memory;

    /// SQLite's query plan of a statement.
    fn steps(sql: &str, values: impl Params) -> Vec<String> {
        let connection = open_memory().ok().unwrap();
        let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let steps = statement.query_map(values, |row| row.get(3)).unwrap();
        steps.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn messages_are_found_by_the_index_alone() {
        let steps = steps(FIND, ("", "[]", 9));
        assert_eq!(steps[0], "SEARCH m USING COVERING INDEX messages_id (id=?)");
        assert!(steps.contains(&"SEARCH s USING INTEGER PRIMARY KEY (rowid=?)".to_owned()), "{steps:?}");
        assert!(
            !steps.iter().any(|step| step.starts_with("SCAN m") || step.starts_with("SCAN s")),
            "{steps:?}"
        );
    }
    #[test]
    fn messages_of_one_session_are_found_by_an_index() {
        let steps = steps(FIND_IN, ("s", "", "[]", 9));
        assert!(steps[0].starts_with("SEARCH s USING INDEX"), "{steps:?}");
        assert_eq!(steps[1], "SEARCH m USING COVERING INDEX messages_id (id=? AND session=?)");
    }
}
