//! Deleting originals, and returning freed space.

use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Transaction};
use tokio::time::sleep;
use tokio_postgres::Row;

use super::row_access::{ALL_ROWS, show_rows_of};
use super::statement::{execute, query_all};
use super::{PostgresResult, body, clipping, load, session};
use crate::erasure::{Erasure, named};
use crate::record::{Forget, Forgotten};
use crate::sql::{BREAK_SEALS, UPDATE_REVISION, erasure_candidate};
use crate::stored_row::{Seal, StoredRow};
use crate::tenant::SessionName;
use crate::validation::to_column;

/// Deletes originals within a transaction.
pub(super) async fn carry_out(
    transaction: &Transaction<'_>,
    name: &SessionName,
    forget: &Forget,
) -> PostgresResult<Forgotten> {
    let head = session::find_head(transaction, name).await?;
    let sql = "SELECT seq, id, pinned, hidden, body, shown, size FROM messages LEFT JOIN bodies ON digest = body \
               WHERE session = $1 AND seq = ANY($2) ORDER BY seq";
    let read = |row: &Row| Ok(erasure_candidate!(row.try_get));
    let candidates = query_all(transaction, sql, &[&head.key, &named(forget)], read).await?;
    let erasure = Erasure::plan(&name.id, forget, &head, candidates)?;
    if !head.is_sealed {
        execute(transaction, BREAK_SEALS, &[&head.key]).await?;
    }
    let mut rows = load::rows(transaction, head.key, &erasure.seqs().collect::<Vec<_>>()).await?;
    for row in &mut rows {
        row.check(&name.id, head.is_sealed)?;
        erasure.apply(row);
    }
    let seqs: Vec<i64> = rows.iter().map(|row| to_column(row.message.seq)).collect();
    let shown: Vec<Option<&[u8]>> = rows.iter().map(|row| row.shown.as_deref()).collect();
    let seals: Vec<Seal> = rows.iter().map(StoredRow::seal).collect();
    let seals: Vec<&[u8]> = seals.iter().map(Seal::as_slice).collect();
    let facts: Vec<&str> = rows.iter().map(|row| row.message.facts.as_str()).collect();
    let cuts: Vec<&str> = rows.iter().map(|row| row.message.cuts.as_str()).collect();
    let sql = "UPDATE messages m SET body = NULL, shown = n.shown, facts = n.facts, cuts = n.cuts, seal = n.seal \
               FROM UNNEST($2::bigint[], $3::bytea[], $4::text[], $5::text[], $6::bytea[]) \
               AS n (seq, shown, facts, cuts, seal) WHERE m.session = $1 AND m.seq = n.seq";
    execute(transaction, sql, &[&head.key, &seqs, &shown, &facts, &cuts, &seals]).await?;
    let numbers: Vec<i64> = forget.operations.iter().map(|(number, _)| to_column(*number)).collect();
    let data: Vec<&str> = forget.operations.iter().map(|(_, data)| data.as_str()).collect();
    let sql = "UPDATE operations o SET data = n.data FROM UNNEST($2::bigint[], $3::text[]) AS n (number, data) \
               WHERE o.session = $1 AND o.number = n.number";
    execute(transaction, sql, &[&head.key, &numbers, &data]).await?;
    let revision = to_column(erasure.forgotten.revision);
    execute(transaction, UPDATE_REVISION, &[&revision, &forget.time, &head.key]).await?;
    clipping::sweep(transaction, &erasure.originals).await?;
    body::sweep(transaction, &erasure.released).await?;
    Ok(erasure.forgotten)
}

/// How long rewriting waits for transactions that may still see what was deleted.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often it looks for them.
const PAUSE: Duration = Duration::from_millis(50);

/// Deletes unreferenced bodies of all tenants, and rewrites all tables. Others wait for that.
pub(super) async fn shrink(client: &mut Object) -> PostgresResult<()> {
    let transaction = client.transaction().await?;
    show_rows_of(&transaction, ALL_ROWS).await?;
    body::sweep_all(&transaction).await?;
    let number = "SELECT pg_current_xact_id()::xid::text";
    let number: String = transaction.query_one(number, &[]).await?.try_get(0)?;
    transaction.commit().await?;
    wait_for_earlier(client, &number).await?;
    let tables = "bodies, clippings, messages, operations, events, leases, sessions";
    Ok(client.batch_execute(&format!("VACUUM (FULL, ANALYZE) {tables}")).await?)
}

/// Waits until no transaction of the database is open that began before this one ended: rewriting keeps every row that one
/// of them can see.
async fn wait_for_earlier(client: &Object, transaction: &str) -> PostgresResult<()> {
    let sql = format!(
        "SELECT EXISTS (SELECT FROM pg_stat_activity \
         WHERE datname = current_database() AND pid <> pg_backend_pid() \
         AND GREATEST(age(backend_xmin), age(backend_xid)) >= age('{transaction}'::xid))"
    );
    let began = Instant::now();
    while client.query_one(&sql, &[]).await?.try_get(0)? && began.elapsed() < PATIENCE {
        sleep(PAUSE).await;
    }
    Ok(())
}
