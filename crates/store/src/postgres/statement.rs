//! Running statements that are prepared once for each connection.

use deadpool_postgres::GenericClient;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

/// The values of a statement's parameters.
pub(super) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// Runs a statement that returns rows.
pub(super) async fn query(
    client: &impl GenericClient,
    sql: &str,
    values: Values<'_>,
) -> Result<Vec<Row>, Error> {
    client.query(&client.prepare_cached(sql).await?, values).await
}

/// Runs a statement that returns at most one row.
pub(super) async fn query_opt(
    client: &impl GenericClient,
    sql: &str,
    values: Values<'_>,
) -> Result<Option<Row>, Error> {
    client.query_opt(&client.prepare_cached(sql).await?, values).await
}

/// Runs a statement that returns nothing.
pub(super) async fn execute(client: &impl GenericClient, sql: &str, values: Values<'_>) -> Result<(), Error> {
    client.execute(&client.prepare_cached(sql).await?, values).await.map(drop)
}
