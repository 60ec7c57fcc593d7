//! The decision whether what is eligible is cut now.

use super::index::RentCandidate;
use super::{Rent, RentIndex};
use crate::calibration::Calibration;
use crate::measure::SurrogatePairs;
use crate::memory::Memory;
use crate::outline::{Outline, PartIx, PartKind, ToolStatus};
use crate::plan::{Action, Bounds, Cut, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::price::BandLimits;
use crate::situation::{CutPurpose, Rethinking, Situation};
use crate::tool_class::ToolClass;

/// Plans with an index that is up to date.
pub(crate) fn plan(
    outline: &Outline,
    rent: &Rent,
    situation: &Situation,
    memory: &Memory,
    index: &RentIndex,
) -> Plan {
    let mut decision = RentDecision::new(outline, rent, situation, memory, index);
    let mut verdict = decision.verdict();
    if verdict.is_err() && decision.with_cold_ages().keeps_below_band() {
        decision = decision.with_cold_ages();
        verdict = Ok(Reason::PriceBand);
    }
    let mut cuts = capped(outline, rent, memory);
    if let Ok(reason) = verdict {
        cuts.retain(|cut| decision.due().all(|candidate| candidate.part != cut.part));
        cuts.extend(decision.due().map(|candidate| decision.cut(candidate, reason)));
        cuts.sort_unstable_by_key(|cut| cut.part);
    }
    let saved = cuts.iter().map(|cut| cut.before.saturating_sub(cut.after)).fold(0, u64::saturating_add);
    let before = memory.calibration.scale(index.whole(decision.placeholder));
    let after = before.saturating_sub(saved);
    let totals = Totals { scale: Scale::Tokens, before, after, candidates: decision.tokens() };
    let end = outline.part_count() as u32;
    let bounds = Bounds { protected: end, active: end, ..Bounds::default() };
    Plan { idle: verdict.err().filter(|_| cuts.is_empty()), cuts, totals, bounds }
}

/// Everything that a decision depends on.
#[derive(Clone, Copy)]
struct RentDecision<'a> {
    outline: &'a Outline,
    rent: &'a Rent,
    situation: &'a Situation,
    calibration: &'a Calibration,
    index: &'a RentIndex,
    /// The number of the call that is about to be made.
    now: u32,
    is_cold: bool,
    /// Whether results may go at the age at which they go while the cache is cold.
    has_cold_ages: bool,
    /// The characters of a placeholder, without its excerpt.
    placeholder: u64,
    /// Results of fewer characters stay.
    least: u64,
}

impl<'a> RentDecision<'a> {
    fn new(
        outline: &'a Outline,
        rent: &'a Rent,
        situation: &'a Situation,
        memory: &'a Memory,
        index: &'a RentIndex,
    ) -> Self {
        let calibration = &memory.calibration;
        let cache = situation.cache.lasting(&index.lifetime);
        let pause = situation.last_request.map(|last| situation.now.saturating_sub(last));
        let is_cold = cache.exists() && pause.is_some_and(|pause| pause > cache.ttl_ms);
        Self {
            outline,
            rent,
            situation,
            calibration,
            index,
            now: outline.next_call(),
            is_cold,
            has_cold_ages: is_cold || situation.purpose == CutPurpose::MakeRoom,
            placeholder: calibration.chars(rent.placeholder_tokens),
            least: least(rent, calibration),
        }
    }

    /// The same decision about what may go while the cache is cold.
    fn with_cold_ages(self) -> Self {
        Self { has_cold_ages: true, ..self }
    }

