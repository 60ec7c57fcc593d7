//! The statements that both databases understand, and how their rows are read.
//!
//! Parameters are written `$1`, `$2` and so on, and first appear in that order: PostgreSQL counts them by their number,
//! SQLite by their first appearance.

/// The columns of a session, as [`session_row!`] reads them.
pub(crate) const SESSION_COLUMNS: &str = "id, dialect, profile, title, frame, state, revision, head, live_from, \
                                          last_operation, last_event, created, updated, tenant";

/// The key of a session by id and tenant, and whether the seals of its messages hold.
pub(crate) const SESSION_KEY: &str =
    "SELECT key, sealed = revision FROM sessions WHERE id = $1 AND tenant = $2";

/// The tenant of a session.
pub(crate) const SESSION_TENANT: &str = "SELECT tenant FROM sessions WHERE id = $1";

/// The tenants that have sessions.
pub(crate) const TENANTS: &str = "SELECT DISTINCT tenant FROM sessions WHERE NOT deleted ORDER BY tenant";

/// The columns of a message, as [`stored_row!`] reads them.
macro_rules! message_columns {
    () => {
        "seq, id, operation, pinned, hidden, time, facts, cuts, body, shown, seal"
    };
}

/// Messages with the body that is shown. The body is in three columns from [`BODY_AT`] on.
pub(crate) const SHOWN_MESSAGES: &str = concat!(
    "SELECT ",
    message_columns!(),
    ", encoding, size, bytes FROM messages LEFT JOIN bodies ON digest = COALESCE(shown, body)"
);

/// The same with their originals.
pub(crate) const ORIGINAL_MESSAGES: &str = concat!(
    "SELECT ",
    message_columns!(),
    ", encoding, size, bytes FROM messages LEFT JOIN bodies ON digest = body"
);

/// Where the body begins in [`SHOWN_MESSAGES`] and [`ORIGINAL_MESSAGES`].
pub(crate) const BODY_AT: usize = 11;

/// Messages without their bodies.
pub(crate) const MESSAGE_ROWS: &str = concat!("SELECT ", message_columns!(), " FROM messages");

/// Messages after a number, without their bodies.
pub(crate) const MESSAGE_FACTS: &str = concat!(
    "SELECT ",
    message_columns!(),
    " FROM messages WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3"
);

/// Forgets seals that an earlier version did not keep up to date.
pub(crate) const BREAK_SEALS: &str =
    "UPDATE messages SET seal = NULL WHERE session = $1 AND seal IS NOT NULL";

/// Operations after a number, as [`operation_row!`] reads them.
pub(crate) const OPERATIONS: &str = "SELECT number, kind, time, undone, data FROM operations \
                                     WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

/// Events after a number, as [`event_row!`] reads them.
pub(crate) const EVENTS: &str =
    "SELECT number, time, data FROM events WHERE session = $1 AND number > $2 ORDER BY number LIMIT $3";

/// What a commit changes in its session.
pub(crate) const UPDATE_SESSION: &str = "UPDATE sessions SET revision = $1, sealed = $1, head = $2, last_operation = $3, last_event = $4, \
     updated = $5, live_from = COALESCE($6, live_from), state = COALESCE($7, state), frame = COALESCE($8, frame) \
     WHERE key = $9";

/// What forgetting originals changes in a session.
pub(crate) const UPDATE_REVISION: &str =
    "UPDATE sessions SET revision = $1, sealed = $1, updated = $2 WHERE key = $3";

/// Notes that a session was used.
pub(crate) const TOUCH_SESSION: &str =
    "UPDATE sessions SET updated = $1 WHERE id = $2 AND tenant = $3 AND updated < $1";

/// Sessions of a tenant that were last used before a time and follow a cursor, least recently used first.
pub(crate) const UNUSED_SESSIONS: &str = "SELECT updated, id FROM sessions WHERE tenant = $1 AND NOT deleted \
                                          AND updated < $2 AND (updated, id) > ($3, $4) ORDER BY updated, id LIMIT $5";

/// Releases a lease, but keeps its row, so that tokens only grow.
pub(crate) const RELEASE_LEASE: &str = "UPDATE leases SET owner = NULL \
                                        WHERE session = (SELECT key FROM sessions WHERE id = $1 AND tenant = $2) AND owner = $3";

