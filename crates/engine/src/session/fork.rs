//! A session that forks off from another one: it shares the history up to a message, and nothing else.

use std::collections::HashSet;

use secateur::session::{Operation, Seq};
use secateur_store::Fork;

use super::core::SessionCore;
use super::history::{ClientHistory, History};
use crate::error::EngineError;

/// How many messages are read at once.
const PAGE: usize = 1_000;

impl SessionCore<ClientHistory> {
    /// Stores a session that shares the history up to this message and all operations; returns its id.
    pub(crate) async fn store_fork(&mut self, at: Seq) -> Result<String, EngineError> {
        self.store_provisional().await?;
        let fork = Fork {
            revision: self.row.revision,
            at,
            id: self.engine.parts.clock.new_id().to_string(),
            title: self.row.title.clone(),
            time: self.now(),
        };
        Ok(self.engine.parts.store.fork(&self.row.id, fork).await?.id)
    }
}

impl<H: History> SessionCore<H> {
    /// Undoes compactions of messages that this session does not have.
    ///
    /// A fork has all operations of its parent, also those that summarised messages which it does not share. Until
    /// they are undone it would show a summary of history that its client did not send. This is done whenever a
    /// session is opened, because the process that forked may have died before.
    pub(crate) async fn undo_foreign_compactions(&mut self) -> Result<(), EngineError> {
        while let Some(number) = self.foreign_compaction().await? {
            match self.take_back(Some(number)).await {
                // Another process was faster.
                Ok(_) | Err(EngineError::CannotUndo { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// The newest compaction that is not undone, if it or an earlier one replaced messages that are not here.
    async fn foreign_compaction(&self) -> Result<Option<u64>, EngineError> {
        if self.machine.state().pivot.is_none() {
            return Ok(None);
        }
        let rows = self.engine.all_operations(&self.row.id).await?;
        let holding = || rows.iter().rev().filter(|row| row.kind == "compact" && !row.undone);
        for row in holding() {
            let Operation::Compact(record) = self.stored_operation(row)?.operation else { continue };
            match self.presence(&record.replaced).await? {
                Presence::Missing => return Ok(holding().next().map(|row| row.number)),
                // Earlier ones replaced earlier messages, which are here, too.
                Presence::Sent => return Ok(None),
                Presence::Made => {}
            }
        }
        Ok(None)
    }

    /// Whether this session has these messages.
    async fn presence(&self, seqs: &[Seq]) -> Result<Presence, EngineError> {
        let (Some(first), Some(last)) = (seqs.iter().min(), seqs.iter().max()) else {
            return Ok(Presence::Made);
        };
        let (mut here, mut sent, mut after) = (HashSet::new(), HashSet::new(), first.saturating_sub(1));
        while after < *last {
            let page = self.engine.parts.store.facts(&self.row.id, after, PAGE).await?;
            let Some(end) = page.last() else { break };
            after = end.seq;
            here.extend(page.iter().map(|message| message.seq));
            sent.extend(page.iter().filter(|message| message.operation.is_none()).map(|message| message.seq));
        }
        Ok(if !seqs.iter().all(|seq| here.contains(seq)) {
            Presence::Missing
        } else if seqs.iter().any(|seq| sent.contains(seq)) {
            Presence::Sent
        } else {
            Presence::Made
        })
    }
}

/// Whether messages are in a session.
enum Presence {
    /// One of them is not.
    Missing,
    /// All are, and a client sent some of them.
    Sent,
    /// All are, and operations made them.
    Made,
}
