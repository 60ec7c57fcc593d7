//! Leases, by the machine's clock, which all processes that can open the file share.

use rusqlite::{Connection, OptionalExtension as _};

use super::{SqliteResult, session};
use crate::LONGEST_LEASE;
use crate::record::Lease;
use crate::sql::RELEASE_LEASE;
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// SQLite's clock, in milliseconds.
pub(super) const NOW: &str = "CAST(unixepoch('subsec') * 1000 AS INTEGER)";

/// Takes or renews a lease.
pub(super) fn take(
    connection: &Connection,
    name: &SessionName,
    owner: String,
    ttl_ms: u64,
) -> SqliteResult<Option<Lease>> {
    let key = session::find_key(connection, name)?;
    let sql = format!(
        "INSERT INTO leases (session, owner, token, expires) VALUES (?1, ?2, 1, {NOW} + ?3) \
         ON CONFLICT (session) DO UPDATE SET owner = excluded.owner, expires = excluded.expires, \
         token = CASE WHEN leases.owner = excluded.owner THEN leases.token ELSE leases.token + 1 END \
         WHERE leases.owner IS NULL OR leases.owner = excluded.owner OR leases.expires <= {NOW} \
         OR leases.expires > {NOW} + {LONGEST_LEASE} RETURNING token"
    );
    let values = (key, &owner, to_column(ttl_ms.min(LONGEST_LEASE)));
    let token = connection.prepare_cached(&sql)?.query_row(values, |row| row.get(0)).optional()?;
    Ok(token.map(|token| Lease { owner, token: from_column(token) }))
}

/// Releases a lease.
pub(super) fn give_back(connection: &Connection, name: &SessionName, owner: &str) -> SqliteResult<()> {
    connection.prepare_cached(RELEASE_LEASE)?.execute((&name.id, &name.tenant, owner))?;
    Ok(())
}
