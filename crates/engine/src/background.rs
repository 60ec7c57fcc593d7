//! A summary that is made while the conversation goes on.

use secateur::session::{CompactionFailure, Input};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::error::EngineError;
use crate::prepare::Prepared;
use crate::session::Session;

/// A summary on its way. Dropping it calls it off.
#[derive(Debug)]
pub(crate) struct Background {
    pub task: u64,
    pub work: JoinHandle<Result<Prepared, CompactionFailure>>,
    /// Whether it is ready. Whoever sets this is gone when it was called off.
    pub end: watch::Receiver<bool>,
    /// Somebody waits for the end.
    pub is_awaited: bool,
}

impl Background {
    pub(crate) fn is_finished(&self) -> bool {
        self.work.is_finished() || *self.end.borrow()
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Session {
    /// Waits, apart from the session, for the end of a summary that was begun in the background; none if none was, or
    /// somebody waits already. Whoever refreshes the session then lets the summary take its place: as long as nobody
    /// does, other processes can neither use it nor make their own.
    pub fn background_end(&mut self) -> Option<impl Future<Output = ()> + Send + use<>> {
        let background = self.background.as_mut().filter(|background| !background.is_awaited)?;
        background.is_awaited = true;
        let mut end = background.end.clone();
        Some(async move { drop(end.wait_for(|is_ready| *is_ready).await) })
    }

    /// Waits for the summary and hands it to the machine. If somebody else changed the session meanwhile, the summary
    /// is of a session that is no more, and is dropped.
    pub(crate) async fn take_background(&mut self) -> Result<(), EngineError> {
        let Some(mut background) = self.background.take() else { return Ok(()) };
        let task = background.task;
        let outcome = (&mut background.work).await;
        let outcome =
            outcome.unwrap_or_else(|error| Err(CompactionFailure::Model { message: error.to_string() }));
        let input = self.outcome(task, outcome);
        self.is_taking = true;
        let driven = self.drive(input).await;
        self.is_taking = false;
        match driven {
            // Others undid or compacted something: there is nothing left that this summary could replace.
            Err(error) if error.is_collision() => self.reload().await,
            outcome => outcome.map(drop),
        }
    }

    /// Whether a summary is made in the background, or its end is being stored: what others say meanwhile does it no harm.
    pub(crate) fn is_in_background(&self) -> bool {
        self.is_taking || self.machine.task().is_some_and(|task| task.background)
    }

    /// What the machine is told about a summary.
    pub(crate) fn outcome(&mut self, task: u64, outcome: Result<Prepared, CompactionFailure>) -> Input {
        let now = self.now();
        match outcome {
            Ok(prepared) => {
                let summary = prepared.entry.clone();
                self.prepared = Some(prepared);
                Input::Summarised { task, summary, now }
            }
            Err(why) => Input::Failed { task, why, now },
        }
    }
}
