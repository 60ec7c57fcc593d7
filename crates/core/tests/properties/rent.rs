//! What the family *rent* promises: nothing goes before its time, and a dearer cache never makes it go earlier.
//!
//! Ages are counted here a second time and plainly, by walking over the calls or the answers of the model.

use proptest::prelude::*;
use secateur::{
    Action, Ages, BandLimits, Budget, Cache, Cut, CutPurpose, Family, Memory, MessageIx, Outline, PartIx,
    PartKind, Policy, Reason, Rent, Role, Situation, ToolClass, ToolStatus,
};

use crate::config;
use crate::policies::rent_policy;
use crate::scene::{Scene, scenes};

/// How many calls have had a message in their context.
fn age(outline: &Outline, message: MessageIx) -> u32 {
    let calls = outline.model_calls();
    if !calls.is_empty() {
        return calls.iter().filter(|call| call.message > message).count() as u32;
    }
    let mut age = 0;
    let mut may_answer = true;
    for later in outline.messages() {
        let is_answer = outline.role(later) == Role::Assistant;
        if is_answer && may_answer && later > message {
            age += 1;
        }
        let has_result = outline.parts_of(later).any(|part| outline.kind(PartIx(part)) == PartKind::Result);
        may_answer = !is_answer || has_result;
    }
    age
}

/// The lowest age at which a result could ever go, whatever overtakes it.
fn lowest(ages: &Ages, class: ToolClass) -> Option<u32> {
    let own = match class {
        ToolClass::Read => ages.read,
        ToolClass::Agent => ages.agent,
        _ => ages.other,
    };
    let overtaken = [ages.covered, ages.edited].into_iter().filter(|_| class == ToolClass::Read);
    let free = ages.cold.filter(|_| own.is_some());
    overtaken.chain([own, ages.repeated, free]).flatten().min()
}

/// What the family promises of one of its cuts.
pub(crate) fn check(rule: &Rent, outline: &Outline, scene: &Scene, cut: &Cut) -> Result<(), TestCaseError> {
    let part = cut.part;
    prop_assert_eq!(outline.images(part), 0, "images stay");
    prop_assert!(!outline.is_summary(outline.owner(part)), "summaries stay");
    prop_assert!(cut.after <= cut.before, "a cut takes away");
    let age = age(outline, outline.owner(part));
    if outline.kind(part) == PartKind::Call {
        let inputs = rule.inputs.expect("inputs go only if the rule says so");
        prop_assert!(age >= inputs.age && outline.units(part) >= inputs.least_chars);
        return Ok(());
    }
    prop_assert_eq!(outline.kind(part), PartKind::Result);
    prop_assert!(matches!(outline.status(part), ToolStatus::Completed | ToolStatus::None), "errors stay");
    prop_assert!(outline.units(part) >= rule.least_chars, "short results stay");
    match (cut.action, cut.reason) {
        (Action::Clear, Reason::Rent | Reason::CacheCold | Reason::PriceBand | Reason::Pressure) => {
            let lowest = lowest(&rule.ages, outline.class(part));
            prop_assert!(lowest.is_some_and(|lowest| age >= lowest), "{age} is younger than {lowest:?}");
            let needs_room = scene.situation.purpose == CutPurpose::MakeRoom;
            prop_assert!(!needs_room || cut.reason == Reason::Pressure);
        }
        (Action::Trim { head, tail, .. }, Reason::TooLong) => {
            let cap = rule.cap.expect("results are shortened only if the rule says so");
            prop_assert_eq!(head + tail, cap.chars);
            prop_assert!(outline.units(part) > cap.chars && age == 0, "only what is new and too long");
            prop_assert!(cap.reads || outline.class(part) != ToolClass::Read);
        }
        other => prop_assert!(false, "{other:?} is no cut of this family"),
    }
    Ok(())
}

