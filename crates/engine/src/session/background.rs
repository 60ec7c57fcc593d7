//! A summary that is made while the conversation goes on.

use secateur::session::CompactionFailure;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::summary_job::{PreparedSummary, SummaryJob};

/// A summary that is being made apart from the session. Dropping it cancels it.
#[derive(Debug)]
pub(crate) struct BackgroundSummary {
    pub task: u64,
    work: JoinHandle<Result<PreparedSummary, CompactionFailure>>,
    /// Becomes true when the summary is ready; closed if it is cancelled.
    ready: watch::Receiver<bool>,
    is_awaited: bool,
}

impl BackgroundSummary {
    /// Starts to make a summary; a job that was refused fails at once.
    pub(crate) fn start(task: u64, job: Result<SummaryJob, CompactionFailure>) -> Self {
        let (sender, ready) = watch::channel(false);
        let work = tokio::spawn(async move {
            let made = match job {
                Ok(job) => job.run().await,
                Err(why) => Err(why),
            };
            sender.send(true).ok();
            made
        });
        Self { task, work, ready, is_awaited: false }
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.work.is_finished() || *self.ready.borrow()
    }

    /// Waits for the end without borrowing the session; none if this was called before.
    pub(crate) fn end(&mut self) -> Option<impl Future<Output = ()> + Send + use<>> {
        if std::mem::replace(&mut self.is_awaited, true) {
            return None;
        }
        let mut ready = self.ready.clone();
        Some(async move { drop(ready.wait_for(|is_ready| *is_ready).await) })
    }

    /// Waits for the summary.
    pub(crate) async fn finish(mut self) -> Result<PreparedSummary, CompactionFailure> {
        let outcome = (&mut self.work).await;
        outcome.unwrap_or_else(|error| Err(CompactionFailure::Model { message: error.to_string() }))
    }
}

impl Drop for BackgroundSummary {
    fn drop(&mut self) {
        self.work.abort();
    }
}
