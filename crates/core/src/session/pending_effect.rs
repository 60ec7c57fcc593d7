//! The effect whose result the machine waits for, and what to do with that result.

use std::collections::BTreeMap;

use super::SessionMachine;
use super::compaction_task::CompactionStage;
use super::effect::{ChangeSet, CompactionRecord, Consent, Effect, Operation};
use super::event::CompactionFailure;
use super::message::{CutBy, Seq, SessionCut, SessionMessage};
use crate::compaction::Occasion;

/// An effect whose result is awaited.
#[derive(Clone, Debug)]
pub(super) struct PendingEffect {
    ticket: u64,
    effect: Effect,
    pub then: Continuation,
}

/// What to do once an effect was carried out.
#[derive(Clone, Debug)]
pub(super) enum Continuation {
    /// The hooks were asked about cuts: store those that they allow.
    StoreCuts { occasion: Occasion, cuts: Vec<(Seq, SessionCut)> },
    /// Cuts were stored: apply them.
    ApplyCuts(Vec<(Seq, SessionCut)>),
    /// The hooks were asked about a compaction: begin it.
    BeginCompaction,
    /// The marker was stored: add it, and have the summary made.
    TakeMarker,
    /// The events so far were stored: have the summary made.
    Summarise,
    /// The hooks were asked whether to resume the work: store the compaction.
    StoreCompaction(SessionMessage),
    /// The compaction was stored, with cuts of thinking that it made invalid: apply both.
    ApplyCompaction { record: CompactionRecord, thinking: Vec<(Seq, SessionCut)> },
    /// The message that resumes the work was stored: add it.
    TakeResume,
    /// Only events were stored.
    Nothing,
}

/// Whether the model sees something else because of an operation.
fn changes_context(operation: &Operation) -> bool {
    match operation {
        Operation::Prune { cuts, .. } => cuts.iter().any(|(_, cut)| cut.by == CutBy::Secateur),
        Operation::Mark { .. } | Operation::Compact(_) | Operation::Resume => true,
    }
}

impl SessionMachine {
    /// Takes the effect with this ticket; none if the ticket is an old one.
    pub(super) fn take_pending(&mut self, ticket: u64) -> Option<PendingEffect> {
        self.pending.take_if(|pending| pending.ticket == ticket)
    }

    /// Emits an effect and waits for its result.
    pub(super) fn emit(
        &mut self,
        effects: &mut Vec<Effect>,
        then: Continuation,
        effect: impl FnOnce(u64) -> Effect,
    ) {
        self.ticket += 1;
        let effect = effect(self.ticket);
        effects.push(effect.clone());
        self.pending = Some(PendingEffect { ticket: self.ticket, effect, then });
    }

    /// Stores operations together with the events so far.
    pub(super) fn store(
        &mut self,
        effects: &mut Vec<Effect>,
        operations: Vec<Operation>,
        then: Continuation,
    ) {
        self.state.changed_since_sent |= operations.iter().any(changes_context);
        let (events, state) = (std::mem::take(&mut self.events), Box::new(self.state.clone()));
        self.emit(effects, then, |ticket| Effect::Store(ChangeSet { ticket, operations, events, state }));
    }

    /// Emits again what is awaited.
    pub(super) fn repeat_pending(&mut self, effects: &mut Vec<Effect>) {
        if let Some(pending) = &self.pending {
            effects.push(pending.effect.clone());
        }
        if let Some(compaction) = &self.compaction
            && compaction.stage == CompactionStage::Summarising
        {
            effects.push(Effect::Summarise(compaction.task.clone()));
        }
    }

    /// Applies what was stored.
    pub(super) fn take_stored(
        &mut self,
        then: Continuation,
        messages: Vec<(Seq, SessionMessage)>,
        (operation, handles): (u64, &[(Seq, u32, String)]),
        effects: &mut Vec<Effect>,
    ) {
        match then {
            Continuation::ApplyCuts(mut cuts) => {
                let handles: BTreeMap<(Seq, u32), &String> =
                    handles.iter().map(|(seq, part, handle)| ((*seq, *part), handle)).collect();
                for (seq, cut) in &mut cuts {
                    cut.operation = operation;
                    if let Some(handle) = handles.get(&(*seq, cut.part)) {
                        cut.handle = Some((*handle).clone());
                    }
                }
                self.context.cut(&cuts);
            }
            Continuation::TakeMarker => self.take_marker(messages, effects),
            Continuation::Summarise => self.request_summary(effects),
            Continuation::ApplyCompaction { record, mut thinking } => {
                thinking.iter_mut().for_each(|(_, cut)| cut.operation = operation);
                self.apply_compaction(&record, &thinking, messages);
            }
            Continuation::TakeResume => self.append(messages),
            Continuation::Nothing
            | Continuation::StoreCuts { .. }
            | Continuation::BeginCompaction
            | Continuation::StoreCompaction(_) => {}
        }
    }

    /// Goes on as the hooks decided.
    pub(super) fn take_consent(&mut self, then: Continuation, consent: Consent, effects: &mut Vec<Effect>) {
        match (then, consent) {
            (Continuation::StoreCuts { occasion, cuts }, consent) => {
                self.store_cuts(effects, consent, occasion, cuts);
            }
            (Continuation::BeginCompaction, Consent::Elsewhere)
                if self.task().is_some_and(|task| task.background) =>
            {
                self.compaction = None;
            }
            (Continuation::BeginCompaction, Consent::Elsewhere) => {
                self.give_up_compaction(CompactionFailure::NoLease);
            }
            (Continuation::BeginCompaction, Consent::Refused) => {
                self.give_up_compaction(CompactionFailure::Vetoed);
            }
            (Continuation::BeginCompaction, _) => self.set_stage(CompactionStage::Agreed),
            (Continuation::StoreCompaction(summary), resume) => {
                self.set_stage(CompactionStage::Ready { summary, resume });
            }
            _ => {}
        }
    }
}
