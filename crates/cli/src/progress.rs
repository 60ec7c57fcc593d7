//! Progress on a terminal. Work that takes less than a second shows nothing.

use std::io::IsTerminal;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use secateur::session::{Event, Means};
use secateur_engine::{Engine, EngineEvent};
use secateur_sources::Source;
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use crate::event_text::sentence;
use crate::humanize::shortened;

/// A bar that counts steps. It disappears with the value.
pub(crate) struct StepProgress {
    start: Instant,
    bar: OnceLock<ProgressBar>,
}

impl StepProgress {
    pub(crate) fn new() -> Self {
        Self { start: Instant::now(), bar: OnceLock::new() }
    }

    /// Shows how many steps are done.
    pub(crate) fn advance(&self, done: usize, all: usize) {
        self.show(done as u64, || ProgressBar::new(all as u64));
    }

    fn show(&self, done: u64, bar: impl FnOnce() -> ProgressBar) {
        if self.start.elapsed() >= Duration::from_secs(1) && std::io::stderr().is_terminal() {
            self.bar.get_or_init(bar).set_position(done);
        }
    }
}

impl Drop for StepProgress {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

/// A bar over the bytes of all sources.
pub(crate) struct ByteProgress {
    all: u64,
    done: AtomicU64,
    steps: StepProgress,
}

impl ByteProgress {
    pub(crate) fn over(sources: &[Source]) -> Self {
        let all = sources.iter().map(|source| source.bytes.unwrap_or(0)).sum();
        Self { all, done: AtomicU64::new(0), steps: StepProgress::new() }
    }

    /// Counts a source as done.
    pub(crate) fn advance(&self, source: &Source) {
        let bytes = source.bytes.unwrap_or(0);
        let done = self.done.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.steps.show(done, || {
            let template = "{bar:40} {bytes} of {total_bytes}, {binary_bytes_per_sec}";
            let style = ProgressStyle::with_template(template);
            ProgressBar::new(self.all).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
    }
}

/// How many characters of the summary are shown.
const WIDTH: usize = 70;

/// Says on standard error that a model was asked for a summary, and on a terminal what it writes.
pub(crate) struct SummaryDisplay {
    task: JoinHandle<()>,
    bar: ProgressBar,
}

impl SummaryDisplay {
    pub(crate) fn start(engine: &Engine) -> Self {
        let mut events = engine.watch();
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let shown = bar.clone();
        let task = tokio::spawn(async move {
            loop {
                match events.recv().await {
                    Ok(EngineEvent::Session { event, .. }) => begin(&shown, &event),
                    Ok(EngineEvent::SummaryLine { text, .. }) => shown.set_message(shortened(&text, WIDTH)),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        Self { task, bar }
    }

    pub(crate) fn stop(self) {
        self.task.abort();
        self.bar.finish_and_clear();
    }
}

fn begin(bar: &ProgressBar, event: &Event) {
    let Event::CompactionStarted { means: Means::Model, .. } = event else { return };
    anstream::eprintln!("{} …", sentence(event));
    if !bar.is_hidden() {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
    }
}
