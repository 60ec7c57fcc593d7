//! The messages and bodies of a simulated store.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use secateur_store::{NewStoredMessage, SessionRow, StoreError, StoredMessage};

/// A message: its row, and the bodies that it refers to.
#[derive(Clone)]
pub(super) struct SimulatedMessage {
    /// The row without its body.
    pub row: StoredMessage,
    pub original: Option<Bytes>,
    /// None if the original is shown.
    pub shown: Option<Bytes>,
    /// The row is not what was stored.
    pub is_damaged: bool,
}

impl SimulatedMessage {
    pub(super) fn new(seq: u64, new: NewStoredMessage) -> Self {
        let row = StoredMessage {
            seq,
            id: new.id,
            operation: new.operation,
            pinned: new.pinned,
            hidden: false,
            time: new.time,
            facts: new.facts,
            cuts: new.cuts,
            body: Vec::new(),
        };
        // A body may be a slice of a whole request, which must not stay in memory.
        let original = Bytes::copy_from_slice(&new.body);
        let shown = new.shown.map(Bytes::from).filter(|shown| *shown != original);
        Self { row, original: Some(original), shown, is_damaged: false }
    }

    /// Whether it is loaded with its session.
    pub(super) fn is_live(&self, session: &SessionRow) -> bool {
        !self.row.hidden && (self.row.pinned || self.row.seq >= session.live_from)
    }

    /// The message without its body.
    pub(super) fn read_row(&self) -> Result<StoredMessage, StoreError> {
        if self.is_damaged { Err(damaged("a message", "wrong seal")) } else { Ok(self.row.clone()) }
    }

    /// The message with the body that is shown.
    pub(super) fn read(&self, bodies: &SimulatedBodies) -> Result<StoredMessage, StoreError> {
        let row = self.read_row()?;
        let body = self.shown.as_ref().or(self.original.as_ref());
        let body = body.map(|body| bodies.read(body)).transpose()?.unwrap_or_default();
        Ok(StoredMessage { body, ..row })
    }
}

fn damaged(what: &str, why: &str) -> StoreError {
    StoreError::Damaged { what: what.to_owned(), why: why.to_owned() }
}

/// What is known about bodies beside their bytes. Equal bodies are one, as in the real stores.
#[derive(Default)]
pub(super) struct SimulatedBodies {
    /// How many references messages have to each.
    references: BTreeMap<Bytes, usize>,
    damaged: BTreeSet<Bytes>,
    /// Whether a damaged body is returned instead of an error.
    pub is_unchecked: bool,
}

impl SimulatedBodies {
    pub(super) fn read(&self, body: &Bytes) -> Result<Vec<u8>, StoreError> {
        if !self.damaged.contains(body) {
            return Ok(body.to_vec());
        }
        if !self.is_unchecked {
            return Err(damaged("a body", "wrong digest"));
        }
        let mut bytes = body.to_vec();
        // A letter in the middle becomes another one, so that it is still JSON.
        let middle = bytes.len() / 2;
        if let Some(letter) = bytes.iter_mut().skip(middle).find(|byte| byte.is_ascii_lowercase()) {
            *letter = if *letter == b'x' { b'y' } else { b'x' };
        }
        Ok(bytes)
    }

    pub(super) fn refer(&mut self, body: Option<&Bytes>) {
        if let Some(body) = body {
            *self.references.entry(body.clone()).or_default() += 1;
        }
    }

    /// Takes a reference back. Says whether it was the last one, so that the body is gone.
    pub(super) fn release(&mut self, body: Option<Bytes>) -> Option<Bytes> {
        let body = body?;
        let count = self.references.get_mut(&body)?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        self.references.remove(&body);
        self.damaged.remove(&body);
        Some(body)
    }

    /// A commit brings the right bytes of a body.
    pub(super) fn mend(&mut self, body: &[u8]) {
        self.damaged.remove(body);
    }

    pub(super) fn damage(&mut self, body: &Bytes) {
        self.damaged.insert(body.clone());
    }
}

/// What was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamagedValue {
    /// The bytes of a body, which messages of several sessions may have.
    Body(Vec<u8>),
    /// The facts of a message of this session.
    Facts(String),
    /// The cuts of a message of this session.
    Cuts(String),
    /// The state of this session.
    State(String),
}
