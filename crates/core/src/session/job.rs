//! A compaction on its way: from the question to the hooks to the stored pivot.

mod turnover;

use std::collections::HashSet;

use super::effect::{Consent, Effect, Operation, Proposal, SummaryTask, TurnState};
use super::event::{CompactionFailure, Event, Means, Trigger};
use super::message::{Seq, SessionMessage};
use super::select::{Wish, select};
use super::state::Pivot;
use super::{SessionMachine, Then};
use crate::compaction::{Fallback, MarkerAt};
use crate::window::DEFAULT_WINDOW;

/// No summary is so short that nothing can be said in it.
const LEAST_SUMMARY: i64 = 64;

/// A compaction on its way.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub task: SummaryTask,
    pub stage: Stage,
    /// The marker, if it was written before.
    marker: Option<Seq>,
    /// Messages that go without being summarised.
    dropped: Vec<Seq>,
    turn: TurnState,
    level: u8,
    now: i64,
}

/// How far it is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stage {
    /// Nobody was asked yet.
    Proposed,
    /// The hooks agree.
    Agreed,
    /// An answer of the store or of the hooks is awaited.
    Waiting,
    /// The summary is being made.
    Summarising,
    /// There is a summary.
    Arrived(SessionMessage),
    /// All is there for the pivot.
    Ready { summary: SessionMessage, resume: Consent },
}

impl SessionMachine {
    /// Begins a compaction, or says why there is none to begin.
    pub(super) fn begin(
        &mut self,
        trigger: Trigger,
        turn: TurnState,
        level: u8,
        now: i64,
    ) -> Result<(), CompactionFailure> {
        let usable = self.usable().unwrap_or(DEFAULT_WINDOW as i64).max(0);
        let budget =
            self.for_model().summary.unwrap_or(self.profile.compaction.summary).of(usable).max(LEAST_SUMMARY);
        let is_asked = matches!(trigger, Trigger::Estimate | Trigger::Refusal | Trigger::Ahead);
        let wish = Wish { trigger, budget: self.tail_budget(usable, budget, level), is_asked, turn };
        let pivot = self.state.pivot.as_ref();
        let selection = select(&self.window, pivot, &self.profile.compaction, wish);
        let selection = selection.ok_or(CompactionFailure::NothingToSummarise)?;
        let asks =
            self.profile.compaction.attempts > 0 && self.state.breaker.allows(&self.profile.compaction, now);
        if !asks && self.profile.compaction.fallback == Fallback::Nothing {
            return Err(CompactionFailure::NothingToSummarise);
        }
        let task = SummaryTask {
            id: self.state.last_task + 1,
            trigger,
            means: if asks { Means::Model } else { Means::Digest },
            attempt: 1,
            head: selection.head,
            previous: pivot.map(|pivot| pivot.summary),
            kept: selection.kept,
            tail: selection.tail,
            replay: selection.replay,
            budget,
            budget_chars: self.state.calibration.chars(u64::try_from(budget).unwrap_or(0)),
            background: trigger == Trigger::Ahead,
        };
        let (dropped, marker) = (selection.dropped, selection.marker);
        let job = Job { task, stage: Stage::Proposed, marker, dropped, turn, level, now };
        // Nobody is asked for a summary that would not help even if it were empty.
        self.judge(&job, 0)?;
        self.state.last_task += 1;
        self.job = Some(job);
        Ok(())
    }

    /// The characters that recent messages may have after a compaction.
    fn tail_budget(&self, usable: i64, summary: i64, level: u8) -> u64 {
        let Some(tail) = self.profile.compaction.tail.filter(|_| level == 0) else { return 0 };
        let fixed = self.window.rows().iter().filter(|row| row.facts.is_fixed()).map(|row| row.chars);
        // With what the provider counts and no message shows: instructions, tools.
        let fixed = self.predict(fixed.fold(0, u64::saturating_add));
        let mark = self.profile.compaction.low_water.map_or(usable, |mark| mark.of(usable));
        let room = mark.saturating_sub(fixed).saturating_sub(summary);
        let budget = u64::try_from(tail.budget(usable).min(room)).unwrap_or(0);
        self.state.calibration.chars(budget)
    }

