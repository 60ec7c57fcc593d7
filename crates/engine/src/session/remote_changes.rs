//! What other processes did to a session since this one looked.
//!
//! Mostly they append, which takes nothing back. Such messages are added to what is in memory, so that a summary
//! that is being made, and may have cost minutes and money, stays valid. After any other change everything is loaded
//! again.

use secateur::session::{Input, Seq, SessionMessage};
use secateur_store::{SessionRow, StoreError};

use super::core::SessionCore;
use super::history::History;
use super::json::from_json;
use crate::error::EngineError;

/// What other processes did.
pub(crate) enum RemoteChanges {
    None,
    /// They appended these messages, and did nothing else that matters.
    Messages(Vec<(Seq, SessionMessage)>),
    /// What is in memory is not valid any more.
    Other {
        /// The revision now.
        revision: u64,
    },
}

impl<H: History> SessionCore<H> {
    /// Looks what others did, and notes messages that they appended everywhere except in the machine.
    pub(crate) async fn remote_changes(&mut self) -> Result<RemoteChanges, EngineError> {
        let row = match self.stored_row().await {
            Err(error) if self.goes_on_after(&error) => return Ok(RemoteChanges::None),
            row => row?,
        };
        let Some(row) = row else { return Ok(RemoteChanges::None) };
        let (store, known) = (&self.engine.parts.store, &self.row);
        if row.revision == known.revision {
            return Ok(RemoteChanges::None);
        }
        let other = RemoteChanges::Other { revision: row.revision };
        // During a compaction, better estimates by others are no reason to begin again.
        let is_storing_end = self.compaction.is_storing_end;
        let is_learned = row.state != known.state && self.machine.task().is_none() && !is_storing_end;
        let is_same = row.last_operation == known.last_operation
            && row.last_event == known.last_event
            && row.live_from == known.live_from
            && row.envelope == known.envelope;
        let is_summarising = is_storing_end || self.machine.task().is_some_and(|task| task.background);
        if is_learned || !is_same || !H::accepts_remote_messages(is_summarising) {
            return Ok(other);
        }
        let found = store.messages(&row.id, known.head + 1, row.head + 1).await?;
        if !self.history.merge_stored(&found) {
            return Ok(other);
        }
        let mut messages = Vec::with_capacity(found.len());
        for message in found {
            let facts: SessionMessage =
                from_json(&message.facts, || format!("message {} of session {}", message.seq, row.id))?;
            if H::holds_body(facts.kind) {
                self.bodies.insert(message.seq, message.body.into());
            }
            messages.push((message.seq, facts));
        }
        self.row = row;
        Ok(RemoteChanges::Messages(messages))
    }

    /// The session as it is stored now; none if it is not stored yet. What could not be stored before is stored first.
    async fn stored_row(&mut self) -> Result<Option<SessionRow>, EngineError> {
        match self.store_provisional().await {
            // Then the numbers in memory differ from those of the row.
            Err(error) if error.is_collision() => {}
            stored => stored?,
        }
        if !self.history.is_stored() {
            return Ok(None);
        }
        Ok(Some(self.engine.parts.store.session(&self.row.id).await?))
    }

    /// Adds messages of others while the machine waits for the end of an effect. Any other change is a collision.
    pub(crate) async fn absorb_remote_messages(&mut self) -> Result<(), EngineError> {
        match self.remote_changes().await? {
            RemoteChanges::None => Ok(()),
            // The machine is waiting, so it takes them in without new effects.
            RemoteChanges::Messages(messages) => {
                self.machine.handle(Input::Appended { messages });
                Ok(())
            }
            RemoteChanges::Other { revision: found } => {
                let (id, expected) = (self.row.id.clone(), self.row.revision);
                Err(StoreError::Stale { id, expected, found }.into())
            }
        }
    }
}
