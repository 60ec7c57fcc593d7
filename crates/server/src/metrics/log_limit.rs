//! Log lines about refusals and lack of memory, limited to one a second for each reason.
//!
//! A client that is refused may come back as fast as it can. So each line says how many were left out since the last
//! one.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::outcome::{Denial, PassReason};

/// The least time between two lines with the same reason.
const PAUSE: Duration = Duration::from_secs(1);

/// When a line with each reason was last written.
#[derive(Debug)]
pub(super) struct LogLimits {
    began: Instant,
    denials: [LogLimit; Denial::ALL.len()],
    busy: LogLimit,
}

#[derive(Debug, Default)]
struct LogLimit {
    /// When the next line may be written, in milliseconds.
    next: AtomicU64,
    left_out: AtomicU64,
}

impl Default for LogLimits {
    fn default() -> Self {
        Self { began: Instant::now(), denials: Default::default(), busy: LogLimit::default() }
    }
}

impl LogLimits {
    /// Logs that a request was refused, without anything of the request.
    pub(super) fn denied(&self, denial: Denial) {
        let limit = self.denials.get(denial as usize);
        if let Some(left_out) = limit.and_then(|limit| limit.take(self.began.elapsed())) {
            tracing::warn!(reason = denial.as_str(), left_out, "request refused");
        }
    }

    /// Logs that there was no memory to read a request.
    pub(super) fn busy(&self) {
        if let Some(left_out) = self.busy.take(self.began.elapsed()) {
            tracing::warn!(reason = PassReason::Busy.as_str(), left_out, "request passed through");
        }
    }
}

impl LogLimit {
    /// How many lines were left out since the last one; none if there may be no line now.
    fn take(&self, now: Duration) -> Option<u64> {
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let next = self.next.load(Ordering::Relaxed);
        let after = now.saturating_add(PAUSE.as_millis() as u64);
        let is_ours = now >= next
            && self.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_ours {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_a_line_a_second_and_the_others_do_not_wait_for_it() {
        let limits = LogLimits::default();
        let take =
            |denial: Denial, millis| limits.denials[denial as usize].take(Duration::from_millis(millis));
        assert_eq!(take(Denial::Host, 0), Some(0));
        assert_eq!((take(Denial::Host, 1), take(Denial::Host, 999)), (None, None));
        assert_eq!((take(Denial::Slow, 1), limits.busy.take(Duration::from_millis(1))), (Some(0), Some(0)));
        assert_eq!(take(Denial::Host, 1000), Some(2));
        assert_eq!((take(Denial::Host, 1500), take(Denial::Host, 9000)), (None, Some(1)));
    }

    #[test]
    fn every_denial_has_its_own_limit() {
        assert!(Denial::ALL.iter().enumerate().all(|(at, denial)| *denial as usize == at));
    }
}
