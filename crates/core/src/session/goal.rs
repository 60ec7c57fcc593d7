//! What the session should reach now, and the next step towards it.

use std::collections::HashSet;

use super::SessionMachine;
use super::compaction_task::Beginning;
use super::effect::{Consent, Effect, Operation, TurnState};
use super::event::{CompactionFailure, Event, NoRoom, Trigger};
use super::message::{Seq, SessionCut};
use super::pending_effect::Continuation;
use super::remedy::{Remedy, TriedRemedies};
use crate::compaction::{Occasion, OverflowOrder, ResumeWhen};
use crate::policy::Lasting;
use crate::situation::CutPurpose;

/// What should be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GoalKind {
    /// A session that was just opened is pruned if its profile wants that.
    Open,
    /// A request that fits.
    Request,
    /// After a response: a session that is ready for the next request.
    AfterResponse(TurnState),
    /// A compaction that was asked for.
    Compact,
    /// Thinking that the provider refused is dropped, from this message on.
    DropThinking { from: Option<Seq> },
}

/// What should be reached, and what was tried for it.
#[derive(Clone, Debug)]
pub(super) struct Goal {
    pub kind: GoalKind,
    pub now: i64,
    /// How it was noticed that the context does not fit; none if it is not known to overflow.
    pub trigger: Option<Trigger>,
    pub tried: TriedRemedies,
    /// Something was cut or compacted, so the last reported usage is out of date and only an estimate tells whether
    /// the context fits.
    pub changed: bool,
    /// Why there will be no compaction.
    pub refused: Option<CompactionFailure>,
    /// Why the last compaction that was tried did not help.
    pub last_failure: Option<CompactionFailure>,
    /// What the provider counted, until it is decided whether room is made ahead of time.
    pub ahead: Option<i64>,
    /// Cuts for this request alone.
    cuts: Vec<(Seq, SessionCut)>,
    resumed: bool,
}

/// How a goal goes on after a step.
pub(super) enum NextStep {
    /// Look again at once.
    Again,
    /// Wait for the result of an effect.
    Wait,
    /// The goal is reached or given up.
    Over,
}

impl Goal {
    pub(super) fn new(kind: GoalKind, now: i64) -> Self {
        let trigger = (kind == GoalKind::Compact).then_some(Trigger::Manual);
        Self {
            kind,
            now,
            trigger,
            tried: TriedRemedies::default(),
            changed: false,
            refused: None,
            last_failure: None,
            ahead: None,
            cuts: Vec::new(),
            resumed: false,
        }
    }

    fn occasion(&self) -> Option<Occasion> {
        match self.kind {
            GoalKind::Open => Some(Occasion::SessionStart),
            GoalKind::Request => Some(Occasion::BeforeRequest),
            GoalKind::AfterResponse(TurnState::Over) => Some(Occasion::TurnEnd),
            GoalKind::AfterResponse(TurnState::Open) | GoalKind::Compact | GoalKind::DropThinking { .. } => {
                None
            }
        }
    }

    /// Whether the model has more to do.
    pub(super) fn turn(&self) -> TurnState {
        match self.kind {
            GoalKind::Request => TurnState::Open,
            GoalKind::AfterResponse(turn) => turn,
            GoalKind::Open | GoalKind::Compact | GoalKind::DropThinking { .. } => TurnState::Over,
        }
    }
}

impl SessionMachine {
    /// Takes one step. Returns whether another one may follow at once.
    pub(super) fn advance_goal(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(mut goal) = self.goal.take() else { return false };
        let next = self.step(&mut goal, effects);
        if !matches!(next, NextStep::Over) {
            self.goal = Some(goal);
        }
        matches!(next, NextStep::Again)
    }

