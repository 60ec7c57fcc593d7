//! Fetching originals back, following what happened, and forgetting for good.

use std::collections::HashMap;

use secateur::session::{Event, Seq, SessionCut};
use secateur_store::{Commit, Forget, Forgotten, StoreError};

use crate::error::EngineError;
use crate::record::to_json;
use crate::session::{Session, TRIES};

/// How many messages are looked through at once.
const PAGE: u64 = 1_000;

/// An original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recalled {
    /// The session that it was fetched from.
    pub session: String,
    /// The number of its message.
    pub seq: Seq,
    /// Which part of the message; none for all of it.
    pub part: Option<u32>,
    /// The tool that it comes from or went to, if it was cut and that is known.
    pub tool: Option<String>,
    /// What that was about.
    pub subject: Option<String>,
    /// The bytes of the message as they were appended.
    pub body: Vec<u8>,
    /// The text of the part that was asked for, or of all parts. Of a tool's input it is the JSON, and the raw content
    /// of what has no text.
    pub text: String,
}

/// An event with its number, from which on it can be followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Its number in the session.
    pub number: u64,
    /// When.
    pub time: i64,
    /// What happened.
    pub event: Event,
}

impl Session {
    /// The original of a message, or of one part of it, whatever was cut or compacted since.
    ///
    /// A part is named like `12.0`: message 12, its first part. `12` is the whole message. A handle names what was cut,
    /// and the id of a tool call its result.
    pub async fn recall(&self, name: &str) -> Result<Recalled, EngineError> {
        self.engine.recall(name, Some(&self.row.id)).await
    }

    /// What happened after event number `after`, oldest first.
    pub async fn events(&self, after: u64, limit: usize) -> Result<Vec<Told>, EngineError> {
        let rows = self.engine.parts.store.events(&self.row.id, after, limit).await?;
        rows.into_iter()
            .map(|row| {
                let event = serde_json::from_str(&row.data).map_err(|source| EngineError::Unreadable {
                    what: format!("event {} of session {}", row.number, self.row.id),
                    source: source.into(),
                })?;
                Ok(Told { number: row.number, time: row.time, event })
            })
            .collect()
    }

    /// Deletes the originals of messages made before `before` that were cut or compacted away. What is shown stays;
    /// what was forgotten cannot be recalled, and the operations behind it cannot be undone.
    pub async fn forget(&mut self, before: i64) -> Result<Forgotten, EngineError> {
        for attempt in 0..TRIES {
            self.reload().await?;
            let forget = self.forgettable(before).await?;
            match self.engine.parts.store.forget(&self.row.id, forget).await {
                Ok(forgotten) => {
                    self.reload().await?;
                    if forgotten.messages > 0 {
                        self.note_forgotten(forgotten).await?;
                    }
                    return Ok(forgotten);
                }
                Err(StoreError::Stale { .. }) => self.pause(attempt).await?,
                Err(error) => return Err(error.into()),
            }
        }
        Err(EngineError::Busy { session: self.row.id.clone() })
    }

    /// The messages whose originals [`forget`](Self::forget) would delete, as far as this session knows. Some of them may
    /// have lost theirs before.
    pub async fn forgettable(&self, before: i64) -> Result<Forget, EngineError> {
        let living: std::collections::HashSet<Seq> =
            self.machine.context().rows().iter().map(|row| row.seq).collect();
        let (mut gone, mut cut) = (Vec::new(), Vec::new());
        let mut from = 1;
        while from <= self.row.head {
            let page = self.engine.parts.store.messages(&self.row.id, from, from + PAGE).await?;
            for message in page.iter().filter(|message| message.time < before) {
                let is_loaded = message.seq >= self.row.live_from || message.pinned;
                if living.contains(&message.seq) {
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

    async fn note_forgotten(&mut self, forgotten: Forgotten) -> Result<(), EngineError> {
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

    /// The bodies of these messages that are not in memory.
    pub(crate) async fn fetch(&self, seqs: &[Seq]) -> Result<HashMap<Seq, Vec<u8>>, EngineError> {
        /// How many messages are read at once.
        const PAGE: Seq = 200;
        let mut missing: Vec<Seq> = seqs.iter().copied().filter(|seq| self.body(*seq).is_none()).collect();
        missing.sort_unstable();
        let mut found = HashMap::new();
        let mut rest = missing.as_slice();
        while let Some(&first) = rest.first() {
            let here = rest.iter().take_while(|&&seq| seq < first + PAGE).count();
            let (page, later) = rest.split_at(here);
            let end = page.last().map_or(first, |last| last + 1);
            let rows = self.engine.parts.store.messages(&self.row.id, first, end).await?;
            let wanted = rows.into_iter().filter(|row| page.binary_search(&row.seq).is_ok());
            found.extend(wanted.map(|row| (row.seq, row.body)));
            rest = later;
        }
        Ok(found)
    }
}
