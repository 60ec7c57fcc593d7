//! The branches that are in memory, found by the first message of their conversation or by their session.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use secateur_formats::Wire;

use super::branch::Branch;
use super::chain::{Id, Spelling};

/// The most branches in memory. Those that were not used for longest leave; the store brings them back.
const MOST_BRANCHES: usize = 2_048;

/// The most first messages whose ids are remembered.
const MOST_ROOTS: usize = 8_192;

/// The branches that are in memory.
pub(crate) struct Registry {
    seed: u64,
    inside: Mutex<Inside>,
}

#[derive(Default)]
struct Inside {
    families: HashMap<Id, Vec<Arc<Branch>>>,
    roots: HashMap<(Wire, u128), Id>,
    count: usize,
}

impl Registry {
    pub(crate) fn new() -> Self {
        // The standard library's hasher is keyed by the operating system's randomness.
        Self { seed: RandomState::new().hash_one(0), inside: Mutex::default() }
    }

    /// The number that spellings are hashed with.
    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The id of a first message. They come again with every request, and may be long.
    pub(crate) fn root(&self, wire: Wire, message: &str, spelling: Spelling) -> Id {
        if let Some(id) = self.inside().roots.get(&(wire, spelling.hash)) {
            return *id;
        }
        let id = Id::after(None, wire, message);
        let roots = &mut self.inside().roots;
        if roots.len() >= MOST_ROOTS {
            roots.clear();
        }
        roots.insert((wire, spelling.hash), id);
        id
    }

    /// The branches that begin with this message.
    pub(crate) fn family(&self, root: Id) -> Vec<Arc<Branch>> {
        self.inside().families.get(&root).cloned().unwrap_or_default()
    }

    /// The branch of a session.
    pub(crate) fn of_session(&self, root: Id, session: &str) -> Option<Arc<Branch>> {
        let inside = self.inside();
        inside.families.get(&root)?.iter().find(|branch| branch.session() == session).cloned()
    }

    /// Adds a branch. One of the same session that came in meanwhile is used instead.
    pub(crate) fn add(&self, branch: Arc<Branch>) -> Arc<Branch> {
        let mut inside = self.inside();
        let family = inside.families.entry(branch.root()).or_default();
        if let Some(there) = family.iter().find(|there| there.session() == branch.session()) {
            return there.clone();
        }
        family.push(branch.clone());
        inside.count += 1;
        if inside.count > MOST_BRANCHES {
            inside.evict();
        }
        branch
    }

    /// Lets a branch go: something went wrong with it, and the store knows better.
    pub(crate) fn remove(&self, branch: &Arc<Branch>) {
        let mut inside = self.inside();
        inside.retain(|other| !Arc::ptr_eq(other, branch));
    }

    /// How many branches are in memory.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.inside().count
    }
}

impl Inside {
    /// Lets an eighth of the branches go, those that nobody used for longest.
    fn evict(&mut self) {
        let mut used: Vec<u64> = self.families.values().flatten().map(|branch| branch.used()).collect();
        used.sort_unstable();
        let line = used.get(used.len() / 8).copied().unwrap_or(0);
        // One that is at work is held elsewhere, too.
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
