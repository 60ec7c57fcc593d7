//! The signals that are passed on to a program.
//!
//! They are listened for before the program starts, or one that comes in between would end us and leave the program
//! behind. Only those that we were started to ignore, as by `nohup`, are listened for afterwards: a program inherits
//! that a signal is ignored, but not that it is listened for.

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

/// Those that are listened for.
pub(crate) struct Signals {
    heard: Vec<(Signal, unix::Signal)>,
    /// Those that are not yet.
    left: Vec<(Signal, SignalKind)>,
}

impl Signals {
    /// Listens for all that are certainly not ignored.
    pub(crate) fn listen() -> io::Result<Self> {
        let status = std::fs::read_to_string("/proc/self/status").ok();
        let ignored = status.as_deref().and_then(ignored);
        let is_ignored = |signal: Signal| ignored.is_none_or(|set| set >> (signal.as_raw() - 1) & 1 == 1);
        let (left, now) = KINDS.into_iter().partition(|(signal, _)| is_ignored(*signal));
        let mut signals = Self { heard: Vec::new(), left };
        signals.add(now)?;
        Ok(signals)
    }

    /// Listens for the others, too, now that the program runs.
    pub(crate) fn listen_to_all(&mut self) -> io::Result<()> {
        let left = std::mem::take(&mut self.left);
        self.add(left)
    }

    fn add(&mut self, kinds: Vec<(Signal, SignalKind)>) -> io::Result<()> {
        for (signal, kind) in kinds {
            self.heard.push((signal, unix::signal(kind)?));
        }
        Ok(())
    }

    /// The next that comes.
    pub(crate) async fn next(&mut self) -> Signal {
        poll_fn(|context| {
            let mut ready = self
                .heard
                .iter_mut()
                .filter_map(|(signal, stream)| stream.poll_recv(context).is_ready().then_some(*signal));
            ready.next().map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}

/// The signals that a process ignores, one a bit, as Linux tells it; none where nobody tells.
fn ignored(status: &str) -> Option<u64> {
    let set = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(set.trim(), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_ignored_is_told_bit_by_bit() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001001\nSigCgt:\t0\n"), Some(0x1001));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
