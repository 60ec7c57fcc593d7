//! The branches with decisions that the store could not take yet. Their memory is bounded.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use secateur_engine::FollowedSession;

use super::branch::Branch;
use crate::metrics::Metrics;

/// The most bytes of such decisions, of all conversations of a tenant together. Beyond, the oldest are dropped.
const MOST_BYTES: usize = 64 << 20;

/// The branches with such decisions, those that have had them longest first.
pub(crate) struct ProvisionalBranches {
    held: Mutex<HeldDecisions>,
    metrics: Arc<Metrics>,
}

#[derive(Default)]
struct HeldDecisions {
    branches: Vec<ProvisionalBranch>,
    /// How many decisions of them the metrics count.
    counted: u64,
}

struct ProvisionalBranch {
    branch: Weak<Branch>,
    decisions: usize,
    bytes: usize,
}

impl ProvisionalBranches {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        Self { held: Mutex::default(), metrics }
    }

    /// Notes which decisions of a branch are not stored. Returns the branches that have to go for it.
    pub(crate) fn note(&self, branch: &Arc<Branch>, session: &mut FollowedSession) -> Vec<Arc<Branch>> {
        let (decisions, bytes) = session.provisional();
        let ends = session.take_provisional_ends();
        self.metrics.count_provisional_ends(ends.stored, ends.dropped);
        if ends.stored > 0 {
            tracing::info!(
                session = session.id(),
                decisions = ends.stored,
                "stored what was decided without the store"
            );
        }
        if ends.dropped > 0 {
            tracing::warn!(
                session = session.id(),
                decisions = ends.dropped,
                "dropped what was decided without the store"
            );
        }
        let mut held = self.held.lock();
        let HeldDecisions { branches, counted } = &mut *held;
        let place = branches.iter().position(|held| held.branch.as_ptr() == Arc::as_ptr(branch));
        match (place, decisions) {
            (None, 0) => return Vec::new(),
            (Some(place), 0) => drop(branches.remove(place)),
            (Some(place), _) => {
                if let Some(held) = branches.get_mut(place) {
                    (held.decisions, held.bytes) = (decisions, bytes);
                }
            }
            (None, _) => {
                branches.push(ProvisionalBranch { branch: Arc::downgrade(branch), decisions, bytes });
            }
        }
        let dropped = self.drop_oldest(branches);
        let decisions = branches.iter().map(|held| held.decisions as u64).sum();
        self.metrics.recount_provisional(std::mem::replace(counted, decisions), decisions);
        dropped
    }

    fn drop_oldest(&self, branches: &mut Vec<ProvisionalBranch>) -> Vec<Arc<Branch>> {
        branches.retain(|held| held.branch.strong_count() > 0);
        let mut dropped = Vec::new();
        while branches.len() > 1 && branches.iter().map(|held| held.bytes).sum::<usize>() > MOST_BYTES {
            let oldest = branches.remove(0);
            self.metrics.count_provisional_ends(0, oldest.decisions as u64);
            let Some(branch) = oldest.branch.upgrade() else { continue };
            tracing::warn!(
                session = branch.session(),
                decisions = oldest.decisions,
                "dropped what was decided without the store: too much is waiting for it"
            );
            dropped.push(branch);
        }
        dropped
    }
}
