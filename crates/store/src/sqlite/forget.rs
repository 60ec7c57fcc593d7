//! Deleting originals, and returning freed space.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{SqliteResult, body, session};
use crate::erasure::{Erasure, ErasureCandidate, named};
use crate::record::{Forget, Forgotten};
use crate::sql::{UPDATE_REVISION, erasure_candidate};
use crate::validation::to_column;

/// Deletes originals within a transaction.
pub(super) fn carry_out(connection: &Connection, id: &str, forget: &Forget) -> SqliteResult<Forgotten> {
    let head = session::find_head(connection, id)?;
    let candidates = find_candidates(connection, head.key, forget)?;
    let erasure = Erasure::plan(id, forget, &head, candidates)?;
    let gone = "UPDATE messages SET body = NULL, shown = NULL WHERE session = ?1 AND seq = ?2";
    let cut = "UPDATE messages SET body = NULL WHERE session = ?1 AND seq = ?2";
    for (sql, seqs) in [(gone, &erasure.gone), (cut, &erasure.cut)] {
        let mut statement = connection.prepare_cached(sql)?;
        for &seq in seqs {
            statement.execute((head.key, seq))?;
        }
    }
    let values = (to_column(erasure.forgotten.revision), forget.time, head.key);
    connection.prepare_cached(UPDATE_REVISION)?.execute(values)?;
    body::sweep(connection, &erasure.released)?;
    Ok(erasure.forgotten)
}

fn find_candidates(c: &Connection, key: i64, forget: &Forget) -> rusqlite::Result<Vec<ErasureCandidate>> {
    let mut statement = c.prepare_cached(
        "SELECT seq, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
         WHERE session = ?1 AND seq = ?2",
    )?;
    let read = |row: &Row<'_>| Ok(erasure_candidate!(row.get));
    let mut find = |seq| statement.query_row((key, seq), read).optional().transpose();
    named(forget).into_iter().filter_map(&mut find).collect()
}

/// Moves pages from the end of the file into free ones, truncates the file, and empties the log. The cost grows with
/// what was freed, not with the file.
pub(super) fn shrink(connection: &Connection) -> SqliteResult<()> {
    for step in ["PRAGMA incremental_vacuum", "PRAGMA wal_checkpoint(TRUNCATE)"] {
        let mut statement = connection.prepare(step)?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
    }
    Ok(())
}
