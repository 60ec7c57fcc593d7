//! Carrying out a commit.

use rusqlite::{Connection, params};

use super::{SqliteResult, body, clipping, load, session};
use crate::error::StoreError;
use crate::prepared_commit::{PreparedChange, PreparedCommit, SessionHead, known};
use crate::record::Committed;
use crate::sql::{BREAK_SEALS, UPDATE_SESSION};
use crate::tenant::SessionName;
use crate::validation::{from_column, to_column};

/// Carries out a commit within a transaction.
pub(super) fn carry_out(
    connection: &Connection,
    name: &SessionName,
    commit: &PreparedCommit,
) -> SqliteResult<Committed> {
    let id = name.id.as_str();
    let head = session::find_head(connection, name)?;
    let committed = commit.fit(id, &head)?;
    check_named(connection, id, &head, commit)?;
    if !head.is_sealed {
        connection.prepare_cached(BREAK_SEALS)?.execute([head.key])?;
    }
    body::insert(connection, &commit.bodies)?;
    record_operations(connection, &head, commit)?;
    append(connection, id, &head, commit)?;
    let mut released = Vec::new();
    for (&seq, change) in &commit.change {
        released.extend(change_message(connection, id, &head, seq, change)?);
    }
    clipping::insert(connection, &name.tenant, &head, commit)?;
    undo_operations(connection, &head, commit)?;
    publish(connection, &head, commit)?;
    update_session(connection, &head, commit, &committed)?;
    body::sweep(connection, &released)?;
    Ok(committed)
}

/// Refuses changes of messages that do not exist: numbers below the head may be missing.
fn check_named(
    connection: &Connection,
    id: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> SqliteResult<()> {
    let mut there = connection.prepare_cached("SELECT 1 FROM messages WHERE session = ?1 AND seq = ?2")?;
    for seq in commit.named_before(head) {
        if !there.exists((head.key, seq))? {
            return Err(StoreError::no_message(id, from_column(seq)).into());
        }
    }
    Ok(())
}

fn append(
    connection: &Connection,
    id: &str,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> SqliteResult<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO messages (session, seq, id, operation, pinned, hidden, time, body, shown, facts, cuts, \
         seal) VALUES (?1, ?2, ?3, ?4, ?5, FALSE, ?6, ?7, ?8, ?9, ?10, ?11) ON CONFLICT (session, id) DO NOTHING",
    )?;
    for (seq, message) in (head.head + 1..).zip(&commit.append) {
        let row = &message.row;
        let operation = row.operation.map(to_column);
        let (body, shown) = (&message.body[..], message.shown.as_ref().map(|shown| &shown[..]));
        let place = (head.key, to_column(seq));
        let seal = message.stored_row(seq).seal();
        let values = params![
            place.0, place.1, row.id, operation, row.pinned, row.time, body, shown, row.facts, row.cuts, seal
        ];
        if statement.execute(values)? == 0 {
            return Err(known(id, &row.id).into());
        }
    }
    Ok(())
}

/// Changes a message. Returns the body that it no longer shows.
fn change_message(
    connection: &Connection,
    id: &str,
    head: &SessionHead,
    seq: u64,
    change: &PreparedChange,
) -> SqliteResult<Option<Vec<u8>>> {
    let mut row = load::row(connection, head.key, seq)?;
    row.check(id, head.is_sealed)?;
    let released = change.apply(id, &mut row)?;
    let message = &row.message;
    let values = params![
        head.key,
        to_column(seq),
        message.cuts,
        message.hidden,
        message.pinned,
        row.shown,
        row.seal()
    ];
    connection
        .prepare_cached(
            "UPDATE messages SET cuts = ?3, hidden = ?4, pinned = ?5, shown = ?6, seal = ?7 \
             WHERE session = ?1 AND seq = ?2",
        )?
        .execute(values)?;
    Ok(released)
}

fn record_operations(
    connection: &Connection,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO operations (session, number, kind, time, undone, data) VALUES (?1, ?2, ?3, ?4, FALSE, ?5)",
    )?;
    for (number, operation) in (head.last_operation + 1..).zip(&commit.operations) {
        let values = (head.key, to_column(number), &operation.kind, operation.time, &operation.data);
        statement.execute(values)?;
    }
    Ok(())
}

fn undo_operations(
    connection: &Connection,
    head: &SessionHead,
    commit: &PreparedCommit,
) -> rusqlite::Result<()> {
    let mut statement =
        connection.prepare_cached("UPDATE operations SET undone = ?3 WHERE session = ?1 AND number = ?2")?;
    for (&number, &undone) in &commit.undone {
        statement.execute((head.key, to_column(number), undone))?;
    }
    Ok(())
}

fn publish(connection: &Connection, head: &SessionHead, commit: &PreparedCommit) -> rusqlite::Result<()> {
    let mut statement = connection
        .prepare_cached("INSERT INTO events (session, number, time, data) VALUES (?1, ?2, ?3, ?4)")?;
    for (number, event) in (head.last_event + 1..).zip(&commit.events) {
        statement.execute((head.key, to_column(number), commit.time, event))?;
    }
    Ok(())
}

fn update_session(
    connection: &Connection,
    head: &SessionHead,
    commit: &PreparedCommit,
    committed: &Committed,
) -> rusqlite::Result<()> {
    let values = params![
        to_column(committed.revision),
        to_column(committed.head),
        to_column(committed.last_operation),
        to_column(committed.last_event),
        commit.time,
        commit.live_from.map(to_column),
        commit.state,
        commit.envelope,
        head.key
    ];
    connection.prepare_cached(UPDATE_SESSION)?.execute(values).map(drop)
}
