//! A session as plain values in memory, which every store must agree with. It is written from the documentation, not
//! from the stores, and takes no shortcuts.

use std::collections::{BTreeMap, BTreeSet};

use secateur_store::{Commit, EventRow, Forget, Fork, OperationRow, SessionRow, StoredMessage};

#[derive(Clone, Debug, Default)]
pub(crate) struct Model {
    pub(crate) session: SessionRow,
    pub(crate) messages: BTreeMap<u64, Said>,
    pub(crate) operations: BTreeMap<u64, OperationRow>,
    pub(crate) events: Vec<EventRow>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Said {
    pub(crate) row: StoredMessage,
    pub(crate) original: Option<Vec<u8>>,
    pub(crate) shown: Option<Vec<u8>>,
    /// The parts that were cut.
    pub(crate) clipped: BTreeSet<u32>,
}

/// The handle of a part.
pub(crate) fn handle(body: &[u8], part: u32) -> String {
    let digits: String = body.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{digits}.{part}")
}

/// Something was refused, for any reason.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refused;

impl Model {
    pub(crate) fn commit(&mut self, commit: &Commit) -> Result<(), Refused> {
        let mut next = self.clone();
        next.apply(commit)?;
        *self = next;
        Ok(())
    }

    fn apply(&mut self, commit: &Commit) -> Result<(), Refused> {
        let session = &mut self.session;
        if commit.revision != session.revision || commit.lease.is_some() {
            return Err(Refused);
        }
        for operation in &commit.operations {
            session.last_operation += 1;
            let number = session.last_operation;
            let (kind, data) = (operation.kind.clone(), operation.data.clone());
            let row = OperationRow { number, kind, time: operation.time, undone: false, data };
            self.operations.insert(number, row);
        }
        for new in &commit.append {
            let known = self.messages.values().any(|said| said.row.id == new.id);
            if known || new.operation.is_some_and(|number| !self.operations.contains_key(&number)) {
                return Err(Refused);
            }
            session.head += 1;
            let row = StoredMessage {
                seq: session.head,
                id: new.id.clone(),
                operation: new.operation,
                pinned: new.pinned,
                hidden: false,
                time: new.time,
                facts: new.facts.clone(),
                cuts: new.cuts.clone(),
                body: vec![],
            };
            let (original, shown) = (Some(new.body.to_vec()), new.shown.clone());
            let said = Said { row, original, shown, ..Said::default() };
            self.messages.insert(session.head, said);
        }
        for change in &commit.change {
            let said = self.messages.get_mut(&change.seq).ok_or(Refused)?;
            said.row.cuts = change.cuts.clone().unwrap_or(said.row.cuts.clone());
            said.row.hidden = change.hidden.unwrap_or(said.row.hidden);
            said.row.pinned = change.pinned.unwrap_or(said.row.pinned);
            said.shown = change.shown.clone().unwrap_or(said.shown.clone());
        }
        // Only the final state counts.
        let back = commit.change.iter().filter(|change| change.shown.is_some()).map(|change| change.seq);
        for said in back.filter_map(|seq| self.messages.get(&seq)) {
            if said.shown.is_none() && said.original.is_none() {
                return Err(Refused);
            }
        }
        for clipping in &commit.clippings {
            self.messages.get_mut(&clipping.seq).ok_or(Refused)?.clipped.insert(clipping.part);
        }
        for (number, undone) in &commit.undone {
            self.operations.get_mut(number).ok_or(Refused)?.undone = *undone;
        }
        for data in &commit.events {
            session.last_event += 1;
            self.events.push(EventRow { number: session.last_event, time: commit.time, data: data.clone() });
        }
        session.live_from = commit.live_from.unwrap_or(session.live_from);
        if session.live_from > session.head + 1 {
            return Err(Refused);
        }
        session.state = commit.state.clone().unwrap_or(session.state.clone());
        session.envelope = commit.envelope.clone().unwrap_or(session.envelope.clone());
        session.revision += 1;
        session.updated = commit.time;
        Ok(())
    }

    /// Forgets; returns the number of messages and bytes.
    pub(crate) fn forget(&mut self, forget: &Forget) -> Result<(u64, u64), Refused> {
        let mut named = forget.gone.iter().chain(&forget.cut);
        let stale = forget.revision != self.session.revision;
        let living = self.load().into_iter().map(|row| row.seq).collect::<Vec<_>>();
        if stale
            || named.any(|seq| !self.messages.contains_key(seq))
            || forget.gone.iter().any(|seq| living.contains(seq))
        {
            return Err(Refused);
        }
        let (mut messages, mut bytes) = (0, 0);
        for (seq, said) in &mut self.messages {
            let gone = forget.gone.contains(seq);
            let differs = said.shown.is_some() && said.shown != said.original;
            let named = gone || (forget.cut.contains(seq) && differs);
            if let Some(original) = said.original.take_if(|_| named) {
                messages += 1;
                bytes += original.len() as u64;
            }
            if gone {
                said.shown = None;
            }
        }
        self.session.revision += 1;
        self.session.updated = forget.time;
        Ok((messages, bytes))
    }

    /// What was indexed of equal originals may be gone, because another message lost one of them.
    pub(crate) fn lose_index(&mut self, forgotten: &[Vec<u8>]) {
        for said in self.messages.values_mut() {
            if said.original.as_ref().is_some_and(|original| forgotten.contains(original)) {
                said.clipped.clear();
            }
        }
    }

    /// Forks.
    pub(crate) fn fork(&self, fork: &Fork) -> Result<Self, Refused> {
        if fork.revision != self.session.revision || fork.at > self.session.head {
            return Err(Refused);
        }
        let mut copy = self.clone();
        copy.events.clear();
        copy.messages.retain(|&seq, said| seq <= fork.at || said.row.operation.is_some());
        let Fork { id, title, time, .. } = fork.clone();
        copy.session = SessionRow {
            id,
            title,
            revision: 0,
            last_event: 0,
            created: time,
            updated: time,
            ..copy.session
        };
        Ok(copy)
    }

    pub(crate) fn load(&self) -> Vec<StoredMessage> {
        let alive = |row: &StoredMessage| !row.hidden && (row.pinned || row.seq >= self.session.live_from);
        self.all().into_iter().filter(alive).collect()
    }

    pub(crate) fn all(&self) -> Vec<StoredMessage> {
        let show = |said: &Said| {
            let body = said.shown.clone().or(said.original.clone()).unwrap_or_default();
            StoredMessage { body, ..said.row.clone() }
        };
        self.messages.values().map(show).collect()
    }

    /// The clippings that can be found: the handle, and the newest message that has it.
    pub(crate) fn clippings(&self) -> BTreeMap<String, u64> {
        let mut found = BTreeMap::new();
        let whole = |said: &Said| said.original.clone().map(|original| (said.row.seq, original));
        let bodies: Vec<(u64, Vec<u8>)> = self.messages.values().filter_map(whole).collect();
        for said in self.messages.values() {
            let Some(original) = &said.original else { continue };
            let newest = bodies.iter().filter(|(_, body)| body == original).map(|(seq, _)| *seq).max();
            let parts = said.clipped.iter();
            found.extend(parts.filter_map(|&part| Some((handle(original, part), newest?))));
        }
        found
    }

    pub(crate) fn originals(&self) -> Vec<Option<Vec<u8>>> {
        self.messages.values().map(|said| said.original.clone()).collect()
    }
}
