//! A message on its way into a session: what is said of it, and what is made of it before it is kept.

use std::collections::HashSet;

use bytestring::ByteString;
use secateur::Measures;
use secateur::session::{Input, Seq, SessionMessage};
use secateur_store::{Commit, NewMessageRow, StoreError};
use uuid::Uuid;

use crate::dialect::{Dialect, LARGEST_MESSAGE};
use crate::error::EngineError;
use crate::record::to_json;
use crate::session::{Session, TRIES};

/// A message that is to be appended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMessage {
    /// Its id, unique in the session; a new one if none is given. Appending an id a second time appends nothing, so
    /// whoever is not sure whether it arrived says it again.
    pub id: Option<String>,
    /// The message as it stands in a request of the session's form. It may be a slice of that request, so that megabytes
    /// need not be copied.
    pub json: ByteString,
    /// Whether it stays verbatim through every compaction.
    pub pinned: bool,
}

impl NewMessage {
    /// A message as it stands in a request.
    pub fn json(json: impl Into<ByteString>) -> Self {
        Self { id: None, json: json.into(), pinned: false }
    }

    /// The message as it is kept, and its facts; an error if it cannot be one in this form.
    pub(crate) fn read(
        self,
        dialect: Dialect,
        measures: &Measures,
        time: i64,
    ) -> Result<(NewMessageRow, SessionMessage), EngineError> {
        let id = self.id.unwrap_or_else(|| Uuid::now_v7().to_string());
        let json = self.json;
        if json.len() > LARGEST_MESSAGE {
            return Err(EngineError::TooLarge { id, bytes: json.len(), limit: LARGEST_MESSAGE });
        }
        let is_object = serde_json::from_str::<&serde_json::value::RawValue>(&json)
            .is_ok_and(|raw| raw.get().starts_with('{'));
        if !is_object {
            return Err(EngineError::NotAMessage { id, wire: dialect.0 });
        }
        let json = json.slice_ref(json.trim());
        let mut entry = dialect.entry(&json, &id, measures)?;
        entry.time = Some(time);
        entry.pinned = self.pinned;
        if self.pinned && entry.has_tool_parts() {
            return Err(EngineError::NotPinnable { id, role: entry.role });
        }
        let facts = to_json(&entry)?;
        let pinned = entry.is_fixed();
        let body = json.into_bytes();
        Ok((NewMessageRow { id, pinned, time, facts, body, ..NewMessageRow::default() }, entry))
    }
}

impl Session {
    /// Appends messages; gives their numbers, 0 for one that was appended before and has left the context since. When
    /// this returns, they are kept.
    pub async fn append(
        &mut self,
        messages: impl IntoIterator<Item = NewMessage>,
    ) -> Result<Vec<Seq>, EngineError> {
        let (time, measures) = (self.now(), self.profile.policy.measures());
        let read = |message: NewMessage| message.read(self.dialect, &measures, time);
        let rows = messages.into_iter().map(read).collect::<Result<_, _>>()?;
        self.append_read(rows, time).await
    }

    /// Appends messages that were read at that time.
    pub(crate) async fn append_read(
        &mut self,
        mut rows: Vec<(NewMessageRow, SessionMessage)>,
        time: i64,
    ) -> Result<Vec<Seq>, EngineError> {
        let ids: Vec<String> = rows.iter().map(|(row, _)| row.id.clone()).collect();
        let mut said = HashSet::new();
        rows.retain(|(row, _)| said.insert(row.id.clone()));
        for attempt in 0..TRIES {
            if self.is_dirty {
                self.reload().await?;
            }
            let known = |id: &str| self.machine.context().rows().iter().any(|row| row.facts.id == id);
            rows.retain(|(row, _)| !known(&row.id));
            if rows.is_empty() {
                break;
            }
            let state = to_json(self.machine.state())?;
            let commit = Commit {
                revision: self.row.revision,
                time,
                append: rows.iter().map(|(row, _)| row.clone()).collect(),
                state: Some(state.clone()).filter(|state| *state != self.row.state),
                ..Commit::default()
            };
            match self.engine.parts.store.commit(&self.row.id, commit).await {
                Ok(committed) => {
                    let first = self.row.head + 1;
                    (self.row.revision, self.row.head) = (committed.revision, committed.head);
                    self.row.state = state;
                    let mut entries = Vec::new();
                    for (seq, (row, entry)) in (first..).zip(rows.drain(..)) {
                        self.bodies.insert(seq, row.body);
                        entries.push((seq, entry));
                    }
                    self.drive(Input::Appended { messages: entries }).await?;
                    break;
                }
                Err(StoreError::Stale { .. }) => self.pause(attempt).await?,
                Err(StoreError::Known { message, .. }) if self.is_new(&message) => {
                    // It was said before and has left the context since.
                    rows.retain(|(row, _)| row.id != message);
                }
                Err(error) => {
                    self.is_dirty = true;
                    return Err(error.into());
                }
            }
        }
        if !rows.is_empty() {
            return Err(EngineError::Busy { session: self.row.id.clone() });
        }
        let rows = self.machine.context().rows();
        let seq = |id: &String| rows.iter().rev().find(|row| row.facts.id == *id).map_or(0, |row| row.seq);
        Ok(ids.iter().map(seq).collect())
    }

    fn is_new(&self, id: &str) -> bool {
        !self.machine.context().rows().iter().any(|row| row.facts.id == id)
    }
}
