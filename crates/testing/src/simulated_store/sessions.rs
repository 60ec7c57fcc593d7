//! A session of a simulated store, and what a commit does to it.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use secateur_store::{Commit, EventRow, FoundMessage, OperationRow, SessionRow, StoreError};

use super::messages::SimulatedMessage;

#[derive(Clone)]
pub(super) struct SimulatedSession {
    pub row: SessionRow,
    pub messages: BTreeMap<u64, SimulatedMessage>,
    pub operations: Vec<OperationRow>,
    pub events: Vec<EventRow>,
    pub lease: SimulatedLease,
}

#[derive(Clone, Default)]
pub(super) struct SimulatedLease {
    pub owner: Option<String>,
    pub token: u64,
    pub expires: i64,
}

impl SimulatedSession {
    pub(super) fn check_revision(&self, expected: u64) -> Result<(), StoreError> {
        let (id, found) = (&self.row.id, self.row.revision);
        if expected == found { Ok(()) } else { Err(StoreError::Stale { id: id.clone(), expected, found }) }
    }

    pub(super) fn find<'s>(&'s self, ids: &'s [String]) -> impl Iterator<Item = FoundMessage> + 's {
        let is_meant =
            |message: &&SimulatedMessage| message.row.operation.is_none() && ids.contains(&message.row.id);
        self.messages.values().filter(is_meant).map(|message| FoundMessage {
            id: message.row.id.clone(),
            session: self.row.id.clone(),
            seq: message.row.seq,
            head: self.row.head,
            updated: self.row.updated,
        })
    }

    pub(super) fn apply(&mut self, commit: &Commit) -> Result<(), StoreError> {
        self.check_revision(commit.revision)?;
        let id = self.row.id.clone();
        let held = self.lease.owner.as_ref().map(|_| self.lease.token);
        if commit.lease.is_some() && commit.lease != held {
            return Err(StoreError::LeaseLost { id });
        }
        let mut new_ids = BTreeSet::new();
        let known = |message: &str| StoreError::Known { id: id.clone(), message: message.to_owned() };
        if let Some(twice) = commit.append.iter().find(|new| !new_ids.insert(&new.id)) {
            return Err(known(&twice.id));
        }
        let (old_head, new_head) = (self.row.head, self.row.head + commit.append.len() as u64);
        let no_message = |seq: u64| StoreError::NoMessage { id: id.clone(), seq };
        let changed = commit.change.iter().map(|change| change.seq);
        for seq in changed.chain(commit.clippings.iter().map(|clipping| clipping.seq)) {
            let is_new = seq > old_head && seq <= new_head;
            if !is_new && !self.messages.contains_key(&seq) {
                return Err(no_message(seq));
            }
        }
        if let Some(seq) = commit.live_from.filter(|seq| *seq > new_head + 1) {
            return Err(no_message(seq));
        }
        self.row.last_operation += commit.operations.len() as u64;
        let made_by = commit.append.iter().filter_map(|new| new.operation);
        let mut named = commit.undone.iter().map(|(number, _)| *number).chain(made_by);
        if let Some(number) = named.find(|number| !(1..=self.row.last_operation).contains(number)) {
            return Err(StoreError::NoOperation { id, number });
        }
        if let Some(new) =
            commit.append.iter().find(|new| self.messages.values().any(|it| it.row.id == new.id))
        {
            return Err(known(&new.id));
        }
        let first = self.operations.len() as u64 + 1;
        self.operations.extend((first..).zip(&commit.operations).map(|(number, new)| OperationRow {
            number,
            kind: new.kind.clone(),
            time: new.time,
            undone: false,
            data: new.data.clone(),
        }));
        for (seq, new) in (old_head + 1..).zip(&commit.append) {
            self.messages.insert(seq, SimulatedMessage::new(seq, new.clone()));
        }
        self.row.head = new_head;
        self.change_messages(commit)?;
        for (number, undone) in &commit.undone {
            let operation = self.operations.iter_mut().find(|operation| operation.number == *number);
            operation.into_iter().for_each(|operation| operation.undone = *undone);
        }
        for data in &commit.events {
            self.row.last_event += 1;
            let (number, time) = (self.row.last_event, commit.time);
            self.events.push(EventRow { number, time, data: data.clone() });
        }
        let row = &mut self.row;
        row.live_from = commit.live_from.unwrap_or(row.live_from);
        row.state = commit.state.clone().unwrap_or_else(|| row.state.clone());
        row.envelope = commit.envelope.clone().unwrap_or_else(|| row.envelope.clone());
        (row.revision, row.updated) = (row.revision + 1, commit.time);
        Ok(())
    }

    fn change_messages(&mut self, commit: &Commit) -> Result<(), StoreError> {
        for change in &commit.change {
            let Some(message) = self.messages.get_mut(&change.seq) else { continue };
            let row = &mut message.row;
            row.cuts = change.cuts.clone().unwrap_or_else(|| row.cuts.clone());
            row.hidden = change.hidden.unwrap_or(row.hidden);
            row.pinned = change.pinned.unwrap_or(row.pinned);
            if let Some(shown) = &change.shown {
                let shown = shown.clone().map(Bytes::from);
                message.shown = shown.filter(|shown| message.original.as_ref() != Some(shown));
            }
        }
        // Only the final state counts.
        let restored = commit.change.iter().filter(|change| change.shown.is_some()).map(|change| change.seq);
        let is_lost =
            |seq: &u64| self.messages.get(seq).is_some_and(|it| it.shown.is_none() && it.original.is_none());
        match restored.into_iter().find(is_lost) {
            Some(seq) => Err(StoreError::OriginalForgotten { id: self.row.id.clone(), seq }),
            None => Ok(()),
        }
    }
}
