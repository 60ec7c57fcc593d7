//! The table of clippings.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::{Error, Row};

use super::statement::{execute, query_all};
use super::{PostgresResult, session};
use crate::clipping::Clipping;
use crate::prepared_commit::{PreparedCommit, SessionHead};
use crate::validation::{from_column, to_column, to_limit};

/// The most clippings in one statement. Each has at most 256 KiB of words.
const BATCH: usize = 64;

/// In the order of bodies, so that two writers of the same clippings cannot deadlock.
const INSERT: &str = "INSERT INTO clippings (body, part, handle, facts, words) \
                      SELECT m.body, n.part, n.handle, n.facts, array_to_tsvector(string_to_array(n.words, ' ')) \
                      FROM UNNEST($2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[]) \
                      AS n (seq, part, handle, facts, words) \
                      JOIN messages m ON m.session = $1 AND m.seq = n.seq WHERE m.body IS NOT NULL \
                      ORDER BY m.body, n.part ON CONFLICT (body, part) DO NOTHING";
const NAMED: &str = "SELECT s.id, m.seq, c.part, c.handle, c.facts, m.time \
                     FROM clippings c JOIN messages m ON m.body = c.body JOIN sessions s ON s.key = m.session \
                     WHERE c.handle = $1 ORDER BY s.updated DESC, s.id, m.seq DESC, c.part LIMIT $2";
/// Of several messages with the same clipping, returns the newest in the most recently changed session.
const SEARCH: &str = "WITH found AS MATERIALIZED ( \
                          SELECT body, part, handle, facts FROM clippings WHERE words @@ $1::text::tsquery \
                      ) SELECT id, seq, part, handle, facts, time FROM ( \
                          SELECT s.id, m.seq, c.part, c.handle, c.facts, m.time, \
                          ROW_NUMBER() OVER (PARTITION BY c.handle ORDER BY s.updated DESC, s.id, m.seq DESC) AS place \
                          FROM found c JOIN messages m ON m.body = c.body JOIN sessions s ON s.key = m.session \
                          WHERE $2::bigint IS NULL OR m.session = $2 \
                      ) ranked WHERE place = 1 ORDER BY time DESC, seq DESC, id, part LIMIT $3";

/// Inserts the clippings of a commit. Existing ones, and those of forgotten originals, are skipped.
pub(super) async fn insert(
    transaction: &Transaction<'_>,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> PostgresResult<()> {
    for batch in commit.clippings.chunks(BATCH) {
        let seqs: Vec<i64> = batch.iter().map(|clipping| to_column(clipping.seq)).collect();
        let parts: Vec<i64> = batch.iter().map(|clipping| i64::from(clipping.part)).collect();
        let handles: Vec<&str> = batch.iter().map(|clipping| clipping.handle.as_str()).collect();
        let facts: Vec<&str> = batch.iter().map(|clipping| clipping.facts.as_str()).collect();
        let words: Vec<&str> = batch.iter().map(|clipping| clipping.words.as_str()).collect();
        execute(transaction, INSERT, &[&head.key, &seqs, &parts, &handles, &facts, &words]).await?;
    }
    Ok(())
}

/// Finds clippings by handle, in all sessions.
pub(super) async fn find(client: &Object, handle: &str) -> PostgresResult<Vec<Clipping>> {
    query_all(client, NAMED, &[&handle, &to_limit(crate::MOST_FOUND)], read_row).await
}

/// Finds clippings that contain all words, in one session or in all.
pub(super) async fn search(
    client: &Object,
    words: &[String],
    id: Option<&str>,
    limit: usize,
) -> PostgresResult<Vec<Clipping>> {
    let key = match id {
        Some(id) => Some(session::find_key(client, id).await?),
        None => None,
    };
    if words.is_empty() {
        return Ok(Vec::new());
    }
    // Words contain no quotation marks.
    let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
    query_all(client, SEARCH, &[&words.join(" & "), &key, &to_limit(limit)], read_row).await
}

fn read_row(row: &Row) -> Result<Clipping, Error> {
    Ok(Clipping {
        session: row.try_get(0)?,
        seq: from_column(row.try_get(1)?),
        part: u32::try_from(row.try_get::<_, i64>(2)?).unwrap_or(u32::MAX),
        handle: row.try_get(3)?,
        facts: row.try_get(4)?,
        time: row.try_get(5)?,
    })
}
