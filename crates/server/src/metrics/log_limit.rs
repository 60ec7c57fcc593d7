//! Refusals in the log, and requests that there was no room for: a line each, but not a flood of them.
//!
//! Whoever is refused may come back as fast as he can. So each reason has a line a second at most, which says how many
//! there were since the one before it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::labels::DENIED;

/// A request was passed on unread, because others take all the room.
const BUSY: &str = "busy";

/// How long a reason is not spoken of again.
const PAUSE: Duration = Duration::from_secs(1);

/// What was said of refusals, and when.
#[derive(Debug)]
pub(super) struct Complaints {
    began: Instant,
    by_reason: [Complaint; DENIED.len() + 1],
}

#[derive(Debug, Default)]
struct Complaint {
    /// From when on there may be a line again, in milliseconds.
    next: AtomicU64,
    left_out: AtomicU64,
}

impl Default for Complaints {
    fn default() -> Self {
        Self { began: Instant::now(), by_reason: Default::default() }
    }
}

impl Complaints {
    /// Says that a request was refused. Nothing of the request is said.
    pub(super) fn refused(&self, reason: &'static str) {
        if let Some(left_out) = self.turn(reason, self.began.elapsed()) {
            tracing::warn!(reason, left_out, "a request is refused");
        }
    }

    /// Says that there was no room to read a request.
    pub(super) fn busy(&self) {
        if let Some(left_out) = self.turn(BUSY, self.began.elapsed()) {
            tracing::warn!(cause = BUSY, left_out, "a request is passed on as it came");
        }
    }

    /// How many had no line since the last one, if there may be one now.
    fn turn(&self, reason: &str, now: Duration) -> Option<u64> {
        let at = DENIED.iter().chain([&BUSY]).position(|known| *known == reason)?;
        let complaint = self.by_reason.get(at)?;
        let now = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let next = complaint.next.load(Ordering::Relaxed);
        let after = now.saturating_add(PAUSE.as_millis() as u64);
        let is_ours = now >= next
            && complaint.next.compare_exchange(next, after, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if is_ours {
            return Some(complaint.left_out.swap(0, Ordering::Relaxed));
        }
        complaint.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_has_a_line_a_second_and_the_others_do_not_wait_for_it() {
        let complaints = Complaints::default();
        let turn = |reason, millis| complaints.turn(reason, Duration::from_millis(millis));
        assert_eq!(turn("host", 0), Some(0));
        assert_eq!((turn("host", 1), turn("host", 999)), (None, None));
        assert_eq!((turn("slow", 1), turn(BUSY, 1)), (Some(0), Some(0)));
        assert_eq!(turn("host", 1000), Some(2));
        assert_eq!((turn("host", 1500), turn("host", 9000)), (None, Some(1)));
        assert_eq!(turn("never heard of", 0), None);
    }
}
