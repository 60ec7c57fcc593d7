//! The table of clippings.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::statement::query_all;
use super::{SqliteResult, session};
use crate::clipping::Clipping;
use crate::prepared_commit::{PreparedCommit, SessionHead};
use crate::validation::{from_column, to_column, to_limit};

const INSERT: &str = "INSERT INTO clippings (body, part, handle, facts) SELECT body, ?3, ?4, ?5 FROM messages \
                      WHERE session = ?1 AND seq = ?2 AND body IS NOT NULL \
                      ON CONFLICT (body, part) DO NOTHING RETURNING key";
const NAMED: &str = "SELECT s.id, m.seq, c.part, c.handle, c.facts, m.time \
                     FROM clippings c CROSS JOIN messages m ON m.body = c.body CROSS JOIN sessions s ON s.key = m.session \
                     WHERE c.handle = ?1 ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT ?2";
/// Of several messages with the same clipping, returns the newest in the most recently changed session.
const SEARCH: &str = "SELECT id, seq, part, handle, facts, time FROM ( \
                          SELECT s.id, m.seq, c.part, c.handle, c.facts, m.time, \
                          ROW_NUMBER() OVER (PARTITION BY c.handle ORDER BY s.updated DESC, s.id, m.seq DESC) AS place \
                          FROM clippings_words CROSS JOIN clippings c ON c.key = clippings_words.rowid \
                          CROSS JOIN messages m ON m.body = c.body CROSS JOIN sessions s ON s.key = m.session \
                          WHERE clippings_words MATCH ?1 AND (?2 IS NULL OR m.session = ?2) \
                      ) WHERE place = 1 ORDER BY time DESC, seq DESC, id, part LIMIT ?3";

/// Inserts the clippings of a commit. Existing ones, and those of forgotten originals, are skipped.
pub(super) fn insert(
    connection: &Connection,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> rusqlite::Result<()> {
    let mut insert = connection.prepare_cached(INSERT)?;
    let mut index =
        connection.prepare_cached("INSERT INTO clippings_words (rowid, words) VALUES (?1, ?2)")?;
    for clipping in &commit.clippings {
        let values =
            params![head.key, to_column(clipping.seq), clipping.part, clipping.handle, clipping.facts];
        let key: Option<i64> = insert.query_row(values, |row| row.get(0)).optional()?;
        if let Some(key) = key {
            index.execute((key, &clipping.words))?;
        }
    }
    Ok(())
}

/// Finds clippings by handle, in all sessions.
pub(super) fn find(connection: &Connection, handle: &str) -> SqliteResult<Vec<Clipping>> {
    query_all(connection, NAMED, (handle, to_limit(crate::MOST_FOUND)), read_row)
}

/// Finds clippings that contain all words, in one session or in all.
pub(super) fn search(
    connection: &Connection,
    words: &[String],
    id: Option<&str>,
    limit: usize,
) -> SqliteResult<Vec<Clipping>> {
    let key = id.map(|id| session::find_key(connection, id)).transpose()?;
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // Words contain no quotation marks.
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    query_all(connection, SEARCH, (words.join(" "), key, to_limit(limit)), read_row)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Clipping> {
    Ok(Clipping {
        session: row.get(0)?,
        seq: from_column(row.get(1)?),
        part: row.get(2)?,
        handle: row.get(3)?,
        facts: row.get(4)?,
        time: row.get(5)?,
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::params_from_iter;

    use super::*;
    use crate::sqlite::connection::open_memory;

    #[test]
    fn nothing_is_found_by_looking_at_everything() {
        let connection = open_memory().ok().unwrap();
        for (sql, values, first) in [
            (NAMED, vec!["x", "9"], "SEARCH c USING INDEX clippings_handle (handle=?)"),
            (SEARCH, vec!["x", "1", "9"], "SCAN clippings_words VIRTUAL TABLE INDEX 0:M1"),
        ] {
            let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
            let steps = statement.query_map(params_from_iter(values), |row| row.get::<_, String>(3)).unwrap();
            let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
            assert!(steps.iter().any(|step| step.starts_with(first)), "{steps:?}");
            for scan in ["SCAN c", "SCAN m", "SCAN s"] {
                assert!(!steps.iter().any(|step| step.split(" USING ").next() == Some(scan)), "{steps:?}");
            }
        }
    }
}
