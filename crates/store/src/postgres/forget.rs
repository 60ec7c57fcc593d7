//! Deleting originals, and giving the space back.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::{Error, IsolationLevel, Row};

use super::{PostgresError, body, session};
use crate::erasure::{Erasure, ErasureCandidate, named};
use crate::prepared_commit::SessionHead;
use crate::record::{Forget, Forgotten};
use crate::validation::to_column;

/// Deletes originals in a transaction of its own.
pub(super) async fn carry_out(
    client: &mut Object,
    id: &str,
    forget: &Forget,
) -> Result<Forgotten, PostgresError> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = builder.start().await?;
    let head = session::find_head(&transaction, id).await?;
    let candidates = find_candidates(&transaction, &head, forget).await?;
    let erasure = Erasure::plan(id, forget, &head, candidates)?;
    let gone = "UPDATE messages SET body = NULL, shown = NULL WHERE session = $1 AND seq = ANY($2)";
    let cut = "UPDATE messages SET body = NULL WHERE session = $1 AND seq = ANY($2)";
    for (sql, seqs) in [(gone, &erasure.gone), (cut, &erasure.cut)] {
        let statement = transaction.prepare_cached(sql).await?;
        transaction.execute(&statement, &[&head.key, seqs]).await?;
    }
    let sql = "UPDATE sessions SET revision = $2, updated = $3 WHERE key = $1";
    let statement = transaction.prepare_cached(sql).await?;
    let revision = to_column(erasure.forgotten.revision);
    transaction.execute(&statement, &[&head.key, &revision, &forget.time]).await?;
    body::sweep(&transaction, &erasure.released).await?;
    transaction.commit().await?;
    Ok(erasure.forgotten)
}

async fn find_candidates(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    forget: &Forget,
) -> Result<Vec<ErasureCandidate>, PostgresError> {
    let sql = "SELECT seq, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
               WHERE session = $1 AND seq = ANY($2) ORDER BY seq";
    let statement = transaction.prepare_cached(sql).await?;
    let rows = transaction.query(&statement, &[&head.key, &named(forget)]).await?;
    Ok(rows.iter().map(read_candidate).collect::<Result<_, _>>()?)
}

fn read_candidate(row: &Row) -> Result<ErasureCandidate, Error> {
    Ok(ErasureCandidate {
        seq: row.try_get(0)?,
        pinned: row.try_get(1)?,
        hidden: row.try_get(2)?,
        body: row.try_get(3)?,
        shown: row.try_get(4)?,
        size: row.try_get(5)?,
    })
}

/// Deletes bodies that writers left behind, and writes the tables of bodies and their words anew. Others wait for that.
pub(super) async fn shrink(client: &mut Object) -> Result<(), PostgresError> {
    let transaction = client.transaction().await?;
    body::sweep_all(&transaction).await?;
    transaction.commit().await?;
    Ok(client.batch_execute("VACUUM (FULL, ANALYZE) bodies, clippings").await?)
}
