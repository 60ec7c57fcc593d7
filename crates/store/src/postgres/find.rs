//! Finding messages by id.

use deadpool_postgres::Transaction;
use tokio_postgres::{Error, Row};

use super::PostgresResult;
use super::statement::query_all;
use crate::record::FoundMessage;
use crate::sql::found_message;
use crate::tenant::SessionName;
use crate::validation::to_limit;

/// Finds messages of a tenant by id, those of the most recently changed session first.
pub(super) async fn find(
    client: &Transaction<'_>,
    tenant: &str,
    ids: &[&str],
) -> PostgresResult<Vec<FoundMessage>> {
    // Materialised: otherwise the planner may walk through all sessions in order, hoping to meet the messages.
    let sql = "WITH found AS MATERIALIZED \
               (SELECT id, session, seq FROM messages WHERE operation IS NULL AND id = ANY($1)) \
               SELECT found.id, s.id, found.seq, s.head, s.updated FROM found JOIN sessions s ON s.key = found.session \
               WHERE s.tenant = $2 AND NOT s.deleted ORDER BY s.updated DESC, s.id, found.seq LIMIT $3";
    query_all(client, sql, &[&ids, &tenant, &to_limit(crate::MOST_FOUND)], read_row).await
}

/// Finds messages by id within one session.
pub(super) async fn find_in(
    client: &Transaction<'_>,
    name: &SessionName,
    ids: &[&str],
) -> PostgresResult<Vec<FoundMessage>> {
    let sql = "SELECT m.id, s.id, m.seq, s.head, s.updated FROM sessions s JOIN messages m ON m.session = s.key \
               WHERE s.id = $1 AND s.tenant = $2 AND m.operation IS NULL AND m.id = ANY($3) ORDER BY m.seq LIMIT $4";
    query_all(client, sql, &[&name.id, &name.tenant, &ids, &to_limit(crate::MOST_FOUND)], read_row).await
}

fn read_row(row: &Row) -> Result<FoundMessage, Error> {
    Ok(found_message!(row.try_get))
}
