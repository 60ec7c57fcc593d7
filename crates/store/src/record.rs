//! The rows that a store takes in and gives out. Texts named `facts`, `cuts`, `state` and `data` are JSON that the
//! engine writes and reads; a store keeps them as they are, byte for byte. A text with a NUL character is refused
//! with [`StoreError::Unfit`](crate::StoreError::Unfit): PostgreSQL cannot keep one, and JSON writes it as `\u0000`.
//! PackedBodies may hold any bytes.

use bytes::Bytes;

use crate::clipping::NewClipping;

/// A session that is to be created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its id, unique in the store.
    pub id: String,
    /// The format of its messages.
    pub wire: String,
    /// The name of its profile.
    pub profile: String,
    /// What people call it.
    pub title: Option<String>,
    /// The rest of its requests, as JSON.
    pub envelope: String,
    /// The machine's state, as JSON.
    pub state: String,
    /// Now, in milliseconds since 1970.
    pub time: i64,
}

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionRow {
    /// Its id.
    pub id: String,
    /// The format of its messages.
    pub wire: String,
    /// The name of its profile.
    pub profile: String,
    /// What people call it.
    pub title: Option<String>,
    /// The rest of its requests, as JSON.
    pub envelope: String,
    /// The machine's state, as JSON.
    pub state: String,
    /// Grows by one with every commit, and whenever originals are forgotten.
    pub revision: u64,
    /// The number that was given to a message last; 0 without any. The first message has number 1. In a session that
    /// branched off it may be the number of a message that was left behind.
    pub head: u64,
    /// From this message on all are loaded; earlier ones only if they are pinned. 1 in a new session.
    pub live_from: u64,
    /// The number of the newest operation; 0 without any.
    pub last_operation: u64,
    /// The number of the newest event; 0 without any.
    pub last_event: u64,
    /// When it was created.
    pub created: i64,
    /// When it was last changed.
    pub updated: i64,
}

/// A place in the list of sessions, which has the session changed last first: the one behind this session, as it was
/// when it was listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionCursor {
    /// When the session was last changed.
    pub updated: i64,
    /// Its id.
    pub id: String,
}

/// A message that is to be appended. Its number is the head's plus its place in the commit plus one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMessageRow {
    /// Its id, unique in the session.
    pub id: String,
    /// The operation that made it, recorded before or in the same commit; none if the application appended it.
    pub operation: Option<u64>,
    /// Whether it is loaded wherever it lies.
    pub pinned: bool,
    /// When it was made.
    pub time: i64,
    /// Facts about it and its parts, as JSON.
    pub facts: String,
    /// Cuts that are made in it, as JSON; empty without any.
    pub cuts: String,
    /// The bytes.
    pub body: Bytes,
    /// The bytes that are shown, if others.
    pub shown: Option<Vec<u8>>,
}

/// A message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRow {
    /// Its number in the session, from 1 on. Numbers grow, but a session that [branched off](crate::Store::fork)
    /// lacks those of messages that it left behind.
    pub seq: u64,
    /// Its id.
    pub id: String,
    /// The operation that made it.
    pub operation: Option<u64>,
    /// Whether it is loaded wherever it lies.
    pub pinned: bool,
    /// Whether it is not loaded, because the operation that made it was undone.
    pub hidden: bool,
    /// When it was made.
    pub time: i64,
    /// Facts, as JSON.
    pub facts: String,
    /// Cuts, as JSON; empty without any.
    pub cuts: String,
    /// The bytes that are shown.
    pub body: Vec<u8>,
}

/// A message that was found by its id, and the session that it was appended to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoundMessage {
    /// The message's id.
    pub id: String,
    /// The session's id.
    pub session: String,
    /// The message's number in the session.
    pub seq: u64,
    /// The number that the session gave to a message last.
    pub head: u64,
    /// When the session was last changed.
    pub updated: i64,
}

/// A change of a message that is there. What is none stays as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageChange {
    /// Which message.
    pub seq: u64,
    /// Its cuts from now on.
    pub cuts: Option<String>,
    /// The bytes that are shown from now on; `Some(None)` for the original.
    pub shown: Option<Option<Vec<u8>>>,
    /// Whether it is hidden from now on.
    pub hidden: Option<bool>,
    /// Whether it is pinned from now on.
    pub pinned: Option<bool>,
}

/// An operation that is to be recorded. Its number is that of the newest one plus its place in the commit plus one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewOperation {
    /// What sort it is.
    pub kind: String,
    /// When.
    pub time: i64,
    /// What was done, as JSON.
    pub data: String,
}

/// An operation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationRow {
    /// Its number in the session, from 1 on without gaps.
    pub number: u64,
    /// What sort it is.
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
    /// Its number in the session, from 1 on without gaps.
    pub number: u64,
    /// When.
    pub time: i64,
    /// The event, as JSON.
    pub data: String,
}

/// What changes together.
///
/// Its parts are carried out in the order of the fields, so a change may name a message that is appended in the same
/// commit, and a message an operation that is recorded in it. Several changes of one message become one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// The revision that it builds on.
    pub revision: u64,
    /// The token of the lease that must be held, if one must.
    pub lease: Option<u64>,
    /// Now.
    pub time: i64,
    /// Messages to append.
    pub append: Vec<NewMessageRow>,
    /// Messages to change.
    pub change: Vec<MessageChange>,
    /// Operations to record.
    pub operations: Vec<NewOperation>,
    /// Operations that are undone (true) or done again (false).
    pub undone: Vec<(u64, bool)>,
    /// Events to publish, as JSON.
    pub events: Vec<String>,
    /// The machine's state from now on.
    pub state: Option<String>,
    /// Where the living part begins from now on: at most one after the head.
    pub live_from: Option<u64>,
    /// The rest of the requests from now on.
    pub envelope: Option<String>,
    /// What the commit takes out of the context, to be found again.
    pub clippings: Vec<NewClipping>,
}

/// What a commit led to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The revision now.
    pub revision: u64,
    /// The number that was given to a message last.
    pub head: u64,
    /// The number of the newest operation now.
    pub last_operation: u64,
    /// The number of the newest event now.
    pub last_event: u64,
}

/// A session that is to branch off from another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fork {
    /// The revision of the other session that was looked at.
    pub revision: u64,
    /// The newest message that both have; 0 for none.
    pub at: u64,
    /// The new session's id, unique in the store.
    pub id: String,
    /// What people call the new session.
    pub title: Option<String>,
    /// Now.
    pub time: i64,
}

/// A session with its living messages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loaded {
    /// The session.
    pub session: SessionRow,
    /// Its living messages.
    pub messages: Vec<MessageRow>,
}

/// The right to compact a session, for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// Who holds it.
    pub owner: String,
    /// Higher than that of every earlier holder.
    pub token: u64,
}

/// Originals to delete.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forget {
    /// The revision that was looked at.
    pub revision: u64,
    /// Now.
    pub time: i64,
    /// Messages that are no longer alive: their bodies go, whatever is shown included.
    pub gone: Vec<u64>,
    /// Messages of which only what is shown is needed: their originals go.
    pub cut: Vec<u64>,
}

/// What was deleted. A message whose original was gone before, or is what is shown, does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    /// Messages whose original is gone.
    pub messages: u64,
    /// Bytes of those originals, before compression. Originals that other messages share are still there.
    pub bytes: u64,
    /// The revision now.
    pub revision: u64,
}
