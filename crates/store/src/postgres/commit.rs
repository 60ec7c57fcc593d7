//! Carrying out a commit.

use deadpool_postgres::Transaction;

use super::statement::{Values, execute, query_opt};
use super::{PostgresResult, body, clipping, load, session};
use crate::error::StoreError;
use crate::prepared_commit::{PreparedCommit, PreparedMessage, SessionHead, known};
use crate::record::Committed;
use crate::sql::{BREAK_SEALS, UPDATE_SESSION};
use crate::stored_row::{Seal, StoredRow};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// The most messages in one statement.
const BATCH: usize = 1000;

/// Carries out a commit within a transaction.
pub(super) async fn carry_out(
    transaction: &Transaction<'_>,
    name: &SessionName,
    commit: &PreparedCommit,
) -> PostgresResult<Committed> {
    let id = name.id.as_str();
    let head = session::find_head(transaction, name).await?;
    let committed = commit.fit(id, &head)?;
    check_named(transaction, id, &head, commit).await?;
    check_ids(transaction, id, &head, commit).await?;
    if !head.is_sealed {
        execute(transaction, BREAK_SEALS, &[&head.key]).await?;
    }
    body::insert(transaction, &commit.bodies).await?;
    record_operations(transaction, &head, commit).await?;
    let mut first = head.head + 1;
    for batch in commit.append.chunks(BATCH) {
        append(transaction, &head, first, batch).await?;
        first += batch.len() as u64;
    }
    let released = change_messages(transaction, id, &head, commit).await?;
    clipping::insert(transaction, &name.tenant, &head, commit).await?;
    undo_operations(transaction, &head, commit).await?;
    publish(transaction, &head, commit).await?;
    update_session(transaction, &head, commit, &committed).await?;
    body::sweep(transaction, &released).await?;
    Ok(committed)
}

/// Refuses changes of messages that do not exist: numbers below the head may be missing.
async fn check_named(
    tx: &Transaction<'_>,
    id: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    let seqs = commit.named_before(head);
    if seqs.is_empty() {
        return Ok(());
    }
    let sql = "SELECT n.seq FROM UNNEST($2::bigint[]) AS n (seq) \
               WHERE NOT EXISTS (SELECT * FROM messages m WHERE m.session = $1 AND m.seq = n.seq) \
               ORDER BY n.seq LIMIT 1";
    match query_opt(tx, sql, &[&head.key, &seqs]).await? {
        Some(row) => Err(StoreError::no_message(id, from_column(row.try_get(0)?)).into()),
        None => Ok(()),
    }
}

/// Refuses messages that exist already. The session is locked, so no other writer can add them afterwards.
async fn check_ids(
    tx: &Transaction<'_>,
    id: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    if commit.append.is_empty() {
        return Ok(());
    }
    let ids: Vec<&str> = commit.append.iter().map(|message| message.row.id.as_str()).collect();
    // The first in the order of the commit.
    let sql = "SELECT n.place FROM UNNEST($2::text[]) WITH ORDINALITY AS n (id, place) \
               WHERE EXISTS (SELECT * FROM messages m WHERE m.session = $1 AND m.id = n.id) \
               ORDER BY n.place LIMIT 1";
    let Some(row) = query_opt(tx, sql, &[&head.key, &ids]).await? else {
        return Ok(());
    };
    let place = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
    Err(known(id, place.checked_sub(1).and_then(|place| ids.get(place)).unwrap_or(&"")).into())
}

async fn append(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    first: u64,
    batch: &[PreparedMessage],
) -> PostgresResult<()> {
    let seqs: Vec<i64> = (first..).take(batch.len()).map(to_column).collect();
    let ids: Vec<&str> = batch.iter().map(|message| message.row.id.as_str()).collect();
    let operations: Vec<Option<i64>> =
        batch.iter().map(|message| message.row.operation.map(to_column)).collect();
    let pinned: Vec<bool> = batch.iter().map(|message| message.row.pinned).collect();
    let times: Vec<i64> = batch.iter().map(|message| message.row.time).collect();
    let bodies: Vec<&[u8]> = batch.iter().map(|message| &message.body[..]).collect();
    let shown: Vec<Option<&[u8]>> = batch.iter().map(|message| message.shown.as_deref()).collect();
    let facts: Vec<&str> = batch.iter().map(|message| message.row.facts.as_str()).collect();
    let cuts: Vec<&str> = batch.iter().map(|message| message.row.cuts.as_str()).collect();
    let seals: Vec<Seal> =
        (first..).zip(batch).map(|(seq, message)| message.stored_row(seq).seal()).collect();
    let seals: Vec<&[u8]> = seals.iter().map(Seal::as_slice).collect();
    let sql = "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, shown, facts, cuts, seal) \
               SELECT $1, n.seq, n.id, n.operation, n.pinned, FALSE, n.time, n.body, n.shown, n.facts, n.cuts, n.seal \
               FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::boolean[], $6::bigint[], $7::bytea[], \
               $8::bytea[], $9::text[], $10::text[], $11::bytea[]) \
               AS n (seq, id, operation, pinned, time, body, shown, facts, cuts, seal)";
    let values: Values<'_> =
        &[&head.key, &seqs, &ids, &operations, &pinned, &times, &bodies, &shown, &facts, &cuts, &seals];
    Ok(execute(transaction, sql, values).await?)
}

