//! Finding messages by id.

use deadpool_postgres::Object;
use tokio_postgres::{Error, Row};

use super::PostgresError;
use super::statement::query;
use crate::record::FoundMessage;
use crate::sql::found_message;
use crate::validation::to_limit;

/// Finds messages by id, those of the most recently changed session first.
pub(super) async fn find(client: &Object, ids: &[&str]) -> Result<Vec<FoundMessage>, PostgresError> {
    // Materialised: otherwise the planner may walk through all sessions in order, hoping to meet the messages.
    let sql = "WITH found AS MATERIALIZED \
               (SELECT id, session, seq FROM messages WHERE operation IS NULL AND id = ANY($1)) \
               SELECT found.id, s.id, found.seq, s.head, s.updated FROM found JOIN sessions s ON s.key = found.session \
               ORDER BY s.updated DESC, s.id, found.seq LIMIT $2";
    let rows = query(client, sql, &[&ids, &to_limit(crate::MOST_FOUND)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

/// Finds messages by id within one session.
pub(super) async fn find_in(
    client: &Object,
    session: &str,
    ids: &[&str],
) -> Result<Vec<FoundMessage>, PostgresError> {
    let sql = "SELECT m.id, s.id, m.seq, s.head, s.updated FROM sessions s JOIN messages m ON m.session = s.key \
               WHERE s.id = $1 AND m.operation IS NULL AND m.id = ANY($2) ORDER BY m.seq LIMIT $3";
    let rows = query(client, sql, &[&session, &ids, &to_limit(crate::MOST_FOUND)]).await?;
    Ok(rows.iter().map(read_row).collect::<Result<_, _>>()?)
}

fn read_row(row: &Row) -> Result<FoundMessage, Error> {
    Ok(found_message!(row.try_get))
}
