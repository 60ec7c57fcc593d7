//! What is done before the context overflows: from a mark on, room is made while no request waits for it.

use super::SessionMachine;
use super::compaction_task::Beginning;
use super::effect::Effect;
use super::event::{Event, Trigger};
use super::goal::{Goal, NextStep};
use super::remedy::Remedy;
use crate::compaction::{Occasion, OverflowOrder};
use crate::situation::CutPurpose;

impl SessionMachine {
    /// Makes room if it will be needed soon: prunes where the profile prunes first, and begins a summary in the background
    /// if the context is still over the mark. Ends the goal if there is nothing to do.
    pub(super) fn look_ahead(&mut self, goal: &mut Goal, effects: &mut Vec<Effect>) -> NextStep {
        let Some(reported) = goal.ahead else { return self.finish(goal, effects) };
        let tokens = if goal.changed { self.tokens().min(reported) } else { reported };
        let beginning = Beginning {
            trigger: Trigger::Ahead,
            turn: goal.turn(),
            remedy: Remedy::CompactOlder,
            now: goal.now,
        };
        // An error means that a summary would not help yet. Then nothing else has to, either.
        if !self.is_over_mark(tokens, goal.now) || self.plan_compaction(beginning).is_err() {
            goal.ahead = None;
            return self.finish(goal, effects);
        }
        let prunes = self.profile.compaction.order == OverflowOrder::PruneFirst;
        if prunes && goal.tried.insert(Remedy::PruneForRoom) && !self.cuts_last_one_request() {
            let cuts = self.planned_cuts(goal.now, CutPurpose::MakeRoom);
            if !cuts.is_empty() {
                return self.propose(goal, effects, Occasion::Overflow, cuts);
            }
        }
        goal.ahead = None;
        if self.state.undone_compaction.is_some() {
            self.tell_that_compaction_waits();
        } else {
            // It was possible a moment ago.
            _ = self.begin_compaction(beginning);
        }
        NextStep::Again
    }

    /// Whether a summary in the background may begin, and the context is full enough for one.
    fn is_over_mark(&self, tokens: i64, now: i64) -> bool {
        let compaction = &self.profile.compaction;
        let may_begin = compaction.auto
            && self.compaction.is_none()
            && self.state.breaker.allows(compaction, now)
            && !self.must_wait_for_thinking(Some(Trigger::Ahead));
        let mark = self.for_model().background.zip(self.usable());
        may_begin && mark.is_some_and(|(mark, usable)| tokens >= mark.of(usable))
    }

    /// Tells once that a compaction waits because one was undone.
    pub(super) fn tell_that_compaction_waits(&mut self) {
        if let Some(undone) = self.state.undone_compaction.as_mut().filter(|undone| !undone.is_told) {
            undone.is_told = true;
            let operation = undone.operation;
            self.events.push(Event::CompactionWaits { operation });
        }
    }
}