/// Copies a session under a new id and title, with a new time.
pub(crate) const FORK_SESSION: &str = "INSERT INTO sessions (id, dialect, profile, title, frame, state, revision, head, \
     live_from, last_operation, last_event, created, updated, tenant) \
     SELECT CAST($1 AS text), dialect, profile, CAST($2 AS text), frame, state, 0, head, live_from, last_operation, 0, \
     CAST($3 AS bigint), CAST($3 AS bigint), tenant FROM sessions WHERE key = $4 ON CONFLICT (id) DO NOTHING RETURNING key";

/// Copies the operations of one session to another.
pub(crate) const FORK_OPERATIONS: &str = "INSERT INTO operations (session, number, kind, time, undone, data) \
     SELECT CAST($1 AS bigint), number, kind, time, undone, data FROM operations WHERE session = $2";

/// Copies the messages of one session up to a number, and all that operations made, to another.
pub(crate) const FORK_MESSAGES: &str = "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, \
     shown, facts, cuts, seal) \
     SELECT CAST($1 AS bigint), seq, id, operation, pinned, hidden, time, body, shown, facts, cuts, seal FROM messages \
     WHERE session = $2 AND (seq <= $3 OR operation IS NOT NULL)";

/// Lists the sessions of a tenant, most recently changed first.
pub(crate) fn list_sessions() -> String {
    format!(
        "SELECT {SESSION_COLUMNS} FROM sessions WHERE tenant = $1 AND NOT deleted ORDER BY updated DESC, id DESC LIMIT $2"
    )
}

/// Lists the sessions of a tenant after a cursor.
pub(crate) fn list_sessions_after() -> String {
    format!(
        "SELECT {SESSION_COLUMNS} FROM sessions WHERE tenant = $1 AND NOT deleted AND (updated, id) < ($2, $3) \
         ORDER BY updated DESC, id DESC LIMIT $4"
    )
}

/// Reads one session by id and tenant.
pub(crate) fn find_session() -> String {
    format!("SELECT {SESSION_COLUMNS} FROM sessions WHERE id = $1 AND tenant = $2")
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
            tenant: $row.$get(13)?,
        }
    };
}

/// Reads a message without its body.
macro_rules! stored_row {
    ($row:ident.$get:ident) => {
        $crate::stored_row::StoredRow {
            message: $crate::record::StoredMessage {
                seq: $crate::validation::from_column($row.$get(0)?),
                id: $row.$get(1)?,
                operation: $row.$get::<_, Option<i64>>(2)?.map($crate::validation::from_column),
                pinned: $row.$get(3)?,
                hidden: $row.$get(4)?,
                time: $row.$get(5)?,
                facts: $row.$get(6)?,
                cuts: $row.$get(7)?,
                body: Vec::new(),
            },
            body: $row.$get(8)?,
            shown: $row.$get(9)?,
            seal: $row.$get(10)?,
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

/// Reads a clipping.
macro_rules! clipping {
    ($row:ident.$get:ident) => {
        $crate::clipping::Clipping {
            session: $row.$get(0)?,
            seq: $crate::validation::from_column($row.$get(1)?),
            part: u32::try_from($row.$get::<_, i64>(2)?).unwrap_or(u32::MAX),
            handle: $row.$get(3)?,
            letters: $row.$get(4)?,
            body: $row.$get(5)?,
            facts: $row.$get(6)?,
            time: $row.$get(7)?,
        }
    };
}

/// Reads a position in the list of sessions.
macro_rules! session_cursor {
    ($row:ident.$get:ident) => {
        $crate::record::SessionCursor { updated: $row.$get(0)?, id: $row.$get(1)? }
    };
}

/// Reads a message to erase.
macro_rules! erasure_candidate {
    ($row:ident.$get:ident) => {
        $crate::erasure::ErasureCandidate {
            seq: $row.$get(0)?,
            id: $row.$get(1)?,
            pinned: $row.$get(2)?,
            hidden: $row.$get(3)?,
            body: $row.$get(4)?,
            shown: $row.$get(5)?,
            size: $row.$get(6)?,
        }
    };
}

pub(crate) use {
    clipping, erasure_candidate, event_row, found_message, operation_row, session_cursor, session_row,
    stored_row,
};
