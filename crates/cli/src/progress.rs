//! How far a long piece of work has come. What takes less than a second shows nothing.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use secateur_sources::Source;

/// A bar over steps of work, on a terminal only.
pub(crate) struct Steps {
    start: Instant,
    bar: OnceLock<ProgressBar>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), bar: OnceLock::new() }
    }

    /// Notes how many steps are done.
    pub(crate) fn advance(&self, done: usize, all: usize) {
        if self.start.elapsed() >= Duration::from_secs(1) && std::io::stderr().is_terminal() {
            self.bar.get_or_init(|| ProgressBar::new(all as u64)).set_position(done as u64);
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// A bar over the bytes of all sources, on a terminal only.
pub(crate) struct Progress {
    start: Instant,
    all: u64,
    done: AtomicU64,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub(crate) fn over(sources: &[Source]) -> Self {
        let all = sources.iter().map(|source| source.bytes.unwrap_or(0)).sum();
        Self { start: Instant::now(), all, done: AtomicU64::new(0), bar: OnceLock::new() }
    }

    /// Notes that a source is done.
    pub(crate) fn advance(&self, source: &Source) {
        let done =
            self.done.fetch_add(source.bytes.unwrap_or(0), Ordering::Relaxed) + source.bytes.unwrap_or(0);
        if self.start.elapsed() < Duration::from_secs(1) || !std::io::stderr().is_terminal() {
            return;
        }
        let bar = self.bar.get_or_init(|| {
            let bar = ProgressBar::new(self.all);
            let template = "{bar:40} {bytes} of {total_bytes}, {binary_bytes_per_sec}";
            bar.set_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            );
            bar
        });
        bar.set_position(done);
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}
