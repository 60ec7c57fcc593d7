//! A compaction in progress: from asking the hooks to storing the pivot.

mod record;

use std::collections::HashSet;

use super::SessionMachine;
use super::effect::{Consent, Effect, Operation, Proposal, SummaryTask, TurnState};
use super::event::{CompactionFailure, Event, Means, Trigger};
use super::message::{Seq, SessionMessage};
use super::pending_effect::Continuation;
use super::remedy::Remedy;
use super::select::{SelectionInput, select};
use super::state::Pivot;
use crate::compaction::{Fallback, MarkerAt};
use crate::window::DEFAULT_WINDOW;

/// The smallest budget for a summary, in tokens: less would leave no room to say anything.
const LEAST_SUMMARY: i64 = 64;

/// A compaction in progress.
#[derive(Clone, Debug)]
pub(super) struct CompactionTask {
    pub task: SummaryTask,
    pub stage: CompactionStage,
    /// The marker, if it was written before.
    marker: Option<Seq>,
    /// Messages that go without being summarised.
    dropped: Vec<Seq>,
    turn: TurnState,
    remedy: Remedy,
    now: i64,
}

/// How a compaction begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning {
    pub trigger: Trigger,
    /// Whether the model has more to do.
    pub turn: TurnState,
    /// [`Remedy::CompactOlder`] or [`Remedy::CompactAll`].
    pub remedy: Remedy,
    pub now: i64,
}

/// How far a compaction is.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CompactionStage {
    /// The hooks have not been asked yet.
    Proposed,
    /// The hooks agree.
    Agreed,
    /// Waiting for the store or for the hooks.
    Waiting,
    /// The summary is being made.
    Summarising,
    /// There is a summary.
    Arrived(SessionMessage),
    /// Everything is there for the pivot.
    Ready { summary: SessionMessage, resume: Consent },
}

impl SessionMachine {
    /// Begins a compaction, or says why that would be useless.
    pub(super) fn begin_compaction(&mut self, beginning: Beginning) -> Result<(), CompactionFailure> {
        self.compaction = Some(self.plan_compaction(beginning)?);
        self.state.last_task += 1;
        Ok(())
    }

