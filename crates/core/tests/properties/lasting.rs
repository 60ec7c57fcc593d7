//! A cut once made stays made.
//!
//! A cut lasts in one of two ways: it is remembered beside the session, or the session itself says that the
//! part was cut. Either way the same policy in the same situation has nothing more to do, and a history
//! that grows never gets anything back.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::select;
use secateur::{
    Action, Budget, Crossing, Cut, Extent, Family, Keep, KeepLast, KeepLastTrigger, Lasting, Memory, Outline,
    PartIx, Plan, Policy, RememberedCut, Situation, ToolFilter, Verdict,
};

use crate::config;
use crate::outlines::{all_measures, append, build, changed, marked};
use crate::policies::{
    BUILTIN, any_policy, keep_last_policy, ratio_policy, rent_policy, unbudgeted_policy, watermark_policy,
};
use crate::scene::{Scene, foreign_memory, scenes};

/// The builtin policies whose cuts outlast a request.
fn lasting_builtin() -> impl Strategy<Value = Policy> {
    let policies = BUILTIN.iter().map(|profile| profile.policy.clone());
    select(policies.filter(|policy| policy.lasting != Lasting::OneRequest).collect::<Vec<_>>())
}

/// Policies of the family *keep-last* that are set off by the size of the context.
fn estimating_policy() -> impl Strategy<Value = Policy> {
    (keep_last_policy(), 1_000..100_000u64, 0..2u64).prop_map(|(mut policy, threshold, keep)| {
        if let Family::KeepLast(rule) = &mut policy.family {
            *rule = KeepLast {
                trigger: KeepLastTrigger::InputTokens,
                threshold,
                keep,
                clear_at_least: 0,
                tools: ToolFilter::default(),
                ..rule.clone()
            };
        }
        policy
    })
}

/// Any policy whose cuts are written into the session.
fn marking_policy() -> impl Strategy<Value = Policy> {
    any_policy().prop_map(|policy| Policy { lasting: Lasting::Marked, ..policy })
}

/// Whether a second plan must be empty.
///
/// It must without a budget, for every family. *Watermark*: what the first plan left are parts that fit
/// into the protected window or are too little together; the walk meets no others. *Keep-last*: everything
/// older than the newest uses is cut. *Ratio*: the total is below the limit that was aimed for, or nothing
/// eligible is left. *Rent*: all that was due went together.
///
/// With a budget there are three exceptions, because the budget cuts what the family had decided to keep:
///
/// * *Watermark* with `crossing = "keep"` and `unreached = "everything"` (the dated Qwery profiles with a
///   budget of the user's own): the budget may cut results out of the protected window, which is then no
///   longer reached, and where it is not reached everything goes.
/// * *Rent*: what the budget cut need not be written to the cache again, so that letting the rest go may pay now.
/// * *Ratio*: a result that is shorter than what the budget puts in its place grows, which may lift the total
///   over a limit.
fn must_rest(policy: &Policy) -> bool {
    let budgeted = policy.budget != Budget::default();
    !budgeted
        || match &policy.family {
            Family::Watermark(rule) => rule.crossing == Crossing::Cut || rule.unreached == Extent::Nothing,
            Family::Ratio(_) => false,
            Family::KeepLast(_) => true,
            Family::Rent(_) => false,
        }
}

fn check_rest_after_commit(scene: &Scene, memory: Memory) -> Result<(), TestCaseError> {
    let outline = scene.outline();
    let first = scene.plan(&outline, &memory);
    let memory = scene.committed(&outline, &first, memory);
    let second = scene.plan(&outline, &memory);
    check_not_cleared_twice(&second, &outline, &memory)?;
    if must_rest(&scene.policy) {
        prop_assert_eq!(&second.cuts, &[], "after {:?}", first.cuts);
    }
    Ok(())
}

/// What memory holds as cleared is not cut again.
fn check_not_cleared_twice(plan: &Plan, outline: &Outline, memory: &Memory) -> Result<(), TestCaseError> {
    for cut in &plan.cuts {
        let before = memory.cut(outline, cut.part);
        prop_assert!(before.is_none_or(|it| it.action != Action::Clear), "{cut:?} was {before:?}");
    }
    Ok(())
}

/// A mark says that the whole part was cleared; other cuts have no mark.
fn is_markable(plan: &Plan) -> bool {
    plan.cuts.iter().all(|cut| cut.action == Action::Clear)
}

