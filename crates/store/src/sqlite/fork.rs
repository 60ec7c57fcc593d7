//! Forking a session.

use rusqlite::{Connection, OptionalExtension as _};

use super::{SqliteResult, session};
use crate::error::StoreError;
use crate::prepared_commit::check_branch;
use crate::record::{Fork, SessionRow};
use crate::sql::{BREAK_SEALS, FORK_MESSAGES, FORK_OPERATIONS, FORK_SESSION};
use crate::tenant::SessionName;
use crate::validation::to_column;

/// Copies the session within a transaction. The copy refers to the same bodies.
pub(super) fn carry_out(connection: &Connection, from: &SessionName, fork: Fork) -> SqliteResult<SessionRow> {
    let head = session::find_head(connection, from)?;
    check_branch(&from.id, &fork, &head)?;
    let values = (&fork.id, &fork.title, fork.time, head.key);
    let made = connection.prepare_cached(FORK_SESSION)?.query_row(values, |row| row.get::<_, i64>(0));
    let Some(key) = made.optional()? else {
        return Err(StoreError::SessionExists { id: fork.id }.into());
    };
    // Before the messages, which refer to operations.
    connection.prepare_cached(FORK_OPERATIONS)?.execute((key, head.key))?;
    connection.prepare_cached(FORK_MESSAGES)?.execute((key, head.key, to_column(fork.at)))?;
    if !head.is_sealed {
        connection.prepare_cached(BREAK_SEALS)?.execute([key])?;
    }
    session::find(connection, &SessionName { tenant: from.tenant.clone(), id: fork.id })
}