    /// The compaction that would begin, or why that would be useless.
    pub(super) fn plan_compaction(&self, beginning: Beginning) -> Result<CompactionTask, CompactionFailure> {
        let Beginning { trigger, turn, remedy, now } = beginning;
        let usable = self.usable().unwrap_or(DEFAULT_WINDOW as i64).max(0);
        let budget =
            self.for_model().summary.unwrap_or(self.profile.compaction.summary).of(usable).max(LEAST_SUMMARY);
        let is_asked = matches!(trigger, Trigger::Estimate | Trigger::Refusal | Trigger::Ahead);
        let tail_chars = self.tail_budget(usable, budget, remedy);
        let input = SelectionInput { trigger, remedy, tail_chars, is_asked, turn };
        let pivot = self.state.pivot.as_ref();
        let selection = select(&self.context, pivot, &self.profile.compaction, input)
            .ok_or(CompactionFailure::NothingToSummarise)?;
        let asks_model =
            self.profile.compaction.attempts > 0 && self.state.breaker.allows(&self.profile.compaction, now);
        if !asks_model && self.profile.compaction.fallback == Fallback::Nothing {
            return Err(CompactionFailure::NoSummariser);
        }
        let task = SummaryTask {
            id: self.state.last_task + 1,
            trigger,
            means: if asks_model { Means::Model } else { Means::Digest },
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
        let stage = CompactionStage::Proposed;
        let compaction = CompactionTask { task, stage, marker, dropped, turn, remedy, now };
        if self.thinking_behind(&compaction.replaced(self.state.pivot.as_ref())).is_none() {
            return Err(CompactionFailure::BoundThinking);
        }
        // If even an empty summary would not help, no model is asked for one.
        self.check_progress(&compaction, 0)?;
        Ok(compaction)
    }

    /// The characters that recent messages may have after a compaction.
    fn tail_budget(&self, usable: i64, summary: i64, remedy: Remedy) -> u64 {
        let keeps_recent = remedy == Remedy::CompactOlder;
        let Some(tail) = self.profile.compaction.tail.filter(|_| keeps_recent) else { return 0 };
        let fixed = self.context.rows().iter().filter(|row| row.facts.is_fixed()).map(|row| row.chars);
        // The prediction includes what the provider counts but no message shows: instructions and tools.
        let fixed = self.predict(fixed.fold(0, u64::saturating_add));
        let mark = self.profile.compaction.low_water.map_or(usable, |mark| mark.of(usable));
        let room = mark.saturating_sub(fixed).saturating_sub(summary);
        let budget = u64::try_from(tail.budget(usable).min(room)).unwrap_or(0);
        self.state.calibration.chars(budget)
    }

    pub(super) fn set_stage(&mut self, stage: CompactionStage) {
        if let Some(compaction) = &mut self.compaction {
            compaction.stage = stage;
        }
    }

    /// Takes one step. Returns whether another one may follow at once.
    pub(super) fn advance_compaction(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(mut compaction) = self.compaction.clone() else { return false };
        match std::mem::replace(&mut compaction.stage, CompactionStage::Waiting) {
            CompactionStage::Waiting | CompactionStage::Summarising => return false,
            CompactionStage::Proposed => {
                self.set_stage(CompactionStage::Waiting);
                let about = Proposal::Compaction(compaction.task);
                let then = Continuation::BeginCompaction;
                self.emit(effects, then, |ticket| Effect::Consult { ticket, about });
            }
            CompactionStage::Agreed => {
                self.set_stage(CompactionStage::Waiting);
                self.note_started(&compaction.task);
                // Without a summary the marker would stand behind a question as if it were one.
                let marks = self.profile.compaction.marker_at == MarkerAt::Start
                    && compaction.marker.is_none()
                    && !self.is_next_known(&HashSet::new());
                let (operations, then) = if marks {
                    (vec![Operation::Mark { task: compaction.task.id }], Continuation::TakeMarker)
                } else {
                    (Vec::new(), Continuation::Summarise)
                };
                self.store(effects, operations, then);
            }
            CompactionStage::Arrived(summary) => match self.check_progress(&compaction, summary.units()) {
                Err(why) => self.fail_compaction(&why, compaction.now),
                Ok(()) if self.wants_resume(&compaction) => {
                    self.set_stage(CompactionStage::Waiting);
                    let about = Proposal::Resume;
                    let then = Continuation::StoreCompaction(summary);
                    self.emit(effects, then, |ticket| Effect::Consult { ticket, about });
                }
                Ok(()) => self.set_stage(CompactionStage::Ready { summary, resume: Consent::Refused }),
            },
            CompactionStage::Ready { summary, resume } => {
                self.set_stage(CompactionStage::Waiting);
                self.store_compaction(effects, &compaction, &summary, &resume);
            }
        }
        true
    }

    fn note_started(&mut self, task: &SummaryTask) {
        let rows = self.context.rows().iter().filter(|row| task.head.contains(&row.seq));
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

    /// Has the summary made.
    pub(super) fn request_summary(&mut self, effects: &mut Vec<Effect>) {
        if let Some(compaction) = &mut self.compaction {
            compaction.stage = CompactionStage::Summarising;
            effects.push(Effect::Summarise(compaction.task.clone()));
        }
    }

    pub(super) fn take_marker(&mut self, messages: Vec<(Seq, SessionMessage)>, effects: &mut Vec<Effect>) {
        if let (Some(compaction), Some((seq, _))) = (&mut self.compaction, messages.first()) {
            compaction.marker = Some(*seq);
        }
        self.append(messages);
        self.request_summary(effects);
    }

    pub(super) fn take_summary(&mut self, task: u64, summary: SessionMessage, now: i64) {
        if let Some(compaction) = self.compaction.as_mut().filter(|compaction| compaction.is_awaiting(task)) {
            compaction.now = now;
            compaction.stage = CompactionStage::Arrived(summary);
        }
    }

    pub(super) fn take_failure(&mut self, task: u64, why: &CompactionFailure, now: i64) {
        if self.compaction.as_ref().is_some_and(|compaction| compaction.is_awaiting(task)) {
            self.fail_compaction(why, now);
        }
    }

    /// Whether a summary of `added` characters would shrink the context enough.
    fn check_progress(&self, compaction: &CompactionTask, added: u64) -> Result<(), CompactionFailure> {
        let marker =
            if compaction.marker.is_none() { self.profile.compaction.marker.len() as u64 } else { 0 };
        let chars = self.chars_without(compaction).saturating_add(added).saturating_add(marker);
        let (before, after) = (self.tokens(), self.predict(chars));
        let mut limit = i64::MAX;
        if let (Some(gain), Some(usable)) = (self.profile.compaction.least_gain, self.usable()) {
            let gain = if compaction.task.trigger.is_automatic() { gain.of(usable).max(1) } else { 1 };
            limit = before.saturating_sub(gain);
            // Where next to nothing is kept, any gain will do: emergency cuts can still follow.
            let keeps_recent = compaction.remedy == Remedy::CompactOlder && compaction.task.tail.is_some();
            if let Some(mark) = self.profile.compaction.low_water.filter(|_| keeps_recent) {
                limit = limit.min(mark.of(usable).max(0));
            }
        }
        if after <= limit { Ok(()) } else { Err(CompactionFailure::NoProgress { before, after, limit }) }
    }

    /// The characters of the context without the messages that a compaction replaces.
    fn chars_without(&self, compaction: &CompactionTask) -> u64 {
        let replaced = compaction.replaced(self.state.pivot.as_ref());
        let rows = self.context.rows().iter().filter(|row| replaced.contains(&row.seq));
        let freed = rows.map(|row| row.chars).fold(0, u64::saturating_add);
        self.context.chars().saturating_sub(freed)
    }

    /// Takes in that there is no summary: tries again, falls back to a digest, or goes on without.
    pub(super) fn fail_compaction(&mut self, why: &CompactionFailure, now: i64) {
        let Some(mut compaction) = self.compaction.take() else { return };
        if matches!(
            why,
            CompactionFailure::Vetoed | CompactionFailure::Cancelled | CompactionFailure::BoundThinking
        ) {
            return self.give_up_compaction(why.clone());
        }
        let SummaryTask { id, means, attempt, background, .. } = compaction.task;
        self.events.push(Event::CompactionFailed { task: id, means, attempt, why: why.clone() });
        if background && matches!(why, CompactionFailure::NoProgress { .. }) {
            // Something was cut in the meantime, so there is room for now. The summariser did not fail.
            return;
        }
        let is_model_at_fault = means == Means::Model && *why != CompactionFailure::NoLease;
        if is_model_at_fault && self.state.breaker.fail(&self.profile.compaction, now) {
            let failures = self.state.breaker.failures;
            self.events.push(Event::BreakerOpened { failures });
        }
        let retries = is_model_at_fault
            && attempt < self.profile.compaction.attempts
            && self.state.breaker.allows(&self.profile.compaction, now);
        match (means, self.profile.compaction.fallback) {
            (Means::Model, _) if retries => compaction.task.attempt += 1,
            (Means::Model, fallback) if fallback == Fallback::Digest || !is_model_at_fault => {
                compaction.task.means = Means::Digest;
                compaction.task.attempt = 1;
            }
            (Means::Model, _) => return self.give_up_compaction(why.clone()),
            (Means::Digest, _) => {
                if let Some(goal) = &mut self.goal {
                    goal.last_failure = Some(why.clone());
                    goal.tried.insert_compaction(compaction.remedy);
                }
                return;
            }
        }
        compaction.stage = CompactionStage::Agreed;
        self.compaction = Some(compaction);
    }

    /// Drops the compaction, and with it every other one for this goal.
    pub(super) fn give_up_compaction(&mut self, why: CompactionFailure) {
        self.compaction = None;
        self.events.push(Event::CompactionRefused { why: why.clone() });
        if let Some(goal) = &mut self.goal {
            goal.refused = Some(why);
            goal.tried.insert_compaction(Remedy::CompactAll);
        }
    }
}

impl CompactionTask {
    fn is_awaiting(&self, task: u64) -> bool {
        self.task.id == task && self.stage == CompactionStage::Summarising
    }

    /// The messages that go at the pivot, including the earlier marker and summary.
    fn replaced(&self, previous: Option<&Pivot>) -> HashSet<Seq> {
        let before = previous.into_iter().flat_map(|pivot| pivot.marker.into_iter().chain([pivot.summary]));
        self.task.head.iter().chain(&self.dropped).copied().chain(before).collect()
    }
}
