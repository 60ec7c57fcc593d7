//! What is wanted of a session right now, and the next step towards it.

use super::effect::{Effect, Operation, TurnState};
use super::event::{CompactionFailure, Event, NoRoom, Trigger};
use super::message::{Seq, SessionCut};
use super::{SessionMachine, Then};
use crate::compaction::{Occasion, OverflowOrder, ResumeWhen};
use crate::policy::Lasting;
use crate::situation::CutPurpose;

/// What is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// The session was opened.
    Open,
    /// A request that fits.
    Request,
    /// A session that is fit for the next request, after the model answered.
    Rest(TurnState),
    /// A compaction, because somebody asked for it.
    Compact,
}

/// What is wanted, and what was tried for it.
#[derive(Clone, Debug)]
pub(super) struct Errand {
    pub purpose: Purpose,
    pub now: i64,
    /// Why the context does not fit; none if it is not known to.
    pub trigger: Option<Trigger>,
    /// Which means of making room comes next: 0 and 1 a summary, 2 cutting whatever can be cut, 3 none.
    pub level: u8,
    /// Something was cut or compacted, so that only an estimate tells whether it fits now.
    pub changed: bool,
    /// Why there will be no compaction.
    pub refused: Option<CompactionFailure>,
    /// Why the last one that was tried did not help.
    pub hindrance: Option<CompactionFailure>,
    /// Cuts for this request alone.
    cuts: Vec<(Seq, SessionCut)>,
    capped: bool,
    swept: bool,
    emptied: bool,
    resumed: bool,
}

/// How an errand goes on.
enum Step {
    /// Look again.
    Again,
    /// An answer is awaited.
    Wait,
    /// It is over.
    Over,
}

impl Errand {
    pub(super) fn new(purpose: Purpose, now: i64) -> Self {
        let trigger = (purpose == Purpose::Compact).then_some(Trigger::Manual);
        Self {
            purpose,
            now,
            trigger,
            level: 0,
            changed: false,
            refused: None,
            hindrance: None,
            cuts: Vec::new(),
            capped: false,
            swept: false,
            emptied: false,
            resumed: false,
        }
    }

    fn occasion(&self) -> Option<Occasion> {
        match self.purpose {
            Purpose::Open => Some(Occasion::SessionStart),
            Purpose::Request => Some(Occasion::BeforeRequest),
            Purpose::Rest(TurnState::Over) => Some(Occasion::TurnEnd),
            Purpose::Rest(TurnState::Open) | Purpose::Compact => None,
        }
    }

    /// Whether the model was at work.
    fn turn(&self) -> TurnState {
        match self.purpose {
            Purpose::Request => TurnState::Open,
            Purpose::Rest(turn) => turn,
            Purpose::Open | Purpose::Compact => TurnState::Over,
        }
    }
}

impl SessionMachine {
    /// One step. Says whether another one may follow at once.
    pub(super) fn advance_errand(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(mut errand) = self.errand.take() else { return false };
        let step = self.step(&mut errand, effects);
        if !matches!(step, Step::Over) {
            self.errand = Some(errand);
        }
        matches!(step, Step::Again)
    }

    fn step(&mut self, errand: &mut Errand, effects: &mut Vec<Effect>) -> Step {
        if errand.purpose == Purpose::Request && !std::mem::replace(&mut errand.capped, true) {
            let cuts = self.oversized();
            if !cuts.is_empty() {
                return self.propose(errand, effects, Occasion::Arrival, cuts);
            }
        }
        // Where pruning does not count as making room, it does not come in the way of a compaction either.
        let compacts = self.profile.compaction.order == OverflowOrder::Compact
            && matches!(errand.purpose, Purpose::Rest(_));
        let is_due = !compacts || !self.needs_room(errand);
        if is_due
            && !std::mem::replace(&mut errand.swept, true)
            && let Some(occasion) = errand.occasion()
        {
            let cuts = match occasion {
                occasion if self.profile.compaction.prune_at.contains(&occasion) => {
                    self.planned(errand.now, CutPurpose::SaveCost)
                }
                Occasion::BeforeRequest => self.over_budget(errand.now),
                _ => Vec::new(),
            };
            if self.profile.policy.lasting == Lasting::OneRequest {
                errand.cuts = cuts;
            } else if !cuts.is_empty() {
                return self.propose(errand, effects, occasion, cuts);
            }
        }
        if !self.needs_room(errand) {
            return self.finish(errand, effects);
        }
        if errand.trigger.is_none() {
            errand.trigger = Some(Trigger::Estimate);
            self.note_overflow(Trigger::Estimate, self.tokens());
        }
        self.make_room(errand, effects)
    }

