//! Running statements that are prepared once for each connection.

use deadpool_postgres::Transaction;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Error, Row};

use super::{PostgresResult, session};
use crate::tenant::SessionName;
use crate::validation::{to_column, to_limit};

/// The values of a statement's parameters.
pub(super) type Values<'v> = &'v [&'v (dyn ToSql + Sync)];

/// Runs a statement that returns rows.
pub(super) async fn query(
    client: &Transaction<'_>,
    sql: &str,
    values: Values<'_>,
) -> Result<Vec<Row>, Error> {
    client.query(&client.prepare_cached(sql).await?, values).await
}

/// Reads all rows of a statement.
pub(super) async fn query_all<T>(
    client: &Transaction<'_>,
    sql: &str,
    values: Values<'_>,
    read_row: impl Fn(&Row) -> Result<T, Error>,
) -> PostgresResult<Vec<T>> {
    Ok(query(client, sql, values).await?.iter().map(read_row).collect::<Result<_, _>>()?)
}

/// Reads rows of a session after a number, at most `limit`.
pub(super) async fn query_after<T>(
    client: &Transaction<'_>,
    sql: &str,
    (name, after, limit): (&SessionName, u64, usize),
    read_row: impl Fn(&Row) -> Result<T, Error>,
) -> PostgresResult<Vec<T>> {
    let key = session::find_key(client, name).await?;
    query_all(client, sql, &[&key, &to_column(after), &to_limit(limit)], read_row).await
}

/// Runs a statement that returns at most one row.
pub(super) async fn query_opt(
    client: &Transaction<'_>,
    sql: &str,
    values: Values<'_>,
) -> Result<Option<Row>, Error> {
    client.query_opt(&client.prepare_cached(sql).await?, values).await
}

/// Runs a statement that returns nothing.
pub(super) async fn execute(client: &Transaction<'_>, sql: &str, values: Values<'_>) -> Result<(), Error> {
    client.execute(&client.prepare_cached(sql).await?, values).await.map(drop)
}
