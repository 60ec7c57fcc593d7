//! A commit that is checked and compressed, ready for the database.
//!
//! Everything that does not need the database happens before the transaction begins, so that no writer waits for
//! compression. The checks against the session's row are here too, once for both databases.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use tokio::task::spawn_blocking;

use crate::body::{BodyKey, PackedBodies, pack};
use crate::clipping::NewClipping;
use crate::error::StoreError;
use crate::record::{Commit, Committed, Fork, MessageChange, NewOperation, NewStoredMessage, StoredMessage};
use crate::stored_row::StoredRow;
use crate::tenant::word_mark;
use crate::validation::{check_id, check_size, check_text, to_column};
use crate::words::vocabulary;

/// A commit that is ready to be carried out.
pub(crate) struct PreparedCommit {
    pub(crate) revision: u64,
    pub(crate) lease: Option<u64>,
    pub(crate) time: i64,
    pub(crate) append: Vec<PreparedMessage>,
    /// By number. Several changes of one message are merged.
    pub(crate) change: BTreeMap<u64, PreparedChange>,
    pub(crate) operations: Vec<NewOperation>,
    pub(crate) undone: BTreeMap<u64, bool>,
    pub(crate) events: Vec<String>,
    pub(crate) state: Option<String>,
    pub(crate) live_from: Option<u64>,
    pub(crate) envelope: Option<String>,
    pub(crate) clippings: Vec<PreparedClipping>,
    /// All new bodies.
    pub(crate) bodies: PackedBodies,
}

/// A message with the keys of its bodies.
pub(crate) struct PreparedMessage {
    /// The message without its bodies.
    pub(crate) row: NewStoredMessage,
    pub(crate) body: BodyKey,
    /// None if it equals the body.
    pub(crate) shown: Option<BodyKey>,
}

/// A cut part with its words.
pub(crate) struct PreparedClipping {
    pub(crate) seq: u64,
    pub(crate) part: u32,
    pub(crate) handle: String,
    pub(crate) letters: Option<String>,
    pub(crate) facts: String,
    pub(crate) words: String,
}

/// A change with the key of the body that is shown.
#[derive(Default)]
pub(crate) struct PreparedChange {
    pub(crate) cuts: Option<String>,
    pub(crate) shown: Option<Option<BodyKey>>,
    pub(crate) hidden: Option<bool>,
    pub(crate) pinned: Option<bool>,
}

impl PreparedChange {
    /// Applies it to a row of this session. Returns the key of the body that is no longer shown.
    pub(crate) fn apply(&self, id: &str, row: &mut StoredRow) -> Result<Option<Vec<u8>>, StoreError> {
        let message = &mut row.message;
        if let Some(cuts) = &self.cuts {
            message.cuts.clone_from(cuts);
        }
        message.hidden = self.hidden.unwrap_or(message.hidden);
        message.pinned = self.pinned.unwrap_or(message.pinned);
        let Some(shown) = &self.shown else { return Ok(None) };
        if shown.is_none() && row.body.is_none() {
            return Err(StoreError::OriginalForgotten { id: id.to_owned(), seq: message.seq });
        }
        // If the new body equals the original, the row does not refer to it twice; it may not even be new.
        let shown = shown.clone().filter(|shown| Some(shown) != row.body.as_ref());
        Ok(std::mem::replace(&mut row.shown, shown))
    }
}

/// What a change needs to know about its session.
pub(crate) struct SessionHead {
    /// The session's key in the database.
    pub(crate) key: i64,
    pub(crate) revision: u64,
    pub(crate) head: u64,
    pub(crate) live_from: u64,
    pub(crate) last_operation: u64,
    pub(crate) last_event: u64,
    /// The token of the current lease.
    pub(crate) lease: Option<u64>,
    /// Whether the seals of its messages hold.
    pub(crate) is_sealed: bool,
}

impl PreparedCommit {
    /// Checks and compresses a commit of a tenant, on a thread that may block.
    pub(crate) async fn prepare(
        commit: Commit,
        tenant: &str,
        doing: &'static str,
    ) -> Result<Self, StoreError> {
        let tenant = tenant.to_owned();
        spawn_blocking(move || Self::new(commit, &tenant)).await.map_err(StoreError::database(doing))?
    }

