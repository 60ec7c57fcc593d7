//! One round: find the scope, compare with the window, trim, clear.

use super::{Ratio, RatioMode};
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx};
use crate::plan::{Action, Bounds, Cut, Floor, Idle, Plan, Reason, Scale, Totals};
use crate::situation::Situation;

/// The range of messages whose results may be cut.
pub(crate) struct RatioScope {
    pub first_user: Option<MessageIx>,
    /// The first message that is kept as recent.
    pub cutoff: Option<MessageIx>,
    pub assistants: u64,
}

impl RatioScope {
    pub(crate) fn of(outline: &Outline, policy: &Ratio) -> Self {
        let messages = outline.message_count() as u32;
        let assistants = outline.assistants();
        let cutoff = match policy.keep_last_assistants {
            0 => Some(MessageIx(messages)),
            keep => assistants.iter().rev().nth(usize::try_from(keep - 1).unwrap_or(usize::MAX)).copied(),
        };
        Self { first_user: outline.users().first().copied(), cutoff, assistants: assistants.len() as u64 }
    }
}

/// Plans by scanning all parts.
pub(crate) fn scan(
    outline: &Outline,
    policy: &Ratio,
    placeholder: u64,
    situation: &Situation,
    memory: &Memory,
) -> Plan {
    let scope = RatioScope::of(outline, policy);
    let total = || {
        let parts =
            outline.parts().map(|part| policy.sent_chars(outline, placeholder, situation, memory, part));
        let messages = outline.messages().map(|message| policy.message_chars(outline.role(message)));
        parts.chain(messages).fold(0, u64::saturating_add)
    };
    plan(outline, policy, placeholder, situation, memory, &scope, total)
}

/// Plans within a known scope; `total` is called only if it matters.
pub(crate) fn plan(
    outline: &Outline,
    policy: &Ratio,
    placeholder: u64,
    situation: &Situation,
    memory: &Memory,
    scope: &RatioScope,
    total: impl FnOnce() -> u64,
) -> Plan {
    let bounds = match gate(outline, policy, situation, scope) {
        Ok(bounds) => bounds,
        Err(idle) => return Plan::idle(idle),
    };
    let mut round =
        Round { outline, policy, placeholder, situation, memory, bounds, total: 0, cuts: Vec::new() };
    if policy.mode == RatioMode::Aggressive {
        return round.clear_everything();
    }
    let before = total();
    round.total = before;
    let idle = round.run(situation.window.unwrap_or_default() * policy.characters.per_token);
    let idle = if round.cuts.is_empty() { Some(idle.unwrap_or(Idle::NothingEligible)) } else { None };
    let candidates = round.prunable();
    let totals = Totals { scale: Scale::Characters, before, after: round.total, candidates };
    Plan { cuts: round.cuts, idle, totals, bounds }
}

/// The bounds of a round, or why there is none.
fn gate(
    outline: &Outline,
    policy: &Ratio,
    situation: &Situation,
    scope: &RatioScope,
) -> Result<Bounds, Idle> {
    if policy.mode == RatioMode::CacheTtl {
        // A time of zero counts as never, as in the system that this reproduces.
        let age =
            situation.last_request.filter(|&last| last != 0).map(|last| situation.now.saturating_sub(last));
        if policy.ttl_ms <= 0 || age.is_none_or(|age| age < policy.ttl_ms) {
            return Err(Idle::CacheWarm { age, ttl: policy.ttl_ms });
        }
    }
    if !situation.window.is_some_and(|window| window.is_finite() && window > 0.0) {
        return Err(Idle::NoWindow);
    }
    let need = policy.keep_last_assistants;
    let cutoff = scope.cutoff.ok_or(Idle::TooFewAssistants { have: scope.assistants, need })?;
    let first_user = scope.first_user.ok_or(Idle::NoUser)?;
    let (floor, active) = (outline.first_part(first_user), outline.first_part(cutoff));
    Ok(Bounds { floor_kind: Floor::FirstUser, floor, protected: active, active })
}

