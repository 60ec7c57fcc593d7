//! Which values both databases can store. What one of them cannot store, neither accepts: a session that works in a
//! file must work on a server.

use crate::body::LARGEST;
use crate::error::StoreError;
use crate::record::{Forget, Fork, NewSession, SessionCursor};

/// Ids are indexed, and a PostgreSQL index entry holds at most 2,704 bytes.
const LONGEST_ID: usize = 1024;

/// Refuses a text that cannot be stored.
pub(crate) fn check_text(what: &'static str, text: &str) -> Result<(), StoreError> {
    if text.contains('\0') {
        return Err(StoreError::Unfit {
            what,
            why: "it contains a NUL character; JSON writes that as \\u0000",
        });
    }
    check_size(what, text.len())
}

/// Refuses a value that is too large for a database.
pub(crate) fn check_size(what: &'static str, size: usize) -> Result<(), StoreError> {
    if size > LARGEST {
        return Err(StoreError::Unfit { what, why: "it is larger than 256 MiB" });
    }
    Ok(())
}

/// Refuses an id that cannot be stored.
pub(crate) fn check_id(what: &'static str, id: &str) -> Result<(), StoreError> {
    if id.len() > LONGEST_ID {
        return Err(StoreError::Unfit { what, why: "it is longer than 1,024 bytes" });
    }
    check_text(what, id)
}

/// The ids that a store can contain; looking for others is pointless.
pub(crate) fn findable(ids: &[String]) -> Vec<&str> {
    let fits = |id: &&str| check_id("the id of a message", id).is_ok();
    ids.iter().map(String::as_str).filter(fits).collect()
}

/// Refuses a session that cannot be stored.
pub(crate) fn check_session(session: &NewSession) -> Result<(), StoreError> {
    check_id("the id of a session", &session.id)?;
    check_text("the wire of a session", &session.wire)?;
    check_text("the profile of a session", &session.profile)?;
    check_text("the title of a session", session.title.as_deref().unwrap_or_default())?;
    check_text("the envelope of a session", &session.envelope)?;
    check_text("the state of a session", &session.state)
}

/// Refuses a fork that cannot be stored.
pub(crate) fn check_fork(fork: &Fork) -> Result<(), StoreError> {
    check_id("the id of a session", &fork.id)?;
    check_text("the title of a session", fork.title.as_deref().unwrap_or_default())
}

/// Refuses to leave texts that cannot be stored.
pub(crate) fn check_forget(forget: &Forget) -> Result<(), StoreError> {
    for left in &forget.facts {
        check_text("the facts of a message", &left.facts)?;
        check_text("the cuts of a message", &left.cuts)?;
    }
    forget.operations.iter().try_for_each(|(_, data)| check_text("the data of an operation", data))
}

/// The position before all sessions, least recently used first.
pub(crate) fn first_session() -> SessionCursor {
    SessionCursor { updated: i64::MIN, id: String::new() }
}

/// Converts a number for a column. A number too large for a column matches no row.
pub(crate) fn to_column(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Converts a number from a column.
pub(crate) fn from_column(number: i64) -> u64 {
    u64::try_from(number).unwrap_or_default()
}

/// Converts a limit for SQL.
pub(crate) fn to_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
