//! The signals that are passed on to a program.
//!
//! Handlers are installed before the program starts. Otherwise a signal in between would end us and leave the program
//! behind. Signals that we were started to ignore, as by `nohup`, get their handlers afterwards: the program inherits
//! that a signal is ignored, but not a handler.

use std::future::poll_fn;
use std::io;
use std::task::Poll;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind};

const KINDS: [(Signal, SignalKind); 4] = [
    (Signal::INT, SignalKind::interrupt()),
    (Signal::QUIT, SignalKind::quit()),
    (Signal::TERM, SignalKind::terminate()),
    (Signal::HUP, SignalKind::hangup()),
];

/// The signals with handlers.
pub(crate) struct Signals {
    handled: Vec<(Signal, unix::Signal)>,
    /// Those without handlers yet.
    pending: Vec<(Signal, SignalKind)>,
}

impl Signals {
    /// Handles all signals that are certainly not ignored.
    pub(crate) fn listen() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok();
        let ignored = status.as_deref().and_then(ignored);
        let is_ignored = |signal: Signal| ignored.is_none_or(|set| set >> (signal.as_raw() - 1) & 1 == 1);
        let (pending, now) = KINDS.into_iter().partition(|(signal, _)| is_ignored(*signal));
        let mut signals = Self { handled: Vec::new(), pending };
        signals.add(now)?;
        Ok(signals)
    }

    /// Handles the others, too, now that the program runs.
    pub(crate) fn listen_to_all(&mut self) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        self.add(pending)
    }

    fn add(&mut self, kinds: Vec<(Signal, SignalKind)>) -> io::Result<()> {
        for (signal, kind) in kinds {
            self.handled.push((signal, unix::signal(kind)?));
        }
        Ok(())
    }

    pub(crate) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let mut ready = self
                .handled
                .iter_mut()
                .filter_map(|(signal, stream)| stream.poll_recv(context).is_ready().then_some(*signal));
            ready.next().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// The signals that a process ignores, one per bit, from `/proc/self/status`.
fn ignored(status: &str) -> Option<u64> {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_read_from_the_status() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), Some(0x1001));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
