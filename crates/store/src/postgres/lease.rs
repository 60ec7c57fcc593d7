//! Leases, by the server's clock, which all machines share.

use deadpool_postgres::Transaction;

use super::statement::{execute, query_opt};
use super::{PostgresResult, session};
use crate::LONGEST_LEASE;
use crate::record::Lease;
use crate::sql::RELEASE_LEASE;
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// The server's clock, in milliseconds.
pub(super) const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";

/// Takes or renews a lease.
pub(super) async fn take(
    client: &Transaction<'_>,
    name: &SessionName,
    owner: &str,
    ttl_ms: u64,
) -> PostgresResult<Option<Lease>> {
    let key = session::find_key(client, name).await?;
    // The clock is read again after waiting for locks: the lease's time begins when it is taken.
    let sql = format!(
        "INSERT INTO leases (session, owner, token, expires) VALUES ($1, $2, 1, {NOW} + $3) \
         ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, expires = {NOW} + $3, \
         token = CASE WHEN leases.owner = excluded.owner THEN leases.token ELSE leases.token + 1 END \
         WHERE leases.owner IS NULL OR leases.owner = excluded.owner OR leases.expires <= {NOW} \
         OR leases.expires > {NOW} + {LONGEST_LEASE} RETURNING token"
    );
    let ttl = to_column(ttl_ms.min(LONGEST_LEASE));
    let Some(row) = query_opt(client, &sql, &[&key, &owner, &ttl]).await? else {
        return Ok(None);
    };
    Ok(Some(Lease { owner: owner.to_owned(), token: from_column(row.try_get(0)?) }))
}

/// Releases a lease.
pub(super) async fn give_back(
    client: &Transaction<'_>,
    name: &SessionName,
    owner: &str,
) -> PostgresResult<()> {
    if name.id.contains('\0') || owner.contains('\0') {
        return Ok(());
    }
    Ok(execute(client, RELEASE_LEASE, &[&name.id, &name.tenant, &owner]).await?)
}
