//! The end of a compaction: what is replaced by what, stored in one piece, and then in effect.

use super::super::context::{Context, LiveMessage};
use super::super::effect::{CompactionRecord, Consent, Effect, Operation, TurnState};
use super::super::event::{Event, Means};
use super::super::message::{Seq, SessionMessage};
use super::super::state::Pivot;
use super::super::{SessionMachine, Then};
use super::Job;
use crate::compaction::ResumeWhen;
use crate::outline::Role;
use crate::pivot::PivotStart;

impl SessionMachine {
    /// Whether the work should go on by itself behind the summary.
    pub(super) fn wants_resume(&self, job: &Job) -> bool {
        let interrupted = || {
            let gone = job.replaced(self.state.pivot.as_ref());
            let last = self.window.rows().iter().rev().find(|row| !gone.contains(&row.seq));
            let speaks_last = last.is_none_or(|row| row.facts.role == Role::Assistant);
            job.turn == TurnState::Open && speaks_last && self.window.waiting_from().is_none()
        };
        let automatic = job.task.trigger.is_automatic() && job.task.replay.is_none();
        let wanted = match self.profile.compaction.resume_when {
            ResumeWhen::Never => false,
            ResumeWhen::Interrupted => interrupted(),
            ResumeWhen::Auto | ResumeWhen::Always => true,
        };
        wanted && automatic && self.profile.compaction.resume.is_some()
    }

    /// Stores the pivot.
    pub(super) fn pivot(
        &mut self,
        effects: &mut Vec<Effect>,
        job: &Job,
        summary: &SessionMessage,
        resume: &Consent,
    ) {
        let previous = self.state.pivot.clone();
        let mut replaced = job.task.head.clone();
        replaced.extend(&job.dropped);
        replaced.sort_unstable();
        let behind = replaced.last().map_or(1, |last| last + 1);
        // What an earlier compaction replaced stays replaced.
        let live_from =
            job.task.tail.unwrap_or(behind).max(previous.as_ref().map_or(1, |pivot| pivot.live_from));
        let turnover = CompactionRecord {
            task: job.task.id,
            marker: job.marker,
            replaced,
            kept: job.task.kept.clone(),
            live_from,
            replay: job.task.replay,
            resume: !matches!(resume, Consent::Refused | Consent::Elsewhere) && self.wants_resume(job),
            shows_marker: self.profile.pivot.start == PivotStart::Marker,
            previous,
        };
        let gone = job.replaced(self.state.pivot.as_ref());
        let freed = self.window.rows().iter().filter(|row| gone.contains(&row.seq));
        let freed = freed.map(|row| row.chars).fold(0, u64::saturating_add);
        let added = summary.units();
        let after = self.predict(self.window.chars().saturating_sub(freed).saturating_add(added));
        self.events.push(Event::CompactionCompleted {
            task: job.task.id,
            means: job.task.means,
            messages: u32::try_from(turnover.replaced.len()).unwrap_or(u32::MAX),
            before: self.tokens(),
            after,
        });
        if job.task.means == Means::Model && self.state.breaker.succeed() {
            self.events.push(Event::BreakerClosed);
        }
        let operation = Operation::Compact(turnover.clone());
        self.store(effects, vec![operation], Then::TakePivot(turnover));
    }

    /// Lets the pivot take hold, now that it is stored.
    pub(in crate::session) fn take_pivot(
        &mut self,
        turnover: &CompactionRecord,
        messages: Vec<(Seq, SessionMessage)>,
    ) {
        let Some(job) = self.job.take() else { return };
        let mut gone = job.replaced(turnover.previous.as_ref());
        gone.extend(turnover.hidden(&messages));
        let Some(pivot) = turnover.pivot(&messages) else { return };
        let made =
            messages.into_iter().map(|(seq, facts)| LiveMessage { seq, facts, cuts: Vec::new(), chars: 0 });
        let rows = self.window.rows().iter().cloned().chain(made);
        let mut rows: Vec<LiveMessage> = rows.filter(|row| !gone.contains(&row.seq)).collect();
        rows.sort_by_key(|row| Pivot::rank(Some(&pivot), row.seq, &row.facts));
        rows.dedup_by_key(|row| row.seq);
        self.window = Context::of(self.window.outline().measures().clone(), rows);
        self.state.pivot = Some(pivot);
        if let Some(errand) = &mut self.errand {
            errand.level = job.level.saturating_add(1);
            errand.changed = true;
        }
    }
}
