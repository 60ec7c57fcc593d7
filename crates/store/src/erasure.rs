//! Which bodies are deleted when originals are forgotten, decided once for both databases.

use std::collections::BTreeSet;

use crate::error::StoreError;
use crate::prepared_commit::{SessionHead, check_revision};
use crate::record::{Forget, Forgotten};
use crate::validation::{from_column, to_column};

/// A message to erase, as the database has it.
pub(crate) struct ErasureCandidate {
    pub(crate) seq: i64,
    pub(crate) pinned: bool,
    pub(crate) hidden: bool,
    /// The hash of its original.
    pub(crate) body: Option<Vec<u8>>,
    /// The hash of the body that is shown instead.
    pub(crate) shown: Option<Vec<u8>>,
    /// The size of its original.
    pub(crate) size: Option<i64>,
}

/// What to erase.
#[derive(Default)]
pub(crate) struct Erasure {
    /// Messages that lose both bodies.
    pub(crate) gone: Vec<i64>,
    /// Messages that lose their originals.
    pub(crate) cut: Vec<i64>,
    /// Bodies that may have lost their last reference.
    pub(crate) released: Vec<Vec<u8>>,
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
                erasure.gone.push(candidate.seq);
                erasure.released.extend(candidate.shown);
            } else if candidate.shown.is_some() {
                erasure.cut.push(candidate.seq);
            } else {
                continue;
            }
            if let Some(body) = candidate.body {
                erasure.released.push(body);
                erasure.forgotten.messages += 1;
                erasure.forgotten.bytes += from_column(candidate.size.unwrap_or_default());
            }
        }
        // All writers lock bodies in this order, so that they cannot deadlock.
        erasure.released.sort_unstable();
        erasure.released.dedup();
        Ok(erasure)
    }
}