    fn new(commit: Commit, tenant: &str) -> Result<Self, StoreError> {
        check_texts(&commit)?;
        let mut bodies = PackedBodies::new();
        let append =
            commit.append.into_iter().map(|message| PreparedMessage::new(&mut bodies, tenant, message));
        let append = append.collect::<Result<_, _>>()?;
        Ok(Self {
            revision: commit.revision,
            lease: commit.lease,
            time: commit.time,
            append,
            change: merge(&mut bodies, tenant, commit.change)?,
            operations: commit.operations,
            undone: commit.undone.into_iter().collect(),
            events: commit.events,
            state: commit.state,
            live_from: commit.live_from,
            envelope: commit.envelope,
            clippings: clip(commit.clippings, tenant)?,
            bodies,
        })
    }

    /// Checks the commit against the session and returns the session's new numbers. Whether an id is already used,
    /// and whether a number below the head exists, only the database knows.
    pub(crate) fn fit(&self, id: &str, head: &SessionHead) -> Result<Committed, StoreError> {
        check_revision(id, self.revision, head.revision)?;
        if self.lease.is_some() && self.lease != head.lease {
            return Err(StoreError::LeaseLost { id: id.to_owned() });
        }
        let mut ids = HashSet::with_capacity(self.append.len());
        if let Some(twice) = self.append.iter().find(|message| !ids.insert(&message.row.id)) {
            return Err(known(id, &twice.row.id));
        }
        let committed = Committed {
            revision: head.revision + 1,
            head: head.head + self.append.len() as u64,
            last_operation: head.last_operation + self.operations.len() as u64,
            last_event: head.last_event + self.events.len() as u64,
        };
        let messages = 1..=committed.head;
        if let Some(seq) = self.named().find(|seq| !messages.contains(seq)) {
            return Err(StoreError::no_message(id, seq));
        }
        if let Some(seq) = self.live_from.filter(|&seq| seq > committed.head + 1) {
            return Err(StoreError::no_message(id, seq));
        }
        let operations = 1..=committed.last_operation;
        let made_by = self.append.iter().filter_map(|message| message.row.operation);
        let mut named = self.undone.keys().copied().chain(made_by);
        match named.find(|number| !operations.contains(number)) {
            Some(number) => Err(StoreError::NoOperation { id: id.to_owned(), number }),
            None => Ok(committed),
        }
    }

    /// The numbers of messages that are changed or cut.
    fn named(&self) -> impl Iterator<Item = u64> {
        self.change.keys().copied().chain(self.clippings.iter().map(|clipping| clipping.seq))
    }

    /// Those of them that must exist before the commit.
    pub(crate) fn named_before(&self, head: &SessionHead) -> Vec<i64> {
        let seqs: BTreeSet<u64> = self.named().filter(|&seq| seq <= head.head).collect();
        seqs.into_iter().map(to_column).collect()
    }
}

/// Each part once: later clippings of the same part are ignored. Two texts cannot have the same handle.
fn clip(clippings: Vec<NewClipping>, tenant: &str) -> Result<Vec<PreparedClipping>, StoreError> {
    let mark = word_mark(tenant);
    let (mut clipped, mut named) = (BTreeMap::new(), HashMap::new());
    for NewClipping { seq, part, handle, letters, facts, text } in clippings {
        let text_of_handle = named.entry(handle.clone()).or_insert_with(|| letters.clone());
        if *text_of_handle != letters {
            return Err(StoreError::HandleTaken { handle });
        }
        let place = clipped.entry((seq, part));
        place.or_insert_with(|| PreparedClipping {
            seq,
            part,
            handle,
            letters,
            facts,
            words: vocabulary(&mark, &text),
        });
    }
    Ok(clipped.into_values().collect())
}

