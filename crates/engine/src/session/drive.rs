//! Carries out the machine's effects until it has no more.

use std::collections::{HashMap, VecDeque};

use secateur::session::{
    CompactionFailure, Effect, Event, Input, Means, NoRoom, Seq, SessionCut, SummaryTask,
};

use super::background::BackgroundSummary;
use super::core::SessionCore;
use super::history::History;
use super::summary_job::PreparedSummary;
use crate::error::EngineError;

/// How an input ended.
pub(crate) enum DriveOutcome {
    /// The request may be sent.
    Send { tokens: i64, usable: Option<i64>, cuts: Vec<(Seq, SessionCut)> },
    /// The request must not be sent.
    Reject(NoRoom),
    /// The input was not about a request.
    Done,
}

impl<H: History> SessionCore<H> {
    /// Hands an input to the machine and carries out what follows.
    pub(crate) async fn drive(&mut self, input: Input) -> Result<DriveOutcome, EngineError> {
        // Set before, because the caller may stop to wait: only at the end is memory valid again. What an earlier step left
        // halfway stays so until everything is loaded again.
        let was_dirty = std::mem::replace(&mut self.is_dirty, true);
        let outcome = self.carry_out(input).await;
        self.is_dirty = was_dirty || outcome.is_err();
        self.read_originals = HashMap::new();
        if self.compaction.background.is_none() {
            self.lease.release().await;
        }
        outcome
    }

    async fn carry_out(&mut self, input: Input) -> Result<DriveOutcome, EngineError> {
        let is_awaited = matches!(input, Input::Requested(_) | Input::Compact { .. });
        let mut effects = VecDeque::from(self.machine.handle(input));
        let mut outcome = DriveOutcome::Done;
        loop {
            let answer = match effects.pop_front() {
                Some(Effect::Store(changes)) => {
                    let ends: Vec<Event> = changes.events.iter().filter(|e| is_end(e)).cloned().collect();
                    let answer = self.store_changes(changes).await?;
                    for end in ends {
                        self.report_to_hooks(end).await;
                    }
                    answer
                }
                Some(Effect::Consult { ticket, about }) => {
                    Input::Consulted { ticket, consent: self.consult(about).await? }
                }
                Some(Effect::Summarise(task)) if task.background => {
                    let id = task.id;
                    let job = self.summary_job(task).await?;
                    self.compaction.background = Some(BackgroundSummary::start(id, job));
                    continue;
                }
                Some(Effect::Summarise(task)) => self.summarise(task).await?,
                Some(Effect::Send { tokens, usable, cuts }) => {
                    let cuts = self.name_cuts_once(cuts).await?;
                    outcome = DriveOutcome::Send { tokens, usable, cuts };
                    continue;
                }
                Some(Effect::Reject(no_room)) => {
                    outcome = DriveOutcome::Reject(no_room);
                    continue;
                }
                Some(Effect::Done) => continue,
                None => match self.compaction.background.take() {
                    // The request needs the summary that is being made in the background.
                    Some(background) if is_awaited && matches!(outcome, DriveOutcome::Done) => {
                        let task = background.task;
                        let summary = background.finish().await;
                        self.summary_input(task, summary)
                    }
                    background => {
                        self.compaction.background = background;
                        return Ok(outcome);
                    }
                },
            };
            effects.extend(self.machine.handle(answer));
        }
    }

    /// Makes a summary while the session waits.
    async fn summarise(&mut self, task: SummaryTask) -> Result<Input, EngineError> {
        let id = task.id;
        if task.means == Means::Model && self.lease.token().is_none() {
            return Ok(self.summary_input(id, Err(CompactionFailure::NoLease)));
        }
        let summary = match self.summary_job(task).await? {
            Ok(job) => job.run().await,
            Err(why) => Err(why),
        };
        Ok(self.summary_input(id, summary))
    }

    /// Waits for the summary from the background and hands it to the machine.
    pub(crate) async fn finish_background(&mut self) -> Result<(), EngineError> {
        let Some(background) = self.compaction.background.take() else { return Ok(()) };
        let task = background.task;
        let summary = background.finish().await;
        let input = self.summary_input(task, summary);
        self.compaction.is_storing_end = true;
        let driven = self.drive(input).await;
        self.compaction.is_storing_end = false;
        match driven {
            // Others undid or compacted something, so this summary has nothing to replace.
            Err(error) if error.is_collision() => self.reload().await,
            outcome => outcome.map(drop),
        }
    }

    /// What the machine gets to know about a summary.
    fn summary_input(&mut self, task: u64, summary: Result<PreparedSummary, CompactionFailure>) -> Input {
        let now = self.now();
        match summary {
            Ok(prepared) => {
                let summary = prepared.facts.clone();
                self.compaction.prepared = Some(prepared);
                Input::Summarised { task, summary, now }
            }
            Err(why) => Input::Failed { task, why, now },
        }
    }
}

/// Whether a compaction is over with this event. A model that fails is not the end: a digest follows, or a refusal.
fn is_end(event: &Event) -> bool {
    match event {
        Event::CompactionCompleted { .. } | Event::CompactionFailed { means: Means::Digest, .. } => true,
        // This one never began.
        Event::CompactionRefused { why } => *why != CompactionFailure::NothingToSummarise,
        _ => false,
    }
}