    /// Whether the context is still too large, or a compaction still wanted.
    fn needs_room(&self, errand: &Errand) -> bool {
        if errand.refused.is_some() || errand.level > 3 {
            return false;
        }
        match errand.purpose {
            Purpose::Open => false,
            Purpose::Compact => !errand.changed,
            Purpose::Request => self.profile.compaction.auto && self.is_over(self.tokens_with(&errand.cuts)),
            Purpose::Rest(_) => errand.trigger.is_some() && (!errand.changed || self.is_over(self.tokens())),
        }
    }

    fn make_room(&mut self, errand: &mut Errand, effects: &mut Vec<Effect>) -> Step {
        let prunes =
            self.profile.compaction.order == OverflowOrder::PruneFirst && errand.purpose != Purpose::Compact;
        if prunes && !std::mem::replace(&mut errand.emptied, true) {
            let cuts = self.planned(errand.now, CutPurpose::MakeRoom);
            if !cuts.is_empty() && self.profile.policy.lasting != Lasting::OneRequest {
                return self.propose(errand, effects, Occasion::Overflow, cuts);
            }
        }
        if self.job.is_some() {
            return Step::Wait;
        }
        match errand.level {
            0 | 1 => {
                let trigger = errand.trigger.unwrap_or(Trigger::Estimate);
                let Err(why) = self.begin(trigger, errand.turn(), errand.level, errand.now) else {
                    return Step::Again;
                };
                // At the second level what is recent is summarised too; beyond it there is nothing to try.
                if errand.level == 1 {
                    self.events.push(Event::CompactionRefused { why: why.clone() });
                    errand.refused = (errand.purpose == Purpose::Compact).then(|| why.clone());
                }
                errand.hindrance = Some(why);
                errand.level += 1;
            }
            2 if errand.purpose != Purpose::Compact => {
                errand.level = 3;
                let cuts = self.drastic();
                if !cuts.is_empty() {
                    return self.propose(errand, effects, Occasion::Emergency, cuts);
                }
            }
            _ => errand.level = 4,
        }
        Step::Again
    }

    /// Asks the hooks about cuts.
    fn propose(
        &mut self,
        errand: &mut Errand,
        effects: &mut Vec<Effect>,
        occasion: Occasion,
        cuts: Vec<(Seq, SessionCut)>,
    ) -> Step {
        errand.changed |= occasion != Occasion::Arrival;
        self.consult_cuts(effects, occasion, cuts);
        Step::Wait
    }

    /// Ends an errand once everything that happened is stored.
    fn finish(&mut self, errand: &mut Errand, effects: &mut Vec<Effect>) -> Step {
        let goes_on = errand.refused.is_some()
            && self.profile.compaction.resume_when == ResumeWhen::Always
            && errand.trigger.is_some_and(Trigger::is_automatic)
            && !std::mem::replace(&mut errand.resumed, true);
        if goes_on {
            self.store(effects, vec![Operation::Resume], Then::TakeResume);
            return Step::Wait;
        }
        if !self.events.is_empty() {
            self.store(effects, Vec::new(), Then::Nothing);
            return Step::Wait;
        }
        effects.push(match errand.purpose {
            Purpose::Request => self.release(errand),
            Purpose::Open | Purpose::Rest(_) | Purpose::Compact => Effect::Done,
        });
        Step::Over
    }

    /// Lets the request through, or says why not.
    fn release(&mut self, errand: &mut Errand) -> Effect {
        let tokens = self.tokens_with(&errand.cuts);
        if self.profile.compaction.auto && self.is_over(tokens) {
            let largest = self.window.rows().iter().max_by_key(|row| row.chars).map(|row| row.seq);
            let why = errand.refused.take().or_else(|| errand.hindrance.take());
            let usable = self.usable().unwrap_or(0);
            // Whoever sends it all the same learns from the answer how wrong the estimate was.
            self.state.sent_chars = Some(self.window.chars().saturating_add(self.state.request.envelope));
            return Effect::Reject(NoRoom { tokens, usable, largest, why });
        }
        let cuts = std::mem::take(&mut errand.cuts);
        let chars = self.chars_with(&cuts);
        self.state.sent_chars = Some(chars.saturating_add(self.state.request.envelope));
        self.state.last_request = Some(errand.now);
        let newest = self.window.rows().iter().map(|row| row.seq).max();
        self.state.sent_to = self.state.sent_to.max(newest.unwrap_or(0));
        Effect::Send { tokens, usable: self.usable(), cuts }
    }
}
