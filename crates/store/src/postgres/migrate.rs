//! Migrates a database to the newest schema, step by step.

use deadpool_postgres::{GenericClient, Object, Transaction};

use super::PostgresResult;
use super::row_access::{ALL_ROWS, show_rows_of};
use super::statement::execute;
use crate::error::StoreError;

/// The first step creates schema 1, the second turns it into schema 2, and so on. A released step is never changed
/// and only adds: processes of the previous version keep using the tables.
const STEPS: [&str; 7] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
    include_str!("schema/7.sql"),
];

/// The newest schema.
pub(super) const KNOWN: i32 = STEPS.len() as i32;

/// The advisory lock that a process holds during a migration: "secateur" in ASCII.
const LOCK: i64 = 0x7365_6361_7465_7572;

/// Runs the missing steps, all or none. One of several processes runs them, the others wait. Returns the key of the
/// store's handles; none if it is damaged, which must not make all else unusable.
pub(super) async fn migrate(client: &mut Object) -> PostgresResult<Option<[u8; 32]>> {
    run_steps(client).await?;
    let key = client.query_opt("SELECT key FROM handle_key", &[]).await?;
    let key: Option<Vec<u8>> = key.map(|row| row.try_get(0)).transpose()?;
    Ok(key.and_then(|key| key.try_into().ok()))
}

async fn run_steps(client: &mut Object) -> PostgresResult<()> {
    let made = client.query_one("SELECT to_regclass('secateur_schema') IS NOT NULL", &[]).await?;
    if made.try_get(0)? && missing_steps(&*client).await?.is_empty() {
        return Ok(());
    }
    let transaction = client.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    // Steps are for the rows of all tenants.
    show_rows_of(&transaction, ALL_ROWS).await?;
    // The table is not looked up by name again: the server would answer from its cache.
    let make = "CREATE TABLE IF NOT EXISTS secateur_schema (version integer NOT NULL)";
    transaction.batch_execute(make).await?;
    for step in missing_steps(&transaction).await? {
        transaction.batch_execute(step).await?;
    }
    transaction.batch_execute("DELETE FROM secateur_schema").await?;
    transaction.execute("INSERT INTO secateur_schema (version) VALUES ($1)", &[&KNOWN]).await?;
    Ok(transaction.commit().await?)
}

/// Writes the schema's number again, which changes nothing.
pub(super) async fn write_version(transaction: &Transaction<'_>) -> PostgresResult<()> {
    Ok(execute(transaction, "UPDATE secateur_schema SET version = version", &[]).await?)
}

async fn missing_steps(client: &impl GenericClient) -> PostgresResult<&'static [&'static str]> {
    let version = client.query_opt("SELECT version FROM secateur_schema", &[]).await?;
    let found: i32 = version.map(|row| row.try_get(0)).transpose()?.unwrap_or_default();
    let found = u32::try_from(found).unwrap_or_default();
    let missing = usize::try_from(found).ok().and_then(|found| STEPS.get(found..));
    missing.ok_or_else(|| StoreError::Newer { found, known: KNOWN.unsigned_abs() }.into())
}