/// The same scene with a cache of another price and another margin, both while the cache is warm.
fn warm(scene: &Scene, cache: Cache, margin: f64) -> Scene {
    let situation = Situation { cache, last_request: None, purpose: CutPurpose::SaveCost, ..scene.situation };
    let mut policy: Policy = scene.policy.clone();
    if let Family::Rent(rule) = &mut policy.family {
        (rule.margin, rule.pressure) = (margin, None);
    }
    Scene { situation, policy, messages: scene.messages.clone() }
}

fn flushes(scene: &Scene) -> bool {
    let (_, plan) = scene.first_plan();
    plan.cuts.iter().any(|cut| cut.reason == Reason::Rent)
}

proptest! {
    #![proptest_config(config())]

    /// While the cache is warm, neither dearer writes nor a larger margin make anything go that would have stayed.
    #[test]
    fn dearer_writes_and_larger_margins_never_cut_earlier(
        scene in scenes(rent_policy()),
        (read, write, margin) in (0.0..1.0, 0.0..2.0, 0.0..4.0),
        (dearer, larger) in (0.0..2.0, 0.0..4.0),
    ) {
        let cache = Cache { read, write: read + write, ttl_ms: 300_000 };
        let dear = Cache { write: cache.write + dearer, ..cache };
        if flushes(&warm(&scene, dear, margin + larger)) {
            prop_assert!(flushes(&warm(&scene, cache, margin)));
        }
    }

    /// Room is made of all that a cold cache would let go, and of no less than what pays.
    #[test]
    fn room_takes_at_least_what_pays(mut scene in scenes(rent_policy())) {
        // With room made, a budget may need nothing more.
        scene.policy.budget = Budget::default();
        let wanting = |need| Scene { situation: Situation { purpose: need, ..scene.situation }, ..scene.clone() };
        let (_, thrifty) = wanting(CutPurpose::SaveCost).first_plan();
        let (_, roomy) = wanting(CutPurpose::MakeRoom).first_plan();
        for cut in &thrifty.cuts {
            prop_assert!(roomy.cut(cut.part).is_some(), "{cut:?} stays where room is wanted");
        }
    }

    /// Near the limit of a price band, cuts keep their promises, and those that are made for it get the request below.
    #[test]
    fn cuts_for_a_price_band_get_below_it(
        scene in scenes(rent_policy()),
        limit in 1_000..160_000u64,
        over in 0..300u64,
    ) {
        let tokens = limit + over;
        let bands = BandLimits::around(&[limit, 3 * limit], tokens);
        let situation = Situation { input_tokens: Some(tokens), bands, ..scene.situation };
        let scene = Scene { situation, ..scene };
        let (outline, plan) = scene.first_plan();
        let Family::Rent(rule) = &scene.policy.family else { return Ok(()) };
        let is_for_band = |cut: &&Cut| cut.reason == Reason::PriceBand;
        for cut in plan.cuts.iter().filter(is_for_band) {
            check(rule, &outline, &scene, cut)?;
        }
        if plan.cuts.iter().any(|cut| is_for_band(&cut)) {
            let saved: u64 = plan.cuts.iter().map(|cut| cut.before - cut.after).sum();
            prop_assert!(rule.band.is_some() && tokens.saturating_sub(saved) <= limit, "{tokens} {saved} {bands:?}");
        }
    }

    /// A policy without prices ignores them.
    #[test]
    fn a_session_without_a_cache_pays_in_full_at_once(scene in scenes(rent_policy())) {
        let free = warm(&scene, Cache::NONE, 3.0);
        let (outline, plan) = free.first_plan();
        let memory = free.committed(&outline, &plan, Memory::default());
        let wanting = Situation { purpose: CutPurpose::SaveCost, ..free.situation };
        prop_assert!(free.policy.plan(&outline, &wanting, &memory).cuts.is_empty());
        prop_assert!(!matches!(plan.idle, Some(secateur::Idle::RentBelowCost { .. })), "{:?}", plan.idle);
    }
}
