//! What a server says about a store before it is opened: whether it is usable, and which schema it has.
//!
//! Opening a store creates or migrates its tables. This asks in a read-only transaction whether that will work.

use std::time::{Duration, SystemTime};

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::migrate::KNOWN;
use super::{PostgresResult, lease};
use crate::address::StoreAddress;
use crate::error::StoreError;
use crate::validation::from_column;

/// The time limit for all queries together.
const PATIENCE: Duration = Duration::from_secs(8);

/// The state of a store on a server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its version, such as 17.2.
    pub version: String,
    /// The schema of the tables; none if there are no tables yet.
    pub schema: Option<u32>,
    /// The newest schema that this version supports.
    pub known: u32,
    /// Nothing can be written: the server is a replica, or configured so.
    pub is_read_only: bool,
    /// The user may create tables in the schema that would be used.
    pub may_make_tables: bool,
    /// The user may read and write the existing tables.
    pub may_write: bool,
    /// The bytes of the tables, with their indexes.
    pub bytes: u64,
    /// How many milliseconds this machine's clock is ahead of the server's; negative if it is behind.
    pub ahead_ms: i64,
}

/// Inspects the store at a URL without changing it.
pub async fn server_status(url: &str) -> Result<ServerStatus, StoreError> {
    let StoreAddress::Postgres(server) = StoreAddress::read(url)? else {
        return Err(StoreError::database("cannot inspect the server")("the store is not on a server"));
    };
    let connector = server.tls.connector()?;
    match timeout(PATIENCE, inspect(&server.config, connector)).await {
        Ok(result) => result.map_err(|failure| failure.while_doing("cannot inspect the server")),
        Err(_) => Err(StoreError::database("cannot inspect the server")("it did not respond in time")),
    }
}

async fn inspect(config: &Config, connector: MakeRustlsConnect) -> PostgresResult<ServerStatus> {
    let (mut client, connection) = config.connect(connector).await?;
    // It ends when the client is dropped.
    tokio::spawn(connection);
    let transaction = client.build_transaction().read_only(true).start().await?;
    // The first query may include other delays; the second measures only the round trip.
    let facts = "SELECT split_part(current_setting('server_version'), ' ', 1), pg_is_in_recovery() \
                 OR current_setting('default_transaction_read_only') = 'on', \
                 COALESCE(has_schema_privilege(current_schema(), 'CREATE'), FALSE), \
                 to_regclass('secateur_schema') IS NOT NULL, \
                 COALESCE((SELECT bool_and(has_table_privilege(to_regclass('sessions')::oid, wanted)) \
                 FROM UNNEST(ARRAY['SELECT', 'INSERT', 'UPDATE']) AS wanted), TRUE)";
    let facts = transaction.query_one(facts, &[]).await?;
    let clock = transaction.prepare(&format!("SELECT {}", lease::NOW)).await?;
    let before = now_ms();
    let theirs: i64 = transaction.query_one(&clock, &[]).await?.try_get(0)?;
    let ours = before.midpoint(now_ms());
    let schema = if facts.try_get(3)? {
        let version = transaction.query_opt("SELECT version FROM secateur_schema", &[]).await?;
        version.map(|row| row.try_get::<_, i32>(0)).transpose()?
    } else {
        None
    };
    let tables = ["bodies", "clippings", "events", "leases", "messages", "operations", "sessions"];
    let bytes = "SELECT COALESCE(SUM(pg_total_relation_size(to_regclass(name))), 0)::bigint \
                 FROM UNNEST($1::text[]) AS name";
    let bytes = transaction.query_one(bytes, &[&&tables[..]]).await?.try_get(0)?;
    Ok(ServerStatus {
        bytes: from_column(bytes),
        version: facts.try_get(0)?,
        schema: schema.and_then(|schema| u32::try_from(schema).ok()),
        known: KNOWN.unsigned_abs(),
        is_read_only: facts.try_get(1)?,
        may_make_tables: facts.try_get(2)?,
        may_write: facts.try_get(4)?,
        ahead_ms: ours.saturating_sub(theirs),
    })
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
