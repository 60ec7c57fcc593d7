//! The statements that both databases understand, and how their rows are read.
//!
//! Parameters are written `$1`, `$2` and so on, and first appear in that order: PostgreSQL counts them by their number,
//! SQLite by their first appearance.

/// The columns of a session, as [`session_row!`] reads them.
pub(crate) const SESSION_COLUMNS: &str = "id, dialect, profile, title, frame, state, revision, head, live_from, \
                                          last_operation, last_event, created, updated";

/// The key of a session, by id.
pub(crate) const SESSION_KEY: &str = "SELECT key FROM sessions WHERE id = $1";

/// A message with the body that is shown, as [`stored_message!`] reads it. The body is in three columns from [`BODY_AT`] on.
pub(crate) const SHOWN_MESSAGES: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts, encoding, size, bytes \
     FROM messages LEFT JOIN bodies ON digest = COALESCE(shown, body)";

/// Where the body begins in [`SHOWN_MESSAGES`].
pub(crate) const BODY_AT: usize = 8;

/// Messages after a number, without their bodies.
pub(crate) const MESSAGE_FACTS: &str = "SELECT seq, id, operation, pinned, hidden, time, facts, cuts FROM messages \
                                        WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3";

/// Operations after a number, as [`operation_row!`] reads them.
pub(crate) const OPERATIONS: &str = "SELECT number, kind, time, undone, data FROM operations \
                                     WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

/// Events after a number, as [`event_row!`] reads them.
pub(crate) const EVENTS: &str =
    "SELECT number, time, data FROM events WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

/// What a commit changes in its session.
pub(crate) const UPDATE_SESSION: &str = "UPDATE sessions SET revision = $1, head = $2, last_operation = $3, last_event = $4, \
     updated = $5, live_from = COALESCE($6, live_from), state = COALESCE($7, state), frame = COALESCE($8, frame) \
     WHERE key = $9";

/// What forgetting originals changes in a session.
pub(crate) const UPDATE_REVISION: &str = "UPDATE sessions SET revision = $1, updated = $2 WHERE key = $3";

/// Releases a lease, but keeps its row, so that tokens only grow.
pub(crate) const RELEASE_LEASE: &str = "UPDATE leases SET owner = NULL \
                                        WHERE session = (SELECT key FROM sessions WHERE id = $1) AND owner = $2";

/// Copies a session under a new id and title, with a new time.
pub(crate) const FORK_SESSION: &str = "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, \
     live_from, last_operation, last_event, created, updated) \
     SELECT CAST($1 AS text), dialect, profile, CAST($2 AS text), frame, state, 0, head, live_from, last_operation, 0, \
     CAST($3 AS bigint), CAST($3 AS bigint) FROM sessions WHERE key = $4 ON CONFLICT (id) DO NOTHING RETURNING key";

/// Copies the operations of one session to another.
pub(crate) const FORK_OPERATIONS: &str = "INSERT INTO operations (session, number, kind, time, undone, data) \
     SELECT CAST($1 AS bigint), number, kind, time, undone, data FROM operations WHERE session = $2";

/// Copies the messages of one session up to a number, and all that operations made, to another.
pub(crate) const FORK_MESSAGES: &str = "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, \
     shown, facts, cuts) \
     SELECT CAST($1 AS bigint), seq, id, operation, pinned, hidden, time, body, shown, facts, cuts FROM messages \
     WHERE session = $2 AND (seq <= $3 OR operation IS NOT NULL)";

/// Lists sessions, most recently changed first.
pub(crate) fn list_sessions() -> String {
    format!("SELECT {SESSION_COLUMNS} FROM sessions ORDER BY updated DESC, id DESC LIMIT $1")
}

/// Lists the sessions after a cursor.
pub(crate) fn list_sessions_after() -> String {
    format!(
        "SELECT {SESSION_COLUMNS} FROM sessions WHERE (updated, id) < ($1, $2) \
         ORDER BY updated DESC, id DESC LIMIT $3"
    )
}

/// Reads one session by id.
pub(crate) fn find_session() -> String {
    format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = $1")
}

/// Reads a session from the columns [`SESSION_COLUMNS`]; `$get` is the method of the row that reads a column.
macro_rules! session_row {
    ($row:ident.$get:ident) => {
        $crate::record::SessionRow {
            id: $row.$get(0)?,
            wire: $row.$get(1)?,
            profile: $row.$get(2)?,
            title: $row.$get(3)?,
            envelope: $row.$get(4)?,
            state: $row.$get(5)?,
            revision: $crate::validation::from_column($row.$get(6)?),
            head: $crate::validation::from_column($row.$get(7)?),
            live_from: $crate::validation::from_column($row.$get(8)?),
            last_operation: $crate::validation::from_column($row.$get(9)?),
            last_event: $crate::validation::from_column($row.$get(10)?),
            created: $row.$get(11)?,
            updated: $row.$get(12)?,
        }
    };
}

/// Reads a message without its body.
macro_rules! stored_message {
    ($row:ident.$get:ident) => {
        $crate::record::StoredMessage {
            seq: $crate::validation::from_column($row.$get(0)?),
            id: $row.$get(1)?,
            operation: $row.$get::<_, Option<i64>>(2)?.map($crate::validation::from_column),
            pinned: $row.$get(3)?,
            hidden: $row.$get(4)?,
            time: $row.$get(5)?,
            facts: $row.$get(6)?,
            cuts: $row.$get(7)?,
            body: Vec::new(),
        }
    };
}

/// Reads an operation.
macro_rules! operation_row {
    ($row:ident.$get:ident) => {
        $crate::record::OperationRow {
            number: $crate::validation::from_column($row.$get(0)?),
            kind: $row.$get(1)?,
            time: $row.$get(2)?,
            undone: $row.$get(3)?,
            data: $row.$get(4)?,
        }
    };
}

/// Reads an event.
macro_rules! event_row {
    ($row:ident.$get:ident) => {
        $crate::record::EventRow {
            number: $crate::validation::from_column($row.$get(0)?),
            time: $row.$get(1)?,
            data: $row.$get(2)?,
        }
    };
}

/// Reads a message that was found by its id.
macro_rules! found_message {
    ($row:ident.$get:ident) => {
        $crate::record::FoundMessage {
            id: $row.$get(0)?,
            session: $row.$get(1)?,
            seq: $crate::validation::from_column($row.$get(2)?),
            head: $crate::validation::from_column($row.$get(3)?),
            updated: $row.$get(4)?,
        }
    };
}

/// Reads a message to erase.
macro_rules! erasure_candidate {
    ($row:ident.$get:ident) => {
        $crate::erasure::ErasureCandidate {
            seq: $row.$get(0)?,
            pinned: $row.$get(1)?,
            hidden: $row.$get(2)?,
            body: $row.$get(3)?,
            shown: $row.$get(4)?,
            size: $row.$get(5)?,
        }
    };
}

pub(crate) use {erasure_candidate, event_row, found_message, operation_row, session_row, stored_message};
