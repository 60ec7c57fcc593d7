//! Deleting originals for good.

use std::collections::HashSet;

use secateur::session::{Event, Seq, SessionCut};
use secateur_store::{Commit, Forget, Forgotten};

use super::core::SessionCore;
use super::history::History;
use super::json::to_json;
use crate::error::EngineError;

/// How many messages are read at once.
const PAGE: u64 = 1_000;

impl<H: History> SessionCore<H> {
    /// Deletes the originals of messages from before `before` that were cut or compacted away.
    pub(crate) async fn forget(&mut self, before: i64) -> Result<Forgotten, EngineError> {
        let forgotten = retry!(self, async {
            self.reload().await?;
            let forget = self.forgettable(before).await?;
            Ok(Some(self.engine.parts.store.forget(&self.row.id, forget).await?))
        });
        self.reload().await?;
        if forgotten.messages > 0 {
            self.store_forgotten_event(forgotten).await?;
        }
        Ok(forgotten)
    }

    /// What [`forget`](Self::forget) would delete, as far as this process knows.
    pub(crate) async fn would_forget(&self, before: i64) -> Result<Forgotten, EngineError> {
        let Forget { gone, cut, .. } = self.forgettable(before).await?;
        let mut sum = Forgotten::default();
        for seqs in gone.chunks(PAGE as usize).chain(cut.chunks(PAGE as usize)) {
            let originals = self.engine.parts.store.originals(&self.row.id, seqs).await?;
            for original in originals.into_iter().flatten() {
                sum.messages += 1;
                sum.bytes += original.len() as u64;
            }
        }
        Ok(sum)
    }

    /// The messages whose originals can be deleted. Those of some of them may be gone already.
    async fn forgettable(&self, before: i64) -> Result<Forget, EngineError> {
        let live: HashSet<Seq> = self.machine.context().rows().iter().map(|row| row.seq).collect();
        let (mut gone, mut cut) = (Vec::new(), Vec::new());
        let mut from = 1;
        while from <= self.row.head {
            let page = self.engine.parts.store.messages(&self.row.id, from, from + PAGE).await?;
            for message in page.iter().filter(|message| message.time < before) {
                let is_loaded = message.seq >= self.row.live_from || message.pinned;
                if live.contains(&message.seq) {
                    let cuts: Vec<SessionCut> = serde_json::from_str(&message.cuts).unwrap_or_default();
                    if cuts.iter().any(|cut| !cut.undone) {
                        cut.push(message.seq);
                    }
                } else if !is_loaded {
                    gone.push(message.seq);
                }
            }
            from += PAGE;
        }
        Ok(Forget { revision: self.row.revision, time: self.now(), gone, cut })
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
