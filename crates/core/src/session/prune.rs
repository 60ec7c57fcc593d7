//! Cuts in a session: what the policy cuts, results over their cap, and emergency cuts.

use std::collections::BTreeMap;

use super::SessionMachine;
use super::context::rendered;
use super::effect::{Consent, Effect, Operation, Proposal};
use super::event::Event;
use super::message::{CutBy, Seq, SessionCut};
use super::pending_effect::Continuation;
use crate::compaction::Occasion;
use crate::measure::SurrogatePairs;
use crate::memory::Memory;
use crate::outline::{PartIx, PartKind};
use crate::placeholder::fill_placeholder;
use crate::plan::{Action, Plan, Reason};
use crate::price::BandLimits;
use crate::situation::{CutPurpose, Situation};

/// The lowest cap of a result, in characters: less would leave nothing worth reading.
const LEAST_CAP: u64 = 400;

impl SessionMachine {
    /// What the policy would cut now.
    pub(super) fn planned_cuts(&mut self, now: i64, purpose: CutPurpose) -> Vec<(Seq, SessionCut)> {
        self.planned_cuts_in(Situation { purpose, ..self.situation(now) })
    }

    pub(super) fn planned_cuts_in(&mut self, situation: Situation) -> Vec<(Seq, SessionCut)> {
        self.context.calibrate(self.state.calibration);
        let plan = self.context.plan(&self.profile.policy, &situation);
        self.cuts_of(&plan)
    }

    /// What the policy would cut if a request were made now, and why, without doing it.
    ///
    /// This scans all parts within reach, where a request scans only new ones. Both give the same plan.
    pub fn plan(&self, now: i64) -> (Plan, Memory) {
        let mut memory = self.context.memory().clone();
        memory.calibration = self.state.calibration;
        let plan = self.profile.policy.plan(self.context.outline(), &self.situation(now), &memory);
        (plan, memory)
    }

    /// What has to be cut to meet the budget of bytes and media, which holds even for a request whose tokens fit.
    pub(super) fn cuts_over_budget(&mut self, now: i64) -> Vec<(Seq, SessionCut)> {
        if !self.profile.policy.budget.is_set() {
            return Vec::new();
        }
        let situation = self.situation(now);
        let plan = self.context.plan_budget(&self.profile.policy, &situation);
        self.cuts_of(&plan)
    }

    pub(super) fn situation(&self, now: i64) -> Situation {
        let context = self.state.request.limits.context;
        let tokens = u64::try_from(self.tokens()).ok();
        Situation {
            now,
            last_request: self.state.last_request,
            window: (context > 0).then_some(context as f64),
            input_tokens: tokens,
            bands: BandLimits::around(&self.state.request.band_limits, tokens.unwrap_or(0)),
            cache: self.state.request.cache.unwrap_or_default().lasting(&self.state.lifetime),
            rethinking: self.rethinking(),
            ..Situation::default()
        }
    }

    fn cuts_of(&self, plan: &Plan) -> Vec<(Seq, SessionCut)> {
        let outline = self.context.outline();
        let mut cuts: Vec<_> = self.profile.policy.surviving(outline, plan).copied().collect();
        cuts.reverse();
        cuts.iter().filter_map(|cut| self.session_cut(cut.part, cut.action, cut.after, cut.reason)).collect()
    }

    fn session_cut(
        &self,
        part: PartIx,
        action: Action,
        after: u64,
        reason: Reason,
    ) -> Option<(Seq, SessionCut)> {
        let placeholder =
            fill_placeholder(&self.profile.policy.placeholder, self.context.outline(), part).into_owned();
        let (seq, part) = self.context.locate(part)?;
        let (reason, operation, undone) = (Some(reason), 0, false);
        let (by, handle) = (CutBy::Secateur, None);
        Some((seq, SessionCut { part, action, after, placeholder, handle, reason, operation, undone, by }))
    }

