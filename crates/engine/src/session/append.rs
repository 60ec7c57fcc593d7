//! Appending messages to a kept session.

use std::collections::HashSet;

use secateur::session::{Input, Seq, SessionMessage};
use secateur_store::{Commit, NewStoredMessage, StoreError};

use super::core::SessionCore;
use super::history::KeptHistory;
use super::json::to_json;
use crate::error::EngineError;

impl SessionCore<KeptHistory> {
    /// Stores messages that were read at that time; returns their numbers, 0 for one that the session had and that is
    /// no longer live.
    pub(crate) async fn append(
        &mut self,
        mut rows: Vec<(NewStoredMessage, SessionMessage)>,
        time: i64,
    ) -> Result<Vec<Seq>, EngineError> {
        let ids: Vec<String> = rows.iter().map(|(row, _)| row.id.clone()).collect();
        let mut seen = HashSet::new();
        rows.retain(|(row, _)| seen.insert(row.id.clone()));
        let appended = retry!(self, self.try_append(&mut rows, time));
        if !appended.is_empty() {
            self.drive(Input::Appended { messages: appended }).await?;
        }
        Ok(ids.iter().map(|id| self.number_of(id).unwrap_or(0)).collect())
    }

    /// Stores those of these messages that the session does not have. None if one of them turns out to be stored
    /// already; it is removed from the list then.
    async fn try_append(
        &mut self,
        rows: &mut Vec<(NewStoredMessage, SessionMessage)>,
        time: i64,
    ) -> Result<Option<Vec<(Seq, SessionMessage)>>, EngineError> {
        if self.is_dirty {
            self.reload().await?;
        }
        rows.retain(|(row, _)| self.number_of(&row.id).is_none());
        if rows.is_empty() {
            return Ok(Some(Vec::new()));
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
                self.note_commit(&committed);
                self.row.state = state;
                let mut appended = Vec::new();
                for (seq, (row, facts)) in (first..).zip(rows.drain(..)) {
                    self.bodies.insert(seq, row.body);
                    appended.push((seq, facts));
                }
                Ok(Some(appended))
            }
            Err(stale @ StoreError::Stale { .. }) => Err(stale.into()),
            // It was appended before and is no longer live.
            Err(StoreError::Known { message, .. }) if self.number_of(&message).is_none() => {
                rows.retain(|(row, _)| row.id != message);
                Ok(None)
            }
            Err(error) => {
                self.is_dirty = true;
                Err(error.into())
            }
        }
    }

    /// The number of the live message with this id.
    fn number_of(&self, id: &str) -> Option<Seq> {
        self.machine.context().rows().iter().rev().find(|row| row.facts.id == id).map(|row| row.seq)
    }
}