/// One round over the parts in scope.
struct Round<'a> {
    outline: &'a Outline,
    policy: &'a Ratio,
    /// Characters of the placeholder.
    placeholder: u64,
    situation: &'a Situation,
    memory: &'a Memory,
    bounds: Bounds,
    total: u64,
    cuts: Vec<Cut>,
}

impl<'a> Round<'a> {
    /// Results in scope that were not cleared before, oldest first.
    fn eligible(&self) -> impl Iterator<Item = PartIx> + use<'a> {
        let (outline, policy, memory) = (self.outline, self.policy, self.memory);
        (self.bounds.floor..self.bounds.active.max(self.bounds.floor))
            .map(PartIx)
            .filter(move |&part| policy.is_eligible(outline, part) && policy.may_touch(outline, part))
            .filter(move |&part| {
                memory.is_empty()
                    || !memory.is_undone(part)
                        && memory.cut(outline, part).is_none_or(|cut| cut.action != Action::Clear)
            })
    }

    fn chars(&self, part: PartIx) -> u64 {
        self.policy.sent_chars(self.outline, self.placeholder, self.situation, self.memory, part)
    }

    fn clear(&self, part: PartIx, before: u64, reason: Reason) -> Cut {
        Cut { part, action: Action::Clear, reason, before, after: self.placeholder }
    }

    fn clear_everything(mut self) -> Plan {
        let fresh = self.eligible().filter(|&part| !self.outline.is_placeholder(part));
        let cuts: Vec<Cut> =
            fresh.map(|part| self.clear(part, self.chars(part), Reason::Aggressive)).collect();
        let sum = |size: fn(&Cut) -> u64| cuts.iter().map(size).fold(0, u64::saturating_add);
        let (before, after) = (sum(|cut| cut.before), sum(|cut| cut.after));
        let totals = Totals { scale: Scale::Characters, before, after, candidates: before };
        self.bounds.protected = self.bounds.active;
        let idle = cuts.is_empty().then_some(Idle::NothingEligible);
        Plan { cuts, idle, totals, bounds: self.bounds }
    }

    /// Trims, then clears. Returns why it stopped, if it cut nothing.
    fn run(&mut self, char_window: f64) -> Option<Idle> {
        let ratio = |total: u64| total as f64 / char_window;
        if ratio(self.total) < self.policy.soft_ratio {
            return Some(Idle::BelowRatio { ratio: ratio(self.total), limit: self.policy.soft_ratio });
        }
        self.trim_long();
        if ratio(self.total) < self.policy.hard_ratio || !self.policy.hard_clear {
            return None;
        }
        let prunable = self.prunable();
        if prunable < self.policy.min_prunable {
            let minimum = i64::try_from(self.policy.min_prunable).unwrap_or(i64::MAX);
            return Some(Idle::BelowMinimum { candidates: prunable, minimum });
        }
        let mut trimmed = std::mem::take(&mut self.cuts).into_iter().peekable();
        for part in self.eligible() {
            let trim = trimmed.next_if(|cut| cut.part == part);
            if ratio(self.total) < self.policy.hard_ratio {
                self.cuts.extend(trim);
                continue;
            }
            let before = self.chars(part);
            let cut = self.clear(part, before, Reason::OverHardRatio);
            let now = trim.map_or(before, |cut| cut.after);
            self.total = self.total.saturating_sub(now).saturating_add(cut.after);
            self.cuts.push(cut);
        }
        None
    }

    fn trim_long(&mut self) {
        for part in self.eligible() {
            let trimmed_before = !self.memory.is_empty() && self.memory.cut(self.outline, part).is_some();
            let before = self.chars(part);
            if !trimmed_before && let Some(cut) = self.policy.trim_cut(self.outline, part, before) {
                self.total = self.total.saturating_sub(before).saturating_add(cut.after);
                self.cuts.push(cut);
            }
        }
    }

    /// Characters of the eligible results after the cuts so far.
    fn prunable(&self) -> u64 {
        let mut cuts = self.cuts.iter().peekable();
        self.eligible()
            .map(|part| {
                while cuts.next_if(|cut| cut.part < part).is_some() {}
                cuts.next_if(|cut| cut.part == part).map_or_else(|| self.chars(part), |cut| cut.after)
            })
            .fold(0, u64::saturating_add)
    }
}
