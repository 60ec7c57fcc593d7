//! The rows of a simulated store, written from the documentation of [`Store`](secateur_store::Store).

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use bytes::Bytes;
use secateur_store::{
    Clipping, ClippingSearch, Commit, Committed, Forget, Forgotten, Fork, FoundMessage, LONGEST_LEASE, Lease,
    Loaded, MOST_FOUND, NewSession, SessionCursor, SessionRow, StoreError, StoredMessage, word_positions,
};

use super::messages::{DamagedValue, SimulatedBodies, SimulatedMessage};
use super::sessions::{SimulatedLease, SimulatedSession};
use super::unfit::{check_id, check_text, check_texts};
use crate::seeded_random::SeededRandom;

/// The letters of the shortest handle that a store's key gives.
const SHORTEST_HANDLE: usize = 12;

#[derive(Default)]
pub(super) struct SimulatedTables {
    pub sessions: BTreeMap<String, SimulatedSession>,
    pub bodies: SimulatedBodies,
    /// By body and part.
    clippings: BTreeMap<(Bytes, u32), SimulatedClipping>,
}

struct SimulatedClipping {
    handle: String,
    letters: Option<String>,
    facts: String,
    text: String,
}

impl SimulatedTables {
    pub(super) fn session(&self, id: &str) -> Result<&SimulatedSession, StoreError> {
        self.sessions.get(id).ok_or_else(|| StoreError::NoSession { id: id.to_owned() })
    }

    pub(super) fn create(&mut self, tenant: &str, new: NewSession) -> Result<SessionRow, StoreError> {
        check_id("the id of a session", &new.id)?;
        for (what, text) in [
            ("the wire of a session", new.wire.as_str()),
            ("the profile of a session", &new.profile),
            ("the title of a session", new.title.as_deref().unwrap_or_default()),
            ("the envelope of a session", &new.envelope),
            ("the state of a session", &new.state),
        ] {
            check_text(what, text)?;
        }
        let row = SessionRow {
            tenant: tenant.to_owned(),
            id: new.id,
            wire: new.wire,
            profile: new.profile,
            title: new.title,
            envelope: new.envelope,
            state: new.state,
            live_from: 1,
            created: new.time,
            updated: new.time,
            ..SessionRow::default()
        };
        self.insert(SimulatedSession {
            row,
            messages: BTreeMap::new(),
            operations: Vec::new(),
            events: Vec::new(),
            lease: SimulatedLease::default(),
        })
    }

    fn insert(&mut self, session: SimulatedSession) -> Result<SessionRow, StoreError> {
        let row = session.row.clone();
        if self.sessions.contains_key(&row.id) {
            return Err(StoreError::SessionExists { id: row.id });
        }
        self.sessions.insert(row.id.clone(), session);
        Ok(row)
    }

    pub(super) fn list(&self, after: Option<&SessionCursor>, limit: usize) -> Vec<SessionRow> {
        let mut rows: Vec<&SessionRow> = self.sessions.values().map(|session| &session.row).collect();
        rows.retain(|row| after.is_none_or(|cursor| (row.updated, &row.id) < (cursor.updated, &cursor.id)));
        rows.sort_by(|one, other| (other.updated, &other.id).cmp(&(one.updated, &one.id)));
        rows.into_iter().take(limit).cloned().collect()
    }

    pub(super) fn find(&self, ids: &[String]) -> Vec<FoundMessage> {
        let mut found: Vec<FoundMessage> =
            self.sessions.values().flat_map(|session| session.find(ids)).collect();
        found.sort_by(|one, other| {
            let key =
                |found: &FoundMessage| (std::cmp::Reverse(found.updated), found.session.clone(), found.seq);
            key(one).cmp(&key(other))
        });
        found.truncate(MOST_FOUND);
        found
    }

    pub(super) fn find_in(&self, session: &str, ids: &[String]) -> Vec<FoundMessage> {
        let session = self.sessions.get(session);
        session.into_iter().flat_map(|session| session.find(ids)).take(MOST_FOUND).collect()
    }

