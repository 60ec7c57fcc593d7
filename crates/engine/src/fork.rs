//! A session that branches off from another one: it shares the past and nothing else.

use secateur::session::{Operation, Seq};
use secateur_store::Fork;
use uuid::Uuid;

use crate::error::EngineError;
use crate::record::Deed;
use crate::session::Session;

impl Session {
    /// A session of its own that shares the history up to this message, with all that was decided about it. What is
    /// stored of this one must reach that far.
    pub async fn fork(&self, at: Seq) -> Result<Session, EngineError> {
        let fork = Fork {
            revision: self.row.revision,
            at,
            id: Uuid::now_v7().to_string(),
            title: self.row.title.clone(),
            time: self.now(),
        };
        let row = self.engine.parts.store.fork(&self.row.id, fork).await?;
        let mut session = self.engine.follow(&row.id).await?;
        // A compaction that took in what the fork does not share is none of its history.
        while let Some(number) = session.foreign_compaction(at).await? {
            session.undo(Some(number)).await?;
        }
        Ok(session)
    }

    /// The newest compaction that holds, if it replaced messages behind this one that the client said.
    async fn foreign_compaction(&self, at: Seq) -> Result<Option<u64>, EngineError> {
        let rows = self.operations().await?;
        let Some(row) = rows.iter().rev().find(|row| row.kind == "compact" && !row.undone) else {
            return Ok(None);
        };
        let Deed { operation, .. } = self.deed(row)?;
        let is_foreign = match operation {
            Operation::Compact(turnover) => {
                turnover.live_from > at + 1 || turnover.replaced.iter().any(|&seq| seq > at)
            }
            _ => false,
        };
        Ok(is_foreign.then_some(row.number))
    }
}