    /// Trims of new results that are longer than their cap.
    pub(super) fn oversized_results(&self) -> Vec<(Seq, SessionCut)> {
        let Some(usable) = self.usable().filter(|_| !self.profile.compaction.caps.is_empty()) else {
            return Vec::new();
        };
        let outline = self.context.outline();
        let rows = self.context.rows().iter().enumerate().rev();
        let fresh = rows.take_while(|(_, row)| row.seq > self.state.sent_to);
        let mut cuts = Vec::new();
        for (at, row) in fresh {
            let message = crate::outline::MessageIx(at as u32);
            for part in outline.parts_of(message).map(PartIx) {
                let is_cut = self.context.memory().cut(outline, part).is_some();
                if outline.kind(part) != PartKind::Result || is_cut || self.context.memory().is_undone(part) {
                    continue;
                }
                let Some(cap) = self.profile.compaction.cap(outline.tool(part).unwrap_or_default()) else {
                    continue;
                };
                let cap = u64::try_from(cap.of(usable)).unwrap_or(0);
                let cap = self.state.calibration.chars(cap).max(LEAST_CAP);
                let units = outline.units(part);
                if units > cap {
                    let action =
                        Action::Trim { head: cap / 4 * 3, tail: cap / 4, pairs: SurrogatePairs::Whole };
                    let made = self
                        .session_cut(part, action, cap, Reason::TooLong)
                        .filter(|(seq, _)| *seq == row.seq);
                    // The note on what is missing may be longer than what is missing.
                    cuts.extend(made.filter(|(_, cut)| rendered(cut, outline, part) < units));
                }
            }
        }
        cuts.reverse();
        cuts
    }

    /// The last resort: clears the oldest results, protected or not, until the request fits.
    pub(super) fn emergency_cuts(&self) -> Vec<(Seq, SessionCut)> {
        let outline = self.context.outline();
        let mut chars = self.context.chars();
        let mut cuts = Vec::new();
        for part in outline.parts() {
            if !self.is_over(self.predict(chars)) {
                break;
            }
            let is_cleared =
                self.context.memory().cut(outline, part).is_some_and(|cut| cut.action == Action::Clear);
            if outline.kind(part) != PartKind::Result || is_cleared || self.context.memory().is_undone(part) {
                continue;
            }
            let Some((seq, cut)) = self.session_cut(part, Action::Clear, 0, Reason::Pressure) else {
                continue;
            };
            let left = rendered(&cut, outline, part);
            if left < outline.units(part) {
                chars = chars.saturating_sub(outline.units(part) - left);
                cuts.push((seq, cut));
            }
        }
        cuts
    }

    /// Estimated tokens of the next request with further cuts.
    pub(super) fn tokens_with(&self, cuts: &[(Seq, SessionCut)]) -> i64 {
        self.predict(self.chars_with(cuts))
    }

    /// Characters of the next request with further cuts.
    pub(super) fn chars_with(&self, cuts: &[(Seq, SessionCut)]) -> u64 {
        let outline = self.context.outline();
        let saved = cuts.iter().filter_map(|(seq, cut)| {
            let message = crate::outline::MessageIx(self.context.position(*seq)? as u32);
            let part = PartIx(outline.parts_of(message).start.checked_add(cut.part)?);
            outline.units(part).checked_sub(rendered(cut, outline, part))
        });
        self.context.chars().saturating_sub(saved.fold(0, u64::saturating_add))
    }

    /// Asks the hooks about cuts.
    pub(super) fn consult_about_cuts(
        &mut self,
        effects: &mut Vec<Effect>,
        occasion: Occasion,
        cuts: Vec<(Seq, SessionCut)>,
    ) {
        let about = Proposal::Prune(cuts.clone());
        let then = Continuation::StoreCuts { occasion, cuts };
        self.emit(effects, then, |ticket| Effect::Consult { ticket, about });
    }

    /// Stores the cuts that the hooks allow.
    pub(super) fn store_cuts(
        &mut self,
        effects: &mut Vec<Effect>,
        consent: Consent,
        occasion: Occasion,
        mut cuts: Vec<(Seq, SessionCut)>,
    ) {
        match consent {
            Consent::Given => {}
            Consent::Except(parts) => cuts.retain(|(seq, cut)| !parts.contains(&(*seq, cut.part))),
            Consent::Refused | Consent::Elsewhere => return,
        }
        if cuts.is_empty() {
            return;
        }
        let (before, after) = (self.tokens(), self.tokens_with(&cuts));
        let results = cuts.iter().filter(|(_, cut)| cut.action != Action::DropThinking).count();
        let count = u32::try_from(results).unwrap_or(u32::MAX);
        let mut reasons = BTreeMap::new();
        for reason in cuts.iter().filter_map(|(_, cut)| cut.reason) {
            *reasons.entry(reason).or_insert(0) += 1;
        }
        self.events.push(Event::Pruned { occasion, cuts: count, reasons, before, after });
        let operation = Operation::Prune { occasion, cuts: cuts.clone() };
        self.store(effects, vec![operation], Continuation::ApplyCuts(cuts));
    }
}