    pub(super) fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        let session = self.session(id)?;
        let live = session.messages.values().filter(|message| message.is_live(&session.row));
        let messages = live.map(|message| message.read(&self.bodies)).collect::<Result<_, _>>()?;
        Ok(Loaded { session: session.row.clone(), messages })
    }

    pub(super) fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        let messages = self.session(id)?.messages.range(from..to.max(from));
        messages.map(|(_, message)| message.read(&self.bodies)).collect()
    }

    pub(super) fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        let messages = self.session(id)?.messages.range(after.saturating_add(1)..);
        messages.take(limit).map(|(_, message)| message.read_row()).collect()
    }

    pub(super) fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let session = self.session(id)?;
        let original = |seq: &u64| session.messages.get(seq).and_then(|message| message.original.as_ref());
        seqs.iter().map(|seq| original(seq).map(|body| self.bodies.read(body)).transpose()).collect()
    }

    pub(super) fn commit(&mut self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        check_texts(&commit)?;
        let session = self.sessions.get_mut(id).ok_or_else(|| StoreError::NoSession { id: id.to_owned() })?;
        // What is refused halfway must change nothing.
        let mut next = session.clone();
        next.apply(&commit)?;
        for new in &commit.clippings {
            let Some(letters) = &new.letters else { continue };
            let is_taken = |other: &SimulatedClipping| {
                other.letters.as_ref().is_some_and(|other| other.starts_with(&new.handle) && other != letters)
            };
            if self.clippings.values().any(is_taken) {
                return Err(StoreError::HandleTaken { handle: new.handle.clone() });
            }
        }
        commit.append.iter().for_each(|new| self.bodies.mend(&new.body));
        let shown = commit.append.iter().filter_map(|new| new.shown.as_ref());
        let changed = commit.change.iter().filter_map(|change| change.shown.as_ref()?.as_ref());
        shown.chain(changed).for_each(|shown| self.bodies.mend(shown));
        let committed = Committed {
            revision: next.row.revision,
            head: next.row.head,
            last_operation: next.row.last_operation,
            last_event: next.row.last_event,
        };
        for clipping in commit.clippings {
            let original = next.messages.get(&clipping.seq).and_then(|message| message.original.clone());
            let Some(original) = original else { continue };
            let letters = clipping.letters.clone();
            let place =
                self.clippings.entry((original, clipping.part)).or_insert_with(|| SimulatedClipping {
                    handle: clipping.handle,
                    letters: clipping.letters,
                    facts: clipping.facts,
                    text: clipping.text,
                });
            place.letters = place.letters.take().or(letters);
        }
        let before = std::mem::replace(session, next);
        self.count_references(id, before.messages);
        Ok(committed)
    }

    pub(super) fn fork(&mut self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        check_id("the id of a session", &fork.id)?;
        check_text("the title of a session", fork.title.as_deref().unwrap_or_default())?;
        let parent = self.session(from)?;
        parent.check_revision(fork.revision)?;
        if fork.at > parent.row.head {
            return Err(StoreError::NoMessage { id: from.to_owned(), seq: fork.at });
        }
        let mut copy = parent.clone();
        copy.messages.retain(|seq, message| *seq <= fork.at || message.row.operation.is_some());
        (copy.events, copy.lease) = (Vec::new(), SimulatedLease::default());
        copy.row = SessionRow {
            id: fork.id,
            title: fork.title,
            revision: 0,
            last_event: 0,
            created: fork.time,
            updated: fork.time,
            ..copy.row
        };
        let row = self.insert(copy)?;
        self.count_references(&row.id, BTreeMap::new());
        Ok(row)
    }

    pub(super) fn forget(&mut self, id: &str, forget: &Forget) -> Result<Forgotten, StoreError> {
        let session = self.sessions.get_mut(id).ok_or_else(|| StoreError::NoSession { id: id.to_owned() })?;
        session.check_revision(forget.revision)?;
        let named = || forget.gone.iter().chain(&forget.cut);
        if let Some(&seq) = named().find(|seq| !session.messages.contains_key(seq)) {
            return Err(StoreError::NoMessage { id: id.to_owned(), seq });
        }
        let is_live = |seq: &&u64| session.messages.get(seq).is_some_and(|it| it.is_live(&session.row));
        if let Some(&seq) = forget.gone.iter().find(is_live) {
            return Err(StoreError::Alive { id: id.to_owned(), seq });
        }
        let before = session.messages.clone();
        session.row.revision += 1;
        session.row.updated = forget.time;
        let mut forgotten = Forgotten { revision: session.row.revision, ..Forgotten::default() };
        for seq in named().copied().collect::<BTreeSet<u64>>() {
            let Some(message) = session.messages.get_mut(&seq) else { continue };
            let is_gone = forget.gone.contains(&seq);
            if let Some(original) = message.original.take_if(|_| is_gone || message.shown.is_some()) {
                forgotten.messages += 1;
                forgotten.bytes += original.len() as u64;
            }
            if is_gone {
                message.shown = None;
            }
        }
        self.count_references(id, before);
        Ok(forgotten)
    }

    /// Counts which bodies a session refers to after a change, and removes those that none refers to any more.
    fn count_references(&mut self, id: &str, before: BTreeMap<u64, SimulatedMessage>) {
        for message in self.sessions.get(id).into_iter().flat_map(|session| session.messages.values()) {
            self.bodies.refer(message.original.as_ref());
            self.bodies.refer(message.shown.as_ref());
        }
        for message in before.into_values() {
            for body in [message.original, message.shown] {
                if let Some(gone) = self.bodies.release(body) {
                    self.clippings.retain(|(body, _), _| *body != gone);
                }
            }
        }
    }

    pub(super) fn lease(
        &mut self,
        id: &str,
        owner: &str,
        ttl_ms: u64,
        now: i64,
    ) -> Result<Option<Lease>, StoreError> {
        check_id("the owner of a lease", owner)?;
        let session = self.sessions.get_mut(id).ok_or_else(|| StoreError::NoSession { id: id.to_owned() })?;
        let lease = &mut session.lease;
        let is_own = lease.owner.as_deref() == Some(owner);
        // A lease that ends later than any can was taken before the clock was set back.
        let longest = now.saturating_add_unsigned(LONGEST_LEASE);
        if lease.owner.is_some() && !is_own && lease.expires > now && lease.expires <= longest {
            return Ok(None);
        }
        if !is_own {
            lease.token += 1;
            lease.owner = Some(owner.to_owned());
        }
        lease.expires = now.saturating_add_unsigned(ttl_ms.min(LONGEST_LEASE));
        Ok(Some(Lease { owner: owner.to_owned(), token: lease.token }))
    }

    pub(super) fn release(&mut self, id: &str, owner: &str) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.lease.owner.take_if(|holder| holder == owner);
        }
    }

    /// The clippings with the messages that have them.
    fn clipped<'t>(
        &'t self,
        is_meant: impl Fn(&SimulatedClipping) -> bool + 't,
    ) -> impl Iterator<Item = (&'t SessionRow, Clipping)> {
        let meant: Vec<_> = self.clippings.iter().filter(|(_, clipping)| is_meant(clipping)).collect();
        self.sessions.values().flat_map(move |session| {
            let of_message = |message: &'t SimulatedMessage| {
                let has = |body: &Bytes| message.original.as_ref() == Some(body);
                let found = meant.iter().filter(|((body, _), _)| has(body));
                let clipping = |((_, part), clipping): &(&(Bytes, u32), &SimulatedClipping)| Clipping {
                    session: session.row.id.clone(),
                    seq: message.row.seq,
                    part: *part,
                    handle: clipping.handle.clone(),
                    letters: clipping.letters.clone(),
                    body: hash_of(message.original.as_ref()),
                    facts: clipping.facts.clone(),
                    time: message.row.time,
                };
                found.map(clipping).collect::<Vec<_>>()
            };
            let clippings: Vec<Clipping> = session.messages.values().flat_map(of_message).collect();
            clippings.into_iter().map(|clipping| (&session.row, clipping)).collect::<Vec<_>>()
        })
    }

    pub(super) fn clippings(&self, handle: &str) -> Vec<Clipping> {
        let mut found: Vec<_> = self.clipped(|clipping| clipping.handle == handle).collect();
        if found.is_empty() && handle.len() >= SHORTEST_HANDLE {
            let begins = |clipping: &SimulatedClipping| {
                clipping.letters.as_ref().is_some_and(|letters| letters.starts_with(handle))
            };
            found = self.clipped(begins).collect();
        }
        found.sort_by(|(row, one), (other_row, other)| {
            let newest = other_row.updated.cmp(&row.updated).then_with(|| row.id.cmp(&other_row.id));
            newest.then(other.seq.cmp(&one.seq)).then(one.part.cmp(&other.part))
        });
        found.into_iter().map(|(_, clipping)| clipping).take(MOST_FOUND).collect()
    }

    pub(super) fn search(&self, search: &ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        if let Some(id) = &search.session {
            self.session(id)?;
        }
        let is_part = |sign: char| sign.is_alphanumeric() || sign == '_';
        let asked = search.words.split(|sign| !is_part(sign));
        let asked: Vec<&str> = asked.filter(|word| word.bytes().any(|byte| byte != b'_')).take(32).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let matches = move |clipping: &SimulatedClipping| {
            asked.iter().all(|word| word_positions(&clipping.text, word).next().is_some())
        };
        let is_wanted = |id: &str| search.session.as_deref().is_none_or(|wanted| wanted == id);
        let mut found: Vec<_> = self.clipped(matches).filter(|(row, _)| is_wanted(&row.id)).collect();
        found.sort_by(|(row, one), (other_row, other)| {
            let newest = other_row.updated.cmp(&row.updated).then_with(|| row.id.cmp(&other_row.id));
            newest.then(other.seq.cmp(&one.seq))
        });
        let mut seen = BTreeSet::new();
        let mut found: Vec<Clipping> = found.into_iter().map(|(_, clipping)| clipping).collect();
        found.retain(|clipping| seen.insert(clipping.handle.clone()));
        found.sort_by(|one, other| {
            let newest = other.time.cmp(&one.time).then(other.seq.cmp(&one.seq));
            newest.then_with(|| one.session.cmp(&other.session)).then(one.part.cmp(&other.part))
        });
        found.truncate(search.limit);
        Ok(found)
    }

    /// Damages a value, picked at random.
    pub(super) fn damage(&mut self, random: &mut SeededRandom) -> Option<DamagedValue> {
        let place = random.place(self.sessions.len());
        let session = self.sessions.values_mut().nth(place)?;
        let id = session.row.id.clone();
        let broken = |text: &mut String| text.truncate(text.len() / 2);
        // Mostly messages that were cut: only their originals are needed again.
        let is_cut = |message: &&mut SimulatedMessage| message.shown.is_some();
        let cut = session.messages.values_mut().filter(is_cut).count();
        let only_cut = cut > 0 && random.happens(70);
        let place = random.place(if only_cut { cut } else { session.messages.len() });
        let mut messages = session.messages.values_mut().filter(|message| !only_cut || is_cut(message));
        match (random.below(10), messages.nth(place)) {
            (0, _) | (_, None) => {
                broken(&mut session.row.state);
                Some(DamagedValue::State(id))
            }
            (1, Some(message)) => {
                broken(&mut message.row.facts);
                message.is_damaged = true;
                Some(DamagedValue::Facts(id))
            }
            (2, Some(message)) if !message.row.cuts.is_empty() => {
                broken(&mut message.row.cuts);
                message.is_damaged = true;
                Some(DamagedValue::Cuts(id))
            }
            (which, Some(message)) => {
                let shown = message.shown.as_ref().filter(|_| which > 6);
                let body = shown.or(message.original.as_ref())?.clone();
                self.bodies.damage(&body);
                Some(DamagedValue::Body(body.to_vec()))
            }
        }
    }
}

/// What tells bodies apart.
fn hash_of(body: Option<&Bytes>) -> Vec<u8> {
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    hasher.finish().to_be_bytes().to_vec()
}