    pub(super) fn set_stage(&mut self, stage: Stage) {
        if let Some(job) = &mut self.job {
            job.stage = stage;
        }
    }

    /// One step. Says whether another one may follow at once.
    pub(super) fn advance_job(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(mut job) = self.job.clone() else { return false };
        match std::mem::replace(&mut job.stage, Stage::Waiting) {
            Stage::Waiting | Stage::Summarising => return false,
            Stage::Proposed => {
                self.set_stage(Stage::Waiting);
                let about = Proposal::Compaction(job.task);
                self.launch(effects, Then::Begin, |ticket| Effect::Consult { ticket, about });
            }
            Stage::Agreed => {
                self.set_stage(Stage::Waiting);
                self.note_started(&job.task);
                let marks = self.profile.compaction.marker_at == MarkerAt::Start && job.marker.is_none();
                let (operations, then) = if marks {
                    (vec![Operation::Mark { task: job.task.id }], Then::TakeMarker)
                } else {
                    (Vec::new(), Then::Summarise)
                };
                self.store(effects, operations, then);
            }
            Stage::Arrived(summary) => match self.judge(&job, summary.units()) {
                Err(why) => self.fail(&why, job.now),
                Ok(()) if self.wants_resume(&job) => {
                    self.set_stage(Stage::Waiting);
                    let about = Proposal::Resume;
                    let then = Then::Pivot(summary);
                    self.launch(effects, then, |ticket| Effect::Consult { ticket, about });
                }
                Ok(()) => self.set_stage(Stage::Ready { summary, resume: Consent::Refused }),
            },
            Stage::Ready { summary, resume } => {
                self.set_stage(Stage::Waiting);
                self.pivot(effects, &job, &summary, &resume);
            }
        }
        true
    }

    fn note_started(&mut self, task: &SummaryTask) {
        let rows = self.window.rows().iter().filter(|row| task.head.contains(&row.seq));
        let chars = rows.map(|row| row.chars).fold(0, u64::saturating_add);
        self.events.push(Event::CompactionStarted {
            task: task.id,
            trigger: task.trigger,
            means: task.means,
            messages: u32::try_from(task.head.len()).unwrap_or(u32::MAX),
            tokens: i64::try_from(self.state.calibration.scale(chars)).unwrap_or(i64::MAX),
            background: task.background,
        });
    }

    /// Lets the summary be made.
    pub(super) fn ask_summary(&mut self, effects: &mut Vec<Effect>) {
        if let Some(job) = &mut self.job {
            job.stage = Stage::Summarising;
            effects.push(Effect::Summarise(job.task.clone()));
        }
    }

    pub(super) fn take_marker(&mut self, messages: Vec<(Seq, SessionMessage)>, effects: &mut Vec<Effect>) {
        if let (Some(job), Some((seq, _))) = (&mut self.job, messages.first()) {
            job.marker = Some(*seq);
        }
        self.append(messages);
        self.ask_summary(effects);
    }

    pub(super) fn take_summary(&mut self, task: u64, summary: SessionMessage, now: i64) {
        if let Some(job) = self.job.as_mut().filter(|job| job.is_awaited(task)) {
            job.now = now;
            job.stage = Stage::Arrived(summary);
        }
    }

    pub(super) fn take_failure(&mut self, task: u64, why: &CompactionFailure, now: i64) {
        if self.job.as_ref().is_some_and(|job| job.is_awaited(task)) {
            self.fail(why, now);
        }
    }

