//! Questions about stored sessions that need no open session.

use secateur_formats::UnknownWire;
use secateur_store::{EventRow, FoundMessage, OperationRow, SessionCursor, SessionRow, StoredMessage};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::session_wire::SessionWire;

/// How many operations are read at once.
const PAGE: usize = 500;

impl Engine {
    /// The sessions, the one changed last first.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, EngineError> {
        Ok(self.parts.store.sessions(limit).await?)
    }

    /// The sessions after this place in the same order.
    pub async fn sessions_after(
        &self,
        place: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, EngineError> {
        Ok(self.parts.store.sessions_after(place, limit).await?)
    }

    /// What is stored about a session itself.
    pub async fn session_row(&self, id: &str) -> Result<SessionRow, EngineError> {
        Ok(self.parts.store.session(id).await?)
    }

    /// The facts about a session's messages after number `after`, oldest first; their bodies are empty.
    pub async fn message_facts(
        &self,
        id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<StoredMessage>, EngineError> {
        Ok(self.parts.store.facts(id, after, limit).await?)
    }

    /// The events of a session after number `after`, oldest first.
    pub async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, EngineError> {
        Ok(self.parts.store.events(id, after, limit).await?)
    }

    /// The operations of a session after number `after`, oldest first.
    pub async fn operations(
        &self,
        id: &str,
        after: u64,
        limit: usize,
    ) -> Result<Vec<OperationRow>, EngineError> {
        Ok(self.parts.store.operations(id, after, limit).await?)
    }

    /// All operations of a session, oldest first.
    pub async fn all_operations(&self, id: &str) -> Result<Vec<OperationRow>, EngineError> {
        let mut rows: Vec<OperationRow> = Vec::new();
        loop {
            let after = rows.last().map_or(0, |row| row.number);
            let page = self.operations(id, after, PAGE).await?;
            let is_last = page.len() < PAGE;
            rows.extend(page);
            if is_last {
                return Ok(rows);
            }
        }
    }

    /// The messages with these ids, in all sessions; see [`Store::find`](secateur_store::Store::find) for the limit.
    pub async fn find_messages(&self, ids: &[String]) -> Result<Vec<FoundMessage>, EngineError> {
        Ok(self.parts.store.find(ids).await?)
    }

    /// Returns the space of deleted originals to the file system.
    pub async fn shrink_store(&self) -> Result<(), EngineError> {
        Ok(self.parts.store.shrink().await?)
    }
}

/// The wire of a stored session's messages.
pub(crate) fn session_wire_of(row: &SessionRow) -> Result<SessionWire, EngineError> {
    let wire = row.wire.parse().map_err(|source: UnknownWire| EngineError::Unreadable {
        what: format!("session {}", row.id),
        source: source.into(),
    })?;
    Ok(SessionWire(wire))
}
