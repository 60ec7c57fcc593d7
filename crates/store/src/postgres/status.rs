//! What a server says about a store before it is opened: whether it can be used, and of which schema its tables are.
//!
//! Opening a store makes its tables or brings them up to date. Whoever only wants to know whether that will work asks in
//! a transaction that can only read.

use std::time::{Duration, SystemTime};

use tokio::time::timeout;
use tokio_postgres::Config;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::migrate::KNOWN;
use super::{PostgresError, lease};
use crate::address::StoreAddress;
use crate::error::StoreError;

/// How long the server may take for everything.
const PATIENCE: Duration = Duration::from_secs(8);

/// What a server says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its version, such as 17.2.
    pub version: String,
    /// The schema of the tables; none if there are none yet.
    pub schema: Option<u32>,
    /// The newest schema that this version knows.
    pub known: u32,
    /// Nothing can be written: it is a copy of another server, or set so.
    pub is_read_only: bool,
    /// The user may make tables where they are looked for.
    pub may_make_tables: bool,
    /// The user may read and write the tables there are.
    pub may_write: bool,
    /// By how many milliseconds this machine's clock is ahead of the server's; negative if it is behind.
    pub ahead_ms: i64,
}

/// Asks a server about the store at a URL. Nothing is changed there.
pub async fn server_status(url: &str) -> Result<ServerStatus, StoreError> {
    let StoreAddress::Postgres(server) = StoreAddress::read(url)? else {
        return Err(StoreError::database("cannot ask the server")("the store is not on a server"));
    };
    let connector = server.tls.connector()?;
    match timeout(PATIENCE, ask(&server.config, connector)).await {
        Ok(answer) => answer.map_err(|failure| failure.while_doing("cannot ask the server")),
        Err(_) => Err(StoreError::database("cannot ask the server")("it did not answer in time")),
    }
}

async fn ask(config: &Config, connector: MakeRustlsConnect) -> Result<ServerStatus, PostgresError> {
    let (mut client, connection) = config.connect(connector).await?;
    // It ends when the client is dropped.
    tokio::spawn(connection);
    let transaction = client.build_transaction().read_only(true).start().await?;
    // The first question may have to wait for all kinds of things, the second only for the way there and back.
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
    Ok(ServerStatus {
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
