//! The branches in memory, by the first message of their conversation and by their session.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use secateur_formats::Wire;

use super::branch::Branch;
use super::chain::{ChainId, Fingerprint};

/// The most branches in memory. The least recently used ones are dropped; the store brings them back.
const MAX_BRANCHES: usize = 2_048;

/// The most first messages whose ids are remembered.
const MAX_ROOTS: usize = 8_192;

/// The branches of a tenant in memory.
pub(crate) struct BranchRegistry {
    tenant: String,
    seed: u64,
    branches: Mutex<Branches>,
}

#[derive(Default)]
struct Branches {
    families: HashMap<ChainId, Vec<Arc<Branch>>>,
    roots: HashMap<(Wire, u128), ChainId>,
    count: usize,
}

impl BranchRegistry {
    pub(crate) fn new(tenant: &str) -> Self {
        // The standard library's hasher is keyed by the operating system's randomness.
        let seed = RandomState::new().hash_one(0);
        Self { tenant: tenant.to_owned(), seed, branches: Mutex::default() }
    }

    /// The key of fingerprints.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    fn branches(&self) -> MutexGuard<'_, Branches> {
        self.branches.lock()
    }

    /// The id of a first message. It is remembered, as the same message comes with every request and may be long.
    pub(crate) fn root(&self, wire: Wire, message: &str, fingerprint: Fingerprint) -> ChainId {
        if let Some(id) = self.branches().roots.get(&(wire, fingerprint.hash)) {
            return *id;
        }
        let id = ChainId::first(&self.tenant, wire, message);
        let roots = &mut self.branches().roots;
        if roots.len() >= MAX_ROOTS {
            roots.clear();
        }
        roots.insert((wire, fingerprint.hash), id);
        id
    }

    /// The branches that begin with this message.
    pub(crate) fn family(&self, root: ChainId) -> Vec<Arc<Branch>> {
        self.branches().families.get(&root).cloned().unwrap_or_default()
    }

    /// The branch of a session.
    pub(crate) fn of_session(&self, root: ChainId, session: &str) -> Option<Arc<Branch>> {
        let branches = self.branches();
        branches.families.get(&root)?.iter().find(|branch| branch.session() == session).cloned()
    }

    /// Adds a branch. Returns the branch of the same session instead, if there is one.
    pub(crate) fn add(&self, branch: Arc<Branch>) -> Arc<Branch> {
        let mut branches = self.branches();
        let family = branches.families.entry(branch.root()).or_default();
        if let Some(there) = family.iter().find(|there| there.session() == branch.session()) {
            return there.clone();
        }
        family.push(branch.clone());
        branches.count += 1;
        if branches.count > MAX_BRANCHES {
            branches.evict();
        }
        branch
    }

    /// Drops a branch that may be wrong in memory.
    pub(crate) fn remove(&self, branch: &Arc<Branch>) {
        let mut branches = self.branches();
        branches.retain(|other| !Arc::ptr_eq(other, branch));
    }

    /// Drops the branch of a session, if there is one. False if it is in use.
    pub(crate) fn release(&self, session: &str) -> bool {
        let mut branches = self.branches();
        let mut all = branches.families.values().flatten();
        let Some(branch) = all.find(|branch| branch.session() == session) else { return true };
        if Arc::strong_count(branch) > 1 || !branch.is_at_rest() {
            return false;
        }
        branches.retain(|branch| branch.session() != session);
        true
    }

    /// How many branches are in memory.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.branches().count
    }
}

impl Branches {
    /// Drops the eighth of the branches that was least recently used.
    fn evict(&mut self) {
        let mut used: Vec<u64> = self.families.values().flatten().map(|branch| branch.used()).collect();
        used.sort_unstable();
        let line = used.get(used.len() / 8).copied().unwrap_or(0);
        // A branch in use has other references.
        self.retain(|branch| branch.used() > line || Arc::strong_count(branch) > 1);
    }

    fn retain(&mut self, keep: impl Fn(&Arc<Branch>) -> bool) {
        for family in self.families.values_mut() {
            family.retain(&keep);
        }
        self.families.retain(|_, family| !family.is_empty());
        self.count = self.families.values().map(Vec::len).sum();
    }
}
