//! Who keeps the history of a session, and what of it is only in memory.
//!
//! All that differs inside of the core between a kept and a followed session is answered here: [`KeptHistory`] has
//! nothing that is not stored, [`ClientHistory`] has messages that wait to be stored.

use std::sync::Arc;

use bytes::Bytes;
use secateur::Role;
use secateur::session::{MessageKind, Seq};
use secateur_formats::Wire;
use secateur_store::{NewStoredMessage, StoredMessage};

use super::provisional::ProvisionalCommits;
use crate::engine::SessionKind;
use crate::provider::LanguageModel;

/// What the core of a session has to know about who keeps its history. The defaults are those of a kept session.
pub(crate) trait History: Send + Sync {
    /// Which profile is used.
    const KIND: SessionKind;

    /// Whether bodies of messages of this kind stay in memory.
    fn holds_body(_kind: MessageKind) -> bool {
        true
    }

    /// The role of a summary that is the first message of a request. Some wires require a user message there.
    fn first_summary_role(wire: Wire) -> Role {
        if wire.spec().starts_with_user { Role::User } else { Role::Assistant }
    }

    /// Whether messages that others appended are added to what is in memory; otherwise all of it is loaded again.
    fn accepts_remote_messages(_is_summarising: bool) -> bool {
        true
    }

    /// Whether the session itself is stored.
    fn is_stored(&self) -> bool {
        true
    }

    /// Notes that the session itself is stored now.
    fn set_stored(&mut self) {}

    /// Messages that are not stored yet, oldest first.
    fn pending(&self) -> &[NewStoredMessage] {
        &[]
    }

    /// Those of them that will not be taken back, where `head` is the last message that is stored.
    fn confirmed(&self, _head: Seq) -> &[NewStoredMessage] {
        &[]
    }

    /// Removes the oldest pending messages, because they are stored now.
    fn remove_stored(&mut self, _count: usize) {}

    /// Removes pending messages that others have stored. False if those stored something else in their place.
    fn merge_stored(&mut self, _stored: &[StoredMessage]) -> bool {
        true
    }

    /// Forgets pending messages, because the session is loaded again.
    fn discard_pending(&mut self) {}

    /// The client's model, which writes summaries if none is configured.
    fn client_model(&self) -> Option<Arc<dyn LanguageModel>> {
        None
    }

    /// The original of a message that is not read from the store: the request that is being decided has it, or a commit
    /// that the store could not take yet.
    fn body_at_hand(&self, _seq: Seq) -> Option<Bytes> {
        None
    }

    /// The data of the operation that made a message, if the store could not take it yet.
    fn provisional_operation(&self, _seq: Seq) -> Option<&str> {
        None
    }

    /// Commits that the store could not take yet. None if every decision has to be stored at once.
    fn provisional(&mut self) -> Option<&mut ProvisionalCommits> {
        None
    }

    /// Notes whether the store is away.
    fn set_store_away(&mut self, _is_away: bool) {}
}

/// The messages of the request that is being decided. They need not be read from the store.
pub trait RequestBodies: Send + Sync {
    /// The original of a message, if the request has it.
    fn body(&self, seq: Seq) -> Option<Bytes>;
}

/// Secateur keeps the history: every message is stored when it is appended, and its body is in memory.
pub(crate) struct KeptHistory;

impl History for KeptHistory {
    const KIND: SessionKind = SessionKind::Kept;
}

/// A client keeps the history and sends it with every request. This is what a followed session has only in memory.
#[derive(Default)]
pub(crate) struct ClientHistory {
    /// Messages that are not stored yet, oldest first.
    pub pending: Vec<NewStoredMessage>,
    /// From this one on, messages may be taken back and are not stored.
    pub held_from: Option<Seq>,
    /// Whether the session itself is stored.
    pub is_stored: bool,
    pub client_model: Option<Arc<dyn LanguageModel>>,
    /// The messages of the request that is being decided.
    pub request: Option<Arc<dyn RequestBodies>>,
    /// Commits that the store could not take yet.
    pub provisional: ProvisionalCommits,
    /// Whether the store was away since the session was refreshed.
    pub is_store_away: bool,
    /// How often pending messages were discarded, or messages of others added.
    pub reloads: u64,
}

impl History for ClientHistory {
    const KIND: SessionKind = SessionKind::Followed;

    /// The client sends its messages again; it does not know those that compactions made.
    fn holds_body(kind: MessageKind) -> bool {
        kind != MessageKind::Plain
    }

    /// The client's messages that follow may begin with a tool call, which some providers accept only after a user
    /// message.
    fn first_summary_role(_: Wire) -> Role {
        Role::User
    }

    /// A summary in the background stays valid while the conversation goes on elsewhere.
    fn accepts_remote_messages(is_summarising: bool) -> bool {
        is_summarising
    }

    fn is_stored(&self) -> bool {
        self.is_stored
    }

    fn set_stored(&mut self) {
        self.is_stored = true;
    }

    fn pending(&self) -> &[NewStoredMessage] {
        &self.pending
    }

    fn confirmed(&self, head: Seq) -> &[NewStoredMessage] {
        let held = self.held_from.unwrap_or(Seq::MAX);
        let count = usize::try_from(held.saturating_sub(head + 1)).unwrap_or(usize::MAX);
        self.pending.get(..count).unwrap_or(&self.pending)
    }

    fn remove_stored(&mut self, count: usize) {
        self.pending.drain(..count.min(self.pending.len()));
    }

    fn merge_stored(&mut self, stored: &[StoredMessage]) -> bool {
        if self.pending.iter().zip(stored).any(|(row, message)| row.id != message.id) {
            return false;
        }
        self.remove_stored(stored.len());
        self.reloads += 1;
        true
    }

    fn discard_pending(&mut self) {
        self.pending.clear();
        self.provisional.clear();
        self.held_from = None;
        self.reloads += 1;
    }

    fn client_model(&self) -> Option<Arc<dyn LanguageModel>> {
        self.client_model.clone()
    }

    fn body_at_hand(&self, seq: Seq) -> Option<Bytes> {
        let requested = self.request.as_ref().and_then(|request| request.body(seq));
        requested.or_else(|| self.provisional.body(seq).cloned())
    }

    fn provisional_operation(&self, seq: Seq) -> Option<&str> {
        self.provisional.operation_of(seq)
    }

    fn provisional(&mut self) -> Option<&mut ProvisionalCommits> {
        Some(&mut self.provisional)
    }

    fn set_store_away(&mut self, is_away: bool) {
        self.is_store_away = is_away;
    }
}