    /// Whether the context would be smaller enough with a summary of so many characters.
    fn judge(&self, job: &Job, added: u64) -> Result<(), CompactionFailure> {
        let gone = job.replaced(self.state.pivot.as_ref());
        let rows = self.window.rows().iter().filter(|row| gone.contains(&row.seq));
        let freed = rows.map(|row| row.chars).fold(0, u64::saturating_add);
        let marker = if job.marker.is_none() { self.profile.compaction.marker.len() as u64 } else { 0 };
        let chars = self.window.chars().saturating_sub(freed).saturating_add(added).saturating_add(marker);
        let (before, after) = (self.tokens(), self.predict(chars));
        let mut limit = i64::MAX;
        if let (Some(gain), Some(usable)) = (self.profile.compaction.least_gain, self.usable()) {
            let gain = if job.task.trigger.is_automatic() { gain.of(usable).max(1) } else { 1 };
            limit = before.saturating_sub(gain);
            // Once next to nothing is kept, any gain is welcome: what is left is cut otherwise.
            if let Some(mark) =
                self.profile.compaction.low_water.filter(|_| job.level == 0 && job.task.tail.is_some())
            {
                limit = limit.min(mark.of(usable).max(0));
            }
        }
        if after <= limit { Ok(()) } else { Err(CompactionFailure::NoProgress { before, after, limit }) }
    }

    /// Takes in that there is no summary, and decides what comes next.
    pub(super) fn fail(&mut self, why: &CompactionFailure, now: i64) {
        let Some(mut job) = self.job.take() else { return };
        if matches!(why, CompactionFailure::Vetoed | CompactionFailure::Cancelled) {
            return self.give_up(why.clone());
        }
        let SummaryTask { id, means, attempt, background, .. } = job.task;
        self.events.push(Event::CompactionFailed { task: id, means, attempt, why: why.clone() });
        if background && matches!(why, CompactionFailure::NoProgress { .. }) {
            // Something was cut meanwhile, so there is room enough for now. Nobody did anything wrong.
            return;
        }
        if means == Means::Model && self.state.breaker.fail(&self.profile.compaction, now) {
            let failures = self.state.breaker.failures;
            self.events.push(Event::BreakerOpened { failures });
        }
        let again = attempt < self.profile.compaction.attempts
            && self.state.breaker.allows(&self.profile.compaction, now);
        match (means, self.profile.compaction.fallback) {
            (Means::Model, _) if again => job.task.attempt += 1,
            (Means::Model, Fallback::Digest) => {
                job.task.means = Means::Digest;
                job.task.attempt = 1;
            }
            (Means::Model, Fallback::Nothing) => return self.give_up(why.clone()),
            (Means::Digest, _) => {
                self.note_hindrance(why.clone());
                return self.go_further(job.level);
            }
        }
        job.stage = Stage::Agreed;
        self.job = Some(job);
    }

    /// Remembers why there is no compaction, for whoever asks in the end.
    fn note_hindrance(&mut self, why: CompactionFailure) {
        if let Some(errand) = &mut self.errand {
            errand.hindrance = Some(why);
        }
    }

    /// Lets the next means of making room have a try.
    fn go_further(&mut self, level: u8) {
        if let Some(errand) = &mut self.errand {
            errand.level = level.saturating_add(1);
        }
    }

    /// Leaves the compaction.
    pub(super) fn give_up(&mut self, why: CompactionFailure) {
        self.job = None;
        self.events.push(Event::CompactionRefused { why: why.clone() });
        if let Some(errand) = &mut self.errand {
            errand.refused = Some(why);
        }
    }
}

impl Job {
    fn is_awaited(&self, task: u64) -> bool {
        self.task.id == task && self.stage == Stage::Summarising
    }

    /// The messages that go when the pivot comes, the earlier marker and summary among them.
    fn replaced(&self, previous: Option<&Pivot>) -> HashSet<Seq> {
        let before = previous.into_iter().flat_map(|pivot| pivot.marker.into_iter().chain([pivot.summary]));
        self.task.head.iter().chain(&self.dropped).copied().chain(before).collect()
    }
}
