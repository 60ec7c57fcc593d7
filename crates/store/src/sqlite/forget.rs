//! Deleting originals, and returning freed space.

use rusqlite::{Connection, OptionalExtension as _, Row};

use super::{SqliteResult, body, clipping, load, session};
use crate::erasure::{Erasure, ErasureCandidate, named};
use crate::error::StoreError;
use crate::record::{Forget, Forgotten};
use crate::sql::{BREAK_SEALS, UPDATE_REVISION, erasure_candidate};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// Deletes originals within a transaction.
pub(super) fn carry_out(
    connection: &Connection,
    name: &SessionName,
    forget: &Forget,
) -> SqliteResult<Forgotten> {
    let head = session::find_head(connection, name)?;
    let candidates = find_candidates(connection, head.key, forget)?;
    let erasure = Erasure::plan(&name.id, forget, &head, candidates)?;
    if !head.is_sealed {
        connection.prepare_cached(BREAK_SEALS)?.execute([head.key])?;
    }
    let mut statement = connection.prepare_cached(
        "UPDATE messages SET body = NULL, shown = ?3, facts = ?4, cuts = ?5, seal = ?6 WHERE session = ?1 AND seq = ?2",
    )?;
    for seq in erasure.seqs() {
        let mut row = load::row(connection, head.key, from_column(seq))?;
        row.check(&name.id, head.is_sealed)?;
        erasure.apply(&mut row);
        let (facts, cuts) = (&row.message.facts, &row.message.cuts);
        statement.execute((head.key, seq, &row.shown, facts, cuts, row.seal()))?;
    }
    let left = "UPDATE operations SET data = ?3 WHERE session = ?1 AND number = ?2";
    let mut statement = connection.prepare_cached(left)?;
    for (number, data) in &forget.operations {
        statement.execute((head.key, to_column(*number), data))?;
    }
    let values = (to_column(erasure.forgotten.revision), forget.time, head.key);
    connection.prepare_cached(UPDATE_REVISION)?.execute(values)?;
    clipping::sweep(connection, &erasure.originals)?;
    body::sweep(connection, &erasure.released)?;
    Ok(erasure.forgotten)
}

fn find_candidates(c: &Connection, key: i64, forget: &Forget) -> rusqlite::Result<Vec<ErasureCandidate>> {
    let mut statement = c.prepare_cached(
        "SELECT seq, id, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
         WHERE session = ?1 AND seq = ?2",
    )?;
    let read = |row: &Row<'_>| Ok(erasure_candidate!(row.get));
    let mut find = |seq| statement.query_row((key, seq), read).optional().transpose();
    named(forget).into_iter().filter_map(&mut find).collect()
}

/// Rewrites the file. Deleted rows are overwritten at once, but rows that moved within the file left copies behind in
/// unused bytes of pages that are still in use. Free pages are returned first, as the rewriting needs room on the disk.
pub(super) fn shrink(connection: &Connection) -> SqliteResult<()> {
    run(connection, "PRAGMA incremental_vacuum")?;
    empty_log(connection)?;
    run(connection, "VACUUM")?;
    empty_log(connection)
}

/// Moves what the log has into the file, and truncates the log.
fn empty_log(connection: &Connection) -> SqliteResult<()> {
    let is_blocked: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if is_blocked {
        let doing = "cannot empty the log of the store";
        return Err(StoreError::database(doing)("another process is reading it; try again").into());
    }
    Ok(())
}

/// Runs a statement and ignores its rows.
pub(super) fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    while rows.next()?.is_some() {}
    Ok(())
}
