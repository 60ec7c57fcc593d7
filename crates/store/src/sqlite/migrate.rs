//! Migrates a database to the newest schema, step by step.

use rusqlite::{Connection, OptionalExtension as _, TransactionBehavior};

use super::SqliteResult;
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
pub(super) const KNOWN: u32 = STEPS.len() as u32;

/// Marks the file as ours in its header: "secS".
pub(super) const OWNER: i32 = 0x7365_6353;

/// Refuses a database of another program.
pub(super) fn check_owner(connection: &Connection) -> SqliteResult<()> {
    let owner: i32 = connection.pragma_query_value(None, "application_id", |row| row.get(0))?;
    let made = "SELECT EXISTS (SELECT * FROM sqlite_master)";
    if owner != OWNER && connection.query_row(made, [], |row| row.get(0))? {
        let source = "the file is a database of another program".into();
        return Err(StoreError::Database { doing: "cannot open the store", source }.into());
    }
    Ok(())
}

/// Runs the missing steps, all or none. One of several processes runs them, the others wait.
pub(super) fn migrate(connection: &mut Connection) -> SqliteResult<()> {
    if missing_steps(connection)?.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in missing_steps(&transaction)? {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "application_id", OWNER)?;
    transaction.pragma_update(None, "user_version", KNOWN)?;
    Ok(transaction.commit()?)
}

/// Makes the tables of a schema in an empty database.
pub(super) fn make(connection: &Connection, schema: u32) -> SqliteResult<()> {
    for step in STEPS.iter().take(schema as usize) {
        connection.execute_batch(step)?;
    }
    connection.pragma_update(None, "application_id", OWNER)?;
    Ok(connection.pragma_update(None, "user_version", schema)?)
}

/// The key of the store's handles; none if it is damaged, which must not make all else unusable.
pub(super) fn handle_key(connection: &Connection) -> SqliteResult<Option<[u8; 32]>> {
    let key: Option<Vec<u8>> =
        connection.query_row("SELECT key FROM handle_key", [], |row| row.get(0)).optional()?;
    Ok(key.and_then(|key| key.try_into().ok()))
}

/// Writes the schema's number again, which changes nothing but a page of the file.
pub(super) fn write_version(connection: &Connection) -> SqliteResult<()> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(connection.pragma_update(None, "user_version", found)?)
}

/// The steps that a database lacks. Refuses one that a newer version has migrated.
pub(super) fn missing_steps(connection: &Connection) -> SqliteResult<&'static [&'static str]> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let missing = usize::try_from(found).ok().and_then(|found| STEPS.get(found..));
    missing.ok_or_else(|| StoreError::Newer { found, known: KNOWN }.into())
}
