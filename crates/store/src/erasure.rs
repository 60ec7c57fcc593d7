//! Which bodies are deleted when originals are forgotten, decided once for both databases.

use std::collections::{BTreeMap, BTreeSet};

use crate::error::StoreError;
use crate::prepared_commit::{SessionHead, check_revision};
use crate::record::{Forget, Forgotten, RemainingFacts};
use crate::stored_row::StoredRow;
use crate::validation::{from_column, to_column};

/// A message to erase, as the database has it.
pub(crate) struct ErasureCandidate {
    pub(crate) seq: i64,
    pub(crate) id: String,
    pub(crate) pinned: bool,
    pub(crate) hidden: bool,
    /// The key of its original.
    pub(crate) body: Option<Vec<u8>>,
    /// The key of the body that is shown instead.
    pub(crate) shown: Option<Vec<u8>>,
    /// The size of its original.
    pub(crate) size: Option<i64>,
}

/// What to erase.
#[derive(Default)]
pub(crate) struct Erasure {
    /// Messages that lose both bodies.
    pub(crate) gone: BTreeSet<i64>,
    /// Messages that lose their originals.
    pub(crate) cut: Vec<i64>,
    /// Bodies that may have lost their last reference.
    pub(crate) released: Vec<Vec<u8>>,
    /// Originals that lost a reference, each with the id of the message that had it.
    pub(crate) originals: Vec<(Vec<u8>, String)>,
    /// The facts and cuts that are left of messages, by number.
    facts: BTreeMap<u64, RemainingFacts>,
    pub(crate) forgotten: Forgotten,
}

/// The numbers of all messages to erase.
pub(crate) fn named(forget: &Forget) -> Vec<i64> {
    let seqs: BTreeSet<u64> = forget.gone.iter().chain(&forget.cut).copied().collect();
    seqs.into_iter().map(to_column).collect()
}

impl Erasure {
    /// Decides what is deleted. Live messages keep the body that is shown.
    pub(crate) fn plan(
        id: &str,
        forget: &Forget,
        head: &SessionHead,
        candidates: Vec<ErasureCandidate>,
    ) -> Result<Self, StoreError> {
        check_revision(id, forget.revision, head.revision)?;
        let there: BTreeSet<u64> = candidates.iter().map(|candidate| from_column(candidate.seq)).collect();
        if let Some(&(number, _)) = forget.operations.iter().find(|(number, _)| *number > head.last_operation)
        {
            return Err(StoreError::NoOperation { id: id.to_owned(), number });
        }
        if let Some(&seq) = forget.gone.iter().chain(&forget.cut).find(|seq| !there.contains(seq)) {
            return Err(StoreError::no_message(id, seq));
        }
        let gone: BTreeSet<u64> = forget.gone.iter().copied().collect();
        let mut erasure = Self::default();
        erasure.forgotten.revision = head.revision + 1;
        for candidate in candidates {
            let seq = from_column(candidate.seq);
            if gone.contains(&seq) {
                if !candidate.hidden && (candidate.pinned || seq >= head.live_from) {
                    return Err(StoreError::Alive { id: id.to_owned(), seq });
                }
                erasure.gone.insert(candidate.seq);
                erasure.released.extend(candidate.shown);
            } else if candidate.shown.is_some() {
                erasure.cut.push(candidate.seq);
            } else {
                continue;
            }
            if let Some(body) = candidate.body {
                erasure.released.push(body.clone());
                erasure.originals.push((body, candidate.id));
                erasure.forgotten.messages += 1;
                erasure.forgotten.bytes += from_column(candidate.size.unwrap_or_default());
            }
        }
        erasure.facts = forget.facts.iter().map(|left| (left.seq, left.clone())).collect();
        // All writers lock bodies in this order, so that they cannot deadlock.
        erasure.released.sort_unstable();
        erasure.released.dedup();
        Ok(erasure)
    }

    /// The numbers of the messages that lose a body.
    pub(crate) fn seqs(&self) -> impl Iterator<Item = i64> {
        self.gone.iter().chain(&self.cut).copied()
    }

    /// Takes the bodies from the row of one of them, and what was noted about it.
    pub(crate) fn apply(&self, row: &mut StoredRow) {
        row.body = None;
        if self.gone.contains(&to_column(row.message.seq)) {
            row.shown = None;
        }
        if let Some(left) = self.facts.get(&row.message.seq) {
            row.message.facts.clone_from(&left.facts);
            row.message.cuts.clone_from(&left.cuts);
        }
    }
}