/// Changes messages. Returns the bodies that they no longer show.
async fn change_messages(
    transaction: &Transaction<'_>,
    id: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<Vec<Vec<u8>>> {
    if commit.change.is_empty() {
        return Ok(Vec::new());
    }
    let seqs: Vec<i64> = commit.change.keys().copied().map(to_column).collect();
    let mut rows = load::rows(transaction, head.key, &seqs).await?;
    let mut released = Vec::new();
    for row in &mut rows {
        row.check(id, head.is_sealed)?;
        if let Some(change) = commit.change.get(&row.message.seq) {
            released.extend(change.apply(id, row)?);
        }
    }
    let seqs: Vec<i64> = rows.iter().map(|row| to_column(row.message.seq)).collect();
    let cuts: Vec<&str> = rows.iter().map(|row| row.message.cuts.as_str()).collect();
    let hidden: Vec<bool> = rows.iter().map(|row| row.message.hidden).collect();
    let pinned: Vec<bool> = rows.iter().map(|row| row.message.pinned).collect();
    let shown: Vec<Option<&[u8]>> = rows.iter().map(|row| row.shown.as_deref()).collect();
    let seals: Vec<Seal> = rows.iter().map(StoredRow::seal).collect();
    let seals: Vec<&[u8]> = seals.iter().map(Seal::as_slice).collect();
    let sql = "UPDATE messages m SET cuts = n.cuts, hidden = n.hidden, pinned = n.pinned, shown = n.shown, \
               seal = n.seal \
               FROM UNNEST($2::bigint[], $3::text[], $4::boolean[], $5::boolean[], $6::bytea[], $7::bytea[]) \
               AS n (seq, cuts, hidden, pinned, shown, seal) WHERE m.session = $1 AND m.seq = n.seq";
    execute(transaction, sql, &[&head.key, &seqs, &cuts, &hidden, &pinned, &shown, &seals]).await?;
    released.sort_unstable();
    released.dedup();
    Ok(released)
}

async fn record_operations(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    if commit.operations.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> =
        (head.last_operation + 1..).take(commit.operations.len()).map(to_column).collect();
    let kinds: Vec<&str> = commit.operations.iter().map(|operation| operation.kind.as_str()).collect();
    let times: Vec<i64> = commit.operations.iter().map(|operation| operation.time).collect();
    let data: Vec<&str> = commit.operations.iter().map(|operation| operation.data.as_str()).collect();
    let sql = "INSERT INTO operations (session, number, kind, time, undone, data) \
               SELECT $1, n.number, n.kind, n.time, FALSE, n.data \
               FROM UNNEST($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS n (number, kind, time, data)";
    Ok(execute(transaction, sql, &[&head.key, &numbers, &kinds, &times, &data]).await?)
}

async fn undo_operations(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    if commit.undone.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = commit.undone.keys().copied().map(to_column).collect();
    let undone: Vec<bool> = commit.undone.values().copied().collect();
    let sql = "UPDATE operations o SET undone = n.undone FROM UNNEST($2::bigint[], $3::boolean[]) \
               AS n (number, undone) WHERE o.session = $1 AND o.number = n.number";
    Ok(execute(transaction, sql, &[&head.key, &numbers, &undone]).await?)
}

async fn publish(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    if commit.events.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = (head.last_event + 1..).take(commit.events.len()).map(to_column).collect();
    let sql = "INSERT INTO events (session, number, time, data) SELECT $1, n.number, $2, n.data \
               FROM UNNEST($3::bigint[], $4::text[]) AS n (number, data)";
    Ok(execute(transaction, sql, &[&head.key, &commit.time, &numbers, &commit.events]).await?)
}

async fn update_session(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    commit: &PreparedCommit,
    committed: &Committed,
) -> PostgresResult<()> {
    let [revision, last, operation, event] =
        [committed.revision, committed.head, committed.last_operation, committed.last_event].map(to_column);
    let live_from = commit.live_from.map(to_column);
    let (time, state, envelope) = (&commit.time, &commit.state, &commit.envelope);
    let values: Values<'_> =
        &[&revision, &last, &operation, &event, time, &live_from, state, envelope, &head.key];
    Ok(execute(transaction, UPDATE_SESSION, values).await?)
}
