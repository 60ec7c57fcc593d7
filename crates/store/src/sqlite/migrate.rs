//! Migrates a database to the newest schema, step by step.

use rusqlite::{Connection, TransactionBehavior};

use super::SqliteResult;
use crate::error::StoreError;

/// The first step creates schema 1, the second turns it into schema 2, and so on. A released step is never changed
/// and only adds: processes of the previous version keep using the tables.
const STEPS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
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

fn missing_steps(connection: &Connection) -> SqliteResult<&'static [&'static str]> {
    let found: u32 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let missing = usize::try_from(found).ok().and_then(|found| STEPS.get(found..));
    missing.ok_or_else(|| StoreError::Newer { found, known: KNOWN }.into())
}
