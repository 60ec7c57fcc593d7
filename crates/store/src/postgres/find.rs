//! Which sessions know a message.

use deadpool_postgres::Object;
use tokio_postgres::{Error, Row};

use super::PostgresError;
use crate::record::FoundMessage;
use crate::validation::{from_column, to_limit};

/// The messages that have one of these ids, those of the session changed last first.
pub(super) async fn find(client: &Object, ids: &[&str]) -> Result<Vec<FoundMessage>, PostgresError> {
    // Materialised: otherwise the server may hope to come across them while it goes through all sessions in order.
    let sql = "WITH found AS MATERIALIZED \
               (SELECT id, session, seq FROM messages WHERE operation IS NULL AND id = ANY($1)) \
               SELECT found.id, s.id, found.seq, s.head, s.updated FROM found JOIN sessions s ON s.key = found.session \
               ORDER BY s.updated DESC, s.id, found.seq LIMIT $2";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&ids, &to_limit(crate::MOST_FOUND)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

/// Those of one session.
pub(super) async fn find_in(
    client: &Object,
    session: &str,
    ids: &[&str],
) -> Result<Vec<FoundMessage>, PostgresError> {
    let sql = "SELECT m.id, s.id, m.seq, s.head, s.updated FROM sessions s JOIN messages m ON m.session = s.key \
               WHERE s.id = $1 AND m.operation IS NULL AND m.id = ANY($2) ORDER BY m.seq LIMIT $3";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&session, &ids, &to_limit(crate::MOST_FOUND)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

fn read_row(row: &Row) -> Result<FoundMessage, Error> {
    Ok(FoundMessage {
        id: row.try_get(0)?,
        session: row.try_get(1)?,
        seq: from_column(row.try_get(2)?),
        head: from_column(row.try_get(3)?),
        updated: row.try_get(4)?,
    })
}
