//! What is going on while a model writes a summary.

use std::io::IsTerminal;
use std::time::Duration;

use indicatif::ProgressBar;
use secateur::session::{Event, Means};
use secateur_engine::{Engine, Live};
use tokio::sync::broadcast::error::RecvError;
use tokio::task::JoinHandle;

use crate::figures::shortened;
use crate::telling::sentence;

/// How much of a line of the summary is shown.
const WIDTH: usize = 70;

/// Says on standard error that a model was asked, and on a terminal what it writes.
pub(crate) struct Watch {
    work: JoinHandle<()>,
    bar: ProgressBar,
}

impl Watch {
    pub(crate) fn start(engine: &Engine) -> Self {
        let mut news = engine.watch();
        let bar =
            if std::io::stderr().is_terminal() { ProgressBar::no_length() } else { ProgressBar::hidden() };
        let shown = bar.clone();
        let work = tokio::spawn(async move {
            loop {
                match news.recv().await {
                    Ok(Live::Event { event, .. }) => begin(&shown, &event),
                    Ok(Live::Delta { text, .. }) => shown.set_message(shortened(&text, WIDTH)),
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
        Self { work, bar }
    }

    pub(crate) fn stop(self) {
        self.work.abort();
        self.bar.finish_and_clear();
    }
}

fn begin(bar: &ProgressBar, event: &Event) {
    let Event::CompactionStarted { means: Means::Model, .. } = event else { return };
    anstream::eprintln!("{} …", sentence(event));
    if !bar.is_hidden() {
        if let Ok(style) = indicatif::ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(120));
    }
}