impl PreparedMessage {
    /// Its row under this number. Hidden messages are not appended.
    pub(crate) fn stored_row(&self, seq: u64) -> StoredRow {
        let row = &self.row;
        let message = StoredMessage {
            seq,
            id: row.id.clone(),
            operation: row.operation,
            pinned: row.pinned,
            hidden: false,
            time: row.time,
            facts: row.facts.clone(),
            cuts: row.cuts.clone(),
            body: Vec::new(),
        };
        let (body, shown) = (Some(self.body.clone()), self.shown.clone());
        StoredRow { message, body, shown, seal: None }
    }

    fn new(bodies: &mut PackedBodies, tenant: &str, mut row: NewStoredMessage) -> Result<Self, StoreError> {
        let body = pack(bodies, tenant, std::mem::take(&mut row.body))?;
        let shown = row.shown.take().map(|shown| pack(bodies, tenant, shown.into())).transpose()?;
        let shown = shown.filter(|shown| *shown != body);
        Ok(Self { row, body, shown })
    }
}

/// Refuses a writer that has not seen the latest revision.
pub(crate) fn check_revision(id: &str, expected: u64, found: u64) -> Result<(), StoreError> {
    if expected == found {
        return Ok(());
    }
    Err(StoreError::Stale { id: id.to_owned(), expected, found })
}

/// Checks whether a session can be forked from another one.
pub(crate) fn check_branch(from: &str, fork: &Fork, head: &SessionHead) -> Result<(), StoreError> {
    check_revision(from, fork.revision, head.revision)?;
    if fork.at > head.head { Err(StoreError::no_message(from, fork.at)) } else { Ok(()) }
}

/// The refusal of a message that was appended before.
pub(crate) fn known(id: &str, message: &str) -> StoreError {
    StoreError::Known { id: id.to_owned(), message: message.to_owned() }
}

/// Later changes of a message override earlier ones, field by field. Bodies are compressed after that, so that no
/// unused body is stored.
fn merge(
    bodies: &mut PackedBodies,
    tenant: &str,
    changes: Vec<MessageChange>,
) -> Result<BTreeMap<u64, PreparedChange>, StoreError> {
    let mut merged = BTreeMap::<u64, MessageChange>::new();
    for change in changes {
        let place = merged.entry(change.seq).or_default();
        place.cuts = change.cuts.or(place.cuts.take());
        place.shown = change.shown.or(place.shown.take());
        place.hidden = change.hidden.or(place.hidden);
        place.pinned = change.pinned.or(place.pinned);
    }
    let pack_change = |(seq, change): (u64, MessageChange)| {
        let shown = change
            .shown
            .map(|shown| shown.map(|shown| pack(bodies, tenant, shown.into())).transpose())
            .transpose()?;
        Ok((seq, PreparedChange { cuts: change.cuts, shown, hidden: change.hidden, pinned: change.pinned }))
    };
    merged.into_iter().map(pack_change).collect()
}

fn check_texts(commit: &Commit) -> Result<(), StoreError> {
    for message in &commit.append {
        check_id("the id of a message", &message.id)?;
        check_text("the facts of a message", &message.facts)?;
        check_text("the cuts of a message", &message.cuts)?;
        check_size("the body of a message", message.body.len())?;
        check_size("the shown body of a message", message.shown.as_ref().map_or(0, Vec::len))?;
    }
    for change in &commit.change {
        check_text("the cuts of a message", change.cuts.as_deref().unwrap_or_default())?;
        let shown = change.shown.as_ref().and_then(Option::as_ref);
        check_size("the shown body of a message", shown.map_or(0, Vec::len))?;
    }
    for operation in &commit.operations {
        check_text("the kind of an operation", &operation.kind)?;
        check_text("the data of an operation", &operation.data)?;
    }
    for clipping in &commit.clippings {
        check_id("the handle of a clipping", &clipping.handle)?;
        check_id("the letters of a clipping", clipping.letters.as_deref().unwrap_or_default())?;
        check_text("the facts of a clipping", &clipping.facts)?;
    }
    for event in &commit.events {
        check_text("the data of an event", event)?;
    }
    check_text("the state of a session", commit.state.as_deref().unwrap_or_default())?;
    check_text("the envelope of a session", commit.envelope.as_deref().unwrap_or_default())
}
