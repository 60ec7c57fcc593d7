//! How fast a client has to send.

use std::time::Duration;

/// A head start, and then so many bytes a second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    pub head_start: Duration,
    pub slowest: u64,
}

impl Pace {
    /// How much longer somebody may be waited for who sent so many bytes and was waited for so long.
    pub(crate) fn left(self, waited: Duration, bytes: u64) -> Duration {
        let earned = Duration::from_secs(bytes / self.slowest.max(1));
        self.head_start.saturating_add(earned).saturating_sub(waited)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_earns_its_sender_time() {
        let pace = Pace { head_start: Duration::from_secs(60), slowest: 100 };
        let left = |waited, bytes| pace.left(Duration::from_secs(waited), bytes).as_secs();
        assert_eq!((left(0, 0), left(59, 0), left(60, 0), left(61, 0)), (60, 1, 0, 0));
        assert_eq!((left(60, 99), left(60, 100), left(60, 1_000)), (0, 1, 10));
    }
}
