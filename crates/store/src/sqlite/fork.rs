//! Forking a session.

use rusqlite::Connection;

use super::{SqliteResult, session};
use crate::error::StoreError;
use crate::prepared_commit::check_branch;
use crate::record::{Fork, SessionRow};
use crate::validation::to_column;

const SESSION: &str = "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, live_from, \
                       last_operation, last_event, created, updated) \
                       SELECT ?2, dialect, profile, ?3, frame, state, 0, head, live_from, last_operation, 0, ?4, ?4 \
                       FROM sessions WHERE key = ?1 ON CONFLICT (id) DO NOTHING";
const OPERATIONS: &str = "INSERT INTO operations (session, number, kind, time, undone, data) \
                          SELECT ?2, number, kind, time, undone, data FROM operations WHERE session = ?1";
const MESSAGES: &str = "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, shown, facts, \
                        cuts) \
                        SELECT ?2, seq, id, operation, pinned, hidden, time, body, shown, facts, cuts FROM messages \
                        WHERE session = ?1 AND (seq <= ?3 OR operation IS NOT NULL)";

/// Copies the session within a transaction. The copy refers to the same bodies.
pub(super) fn carry_out(connection: &Connection, from: &str, fork: Fork) -> SqliteResult<SessionRow> {
    let head = session::find_head(connection, from)?;
    check_branch(from, &fork, &head)?;
    let values = (head.key, &fork.id, &fork.title, fork.time);
    if connection.prepare_cached(SESSION)?.execute(values)? == 0 {
        return Err(StoreError::SessionExists { id: fork.id }.into());
    }
    let key = session::find_key(connection, &fork.id)?;
    // Before the messages, which refer to operations.
    connection.prepare_cached(OPERATIONS)?.execute((head.key, key))?;
    connection.prepare_cached(MESSAGES)?.execute((head.key, key, to_column(fork.at)))?;
    session::find(connection, &fork.id)
}
