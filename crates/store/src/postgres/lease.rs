//! Leases, by the clock of the server: all machines that can reach it share it.

use deadpool_postgres::Object;

use super::{PostgresError, session};
use crate::record::Lease;
use crate::validation::{from_column, to_column};

/// The server's clock, in milliseconds.
pub(super) const NOW: &str = "(EXTRACT(EPOCH FROM clock_timestamp()) * 1000)::bigint";

/// Takes or renews a lease.
pub(super) async fn take(
    client: &Object,
    id: &str,
    owner: &str,
    ttl_ms: u64,
) -> Result<Option<Lease>, PostgresError> {
    let key = session::find_key(client, id).await?;
    // The clock is read again after waiting for others: the time to live begins when the lease is taken.
    let sql = format!(
        "INSERT INTO leases (session, owner, token, expires) VALUES ($1, $2, 1, {NOW} + $3) \
         ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, expires = {NOW} + $3, \
         token = CASE WHEN leases.owner = excluded.owner THEN leases.token ELSE leases.token + 1 END \
         WHERE leases.owner IS NULL OR leases.owner = excluded.owner OR leases.expires <= {NOW} RETURNING token"
    );
    let statement = client.prepare_cached(&sql).await?;
    let ttl = to_column(ttl_ms.min(crate::LONGEST_LEASE));
    let Some(row) = client.query_opt(&statement, &[&key, &owner, &ttl]).await? else {
        return Ok(None);
    };
    Ok(Some(Lease { owner: owner.to_owned(), token: from_column(row.try_get(0)?) }))
}

/// Gives a lease back. Its row stays, so that tokens only grow.
pub(super) async fn give_back(client: &Object, id: &str, owner: &str) -> Result<(), PostgresError> {
    if id.contains('\0') || owner.contains('\0') {
        return Ok(());
    }
    let sql = "UPDATE leases SET owner = NULL WHERE owner = $2 \
               AND session = (SELECT key FROM sessions WHERE id = $1)";
    let statement = client.prepare_cached(sql).await?;
    client.execute(&statement, &[&id, &owner]).await?;
    Ok(())
}
