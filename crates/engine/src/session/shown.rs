//! The messages of a followed session: what the model is to see, and what is stored.

use std::collections::HashSet;

use bytes::Bytes;
use secateur::session::{Context, MessageKind, Seq, SessionCut, SessionMessage};
use secateur_store::FoundMessage;

use super::followed::FollowedSession;
use crate::error::EngineError;

/// How many messages are read at once.
const PAGE: usize = 1_000;

/// A message as the model is to see it.
#[derive(Clone, Copy, Debug)]
pub struct ShownMessage<'s> {
    /// Its number.
    pub seq: Seq,
    /// Its facts.
    pub facts: &'s SessionMessage,
    /// Its cuts, undone ones included.
    pub cuts: &'s [SessionCut],
    /// Its bytes, if a compaction made it, so that the client does not have it.
    pub made: Option<&'s [u8]>,
}

impl FollowedSession {
    /// The live messages, in the order in which the model is to see them.
    pub fn shown_messages(&self) -> impl DoubleEndedIterator<Item = ShownMessage<'_>> {
        let bodies = &self.core.bodies;
        self.live_messages().rows().iter().map(|row| ShownMessage {
            seq: row.seq,
            facts: &row.facts,
            cuts: &row.cuts,
            made: bodies.get(&row.seq).filter(|_| row.facts.kind != MessageKind::Plain).map(Bytes::as_ref),
        })
    }

    /// The messages in the context, without their bodies.
    pub fn live_messages(&self) -> &Context {
        self.core.machine.context()
    }

    /// Those messages with these ids that are stored in this session, as far as this process knows: it has not caught
    /// up with messages that others stored meanwhile.
    pub async fn find_stored(&self, ids: &[String]) -> Result<Vec<FoundMessage>, EngineError> {
        let mut found = self.core.engine.parts.store.find_in(self.id(), ids).await?;
        found.retain(|found| found.seq <= self.head());
        Ok(found)
    }

    /// Numbers and ids of stored messages after this one that are no longer live.
    pub async fn replaced_after(&self, last: Seq) -> Result<Vec<(Seq, String)>, EngineError> {
        let head = self.head();
        let live = self.live_messages().rows().iter().map(|row| row.seq);
        let live: HashSet<Seq> = live.filter(|seq| (last + 1..=head).contains(seq)).collect();
        let (mut replaced, mut after) = (Vec::new(), last);
        // Mostly all of them are live, and nothing has to be read.
        while head.saturating_sub(last) > live.len() as u64 && after < head {
            let page = self.core.engine.message_facts(self.id(), after, PAGE).await?;
            let Some(end) = page.last().map(|message| message.seq) else { break };
            after = end;
            let gone = page.into_iter().filter(|message| message.seq <= head && !live.contains(&message.seq));
            replaced.extend(gone.map(|message| (message.seq, message.id)));
        }
        Ok(replaced)
    }
}
