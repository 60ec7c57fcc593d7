//! Deleting originals for good, with what was noted about them.
//!
//! Messages are forgotten page by page, each page in one transaction. A process that dies between two pages leaves a
//! session that works; forgetting again does the rest.

use std::collections::HashSet;

use secateur::session::{CutBy, Event, Seq, SessionCut};
use secateur_store::{Commit, Forget, Forgotten, RemainingFacts, StoredMessage};

use super::core::SessionCore;
use super::history::History;
use super::json::{from_json, to_json};
use super::remainder::{ForgottenParts, remaining_cuts, remaining_facts};
use crate::error::EngineError;

/// How many messages are forgotten in one transaction.
const PAGE: u64 = 200;

/// What becomes of a message.
enum ErasedAs {
    /// Nothing of it is in the context: all of it goes.
    Gone,
    /// What is shown of it stays.
    Cut,
    /// An operation made it and it is hidden. It goes with what the operation replaced.
    Made(u64),
}

impl<H: History> SessionCore<H> {
    /// Deletes the originals of messages from before `before` that were cut or compacted away, and everything that was
    /// noted about them and is not in the context.
    pub(crate) async fn forget(&mut self, before: i64) -> Result<Forgotten, EngineError> {
        let mut sum = Forgotten::default();
        retry!(self, async {
            self.reload().await?;
            self.forget_all(before, &mut sum).await.map(Some)
        });
        self.reload().await?;
        if sum.messages > 0 {
            self.store_forgotten_event(sum).await?;
        }
        Ok(sum)
    }

    /// What [`forget`](Self::forget) would delete, as far as this process knows.
    pub(crate) async fn would_forget(&self, before: i64) -> Result<Forgotten, EngineError> {
        let live = self.live_seqs();
        let (mut seqs, mut made, mut parts) = (Vec::new(), Vec::new(), ForgottenParts::default());
        let mut from = 1;
        while from <= self.row.head {
            for message in self.engine.parts.store.messages(&self.row.id, from, from + PAGE).await? {
                match self.erased_as(&message, before, &live)? {
                    None => {}
                    Some(ErasedAs::Made(operation)) => made.push((message.seq, operation)),
                    Some(ErasedAs::Gone | ErasedAs::Cut) => {
                        parts.add_gone(message.seq);
                        seqs.push(message.seq);
                    }
                }
            }
            from += PAGE;
        }
        let operations = self.engine.all_operations(&self.row.id).await?;
        seqs.extend(parts.made_without_source(&operations, &made)?);
        let mut sum = Forgotten::default();
        for seqs in seqs.chunks(PAGE as usize) {
            let originals = self.engine.parts.store.originals(&self.row.id, seqs).await?;
            for original in originals.into_iter().flatten() {
                sum.messages += 1;
                sum.bytes += original.len() as u64;
            }
        }
        Ok(sum)
    }

    async fn forget_all(&mut self, before: i64, sum: &mut Forgotten) -> Result<(), EngineError> {
        let live = self.live_seqs();
        let (mut hidden, mut parts) = (Vec::new(), ForgottenParts::default());
        let mut from = 1;
        while from <= self.row.head {
            let page = self.engine.parts.store.messages(&self.row.id, from, from + PAGE).await?;
            let mut forget = Forget::default();
            for message in page {
                match self.erased_as(&message, before, &live)? {
                    None => {}
                    Some(ErasedAs::Made(operation)) => hidden.push((operation, message)),
                    Some(ErasedAs::Gone) => {
                        parts.add_gone(message.seq);
                        let left = gone_facts(&message)?;
                        let is_done = message.body.is_empty() && left.facts == message.facts;
                        if !is_done || left.cuts != message.cuts {
                            forget.gone.push(message.seq);
                            forget.facts.push(left);
                        }
                    }
                    Some(ErasedAs::Cut) => {
                        let cuts = cuts_of(&message)?;
                        parts.add_cut(message.seq, &cuts);
                        forget.cut.push(message.seq);
                        forget.facts.push(RemainingFacts {
                            seq: message.seq,
                            facts: remaining_facts(&message.facts, &String::from_utf8_lossy(&message.body))?,
                            cuts: to_json(&remaining_cuts(&cuts))?,
                        });
                    }
                }
            }
            self.forget_page(forget, sum).await?;
            from += PAGE;
        }
        let operations = self.engine.all_operations(&self.row.id).await?;
        let made: Vec<(Seq, u64)> = hidden.iter().map(|(number, message)| (message.seq, *number)).collect();
        let made: HashSet<Seq> = parts.made_without_source(&operations, &made)?.into_iter().collect();
        let mut forget = Forget { operations: parts.remaining_operations(&operations)?, ..Forget::default() };
        for (_, message) in hidden.iter().filter(|(_, message)| made.contains(&message.seq)) {
            forget.gone.push(message.seq);
            forget.facts.push(gone_facts(message)?);
        }
        self.forget_page(forget, sum).await
    }

    async fn forget_page(&mut self, forget: Forget, sum: &mut Forgotten) -> Result<(), EngineError> {
        if forget.gone.is_empty() && forget.cut.is_empty() && forget.operations.is_empty() {
            return Ok(());
        }
        let forget = Forget { revision: self.row.revision, time: self.now(), ..forget };
        let forgotten = self.engine.parts.store.forget(&self.row.id, forget).await?;
        self.row.revision = forgotten.revision;
        sum.messages += forgotten.messages;
        sum.bytes += forgotten.bytes;
        sum.revision = forgotten.revision;
        Ok(())
    }

    fn live_seqs(&self) -> HashSet<Seq> {
        self.machine.context().rows().iter().map(|row| row.seq).collect()
    }

    /// What becomes of a message; none if it is younger, or in the context as a whole.
    fn erased_as(
        &self,
        message: &StoredMessage,
        before: i64,
        live: &HashSet<Seq>,
    ) -> Result<Option<ErasedAs>, EngineError> {
        if message.time >= before {
            return Ok(None);
        }
        if live.contains(&message.seq) {
            let is_cut = |cut: &SessionCut| !cut.undone && cut.by == CutBy::Secateur;
            return Ok(cuts_of(message)?.iter().any(is_cut).then_some(ErasedAs::Cut));
        }
        let is_loaded = message.seq >= self.row.live_from || message.pinned;
        Ok(match (is_loaded, message.hidden, message.operation) {
            (false, ..) | (true, true, None) => Some(ErasedAs::Gone),
            (true, true, Some(operation)) => Some(ErasedAs::Made(operation)),
            (true, false, _) => None,
        })
    }

    async fn store_forgotten_event(&mut self, forgotten: Forgotten) -> Result<(), EngineError> {
        let event = Event::Forgotten { messages: forgotten.messages, bytes: forgotten.bytes };
        let commit = Commit {
            revision: self.row.revision,
            time: self.now(),
            events: vec![to_json(&event)?],
            ..Commit::default()
        };
        let committed = self.engine.parts.store.commit(&self.row.id, commit).await?;
        self.row.revision = committed.revision;
        self.row.last_event = committed.last_event;
        Ok(())
    }
}

fn cuts_of(message: &StoredMessage) -> Result<Vec<SessionCut>, EngineError> {
    match message.cuts.as_str() {
        "" => Ok(Vec::new()),
        cuts => from_json(cuts, || format!("the cuts of message {}", message.seq)),
    }
}

/// What is left of a message that is not in the context.
fn gone_facts(message: &StoredMessage) -> Result<RemainingFacts, EngineError> {
    let facts = remaining_facts(&message.facts, "")?;
    Ok(RemainingFacts { seq: message.seq, facts, cuts: String::new() })
}
