//! The rows that a store takes and returns. The texts `facts`, `cuts`, `state`, `envelope` and `data` are JSON that
//! the engine writes and reads; a store keeps them byte for byte. A text with a NUL character is refused with
//! [`StoreError::Unfit`](crate::StoreError::Unfit): PostgreSQL cannot store it, and JSON writes it as `\u0000`.
//! Bodies may contain any bytes.

use bytes::Bytes;

use crate::clipping::NewClipping;

/// A session to create.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its id, unique in the store.
    pub id: String,
    /// The wire of its messages.
    pub wire: String,
    /// The name of its profile.
    pub profile: String,
    /// A title for people.
    pub title: Option<String>,
    /// The envelope of its requests, as JSON.
    pub envelope: String,
    /// The state of the session machine, as JSON.
    pub state: String,
    /// The current time in milliseconds since 1970.
    pub time: i64,
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The wire of its messages.
    pub wire: String,
    /// The name of its profile.
    pub profile: String,
    /// A title for people.
    pub title: Option<String>,
    /// The envelope of its requests, as JSON.
    pub envelope: String,
    /// The state of the session machine, as JSON.
    pub state: String,
    /// Grows by one with every commit and when originals are forgotten.
    pub revision: u64,
    /// The highest message number used so far; 0 without messages. The first message has number 1. In a forked
    /// session this message may not exist.
    pub head: u64,
    /// Messages from this number on are loaded; earlier ones only if they are pinned. 1 in a new session.
    pub live_from: u64,
    /// The number of the newest operation; 0 without any.
    pub last_operation: u64,
    /// The number of the newest event; 0 without any.
    pub last_event: u64,
    /// When it was created.
    pub created: i64,
    /// When it was last changed or used.
    pub updated: i64,
    /// Its tenant: that of the view that created it.
    pub tenant: String,
}

/// A position in the list of sessions: right after this session, as it was when it was listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the session was last changed.
    pub updated: i64,
    /// Its id.
    pub id: String,
}

/// A message to append. Its number is the head plus its position in the commit, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewStoredMessage {
    /// Its id, unique in the session.
    pub id: String,
    /// The operation that made it, recorded earlier or in the same commit; none if the application appended it.
    pub operation: Option<u64>,
    /// Whether it is loaded even before `live_from`.
    pub pinned: bool,
    /// When it was created.
    pub time: i64,
    /// Facts about the message and its parts, as JSON.
    pub facts: String,
    /// The cuts in it, as JSON; empty if there are none.
    pub cuts: String,
    /// The bytes.
    pub body: Bytes,
    /// The bytes that are shown, if different.
    pub shown: Option<Vec<u8>>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredMessage {
    /// Its number in the session, from 1. Numbers grow, but a [forked](crate::Store::fork) session lacks those of
    /// messages that were not copied.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// The operation that made it.
    pub operation: Option<u64>,
    /// Whether it is loaded even before `live_from`.
    pub pinned: bool,
    /// Whether it is left out because the operation that made it was undone.
    pub hidden: bool,
    /// When it was created.
    pub time: i64,
    /// Facts, as JSON.
    pub facts: String,
    /// Cuts, as JSON; empty if there are none.
    pub cuts: String,
    /// The bytes that are shown.
    pub body: Vec<u8>,
}

/// A message found by its id, and the session that contains it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundMessage {
    /// The message's id.
    pub id: String,
    /// The session's id.
    pub session: String,
    /// The message's number in the session.
    pub seq: u64,
    /// The highest message number of the session.
    pub head: u64,
    /// When the session was last changed.
    pub updated: i64,
}

/// A change of an existing message. `None` leaves a value as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageChange {
    /// Which message.
    pub seq: u64,
    /// Its new cuts.
    pub cuts: Option<String>,
    /// The bytes to show; `Some(None)` shows the original.
    pub shown: Option<Option<Vec<u8>>>,
    /// Whether it is hidden.
    pub hidden: Option<bool>,
    /// Whether it is pinned.
    pub pinned: Option<bool>,
}

/// An operation to record. Its number is the newest number plus its position in the commit, counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewOperation {
    /// The kind of operation.
    pub kind: String,
    /// When.
    pub time: i64,
    /// What was done, as JSON.
    pub data: String,
}

/// An operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationRow {
    /// Its number in the session, from 1, without gaps.
    pub number: u64,
    /// The kind of operation.
    pub kind: String,
    /// When.
    pub time: i64,
    /// Whether it was undone.
    pub undone: bool,
    /// What was done, as JSON.
    pub data: String,
}

/// An event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventRow {
    /// Its number in the session, from 1, without gaps.
    pub number: u64,
    /// When.
    pub time: i64,
    /// The event, as JSON.
    pub data: String,
}

/// Changes that are made together or not at all.
///
/// They are applied in the order of the fields, so a change may name a message that the same commit appends, and a
/// message an operation that it records. Several changes of one message are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The expected revision of the session.
    pub revision: u64,
    /// The token of the lease that must be held, if any.
    pub lease: Option<u64>,
    /// Now.
    pub time: i64,
    /// Messages to append.
    pub append: Vec<NewStoredMessage>,
    /// Messages to change.
    pub change: Vec<MessageChange>,
    /// Operations to record.
    pub operations: Vec<NewOperation>,
    /// Operations to mark as undone (true) or redone (false).
    pub undone: Vec<(u64, bool)>,
    /// Events to publish, as JSON.
    pub events: Vec<String>,
    /// The new state of the session machine.
    pub state: Option<String>,
    /// The new start of the live messages: at most one above the head.
    pub live_from: Option<u64>,
    /// The new envelope.
    pub envelope: Option<String>,
    /// The content that the commit cuts, to be found again.
    pub clippings: Vec<NewClipping>,
}

/// The result of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The new revision.
    pub revision: u64,
    /// The highest message number.
    pub head: u64,
    /// The number of the newest operation.
    pub last_operation: u64,
    /// The number of the newest event.
    pub last_event: u64,
}

/// A session to create as a copy of another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fork {
    /// The expected revision of the other session.
    pub revision: u64,
    /// The last message to copy; 0 for none.
    pub at: u64,
    /// The new session's id, unique in the store.
    pub id: String,
    /// The title of the new session.
    pub title: Option<String>,
    /// Now.
    pub time: i64,
}

/// A session with its live messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The session.
    pub session: SessionRow,
    /// Its live messages.
    pub messages: Vec<StoredMessage>,
}

/// The right to compact a session, for a limited time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub owner: String,
    /// Higher than the token of every earlier holder.
    pub token: u64,
}

/// Originals to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// The expected revision of the session.
    pub revision: u64,
    /// Now.
    pub time: i64,
    /// Messages before `live_from`: all of their bodies are deleted.
    pub gone: Vec<u64>,
    /// Messages whose original is deleted and whose shown body stays.
    pub cut: Vec<u64>,
    /// What is left of the facts and cuts of these messages. Only messages that lose their original are changed.
    pub facts: Vec<RemainingFacts>,
    /// What is left of the data of these operations, by number.
    pub operations: Vec<(u64, String)>,
}

/// What is left of the texts beside a message when its original is deleted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemainingFacts {
    /// Which message.
    pub seq: u64,
    /// Its facts, as JSON.
    pub facts: String,
    /// Its cuts, as JSON.
    pub cuts: String,
}

/// What was deleted. Messages whose original was already gone, or is what is shown, do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// The number of messages whose original is gone.
    pub messages: u64,
    /// The size of those originals before compression. Originals that other messages share still exist.
    pub bytes: u64,
    /// The new revision.
    pub revision: u64,
}