    /// What may be cut now, oldest first.
    fn due(&self) -> impl Iterator<Item = &'a RentCandidate> {
        self.index.candidates.iter().filter(move |candidate| {
            let from = if self.has_cold_ages { candidate.cold } else { candidate.from };
            from <= self.now && from != u32::MAX && candidate.chars >= self.least && self.gain(candidate) > 0
        })
    }

    /// The characters that a cut saves.
    fn gain(&self, candidate: &RentCandidate) -> u64 {
        candidate.chars.saturating_sub(self.placeholder).saturating_sub(candidate.excerpt)
    }

    /// The characters that all due cuts before part `end` save.
    fn gains(&self, end: u32) -> u64 {
        let before = |candidate: &&RentCandidate| candidate.part.0 < end;
        self.due().filter(before).map(|candidate| self.gain(candidate)).fold(0, u64::saturating_add)
    }

    /// The tokens that all due cuts save.
    fn tokens(&self) -> u64 {
        self.calibration.scale(self.gains(u32::MAX))
    }

    /// Why everything that is due is cut now, or why nothing is.
    fn verdict(&self) -> Result<Reason, Idle> {
        let Some(oldest) = self.due().next() else { return Err(Idle::NothingEligible) };
        let tokens = self.tokens();
        let (paid, cost) = (self.paid(), self.cost(oldest));
        if self.situation.purpose == CutPurpose::MakeRoom {
            Ok(Reason::Pressure)
        } else if self.is_cold && tokens >= self.rent.cold_gain {
            Ok(Reason::CacheCold)
        } else if paid > 0.0 && paid >= cost {
            Ok(Reason::Rent)
        } else if self.is_full(tokens) {
            Ok(Reason::Pressure)
        } else {
            let per_token = self.calibration.chars_per_token();
            Err(Idle::RentBelowCost { rent: paid / per_token, cost: cost / per_token })
        }
    }

    /// The rent of what is due so far: a cached read at each call since it may be cut.
    fn paid(&self) -> f64 {
        let calls = |candidate: &RentCandidate| f64::from(self.now - candidate.from) + 1.0;
        let pays = self.due().filter(|candidate| candidate.from <= self.now);
        self.situation.cache.read
            * pays.map(|candidate| self.gain(candidate) as f64 * calls(candidate)).sum::<f64>()
    }

    /// What the rent must reach: a multiple of the cost of writing to the cache again what was already sent after the
    /// oldest cut and stays.
    fn cost(&self, oldest: &RentCandidate) -> f64 {
        let end = self.outline.unseen();
        let sent = self.index.sent(oldest.part, end, self.placeholder);
        let rewritten = sent.saturating_sub(self.gains(end)) as f64;
        let cache = &self.situation.cache;
        self.rent.margin * ((cache.write - cache.read) * rewritten) + self.rethinking()
    }

    /// What the model has to think again, in characters of plain input.
    fn rethinking(&self) -> f64 {
        let Rethinking { blocks, output_price } = self.situation.rethinking;
        let tokens = f64::from(blocks) * self.rent.rethink as f64 * output_price;
        tokens * self.calibration.chars_per_token()
    }

    /// Whether the window is so full that cutting avoids a compaction.
    fn is_full(&self, tokens: u64) -> bool {
        let Some(pressure) = self.rent.pressure else { return false };
        let fill = self.situation.window.zip(self.situation.input_tokens);
        let is_near = fill.is_some_and(|(window, tokens)| tokens as f64 > pressure.fill * window);
        is_near && tokens >= pressure.gain
    }

    /// Whether cutting what is due keeps the request below the limit of a price band. A request that is above a limit must
    /// get below it. One that is near a limit must get away from it, or else each of the next requests would be cut.
    fn keeps_below_band(&self) -> bool {
        let (Some(share), Some(tokens)) = (self.rent.band, self.situation.input_tokens) else { return false };
        let saved = self.tokens();
        let after = tokens.saturating_sub(saved);
        let BandLimits { crossed, next } = self.situation.bands;
        let gets_below = crossed.is_some_and(|limit| tokens > limit && after <= limit);
        let mark = next.map(|limit| (share * limit as f64) as u64);
        let gets_away = mark.is_some_and(|mark| tokens > mark && after <= mark);
        saved > 0 && saved >= self.rent.cold_gain && (gets_below || gets_away)
    }

    fn cut(&self, candidate: &RentCandidate, reason: Reason) -> Cut {
        let scale = |chars: u64| self.calibration.scale(chars);
        Cut {
            part: candidate.part,
            action: Action::Clear,
            reason,
            before: scale(candidate.chars),
            after: scale(candidate.chars - self.gain(candidate)),
        }
    }
}

/// Results of fewer characters stay, whether they are counted in characters or in tokens.
fn least(rent: &Rent, calibration: &Calibration) -> u64 {
    rent.least_chars.max(calibration.chars(rent.least_tokens))
}

/// Trims of new results that are too long.
fn capped(outline: &Outline, rent: &Rent, memory: &Memory) -> Vec<Cut> {
    let Some(cap) = rent.cap else { return Vec::new() };
    let fresh = (outline.unseen()..outline.part_count() as u32).map(PartIx);
    let is_too_long = |&part: &PartIx| {
        outline.kind(part) == PartKind::Result
            && outline.units(part) > cap.chars
            && (cap.reads || outline.class(part) != ToolClass::Read)
            && memory.cut(outline, part).is_none()
            && rent.may_cut(outline, memory, part, outline.units(part))
    };
    let head = (cap.chars as f64 * cap.head) as u64;
    let action = Action::Trim { head, tail: cap.chars.saturating_sub(head), pairs: SurrogatePairs::Whole };
    let scale = |chars: u64| memory.calibration.scale(chars);
    let trim = |part: PartIx| Cut {
        part,
        action,
        reason: Reason::TooLong,
        before: scale(outline.units(part)),
        after: scale(cap.chars),
    };
    fresh.filter(is_too_long).map(trim).collect()
}

/// Why a part that the plan does not cut is kept. A plan has no index, so for a part that a later result made old this
/// goes by the age of its class.
pub(crate) fn keep(outline: &Outline, rent: &Rent, memory: &Memory, part: PartIx) -> Keep {
    let kind = outline.kind(part);
    let age = match (kind, rent.inputs) {
        (PartKind::Result, _) => rent.ages.of(outline.class(part)),
        (PartKind::Call, Some(inputs)) => Some(inputs.age),
        _ => return Keep::NotResult,
    };
    let cut = memory.cut(outline, part).map(|cut| cut.action);
    if outline.is_cut(part) || matches!(cut, Some(Action::Clear | Action::DropMedia)) {
        return Keep::AlreadyCut;
    }
    if outline.is_summary(outline.owner(part)) {
        return Keep::Summary;
    }
    if !rent.tools.allows(outline.tool(part).unwrap_or_default()) {
        return Keep::ProtectedTool;
    }
    if outline.images(part) > 0 {
        return Keep::HasImage;
    }
    let status = outline.status(part);
    if kind == PartKind::Result
        && matches!(status, ToolStatus::Error | ToolStatus::Pending | ToolStatus::Running)
    {
        return Keep::Unfinished(status);
    }
    if !rent.may_cut(outline, memory, part, outline.units(part))
        || outline.units(part) < least(rent, &memory.calibration)
    {
        return Keep::ShortEnough;
    }
    let first = outline.first_call(outline.owner(part));
    match age {
        Some(age) if first.saturating_add(age) <= outline.next_call() => Keep::RentBelowCost,
        _ => Keep::TooYoung,
    }
}
