//! What a session that follows has in memory only, and what becomes of it when something is stored or loaded.

use std::sync::Arc;

use bytes::Bytes;
use secateur::session::{MessageKind, Seq, SessionMachine as Machine, SessionState};
use secateur_store::{Committed, NewSession, NewStoredMessage, StoreError, StoredMessage};

use crate::error::EngineError;
use crate::provider::LanguageModel;
use crate::session::Session;

/// What a session that follows has in memory only.
#[derive(Default)]
pub(crate) struct Following {
    /// Messages that are not stored yet, oldest first.
    pub(crate) pending: Vec<NewStoredMessage>,
    /// From this one on they may still be taken back.
    pub(crate) held_from: Option<Seq>,
    /// The session itself is not stored yet.
    pub(crate) is_unborn: bool,
    /// Who writes summaries, if nobody is configured to.
    pub(crate) lent: Option<Arc<dyn LanguageModel>>,
    pub(crate) reloads: u64,
}

impl Session {
    /// Stores the session itself, if it is not stored yet.
    pub(crate) async fn be_born(&mut self) -> Result<(), EngineError> {
        if !self.is_unborn() {
            return Ok(());
        }
        let row = NewSession {
            id: self.row.id.clone(),
            wire: self.row.wire.clone(),
            profile: self.row.profile.clone(),
            title: self.row.title.clone(),
            envelope: self.row.envelope.clone(),
            state: self.row.state.clone(),
            time: self.now(),
        };
        let store = &self.engine.parts.store;
        self.row = match store.create(row).await {
            // Nobody else knows the id: it was made before, and the answer got lost.
            Err(exists @ StoreError::SessionExists { .. }) => {
                let row = store.session(&self.row.id).await?;
                if row.revision > 0 || row.wire != self.row.wire {
                    return Err(exists.into());
                }
                row
            }
            created => created?,
        };
        if let Some(following) = &mut self.following {
            following.is_unborn = false;
        }
        Ok(())
    }

    /// All messages that are not stored yet.
    pub(crate) fn pending(&self) -> Vec<NewStoredMessage> {
        self.following.as_ref().map(|following| following.pending.clone()).unwrap_or_default()
    }

    /// The body that is shown of a message, if it is in memory.
    pub(crate) fn body(&self, seq: Seq) -> Option<&[u8]> {
        let pending = || {
            let at = usize::try_from(seq.checked_sub(self.row.head + 1)?).ok()?;
            Some(self.following.as_ref()?.pending.get(at)?.body.as_ref())
        };
        self.bodies.get(&seq).map(Bytes::as_ref).or_else(pending)
    }

    /// Messages that are not stored yet and will not be taken back.
    pub(crate) fn settled(&self) -> Vec<NewStoredMessage> {
        let Some(following) = &self.following else { return Vec::new() };
        let held = following.held_from.unwrap_or(Seq::MAX);
        let count = usize::try_from(held.saturating_sub(self.row.head + 1)).unwrap_or(usize::MAX);
        following.pending.iter().take(count).cloned().collect()
    }

    /// Takes note of what a commit stored.
    pub(crate) fn note_kept(&mut self, committed: &Committed) {
        if let Some(following) = &mut self.following {
            let stored = usize::try_from(committed.head - self.row.head).unwrap_or(usize::MAX);
            following.pending.drain(..stored.min(following.pending.len()));
        }
        (self.row.revision, self.row.head) = (committed.revision, committed.head);
    }

    /// Whether the body of a message is held in memory: a follower's messages are said again with each request, but
    /// nobody says what a compaction made.
    pub(crate) fn holds(&self, nature: MessageKind) -> bool {
        self.following.is_none() || nature != MessageKind::Plain
    }

    /// Whether messages of others can be added to what is in memory. A follower rather begins anew; but a summary that is
    /// made in the background stays good while the conversation goes on elsewhere.
    pub(crate) fn may_take_in(&self) -> bool {
        self.following.is_none() || self.is_in_background()
    }

    /// Takes note that others stored these messages. Says whether they are what a follower was about to store itself, as
    /// far as they are as many; if so, it has to find out what comes behind.
    pub(crate) fn take_as_stored(&mut self, found: &[StoredMessage]) -> bool {
        let Some(following) = &mut self.following else { return true };
        if following.pending.iter().zip(found).any(|(row, message)| row.id != message.id) {
            return false;
        }
        following.pending.drain(..found.len().min(following.pending.len()));
        following.reloads += 1;
        true
    }

    /// Begins anew with what is stored. Says whether that is nothing.
    pub(crate) fn start_over(&mut self) -> bool {
        let Some(following) = &mut self.following else { return false };
        following.pending.clear();
        following.held_from = None;
        following.reloads += 1;
        if following.is_unborn {
            self.machine = Machine::sharing(Arc::clone(&self.profile), SessionState::default(), []);
            self.bodies.clear();
            (self.background, self.prepared) = (None, None);
            self.is_dirty = false;
        }
        self.is_unborn()
    }

    /// Who writes summaries.
    pub(crate) fn summariser(&self) -> Option<Arc<dyn LanguageModel>> {
        let lent = || self.following.as_ref().and_then(|following| following.lent.clone());
        self.engine.parts.model.clone().or_else(lent)
    }
}
