//! The end of a compaction: the pivot is stored in one piece and then applied.

use std::collections::HashSet;

use super::super::SessionMachine;
use super::super::context::{Context, LiveMessage};
use super::super::effect::{CompactionRecord, Consent, Effect, Operation, TurnState};
use super::super::event::{CompactionFailure, Event, Means};
use super::super::message::{Seq, SessionCut, SessionMessage};
use super::super::pending_effect::Continuation;
use super::super::state::Pivot;
use super::CompactionTask;
use crate::compaction::{Occasion, ResumeWhen};
use crate::outline::Role;
use crate::pivot::PivotStart;

impl SessionMachine {
    /// Whether the message that resumes the work should follow the summary.
    pub(super) fn wants_resume(&self, compaction: &CompactionTask) -> bool {
        let is_interrupted = || {
            let replaced = compaction.replaced(self.state.pivot.as_ref());
            let last = self.context.rows().iter().rev().find(|row| !replaced.contains(&row.seq));
            let model_was_last = last.is_none_or(|row| row.facts.role == Role::Assistant);
            compaction.turn == TurnState::Open && model_was_last && self.context.waiting_from().is_none()
        };
        let is_automatic = compaction.task.trigger.is_automatic() && compaction.task.replay.is_none();
        let is_wanted = match self.profile.compaction.resume_when {
            ResumeWhen::Never => false,
            ResumeWhen::Interrupted => is_interrupted(),
            ResumeWhen::Auto | ResumeWhen::Always => {
                !self.is_next_known(&compaction.replaced(self.state.pivot.as_ref()))
            }
        };
        is_wanted && is_automatic && self.profile.compaction.resume.is_some()
    }

    /// Whether the next request has something to answer once these messages are replaced: a message that the model has not
    /// answered yet, or the result of a call that is still awaited.
    pub(in crate::session) fn is_next_known(&self, replaced: &HashSet<Seq>) -> bool {
        self.context.unanswered().any(|row| !replaced.contains(&row.seq))
            || self.context.waiting_from().is_some()
    }

    /// Stores the pivot.
    pub(super) fn store_compaction(
        &mut self,
        effects: &mut Vec<Effect>,
        compaction: &CompactionTask,
        summary: &SessionMessage,
        resume: &Consent,
    ) {
        let task = &compaction.task;
        let previous = self.state.pivot.clone();
        let Some(thinking) = self.thinking_behind(&compaction.replaced(previous.as_ref())) else {
            return self.fail_compaction(&CompactionFailure::BoundThinking, compaction.now);
        };
        let mut replaced = task.head.clone();
        replaced.extend(&compaction.dropped);
        replaced.sort_unstable();
        let behind = replaced.last().map_or(1, |last| last + 1);
        // What an earlier compaction replaced stays replaced.
        let live_from = task.tail.unwrap_or(behind).max(previous.as_ref().map_or(1, |pivot| pivot.live_from));
        let record = CompactionRecord {
            task: task.id,
            marker: compaction.marker,
            replaced,
            kept: task.kept.clone(),
            live_from,
            replay: task.replay,
            resume: !matches!(resume, Consent::Refused | Consent::Elsewhere) && self.wants_resume(compaction),
            shows_marker: self.profile.pivot.start == PivotStart::Marker,
            previous,
        };
        self.events.push(Event::CompactionCompleted {
            task: task.id,
            means: task.means,
            messages: u32::try_from(record.replaced.len()).unwrap_or(u32::MAX),
            before: self.tokens(),
            after: self.predict(self.chars_without(compaction).saturating_add(summary.units())),
        });
        if task.means == Means::Model && self.state.breaker.succeed() {
            self.events.push(Event::BreakerClosed);
        }
        self.state.undone_compaction = None;
        let mut operations = vec![Operation::Compact(record.clone())];
        if !thinking.is_empty() {
            // First, so that undoing the newest operation undoes the compaction.
            operations.insert(0, Operation::Prune { occasion: Occasion::Overflow, cuts: thinking.clone() });
        }
        self.store(effects, operations, Continuation::ApplyCompaction { record, thinking });
    }

    /// Applies the pivot, now that it is stored.
    pub(in crate::session) fn apply_compaction(
        &mut self,
        record: &CompactionRecord,
        thinking: &[(Seq, SessionCut)],
        messages: Vec<(Seq, SessionMessage)>,
    ) {
        let Some(compaction) = self.compaction.take() else { return };
        self.context.cut(thinking);
        let mut gone = compaction.replaced(record.previous.as_ref());
        gone.extend(record.hidden(&messages));
        let Some(pivot) = record.pivot(&messages) else { return };
        let made = messages.into_iter().map(|(seq, facts)| LiveMessage::new(seq, facts));
        let rows = self.context.rows().iter().cloned().chain(made);
        let mut rows: Vec<LiveMessage> = rows.filter(|row| !gone.contains(&row.seq)).collect();
        rows.sort_by_key(|row| Pivot::rank(Some(&pivot), row.seq, &row.facts));
        rows.dedup_by_key(|row| row.seq);
        self.context = Context::of(self.context.outline().measures().clone(), rows);
        self.state.pivot = Some(pivot);
        if let Some(goal) = &mut self.goal {
            goal.tried.insert_compaction(compaction.remedy);
            goal.changed = true;
        }
    }
}
