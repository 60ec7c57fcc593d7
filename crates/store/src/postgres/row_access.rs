//! Which rows a transaction may see. The policies of the tables ask for it; see `schema/6.sql`.

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::IsolationLevel;

use super::PostgresResult;
use super::statement::execute;

/// In place of a tenant's name: the rows of all tenants. No tenant has this name.
pub(super) const ALL_ROWS: &str = "*";

/// Begins a transaction that sees the rows of one tenant only.
pub(super) async fn begin<'c>(
    client: &'c mut Object,
    tenant: &str,
    kind: TransactionKind,
) -> PostgresResult<Transaction<'c>> {
    let builder = client.build_transaction();
    let builder = match kind {
        TransactionKind::Read => builder.isolation_level(IsolationLevel::RepeatableRead).read_only(true),
        TransactionKind::Write => builder.isolation_level(IsolationLevel::ReadCommitted),
    };
    let transaction = builder.start().await?;
    show_rows_of(&transaction, tenant).await?;
    Ok(transaction)
}

/// Whether a transaction changes anything.
#[derive(Clone, Copy)]
pub(super) enum TransactionKind {
    /// It sees one moment.
    Read,
    /// It sees what others commit meanwhile, after waiting for their locks.
    Write,
}

/// Sets whose rows the transaction may see, until it ends: a connection serves all tenants in turn, and a pooler between
/// here and the server may give it to other clients.
pub(super) async fn show_rows_of(transaction: &Transaction<'_>, tenant: &str) -> PostgresResult<()> {
    Ok(execute(transaction, "SELECT set_config('secateur.tenant', $1, TRUE)", &[&tenant]).await?)
}
