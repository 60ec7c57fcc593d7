//! The ways to make room, and which of them were tried.
//!
//! Every remedy is tried at most once for a goal. That is why making room always ends.

/// One way to make room, mildest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Drop thinking that the provider refused.
    DropThinking,
    /// Make the cuts that the provider was to make, where it does not any more.
    TakeOver,
    /// Trim new results that are longer than their cap.
    CapResults,
    /// Prune what the policy would cut at this occasion anyway.
    PruneOnOccasion,
    /// Prune everything that the policy may cut, whatever the cache costs.
    PruneForRoom,
    /// Compact, and keep recent turns.
    CompactOlder,
    /// Compact, and keep next to nothing.
    CompactAll,
    /// Clear results that the policy protects, oldest first, until the request fits.
    ClearProtected,
}

/// The remedies that were tried.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TriedRemedies(u8);

impl TriedRemedies {
    /// Marks a remedy as tried. Returns whether this is its first time.
    pub(super) fn insert(&mut self, remedy: Remedy) -> bool {
        let is_first = !self.contains(remedy);
        self.0 |= 1 << remedy as u8;
        is_first
    }

    /// Marks a compaction as tried. After one that kept less, the milder one has nothing left to do.
    pub(super) fn insert_compaction(&mut self, remedy: Remedy) {
        self.insert(Remedy::CompactOlder);
        self.insert(remedy);
    }

    pub(super) fn contains(self, remedy: Remedy) -> bool {
        self.0 & 1 << remedy as u8 != 0
    }

    /// What comes after pruning: the mildest remedy that was not tried yet; none once everything was.
    pub(super) fn next(self) -> Option<Remedy> {
        [Remedy::CompactOlder, Remedy::CompactAll, Remedy::ClearProtected]
            .into_iter()
            .find(|&remedy| !self.contains(remedy))
    }
}
