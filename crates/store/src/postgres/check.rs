//! Checks the rows of a store on a server, in one read-only transaction. The server itself keeps references whole.

use tokio_postgres::{IsolationLevel, Row, Transaction};

use super::PostgresResult;
use super::body::read_packed;
use super::driver_error::DriverError;
use super::migrate::KNOWN;
use crate::address::ServerAddress;
use crate::backend_error::BackendError;
use crate::check::{CheckWork, StoreReport};
use crate::error::StoreError;
use crate::sql::stored_row;

/// How many rows are read at once, and how many bodies.
const PAGE: i32 = 500;
const BODIES: i32 = 16;

/// Checks the store on a server without changing it.
pub(crate) async fn check(server: &ServerAddress, work: CheckWork) -> Result<StoreReport, StoreError> {
    let connector = server.tls.connector()?;
    let checked = async {
        let (mut client, connection) = server.config.connect(connector).await?;
        // It ends when the client is dropped.
        tokio::spawn(connection);
        let builder =
            client.build_transaction().read_only(true).isolation_level(IsolationLevel::RepeatableRead);
        check_rows(&builder.start().await?, work).await
    };
    checked.await.map_err(|failure: BackendError<DriverError>| failure.while_doing("cannot check the store"))
}

async fn check_rows(client: &Transaction<'_>, mut work: CheckWork) -> PostgresResult<StoreReport> {
    let version = client.query_opt("SELECT to_regclass('secateur_schema') IS NOT NULL", &[]).await?;
    if !version.map(|row| row.try_get(0)).transpose()?.unwrap_or(false) {
        return Ok(work.report);
    }
    let found = client.query_opt("SELECT version FROM secateur_schema", &[]).await?;
    let schema: i32 = found.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    if schema > KNOWN {
        let (found, known) = (schema.unsigned_abs(), KNOWN.unsigned_abs());
        return Err(StoreError::Newer { found, known }.into());
    }
    sessions(client, &mut work).await?;
    messages(client, schema, &mut work).await?;
    bodies(client, &mut work).await?;
    records(client, &mut work).await?;
    if schema >= 4 {
        clippings(client, &mut work).await?;
    }
    work.is_over();
    Ok(work.report)
}

/// Runs a query with a cursor, page by page.
async fn pages(
    client: &Transaction<'_>,
    sql: &str,
    size: i32,
    mut each: impl FnMut(&Row) -> PostgresResult<bool>,
) -> PostgresResult<()> {
    let statement = client.prepare(sql).await?;
    let portal = client.bind(&statement, &[]).await?;
    loop {
        let rows = client.query_portal(&portal, size).await?;
        for row in &rows {
            if !each(row)? {
                return Ok(());
            }
        }
        if rows.is_empty() {
            return Ok(());
        }
    }
}

async fn sessions(client: &Transaction<'_>, work: &mut CheckWork) -> PostgresResult<()> {
    let check = |row: &Row| {
        let (id, state, frame): (String, String, String) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        work.session(&id, [("state", &state), ("envelope", &frame)]);
        Ok(!work.is_over())
    };
    pages(client, "SELECT id, state, frame FROM sessions", PAGE, check).await
}

async fn messages(client: &Transaction<'_>, schema: i32, work: &mut CheckWork) -> PostgresResult<()> {
    let (seal, sealed) = if schema < 5 { ("NULL::bytea", "FALSE") } else { ("seal", "sealed = revision") };
    let sql = format!(
        "SELECT m.seq, m.id, m.operation, m.pinned, m.hidden, m.time, m.facts, m.cuts, m.body, m.shown, {seal}, s.id, \
         {sealed} FROM messages m JOIN sessions s ON s.key = m.session"
    );
    let check = |row: &Row| {
        let id: String = row.try_get(11)?;
        work.message(Some((&id, row.try_get(12)?)), &stored_row!(row.try_get));
        Ok(!work.is_over())
    };
    pages(client, &sql, PAGE, check).await
}

async fn bodies(client: &Transaction<'_>, work: &mut CheckWork) -> PostgresResult<()> {
    let mut damaged: Vec<(Vec<u8>, &'static str)> = Vec::new();
    let check = |row: &Row| {
        let digest: Vec<u8> = row.try_get(0)?;
        if let Some(packed) = read_packed(row, 1)?
            && let Err(why) = work.body(&digest, packed)
        {
            damaged.push((digest, why));
        }
        Ok(!work.is_over())
    };
    pages(client, "SELECT digest, encoding, size, bytes FROM bodies", BODIES, check).await?;
    let sql = "SELECT s.id, m.seq FROM messages m JOIN sessions s ON s.key = m.session \
               WHERE m.body = $1 OR m.shown = $1";
    for (digest, why) in damaged {
        for row in client.query(sql, &[&digest]).await? {
            work.body_of(row.try_get(0)?, row.try_get(1)?, why);
        }
    }
    Ok(())
}

async fn records(client: &Transaction<'_>, work: &mut CheckWork) -> PostgresResult<()> {
    for (table, what) in [("operations", "operation"), ("events", "event")] {
        let sql =
            format!("SELECT s.id, r.number, r.data FROM {table} r JOIN sessions s ON s.key = r.session");
        let check = |row: &Row| {
            work.record(row.try_get(0)?, what, row.try_get(1)?, row.try_get(2)?);
            Ok(!work.is_over())
        };
        pages(client, &sql, PAGE, check).await?;
    }
    Ok(())
}

async fn clippings(client: &Transaction<'_>, work: &mut CheckWork) -> PostgresResult<()> {
    let sql = "SELECT c.handle, c.part, (SELECT m.facts FROM messages m WHERE m.body = c.body LIMIT 1) FROM clippings c";
    let check = |row: &Row| {
        let facts: Option<String> = row.try_get(2)?;
        work.clipping(row.try_get(0)?, row.try_get(1)?, facts.as_deref());
        Ok(!work.is_over())
    };
    pages(client, sql, PAGE, check).await
}
