//! Limits on the time that clients and providers may take.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::time::{Instant, Sleep, sleep_until};

use crate::settings::Settings;

/// How fast a client has to send: a head start, then a number of bytes per second.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MinRate {
    head_start: Duration,
    bytes_per_second: u64,
}

impl MinRate {
    pub(crate) fn of(settings: &Settings) -> Self {
        Self { head_start: settings.head_start, bytes_per_second: settings.slowest }
    }

    /// How much longer to wait for a client that has sent this many bytes and was waited for this long.
    pub(crate) fn time_left(self, waited: Duration, bytes: u64) -> Duration {
        let earned = Duration::from_secs(bytes / self.bytes_per_second.max(1));
        self.head_start.saturating_add(earned).saturating_sub(waited)
    }
}

/// Measures a wait, and ends it after a time. A wait that ends early costs no timer: the alarm of an earlier wait is
/// used again.
#[derive(Default)]
pub(crate) struct WaitTimer {
    since: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl WaitTimer {
    /// Ends the wait and returns how long it took.
    pub(crate) fn stop(&mut self) -> Duration {
        self.since.take().map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Waits, and is ready once the wait has taken this long.
    pub(crate) fn poll(&mut self, cx: &mut Context<'_>, limit: Duration) -> Poll<()> {
        let since = *self.since.get_or_insert_with(Instant::now);
        // A deadline that the clock cannot represent never comes.
        let Some(deadline) = since.checked_add(limit) else { return Poll::Pending };
        let alarm = self.alarm.get_or_insert_with(|| Box::pin(sleep_until(deadline)));
        loop {
            ready!(alarm.as_mut().poll(cx));
            if alarm.deadline() >= deadline {
                return Poll::Ready(());
            }
            // It was set for an earlier wait.
            alarm.as_mut().reset(deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_earns_its_sender_time() {
        let rate = MinRate { head_start: Duration::from_secs(60), bytes_per_second: 100 };
        let left = |waited, bytes| rate.time_left(Duration::from_secs(waited), bytes).as_secs();
        assert_eq!((left(0, 0), left(59, 0), left(60, 0), left(61, 0)), (60, 1, 0, 0));
        assert_eq!((left(60, 99), left(60, 100), left(60, 1_000)), (0, 1, 10));
    }
}
