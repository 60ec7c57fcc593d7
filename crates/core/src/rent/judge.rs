//! The judgement: whether what is eligible goes now.

use super::books::Tenant;
use super::{Books, Rent};
use crate::class::Class;
use crate::measure::Pairs;
use crate::memory::Memory;
use crate::outline::{Kind, Outline, PartIx};
use crate::plan::{Action, Bounds, Cut, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::situation::Situation;

/// Plans with the books kept so far.
pub(crate) fn plan(
    outline: &Outline,
    rent: &Rent,
    situation: &Situation,
    memory: &Memory,
    books: &Books,
) -> Plan {
    let now = outline.next_call();
    let calibration = &memory.calibration;
    let cache = situation.cache.learned(outline.calls());
    let pause = situation.last_request.map(|last| situation.now.saturating_sub(last));
    let is_cold = cache.exists() && pause.is_some_and(|pause| pause > cache.ttl_ms);
    let least = rent.least_chars.max(calibration.chars(rent.least_tokens));
    let gain = |tenant: &Tenant| {
        tenant.chars.saturating_sub(calibration.chars(rent.placeholder_tokens)).saturating_sub(tenant.digest)
    };
    let is_due = |tenant: &&Tenant| {
        let cold = rent.ages.cold.filter(|_| is_cold && tenant.from != u32::MAX);
        let from = cold.map_or(tenant.from, |age| tenant.from.min(tenant.born.saturating_add(age)));
        from <= now && tenant.chars >= least && gain(tenant) > 0
    };
    let due: Vec<Tenant> = books.tenants.iter().filter(is_due).copied().collect();
    let capped = capped(outline, rent, memory);
    let total: u64 = due.iter().map(gain).sum();
    let totals = Totals {
        scale: Scale::Tokens,
        before: calibration.scale(books.sent(PartIx(0), u32::MAX)),
        after: 0,
        candidates: calibration.scale(total),
    };
    let idle = |why: Idle| Plan {
        idle: Some(why),
        totals: Totals { after: totals.before, ..totals },
        ..Plan::default()
    };
    let (reason, verdict) = match due.first() {
        None => (Reason::Rent, Some(Idle::NothingEligible)),
        Some(oldest) => {
            let sent_to = outline.unseen();
            let inside = due.iter().filter(|tenant| tenant.part.0 < sent_to).map(gain).sum::<u64>();
            let rewritten = books.sent(oldest.part, sent_to).saturating_sub(inside);
            let owed = |tenant: &Tenant| {
                gain(tenant) as f64
                    * f64::from(now.saturating_sub(tenant.from).saturating_add(1).min(now + 1))
            };
            let paid: f64 =
                cache.read * due.iter().filter(|tenant| tenant.from <= now).map(owed).sum::<f64>();
            let cost = rent.margin * (cache.write - cache.read) * rewritten as f64;
            let tokens = calibration.scale(total);
            let is_full = rent.pressure.is_some_and(|pressure| {
                let fill = situation.window.zip(situation.input_tokens);
                fill.is_some_and(|(window, tokens)| tokens as f64 > pressure.fill * window)
                    && tokens >= pressure.gain
            });
            if is_cold && tokens >= rent.cold_gain {
                (Reason::CacheCold, None)
            } else if paid > 0.0 && paid >= cost {
                (Reason::Rent, None)
            } else if is_full {
                (Reason::Pressure, None)
            } else {
                let per_token = calibration.chars_per_token();
                (Reason::Rent, Some(Idle::RentBelowCost { rent: paid / per_token, cost: cost / per_token }))
            }
        }
    };
    if let (Some(why), true) = (verdict, capped.is_empty()) {
        return idle(why);
    }
    let mut cuts = capped;
    if verdict.is_none() {
        let flushed = |tenant: &Tenant| Cut {
            part: tenant.part,
            action: Action::Clear,
            reason,
            before: calibration.scale(tenant.chars),
            after: calibration.scale(tenant.chars - gain(tenant)),
        };
        cuts.retain(|cut| due.iter().all(|tenant| tenant.part != cut.part));
        cuts.extend(due.iter().map(flushed));
        cuts.sort_unstable_by_key(|cut| cut.part);
    }
    let saved: u64 = cuts.iter().map(|cut| cut.before - cut.after).sum();
    let end = outline.part_count() as u32;
    let bounds = Bounds { protected: end, active: end, ..Bounds::default() };
    Plan { cuts, idle: None, totals: Totals { after: totals.before.saturating_sub(saved), ..totals }, bounds }
}

/// New results that are too long to be let in whole.
fn capped(outline: &Outline, rent: &Rent, memory: &Memory) -> Vec<Cut> {
    let Some(cap) = rent.cap else { return Vec::new() };
    let fresh = (outline.unseen()..outline.part_count() as u32).map(PartIx);
    let is_too_long = |&part: &PartIx| {
        outline.kind(part) == Kind::Result
            && outline.units(part) > cap.chars
            && (cap.reads || outline.class(part) != Class::Read)
            && memory.cut(outline, part).is_none()
            && rent.may_cut(outline, memory, part, outline.units(part))
    };
    let head = (cap.chars as f64 * cap.head) as u64;
    let action = Action::Trim { head, tail: cap.chars.saturating_sub(head), pairs: Pairs::Whole };
    let scale = |chars: u64| memory.calibration.scale(chars);
    fresh
        .filter(is_too_long)
        .map(|part| Cut {
            part,
            action,
            reason: Reason::TooLong,
            before: scale(outline.units(part)),
            after: scale(cap.chars),
        })
        .collect()
}

/// Why a part that the plan does not cut is kept.
pub(crate) fn keep(outline: &Outline, rent: &Rent, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
    let is_input = outline.kind(part) == Kind::Call && rent.inputs.is_some();
    if outline.kind(part) != Kind::Result && !is_input {
        return Keep::NotResult;
    }
    if outline.is_cut(part) || memory.cut(outline, part).is_some_and(|cut| cut.action == Action::Clear) {
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
    if matches!(status, crate::Status::Error | crate::Status::Pending | crate::Status::Running) {
        return Keep::Unfinished(status);
    }
    let least = rent.least_chars.max(memory.calibration.chars(rent.least_tokens));
    if outline.units(part) < least {
        return Keep::ShortEnough;
    }
    match plan.idle {
        Some(Idle::RentBelowCost { .. }) => Keep::RentBelowCost,
        _ => Keep::TooYoung,
    }
}
