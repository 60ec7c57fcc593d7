//! The row of a message, and the seal by which an exchanged or changed row is noticed.
//!
//! A body is checked by its own hash. The seal is a hash of all else in the row, with the keys of its bodies, so that
//! a row cannot get the body, facts or cuts of another one unnoticed. It does not contain the session, so that the rows
//! of a forked session have the same seals.
//!
//! Rows of schemas before 5 have no seal until they are changed. Processes of an earlier version change rows and leave
//! their seals as they were; the session tells, because its `sealed` is not its revision then.

use sha2::{Digest as _, Sha256};

use crate::body::PackedBody;
use crate::error::StoreError;
use crate::record::StoredMessage;

/// The seal of a row.
pub(crate) type Seal = [u8; 16];

/// A message as its table has it.
pub(crate) struct StoredRow {
    /// Without a body.
    pub(crate) message: StoredMessage,
    /// The key of its original; none if it was forgotten.
    pub(crate) body: Option<Vec<u8>>,
    /// The key of the body that is shown instead.
    pub(crate) shown: Option<Vec<u8>>,
    pub(crate) seal: Option<Vec<u8>>,
}

/// Which body of a message is read with its row.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum RowBody {
    Original,
    Shown,
}

impl StoredRow {
    /// Fails if the row is not as it was written. Without `is_sealed` an earlier version changed the session, and
    /// nothing can be said.
    pub(crate) fn check(&self, session: &str, is_sealed: bool) -> Result<(), StoreError> {
        match &self.seal {
            Some(found) if is_sealed && *found != self.seal() => {
                Err(self.damaged(session, "its row was changed"))
            }
            _ => Ok(()),
        }
    }

    /// The error for a damaged message.
    pub(crate) fn damaged(&self, session: &str, why: &str) -> StoreError {
        StoreError::damaged_message(session, self.message.seq, why)
    }

    /// The seal that the row should have.
    pub(crate) fn seal(&self) -> Seal {
        let StoredMessage { seq, id, operation, pinned, hidden, time, facts, cuts, .. } = &self.message;
        let mut hash = Sha256::new();
        let mut add = |bytes: &[u8]| {
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(&seq.to_le_bytes());
        add(id.as_bytes());
        add(&operation.unwrap_or(0).to_le_bytes());
        add(&[u8::from(*pinned), u8::from(*hidden)]);
        add(&time.to_le_bytes());
        add(self.body.as_deref().unwrap_or_default());
        add(self.shown.as_deref().unwrap_or_default());
        add(facts.as_bytes());
        add(cuts.as_bytes());
        let hash: [u8; 32] = hash.finalize().into();
        std::array::from_fn(|at| hash[at])
    }

    /// The message with the bytes of a body. A forgotten body is empty.
    pub(crate) fn open(
        self,
        session: &str,
        which: RowBody,
        packed: Option<PackedBody>,
    ) -> Result<StoredMessage, StoreError> {
        let key = match which {
            RowBody::Original => self.body.as_deref(),
            RowBody::Shown => self.shown.as_deref().or(self.body.as_deref()),
        };
        let body = match (key, packed) {
            (None, _) => Vec::new(),
            (Some(_), None) => return Err(self.damaged(session, "its body is missing")),
            (Some(key), Some(packed)) => packed.unpack(key).map_err(|why| self.damaged(session, why))?,
        };
        Ok(StoredMessage { body, ..self.message })
    }
}
