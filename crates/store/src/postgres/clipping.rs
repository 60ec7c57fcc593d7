//! The table of clippings.

use deadpool_postgres::Transaction;
use tokio_postgres::{Error, Row};

use super::statement::{Values, execute, query_all, query_opt};
use super::{PostgresResult, session};
use crate::clipping::{Clipping, SHORTEST_HANDLE};
use crate::error::StoreError;
use crate::prepared_commit::{PreparedCommit, SessionHead};
use crate::sql::clipping;
use crate::tenant::{SessionName, word_mark};
use crate::validation::{to_column, to_limit};

/// The most clippings in one statement. Each has at most 256 KiB of words.
const BATCH: usize = 64;

/// In the order of bodies, so that two writers of the same clippings cannot deadlock.
const INSERT: &str = "INSERT INTO clippings (body, part, handle, letters, facts, words, tenant) \
                      SELECT m.body, n.part, n.handle, n.letters, n.facts, \
                      array_to_tsvector(string_to_array(n.words, ' ')), $8 \
                      FROM UNNEST($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[]) \
                      AS n (seq, part, handle, letters, facts, words) \
                      JOIN messages m ON m.session = $1 AND m.seq = n.seq WHERE m.body IS NOT NULL \
                      ORDER BY m.body, n.part ON CONFLICT (body, part) DO NOTHING";
/// Gives letters to clippings that an earlier version made.
const COMPLETE: &str = "UPDATE clippings c SET letters = n.letters \
                        FROM UNNEST($2::bigint[], $3::bigint[], $4::text[]) AS n (seq, part, letters) \
                        JOIN messages m ON m.session = $1 AND m.seq = n.seq \
                        WHERE c.body = m.body AND c.part = n.part AND c.letters IS NULL AND n.letters IS NOT NULL";
/// A handle with which the letters of another text of the tenant begin.
const TAKEN: &str = "SELECT n.handle FROM UNNEST($1::text[], $2::text[]) AS n (handle, letters) \
                     WHERE EXISTS (SELECT * FROM clippings c WHERE c.tenant = $3 AND c.letters >= n.handle \
                     AND c.letters < n.handle || '{' AND c.letters <> n.letters) LIMIT 1";
const NAMED: &str = "SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time \
                     FROM clippings c JOIN messages m ON m.body = c.body JOIN sessions s ON s.key = m.session AND s.tenant = c.tenant \
                     WHERE c.tenant = $1 AND c.handle = $2 AND NOT s.deleted ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT $3";
const BEGINNING: &str = "SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time \
                         FROM clippings c JOIN messages m ON m.body = c.body JOIN sessions s ON s.key = m.session AND s.tenant = c.tenant \
                         WHERE c.tenant = $1 AND c.letters >= $2 AND c.letters < $2 || '{' AND NOT s.deleted \
                         ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT $3";
/// Of several messages with the same clipping, returns the newest in the most recently changed session.
const SEARCH: &str = "WITH found AS MATERIALIZED ( \
                          SELECT body, part, handle, letters, facts FROM clippings WHERE words @@ $1::text::tsquery \
                      ) SELECT id, seq, part, handle, letters, body, facts, time FROM ( \
                          SELECT s.id, m.seq, c.part, c.handle, c.letters, c.body, c.facts, m.time, \
                          ROW_NUMBER() OVER (PARTITION BY c.handle ORDER BY s.updated DESC, s.id, m.seq DESC) AS place \
                          FROM found c JOIN messages m ON m.body = c.body JOIN sessions s ON s.key = m.session \
                          WHERE s.tenant = $2 AND ($3::bigint IS NULL OR m.session = $3) AND NOT s.deleted \
                      ) ranked WHERE place = 1 ORDER BY time DESC, seq DESC, id, part LIMIT $4";

/// Inserts the clippings of a commit. Existing ones, and those of forgotten originals, are skipped.
pub(super) async fn insert(
    transaction: &Transaction<'_>,
    tenant: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    for batch in commit.clippings.chunks(BATCH) {
        let seqs: Vec<i64> = batch.iter().map(|clipping| to_column(clipping.seq)).collect();
        let parts: Vec<i64> = batch.iter().map(|clipping| i64::from(clipping.part)).collect();
        let handles: Vec<&str> = batch.iter().map(|clipping| clipping.handle.as_str()).collect();
        let letters: Vec<Option<&str>> = batch.iter().map(|clipping| clipping.letters.as_deref()).collect();
        let facts: Vec<&str> = batch.iter().map(|clipping| clipping.facts.as_str()).collect();
        let words: Vec<&str> = batch.iter().map(|clipping| clipping.words.as_str()).collect();
        if let Some(row) = query_opt(transaction, TAKEN, &[&handles, &letters, &tenant]).await? {
            return Err(StoreError::HandleTaken { handle: row.try_get(0)? }.into());
        }
        execute(transaction, COMPLETE, &[&head.key, &seqs, &parts, &letters]).await?;
        let values: Values<'_> = &[&head.key, &seqs, &parts, &handles, &letters, &facts, &words, &tenant];
        execute(transaction, INSERT, values).await?;
    }
    Ok(())
}

/// Deletes the clippings of originals that lost a reference, unless a fork has the same message. An equal original of
/// another message stays, but what was indexed of it is about the message that lost it.
pub(super) async fn sweep(
    transaction: &Transaction<'_>,
    originals: &[(Vec<u8>, String)],
) -> PostgresResult<()> {
    let bodies: Vec<&[u8]> = originals.iter().map(|(body, _)| body.as_slice()).collect();
    let ids: Vec<&str> = originals.iter().map(|(_, id)| id.as_str()).collect();
    let sql = "DELETE FROM clippings c USING UNNEST($1::bytea[], $2::text[]) AS n (body, id) \
               WHERE c.body = n.body AND NOT EXISTS \
               (SELECT * FROM messages m WHERE m.body = n.body AND m.id = n.id)";
    Ok(execute(transaction, sql, &[&bodies, &ids]).await?)
}

/// Finds clippings by handle, in all sessions of a tenant.
pub(super) async fn find(
    client: &Transaction<'_>,
    tenant: &str,
    handle: &str,
) -> PostgresResult<Vec<Clipping>> {
    let limit = to_limit(crate::MOST_FOUND);
    let found = query_all(client, NAMED, &[&tenant, &handle, &limit], read_row).await?;
    if found.is_empty() && handle.len() >= SHORTEST_HANDLE {
        return query_all(client, BEGINNING, &[&tenant, &handle, &limit], read_row).await;
    }
    Ok(found)
}

/// Finds clippings that contain all words, in one session or in all of a tenant.
pub(super) async fn search(
    client: &Transaction<'_>,
    tenant: &str,
    words: &[String],
    session: Option<&SessionName>,
    limit: usize,
) -> PostgresResult<Vec<Clipping>> {
    let key = match session {
        Some(name) => Some(session::find_key(client, name).await?),
        None => None,
    };
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // Words contain no quotation marks.
    let mark = word_mark(tenant);
    let words: Vec<String> = words.iter().map(|word| format!("'{mark}{word}'")).collect();
    query_all(client, SEARCH, &[&words.join(" & "), &tenant, &key, &to_limit(limit)], read_row).await
}

fn read_row(row: &Row) -> Result<Clipping, Error> {
    Ok(clipping!(row.try_get))
}
