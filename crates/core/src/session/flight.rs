//! Effects on their way: each is awaited under its ticket, and what to do with its answer is known beforehand.

use super::SessionMachine;
use super::effect::{ChangeSet, CompactionRecord, Consent, Effect, Operation};
use super::event::CompactionFailure;
use super::job::Stage;
use super::message::{Seq, SessionCut, SessionMessage};
use crate::compaction::Occasion;

/// An effect whose answer is awaited, and what to do with the answer.
#[derive(Clone, Debug)]
pub(super) struct Flight {
    ticket: u64,
    effect: Effect,
    pub then: Then,
}

/// What follows an answer.
#[derive(Clone, Debug)]
pub(super) enum Then {
    /// Hooks were asked about cuts.
    Cut { occasion: Occasion, cuts: Vec<(Seq, SessionCut)> },
    /// Cuts were stored.
    TakeCuts(Vec<(Seq, SessionCut)>),
    /// Hooks were asked about a compaction.
    Begin,
    /// The marker was stored.
    TakeMarker,
    /// What happened so far was stored; the summary is asked for.
    Summarise,
    /// Hooks were asked whether the work goes on by itself.
    Pivot(SessionMessage),
    /// The compaction was stored.
    TakePivot(CompactionRecord),
    /// The message that lets the work go on was stored.
    TakeResume,
    /// Only events were stored.
    Nothing,
}

impl SessionMachine {
    /// Gives the effect that waits for this answer; none if the answer is an old one.
    pub(super) fn land(&mut self, ticket: u64) -> Option<Flight> {
        self.flight.take_if(|flight| flight.ticket == ticket)
    }

    /// Lets an effect out whose answer is awaited.
    pub(super) fn launch(
        &mut self,
        effects: &mut Vec<Effect>,
        then: Then,
        effect: impl FnOnce(u64) -> Effect,
    ) {
        self.ticket += 1;
        let effect = effect(self.ticket);
        effects.push(effect.clone());
        self.flight = Some(Flight { ticket: self.ticket, effect, then });
    }

    /// Asks the store to keep operations and everything that happened so far.
    pub(super) fn store(&mut self, effects: &mut Vec<Effect>, operations: Vec<Operation>, then: Then) {
        let (events, state) = (std::mem::take(&mut self.events), Box::new(self.state.clone()));
        self.launch(effects, then, |ticket| Effect::Store(ChangeSet { ticket, operations, events, state }));
    }

    /// Asks again for what is awaited.
    pub(super) fn repeat(&mut self, effects: &mut Vec<Effect>) {
        if let Some(flight) = &self.flight {
            effects.push(flight.effect.clone());
        }
        if let Some(job) = &self.job
            && job.stage == Stage::Summarising
        {
            effects.push(Effect::Summarise(job.task.clone()));
        }
    }

    /// Lets take hold what is stored now.
    pub(super) fn take_stored(
        &mut self,
        then: Then,
        messages: Vec<(Seq, SessionMessage)>,
        operation: u64,
        effects: &mut Vec<Effect>,
    ) {
        match then {
            Then::TakeCuts(mut cuts) => {
                cuts.iter_mut().for_each(|(_, cut)| cut.operation = operation);
                self.window.cut(&cuts);
            }
            Then::TakeMarker => self.take_marker(messages, effects),
            Then::Summarise => self.ask_summary(effects),
            Then::TakePivot(turnover) => self.take_pivot(&turnover, messages),
            Then::TakeResume => self.append(messages),
            Then::Nothing | Then::Cut { .. } | Then::Begin | Then::Pivot(_) => {}
        }
    }

    /// Goes on as the hooks want it.
    pub(super) fn take_verdict(&mut self, then: Then, verdict: Consent, effects: &mut Vec<Effect>) {
        match (then, verdict) {
            (Then::Cut { occasion, cuts }, verdict) => self.agree_cuts(effects, verdict, occasion, cuts),
            (Then::Begin, Consent::Elsewhere) if self.task().is_some_and(|task| task.background) => {
                self.job = None;
            }
            (Then::Begin, Consent::Refused | Consent::Elsewhere) => self.give_up(CompactionFailure::Vetoed),
            (Then::Begin, _) => self.set_stage(Stage::Agreed),
            (Then::Pivot(summary), verdict) => self.set_stage(Stage::Ready { summary, resume: verdict }),
            _ => {}
        }
    }
}
