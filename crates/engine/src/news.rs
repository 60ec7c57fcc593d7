//! What others did to a session since it was last looked at.
//!
//! A session may be open in several processes. Mostly the others append, and that takes nothing back: such messages
//! are added to what is in memory, so that a summary on its way, which may have cost minutes and money, stays good.
//! Whatever else they did, everything is loaded again and thought over.

use secateur::session::{Input, Seq, SessionMessage};
use uuid::Uuid;

use crate::error::EngineError;
use crate::session::Session;

/// What others did.
pub(crate) enum News {
    /// Nothing.
    Nothing,
    /// They appended these messages, and nothing else that matters.
    Messages(Vec<(Seq, SessionMessage)>),
    /// Something after which what is in memory is not good any more.
    Changes {
        /// The revision now.
        revision: u64,
    },
}

impl Session {
    /// Takes in what others did, and what was finished in the background.
    pub async fn refresh(&mut self) -> Result<(), EngineError> {
        self.catch_up().await?;
        self.told.clear();
        if self.background.as_ref().is_some_and(crate::background::Background::is_finished) {
            self.take_background().await?;
        }
        Ok(())
    }

    /// Waits a little, then takes in what the others did.
    pub(crate) async fn pause(&mut self, attempt: u32) -> Result<(), EngineError> {
        // Processes that collide must not stay in step; the random part of a new id tells them apart.
        let [.., high, low] = *Uuid::now_v7().as_bytes();
        let longest = 8 << attempt.min(5);
        let wait = u64::from(u16::from_be_bytes([high, low])) % longest;
        tokio::time::sleep(std::time::Duration::from_millis(wait)).await;
        self.catch_up().await
    }

    /// Takes in what others did.
    pub(crate) async fn catch_up(&mut self) -> Result<(), EngineError> {
        if self.is_dirty {
            return self.reload().await;
        }
        match self.look().await? {
            News::Nothing => Ok(()),
            News::Messages(messages) => self.drive(Input::Appended { messages }).await.map(drop),
            News::Changes { .. } => self.reload().await,
        }
    }

    /// Looks what others did. The machine has still to be told of their messages; everything else knows them then.
    pub(crate) async fn look(&mut self) -> Result<News, EngineError> {
        if self.is_unborn() {
            return Ok(News::Nothing);
        }
        let store = &self.engine.parts.store;
        let (row, known) = (store.session(&self.row.id).await?, &self.row);
        if row.revision == known.revision {
            return Ok(News::Nothing);
        }
        // In the middle of a compaction, what others learned about sizes meanwhile is not worth a new one.
        let is_learned = row.state != known.state && self.machine.task().is_none() && !self.is_taking;
        let is_same = row.last_operation == known.last_operation
            && row.last_event == known.last_event
            && row.live_from == known.live_from
            && row.envelope == known.envelope;
        if is_learned || !is_same || !self.may_take_in() {
            return Ok(News::Changes { revision: row.revision });
        }
        let found = store.messages(&row.id, known.head + 1, row.head + 1).await?;
        if !self.take_as_stored(&found) {
            return Ok(News::Changes { revision: row.revision });
        }
        let mut messages = Vec::with_capacity(found.len());
        for message in found {
            let entry: SessionMessage =
                serde_json::from_str(&message.facts).map_err(|source| EngineError::Unreadable {
                    what: format!("message {} of session {}", message.seq, row.id),
                    source: source.into(),
                })?;
            if self.holds(entry.kind) {
                self.bodies.insert(message.seq, message.body.into());
            }
            messages.push((message.seq, entry));
        }
        self.row = row;
        Ok(News::Messages(messages))
    }
}
