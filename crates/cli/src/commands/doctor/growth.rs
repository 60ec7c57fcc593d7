//! Checks whether the store grows for ever.

use secateur_engine::RetentionLimits;

use super::finding::DoctorFinding;
use crate::humanize::grouped;

const CHECK: &str = "retention";

/// How large the store may be while no retention is set, and the retention that is set.
#[derive(Clone, Copy)]
pub(crate) struct Growth {
    /// In megabytes.
    pub(crate) largest: u64,
    pub(crate) limits: RetentionLimits,
}

impl Growth {
    /// Compares the bytes of the store with what it may have.
    pub(crate) fn check(self, bytes: u64) -> Option<DoctorFinding> {
        let megabytes = bytes / 1_000_000;
        if !self.limits.is_off() || megabytes <= self.largest {
            return None;
        }
        Some(DoctorFinding::warning(
            CHECK,
            format!("the store has {} MB and grows, because sessions are never deleted", grouped(megabytes)),
            "set retention.age or retention.size in the configuration, or delete old sessions with `secateur session \
             delete --before 90d`",
        ))
    }
}