    fn step(&mut self, goal: &mut Goal, effects: &mut Vec<Effect>) -> NextStep {
        if goal.tried.insert(Remedy::DropThinking) {
            let (occasion, cuts) = match goal.kind {
                GoalKind::DropThinking { from } => (Occasion::Refusal, self.refused_thinking(from)),
                GoalKind::Request => (Occasion::BeforeRequest, self.outdated_thinking()),
                GoalKind::Open | GoalKind::AfterResponse(_) | GoalKind::Compact => {
                    (Occasion::BeforeRequest, Vec::new())
                }
            };
            if !cuts.is_empty() {
                self.store_cuts(effects, Consent::Given, occasion, cuts);
                return NextStep::Wait;
            }
        }
        if matches!(goal.kind, GoalKind::Open | GoalKind::AfterResponse(_))
            && self.must_wait_for_thinking(goal.trigger)
        {
            return self.finish(goal, effects);
        }
        if goal.kind == GoalKind::Request && goal.tried.insert(Remedy::TakeOver) {
            let cuts = self.cuts_to_take_over();
            if !cuts.is_empty() {
                return self.propose(goal, effects, Occasion::BeforeRequest, cuts);
            }
        }
        if goal.kind == GoalKind::Request && goal.tried.insert(Remedy::CapResults) {
            let cuts = self.oversized_results();
            if !cuts.is_empty() {
                return self.propose(goal, effects, Occasion::Arrival, cuts);
            }
        }
        // Where the profile compacts first, pruning after a response waits until no compaction is needed any more.
        let compacts_first = self.profile.compaction.order == OverflowOrder::Compact
            && matches!(goal.kind, GoalKind::AfterResponse(_));
        let is_due = !compacts_first || !self.needs_room(goal);
        if is_due
            && goal.tried.insert(Remedy::PruneOnOccasion)
            && let Some(occasion) = goal.occasion()
        {
            let cuts = match occasion {
                occasion if self.profile.compaction.prune_at.contains(&occasion) => {
                    self.planned_cuts(goal.now, CutPurpose::SaveCost)
                }
                Occasion::BeforeRequest => self.cuts_over_budget(goal.now),
                _ => Vec::new(),
            };
            if self.cuts_last_one_request() {
                goal.cuts = cuts;
            } else if !cuts.is_empty() {
                return self.propose(goal, effects, occasion, cuts);
            }
        }
        if !self.needs_room(goal) {
            return self.look_ahead(goal, effects);
        }
        if goal.trigger.is_none() {
            goal.trigger = Some(Trigger::Estimate);
            self.note_overflow(Trigger::Estimate, self.tokens());
        }
        self.make_room(goal, effects)
    }

    /// Whether the context is still too large, or a requested compaction not made yet, and a remedy is left.
    fn needs_room(&self, goal: &Goal) -> bool {
        // After a response a compaction that was given up can wait. A request cannot: cuts may still make it fit.
        let is_given_up = goal.refused.is_some() && goal.kind != GoalKind::Request;
        if is_given_up || goal.tried.next().is_none() {
            return false;
        }
        match goal.kind {
            GoalKind::Open | GoalKind::DropThinking { .. } => false,
            GoalKind::Compact => !goal.changed,
            GoalKind::Request => self.profile.compaction.auto && self.is_over(self.tokens_with(&goal.cuts)),
            GoalKind::AfterResponse(_) => {
                goal.trigger.is_some() && (!goal.changed || self.is_over(self.tokens()))
            }
        }
    }

    fn make_room(&mut self, goal: &mut Goal, effects: &mut Vec<Effect>) -> NextStep {
        let is_undone = self.state.undone_compaction.is_some();
        let prunes = goal.kind != GoalKind::Compact
            && (is_undone || self.profile.compaction.order == OverflowOrder::PruneFirst);
        if prunes && goal.tried.insert(Remedy::PruneForRoom) {
            let cuts = self.planned_cuts(goal.now, CutPurpose::MakeRoom);
            if !cuts.is_empty() && !self.cuts_last_one_request() {
                return self.propose(goal, effects, Occasion::Overflow, cuts);
            }
        }
        if self.compaction.is_some() {
            return NextStep::Wait;
        }
        if is_undone && goal.trigger == Some(Trigger::Usage) {
            // The next request may fit all the same. If it does not, it is compacted then.
            self.tell_that_compaction_waits();
            return self.finish(goal, effects);
        }
        match goal.tried.next() {
            Some(remedy @ (Remedy::CompactOlder | Remedy::CompactAll)) => self.try_compaction(goal, remedy),
            Some(remedy) => {
                goal.tried.insert(remedy);
                let cuts = if goal.kind == GoalKind::Compact { Vec::new() } else { self.emergency_cuts() };
                if !cuts.is_empty() {
                    return self.propose(goal, effects, Occasion::Emergency, cuts);
                }
            }
            None => {}
        }
        NextStep::Again
    }

