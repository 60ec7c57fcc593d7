//! Forking a session.
//!
//! The session's row is locked, so its bodies stay: a writer that wants to delete one looks again after locking it,
//! and finds the reference.

use deadpool_postgres::Transaction;

use super::statement::{execute, query_opt};
use super::{PostgresResult, session};
use crate::error::StoreError;
use crate::prepared_commit::check_branch;
use crate::record::{Fork, SessionRow};
use crate::sql::{BREAK_SEALS, FORK_MESSAGES, FORK_OPERATIONS, FORK_SESSION};
use crate::tenant::SessionName;
use crate::validation::to_column;

/// Copies the session within a transaction. The copy refers to the same bodies.
pub(super) async fn carry_out(
    transaction: &Transaction<'_>,
    from: &SessionName,
    fork: &Fork,
) -> PostgresResult<SessionRow> {
    let head = session::find_head(transaction, from).await?;
    check_branch(&from.id, fork, &head)?;
    let made = query_opt(transaction, FORK_SESSION, &[&fork.id, &fork.title, &fork.time, &head.key]).await?;
    let Some(made) = made else {
        return Err(StoreError::SessionExists { id: fork.id.clone() }.into());
    };
    let key: i64 = made.try_get(0)?;
    // Before the messages, which refer to operations.
    execute(transaction, FORK_OPERATIONS, &[&key, &head.key]).await?;
    execute(transaction, FORK_MESSAGES, &[&key, &head.key, &to_column(fork.at)]).await?;
    if !head.is_sealed {
        execute(transaction, BREAK_SEALS, &[&key]).await?;
    }
    session::find(transaction, &SessionName { tenant: from.tenant.clone(), id: fork.id.clone() }).await
}