/// Plans for the first messages, lets the cuts last in either way, and plans for all messages.
fn check_marked_like_remembered(scene: &Scene, early: usize) -> Result<(), TestCaseError> {
    let early = scene.messages.len().min(early);
    let outline = build(&scene.messages[..early]);
    let first = scene.plan(&outline, &Memory::default());
    if is_markable(&first) {
        let memory = scene.committed(&outline, &first, Memory::default());
        let remembered = scene.plan(&scene.outline(), &memory);
        let marked = scene.plan(&build(&marked(&scene.messages, &first.cuts)), &Memory::default());
        prop_assert_eq!(remembered.cuts, marked.cuts);
    }
    Ok(())
}

/// Grows the history message by message, plans and commits after each, and holds every memory against the one
/// before it.
fn check_growth(scene: &Scene) -> Result<(), TestCaseError> {
    let mut outline = Outline::new(all_measures());
    let mut memory = Memory::default();
    for message in &scene.messages {
        append(&mut outline, message);
        let plan = scene.plan(&outline, &memory);
        check_not_cleared_twice(&plan, &outline, &memory)?;
        let before: BTreeMap<PartIx, RememberedCut> = memory.cuts().map(|(part, &cut)| (part, cut)).collect();
        memory = scene.committed(&outline, &plan, memory);
        for (part, then) in before {
            let Some(now) = memory.cut(&outline, part) else {
                return Err(TestCaseError::fail(format!("{part:?} is whole again")));
            };
            // What is replayed is replayed unchanged, but for a trimmed result that is cleared.
            let cleared = then.action != Action::Clear && now.action == Action::Clear;
            prop_assert!(cleared || *now == then, "{part:?} went from {then:?} to {now:?}");
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn builtin_policies_rest_after_a_commit(scene in scenes(lasting_builtin())) {
        check_rest_after_commit(&scene, Memory::default())?;
    }

    #[test]
    fn watermarks_rest_after_a_commit(scene in scenes(watermark_policy())) {
        check_rest_after_commit(&scene, Memory::default())?;
    }

    #[test]
    fn ratios_rest_after_a_commit(scene in scenes(ratio_policy())) {
        check_rest_after_commit(&scene, Memory::default())?;
    }

    #[test]
    fn keep_last_rests_after_a_commit(scene in scenes(keep_last_policy())) {
        check_rest_after_commit(&scene, Memory::default())?;
    }

    #[test]
    fn rent_rests_after_a_commit(scene in scenes(rent_policy())) {
        check_rest_after_commit(&scene, Memory::default())?;
    }

    /// The same on top of cuts that were remembered earlier, by whatever policy.
    #[test]
    fn policies_rest_on_top_of_earlier_cuts(
        scene in scenes(unbudgeted_policy()),
        memory in foreign_memory(),
    ) {
        check_rest_after_commit(&scene, memory)?;
    }

    /// The same where the session itself holds the marks. A policy whose marks overwrite one another
    /// (`marked-once-per-message`) loses some on the way and may have to make them again.
    #[test]
    fn policies_rest_after_the_session_was_marked(scene in scenes(marking_policy())) {
        let (_, first) = scene.first_plan();
        if is_markable(&first) && must_rest(&scene.policy) {
            let after = build(&marked(&scene.messages, &first.cuts));
            let second = scene.plan(&after, &Memory::default());
            prop_assert_eq!(&second.cuts, &[], "after {:?}", first.cuts);
        }
    }

    /// A cut that the session holds and a cut that memory holds are the same cut: whatever comes later, the
    /// same parts are cut next.
    #[test]
    fn marked_and_remembered_cuts_are_alike(scene in scenes(any_policy()), early in 0..13usize) {
        check_marked_like_remembered(&scene, early)?;
    }

    /// The same where what was cut decides whether more is cut: a trigger on tokens that were not reported.
    #[test]
    fn marked_and_remembered_cuts_weigh_alike(scene in scenes(estimating_policy()), early in 0..13usize) {
        let situation = Situation { input_tokens: None, ..scene.situation };
        check_marked_like_remembered(&Scene { situation, ..scene }, early)?;
    }

    /// Where marks overwrite one another, every further pass still marks something new until nothing is left
    /// to cut: no session is rewritten for ever.
    #[test]
    fn repeated_marking_comes_to_rest(scene in scenes(watermark_policy())) {
        let mut scene = scene;
        scene.policy.budget = Budget::default();
        let mut passes = 0;
        loop {
            let (outline, plan) = scene.first_plan();
            let survivors: Vec<Cut> = scene.policy.surviving(&outline, &plan).copied().collect();
            if survivors.is_empty() {
                break;
            }
            prop_assert!(passes < outline.part_count(), "more passes than parts");
            passes += 1;
            scene.messages = marked(&scene.messages, &survivors);
        }
    }

    #[test]
    fn growing_histories_get_nothing_back(scene in scenes(any_policy())) {
        check_growth(&scene)?;
    }

    #[test]
    fn growing_histories_get_nothing_back_from_builtin_policies(scene in scenes(lasting_builtin())) {
        check_growth(&scene)?;
    }

    /// Every mark that survives belongs to a cut, and of a message whose marks overwrite one another
    /// exactly one survives, the oldest part's.
    #[test]
    fn marks_survive_as_the_policy_says(scene in scenes(any_policy())) {
        let (outline, plan) = scene.first_plan();
        let survivors: Vec<Cut> = scene.policy.surviving(&outline, &plan).copied().collect();
        prop_assert!(survivors.is_sorted_by(|newer, older| newer.part > older.part), "newest first");
        let once = scene.policy.lasting == Lasting::MarkedOncePerMessage;
        let survives = |cut: &&Cut| {
            let same_message = |other: &&Cut| outline.owner(other.part) == outline.owner(cut.part);
            !once || !plan.cuts.iter().filter(same_message).any(|other| other.part < cut.part)
        };
        let expected: Vec<Cut> = plan.cuts.iter().rev().filter(survives).copied().collect();
        prop_assert_eq!(survivors, expected);
    }

    /// A remembered cut holds for the text that was cut. If every text has changed since, it is as if nothing
    /// had been remembered.
    #[test]
    fn memory_of_other_texts_is_no_memory(scene in scenes(any_policy())) {
        let (outline, plan) = scene.first_plan();
        let memory = scene.committed(&outline, &plan, Memory::default());
        let rewritten = build(&changed(&scene.messages, |_, part| part.sizes.source ^= 1));
        prop_assert_eq!(scene.plan(&rewritten, &memory), scene.plan(&rewritten, &Memory::default()));
    }

    /// Carrying out a plan makes the context no heavier, but for what stands in place of what was cut.
    #[test]
    fn cuts_make_the_context_no_heavier(scene in scenes(ratio_policy())) {
        const IN_PLACE: u64 = 500;
        let (outline, first) = scene.first_plan();
        let memory = scene.committed(&outline, &first, Memory::default());
        let second = scene.plan(&outline, &memory);
        let allowed = first.totals.before + IN_PLACE * first.cuts.len() as u64;
        prop_assert!(second.totals.before <= allowed, "{:?}, then {:?}", first, second.totals);
    }

    /// What a user took back stays whole, whatever the policy thinks of it later.
    #[test]
    fn what_was_undone_is_not_cut_again(scene in scenes(any_policy()), every in 1..4usize) {
        let (outline, plan) = scene.first_plan();
        let mut memory = scene.committed(&outline, &plan, Memory::default());
        let undone: Vec<PartIx> = plan.cuts.iter().step_by(every).map(|cut| cut.part).collect();
        for &part in &undone {
            prop_assert!(memory.undo(part).is_some());
        }
        let second = scene.plan(&outline, &memory);
        for part in undone {
            prop_assert_eq!(second.cut(part), None);
            prop_assert_eq!(memory.cut(&outline, part), None);
            let verdict = scene.policy.verdict(&outline, &memory, &second, part);
            prop_assert_eq!(verdict, Verdict::Kept(Keep::Undone));
        }
    }

    /// A memory survives being written and read.
    #[test]
    fn memory_survives_its_file(scene in scenes(any_policy()), earlier in foreign_memory()) {
        let outline = scene.outline();
        let plan = scene.plan(&outline, &earlier);
        let memory = scene.committed(&outline, &plan, earlier);
        let text = serde_json::to_string(&memory).unwrap();
        prop_assert_eq!(serde_json::from_str::<Memory>(&text).unwrap(), memory);
    }
}
