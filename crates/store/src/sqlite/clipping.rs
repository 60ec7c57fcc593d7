//! The table of clippings.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::statement::query_all;
use super::{SqliteResult, session};
use crate::clipping::{Clipping, SHORTEST_HANDLE};
use crate::error::StoreError;
use crate::prepared_commit::{PreparedCommit, SessionHead};
use crate::sql::clipping;
use crate::tenant::{SessionName, word_mark};
use crate::validation::{to_column, to_limit};

const INSERT: &str = "INSERT INTO clippings (body, part, handle, letters, facts, tenant) \
                      SELECT body, ?3, ?4, ?5, ?6, ?7 FROM messages WHERE session = ?1 AND seq = ?2 AND body IS NOT NULL \
                      ON CONFLICT (body, part) DO NOTHING RETURNING key";
/// Gives letters to a clipping that an earlier version made.
const COMPLETE: &str = "UPDATE clippings SET letters = ?4 WHERE letters IS NULL AND part = ?3 \
                        AND body = (SELECT body FROM messages WHERE session = ?1 AND seq = ?2)";
/// Whether another text of the tenant has letters that begin with a handle.
const TAKEN: &str = "SELECT 1 FROM clippings \
                     WHERE tenant = ?1 AND letters >= ?2 AND letters < ?2 || '{' AND letters <> ?3";
const NAMED: &str = "SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time \
                     FROM clippings c CROSS JOIN messages m ON m.body = c.body CROSS JOIN sessions s ON s.key = m.session AND s.tenant = c.tenant \
                     WHERE c.tenant = ?1 AND c.handle = ?2 AND NOT s.deleted ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT ?3";
const BEGINNING: &str = "SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time \
                         FROM clippings c CROSS JOIN messages m ON m.body = c.body CROSS JOIN sessions s \
                         ON s.key = m.session AND s.tenant = c.tenant \
                         WHERE c.tenant = ?1 AND c.letters >= ?2 AND c.letters < ?2 || '{' AND NOT s.deleted \
                         ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT ?3";
/// Of several messages with the same clipping, returns the newest in the most recently changed session.
const SEARCH: &str = "SELECT id, seq, part, handle, letters, body, facts, time FROM ( \
                          SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time, \
                          ROW_NUMBER() OVER (PARTITION BY c.handle ORDER BY s.updated DESC, s.id, m.seq DESC) AS place \
                          FROM clippings_words CROSS JOIN clippings c ON c.key = clippings_words.rowid \
                          CROSS JOIN messages m ON m.body = c.body CROSS JOIN sessions s ON s.key = m.session \
                          WHERE clippings_words MATCH ?1 AND s.tenant = ?2 AND (?3 IS NULL OR m.session = ?3) AND NOT s.deleted \
                      ) WHERE place = 1 ORDER BY time DESC, seq DESC, id, part LIMIT ?4";

/// Inserts the clippings of a commit. Existing ones, and those of forgotten originals, are skipped.
pub(super) fn insert(
    connection: &Connection,
    tenant: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> SqliteResult<()> {
    let mut taken = connection.prepare_cached(TAKEN)?;
    let mut insert = connection.prepare_cached(INSERT)?;
    let mut complete = connection.prepare_cached(COMPLETE)?;
    let mut index =
        connection.prepare_cached("INSERT INTO clippings_words (rowid, words) VALUES (?1, ?2)")?;
    for clipping in &commit.clippings {
        if clipping.letters.is_some() && taken.exists((tenant, &clipping.handle, &clipping.letters))? {
            return Err(StoreError::HandleTaken { handle: clipping.handle.clone() }.into());
        }
        let (seq, part) = (to_column(clipping.seq), clipping.part);
        let values = params![head.key, seq, part, clipping.handle, clipping.letters, clipping.facts, tenant];
        let key: Option<i64> = insert.query_row(values, |row| row.get(0)).optional()?;
        match key {
            Some(key) => index.execute((key, &clipping.words))?,
            None => complete.execute(params![head.key, seq, part, clipping.letters])?,
        };
    }
    Ok(())
}

/// Deletes the clippings of originals that lost a reference, unless a fork has the same message. An equal original of
/// another message stays, but what was indexed of it is about the message that lost it.
pub(super) fn sweep(connection: &Connection, originals: &[(Vec<u8>, String)]) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "DELETE FROM clippings WHERE body = ?1 \
         AND NOT EXISTS (SELECT * FROM messages m WHERE m.body = ?1 AND m.id = ?2)",
    )?;
    for (body, id) in originals {
        statement.execute((body, id))?;
    }
    Ok(())
}

/// Finds clippings by handle, in all sessions of a tenant.
pub(super) fn find(connection: &Connection, tenant: &str, handle: &str) -> SqliteResult<Vec<Clipping>> {
    let values = (tenant, handle, to_limit(crate::MOST_FOUND));
    let found = query_all(connection, NAMED, values, read_row)?;
    if found.is_empty() && handle.len() >= SHORTEST_HANDLE {
        return query_all(connection, BEGINNING, values, read_row);
    }
    Ok(found)
}

/// Finds clippings that contain all words, in one session or in all of a tenant.
pub(super) fn search(
    connection: &Connection,
    tenant: &str,
    words: &[String],
    session: Option<&SessionName>,
    limit: usize,
) -> SqliteResult<Vec<Clipping>> {
    let key = session.map(|name| session::find_key(connection, name)).transpose()?;
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // Words contain no quotation marks.
    let mark = word_mark(tenant);
    let words: Vec<String> = words.iter().map(|word| format!("\"{mark}{word}\"")).collect();
    query_all(connection, SEARCH, (words.join(" "), tenant, key, to_limit(limit)), read_row)
}

fn read_row(row: &Row<'_>) -> rusqlite::Result<Clipping> {
    Ok(clipping!(row.get))
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
            (NAMED, vec!["", "x", "9"], "SEARCH c USING INDEX clippings_tenant (tenant=? AND handle=?)"),
            (
                BEGINNING,
                vec!["", "x", "9"],
                "SEARCH c USING INDEX clippings_tenant_letters (tenant=? AND letters>? AND letters<?)",
            ),
            (
                TAKEN,
                vec!["", "x", "y"],
                "SEARCH clippings USING COVERING INDEX clippings_tenant_letters (tenant=? AND letters>? AND letters<?)",
            ),
            (SEARCH, vec!["x", "", "1", "9"], "SCAN clippings_words VIRTUAL TABLE INDEX 0:M1"),
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
