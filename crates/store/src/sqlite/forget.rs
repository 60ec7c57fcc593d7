//! Deleting originals, and returning freed space.

use rusqlite::{Connection, Row};

use super::{SqliteResult, body, session};
use crate::erasure::{Erasure, ErasureCandidate, named};
use crate::prepared_commit::SessionHead;
use crate::record::{Forget, Forgotten};
use crate::sql::erasure_candidate;
use crate::validation::to_column;

/// Deletes originals within a transaction.
pub(super) fn carry_out(connection: &Connection, id: &str, forget: &Forget) -> SqliteResult<Forgotten> {
    let head = session::find_head(connection, id)?;
    let candidates = find_candidates(connection, &head, forget)?;
    let erasure = Erasure::plan(id, forget, &head, candidates)?;
    let gone = "UPDATE messages SET body = NULL, shown = NULL WHERE session = ?1 AND seq = ?2";
    let cut = "UPDATE messages SET body = NULL WHERE session = ?1 AND seq = ?2";
    for (sql, seqs) in [(gone, &erasure.gone), (cut, &erasure.cut)] {
        let mut statement = connection.prepare_cached(sql)?;
        for &seq in seqs {
            statement.execute((head.key, seq))?;
        }
    }
    let sql = "UPDATE sessions SET revision = ?2, updated = ?3 WHERE key = ?1";
    let values = (head.key, to_column(erasure.forgotten.revision), forget.time);
    connection.prepare_cached(sql)?.execute(values)?;
    body::sweep(connection, &erasure.released)?;
    Ok(erasure.forgotten)
}

fn find_candidates(
    connection: &Connection,
    head: &SessionHead,
    forget: &Forget,
) -> rusqlite::Result<Vec<ErasureCandidate>> {
    let mut statement = connection.prepare_cached(
        "SELECT seq, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
         WHERE session = ?1 AND seq = ?2",
    )?;
    let mut candidates = Vec::new();
    for seq in named(forget) {
        candidates.extend(statement.query_map((head.key, seq), read_candidate)?.next().transpose()?);
    }
    Ok(candidates)
}

fn read_candidate(row: &Row<'_>) -> rusqlite::Result<ErasureCandidate> {
    Ok(erasure_candidate!(row.get))
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
