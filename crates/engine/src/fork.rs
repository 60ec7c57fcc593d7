//! A session that branches off from another one: it shares the past and nothing else.

use std::collections::HashSet;

use secateur::session::{Operation, Seq};
use secateur_store::Fork;
use uuid::Uuid;

use crate::error::EngineError;
use crate::session::Session;

/// How many messages are looked at once.
const PAGE: usize = 1_000;

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
        self.engine.follow(&row.id).await
    }

    /// Takes back compactions of messages that this session does not have: a branch is a copy with all operations, also
    /// with those that took in what it does not share. Until that is done it would show a summary of what was never said
    /// in it. So it is looked for whenever a session is opened: whoever made the branch may have died before, and others
    /// may have found it already.
    pub(crate) async fn leave_foreign(&mut self) -> Result<(), EngineError> {
        while let Some(number) = self.foreign_compaction().await? {
            match self.undo(Some(number)).await {
                // Somebody else was faster.
                Ok(_) | Err(EngineError::CannotTurn { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The newest compaction that holds, if it or an earlier one that holds replaced messages that are not here.
    async fn foreign_compaction(&self) -> Result<Option<u64>, EngineError> {
        if self.machine.state().pivot.is_none() {
            return Ok(None);
        }
        let rows = self.operations().await?;
        let holding = || rows.iter().rev().filter(|row| row.kind == "compact" && !row.undone);
        for row in holding() {
            let Operation::Compact(turnover) = self.deed(row)?.operation else { continue };
            match self.presence(&turnover.replaced).await? {
                Presence::Missing => return Ok(holding().next().map(|row| row.number)),
                // Those before it replaced what was said earlier, and that is here, too.
                Presence::Said => return Ok(None),
                Presence::Made => {}
            }
        }
        Ok(None)
    }

    /// Whether messages are here.
    async fn presence(&self, seqs: &[Seq]) -> Result<Presence, EngineError> {
        let (Some(first), Some(last)) = (seqs.iter().min(), seqs.iter().max()) else {
            return Ok(Presence::Made);
        };
        let (mut here, mut said, mut after) = (HashSet::new(), HashSet::new(), first.saturating_sub(1));
        while after < *last {
            let page = self.engine.parts.store.facts(&self.row.id, after, PAGE).await?;
            let Some(end) = page.last() else { break };
            after = end.seq;
            here.extend(page.iter().map(|message| message.seq));
            said.extend(page.iter().filter(|message| message.operation.is_none()).map(|message| message.seq));
        }
        Ok(if !seqs.iter().all(|seq| here.contains(seq)) {
            Presence::Missing
        } else if seqs.iter().any(|seq| said.contains(seq)) {
            Presence::Said
        } else {
            Presence::Made
        })
    }
}

/// Whether messages are in a session.
enum Presence {
    /// One of them is not.
    Missing,
    /// All are, and a client said some of them.
    Said,
    /// All are, and operations made them.
    Made,
}
