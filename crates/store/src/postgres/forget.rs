//! Deleting originals, and returning freed space.

use deadpool_postgres::Object;
use tokio_postgres::{IsolationLevel, Row};

use super::statement::{execute, query_all};
use super::{PostgresResult, body, session};
use crate::erasure::{Erasure, named};
use crate::record::{Forget, Forgotten};
use crate::sql::{UPDATE_REVISION, erasure_candidate};
use crate::validation::to_column;

/// Deletes originals in its own transaction.
pub(super) async fn carry_out(client: &mut Object, id: &str, forget: &Forget) -> PostgresResult<Forgotten> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = builder.start().await?;
    let head = session::find_head(&transaction, id).await?;
    let sql = "SELECT seq, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
               WHERE session = $1 AND seq = ANY($2) ORDER BY seq";
    let read = |row: &Row| Ok(erasure_candidate!(row.try_get));
    let candidates = query_all(&transaction, sql, &[&head.key, &named(forget)], read).await?;
    let erasure = Erasure::plan(id, forget, &head, candidates)?;
    let gone = "UPDATE messages SET body = NULL, shown = NULL WHERE session = $1 AND seq = ANY($2)";
    let cut = "UPDATE messages SET body = NULL WHERE session = $1 AND seq = ANY($2)";
    for (sql, seqs) in [(gone, &erasure.gone), (cut, &erasure.cut)] {
        execute(&transaction, sql, &[&head.key, seqs]).await?;
    }
    let revision = to_column(erasure.forgotten.revision);
    execute(&transaction, UPDATE_REVISION, &[&revision, &forget.time, &head.key]).await?;
    body::sweep(&transaction, &erasure.released).await?;
    transaction.commit().await?;
    Ok(erasure.forgotten)
}

/// Deletes unreferenced bodies, and rewrites the tables of bodies and clippings. Others wait for that.
pub(super) async fn shrink(client: &mut Object) -> PostgresResult<()> {
    let transaction = client.transaction().await?;
    body::sweep_all(&transaction).await?;
    transaction.commit().await?;
    Ok(client.batch_execute("VACUUM (FULL, ANALYZE) bodies, clippings").await?)
}