    /// Begins a compaction. One that cannot begin counts as tried.
    fn try_compaction(&mut self, goal: &mut Goal, remedy: Remedy) {
        let trigger = goal.trigger.unwrap_or(Trigger::Estimate);
        let beginning = Beginning { trigger, turn: goal.turn(), remedy, now: goal.now };
        let Err(why) = self.begin_compaction(beginning) else { return };
        if remedy == Remedy::CompactAll {
            self.events.push(Event::CompactionRefused { why: why.clone() });
            goal.refused = (goal.kind == GoalKind::Compact).then(|| why.clone());
        }
        goal.last_failure = Some(why);
        goal.tried.insert(remedy);
    }

    /// Whether cuts are made for one request and decided anew for the next. Where a model binds its thinking, they would
    /// invalidate it each time, so there they last.
    pub(super) fn cuts_last_one_request(&self) -> bool {
        self.profile.policy.lasting == Lasting::OneRequest && self.state.request.thinking.is_none()
    }

    /// Asks the hooks about cuts, as far as signed thinking allows them.
    pub(super) fn propose(
        &mut self,
        goal: &mut Goal,
        effects: &mut Vec<Effect>,
        occasion: Occasion,
        cuts: Vec<(Seq, SessionCut)>,
    ) -> NextStep {
        let cuts = self.spare_thinking(goal.now, occasion, cuts);
        if cuts.is_empty() {
            return NextStep::Again;
        }
        goal.changed |= occasion != Occasion::Arrival;
        self.consult_about_cuts(effects, occasion, cuts);
        NextStep::Wait
    }

    /// Ends a goal once everything that happened is stored.
    pub(super) fn finish(&mut self, goal: &mut Goal, effects: &mut Vec<Effect>) -> NextStep {
        let resumes = goal.refused.is_some()
            && self.profile.compaction.resume_when == ResumeWhen::Always
            && goal.trigger.is_some_and(Trigger::is_automatic)
            && !self.is_next_known(&HashSet::new())
            && !std::mem::replace(&mut goal.resumed, true);
        if resumes {
            self.store(effects, vec![Operation::Resume], Continuation::TakeResume);
            return NextStep::Wait;
        }
        if !self.events.is_empty() {
            self.store(effects, Vec::new(), Continuation::Nothing);
            return NextStep::Wait;
        }
        effects.push(match goal.kind {
            GoalKind::Request => self.release(goal),
            GoalKind::Open
            | GoalKind::AfterResponse(_)
            | GoalKind::Compact
            | GoalKind::DropThinking { .. } => Effect::Done,
        });
        NextStep::Over
    }

    /// Lets the request be sent, or rejects it.
    fn release(&mut self, goal: &mut Goal) -> Effect {
        let tokens = self.tokens_with(&goal.cuts);
        if self.profile.compaction.auto && self.is_over(tokens) {
            let largest = self.context.rows().iter().max_by_key(|row| row.chars).map(|row| row.seq);
            let why = goal.refused.take().or_else(|| goal.last_failure.take());
            let usable = self.usable().unwrap_or(0);
            // If it is sent all the same, its response still corrects the estimate.
            self.state.sent_chars = Some(self.context.chars().saturating_add(self.state.request.envelope));
            return Effect::Reject(NoRoom { tokens, usable, largest, why });
        }
        let cuts = std::mem::take(&mut goal.cuts);
        let chars = self.chars_with(&cuts);
        self.state.sent_chars = Some(chars.saturating_add(self.state.request.envelope));
        self.state.last_request = Some(goal.now);
        self.state.changed_since_sent = false;
        let newest = self.context.rows().iter().map(|row| row.seq).max();
        self.state.sent_to = self.state.sent_to.max(newest.unwrap_or(0));
        Effect::Send { tokens, usable: self.usable(), cuts }
    }
}
