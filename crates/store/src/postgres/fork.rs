//! Forking a session.
//!
//! The session's row is locked, so its bodies stay: a writer that wants to delete one looks again after locking it,
//! and finds the reference.

use deadpool_postgres::Object;
use tokio_postgres::IsolationLevel;

use super::statement::{execute, query_opt};
use super::{PostgresResult, session};
use crate::error::StoreError;
use crate::prepared_commit::check_branch;
use crate::record::{Fork, SessionRow};
use crate::validation::to_column;

const SESSION: &str = "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, live_from, \
                       last_operation, last_event, created, updated) \
                       SELECT $2::text, dialect, profile, $3::text, frame, state, 0, head, live_from, \
                       last_operation, 0, $4::bigint, $4::bigint \
                       FROM sessions WHERE key = $1 ON CONFLICT (id) DO NOTHING RETURNING key";
const OPERATIONS: &str = "INSERT INTO operations (session, number, kind, time, undone, data) \
                          SELECT $2::bigint, number, kind, time, undone, data FROM operations WHERE session = $1";
const MESSAGES: &str = "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, shown, facts, \
                        cuts) \
                        SELECT $2::bigint, seq, id, operation, pinned, hidden, time, body, shown, facts, cuts \
                        FROM messages WHERE session = $1 AND (seq <= $3 OR operation IS NOT NULL)";

/// Copies the session in its own transaction. The copy refers to the same bodies.
pub(super) async fn carry_out(client: &mut Object, from: &str, fork: &Fork) -> PostgresResult<SessionRow> {
    let builder = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted);
    let transaction = builder.start().await?;
    let head = session::find_head(&transaction, from).await?;
    check_branch(from, fork, &head)?;
    let made = query_opt(&transaction, SESSION, &[&head.key, &fork.id, &fork.title, &fork.time]).await?;
    let Some(made) = made else {
        return Err(StoreError::SessionExists { id: fork.id.clone() }.into());
    };
    let key: i64 = made.try_get(0)?;
    // Before the messages, which refer to operations.
    execute(&transaction, OPERATIONS, &[&head.key, &key]).await?;
    execute(&transaction, MESSAGES, &[&head.key, &key, &to_column(fork.at)]).await?;
    let session = session::find(&transaction, &fork.id).await?;
    transaction.commit().await?;
    Ok(session)
}
