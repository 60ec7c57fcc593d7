//! A plan agrees with itself, and never touches what is protected.
//!
//! Protection is stated here a second time and plainly, from the facts of the outline alone, and each cut is
//! held against it by its reason: the family's own cuts against the family's protection, those of the budget
//! against the budget's.

use proptest::prelude::*;
use secateur::{
    Action, AtSummary, Cut, Extent, Family, Idle, Images, Keep, KeepLast, Memory, MessageIx, Outline, PartIx,
    PartKind, Pass, Plan, Policy, Ratio, Reason, Role, TurnMessage, Verdict, Watermark,
};

use crate::config;
use crate::outlines::messages;
use crate::policies::{any_policy, builtin, keep_last_policy, ratio_policy, rent_policy, watermark_policy};
use crate::scene::{Scene, foreign_memory, scenes, scenes_of, scenes_of_any_pass};

/// What holds for any plan whatever.
fn check_consistency(scene: &Scene, outline: &Outline, memory: &Memory) -> Result<(), TestCaseError> {
    let plan = scene.plan(outline, memory);
    prop_assert!(
        plan.cuts.is_sorted_by(|older, newer| older.part < newer.part),
        "each part once, oldest first"
    );
    prop_assert_eq!(plan.idle.is_some(), plan.is_empty(), "a plan says why it is empty, and only then");
    for cut in &plan.cuts {
        prop_assert!((cut.part.0 as usize) < outline.part_count(), "{cut:?} exists");
        prop_assert_eq!(plan.cut(cut.part), Some(cut));
    }
    if !matches!(scene.policy.family, Family::Ratio(_)) {
        prop_assert!(plan.totals.after <= plan.totals.before, "cuts take away: {:?}", plan.totals);
    }
    check_verdicts(&scene.policy, outline, memory, &plan)
}

/// The verdict is `Cut` for the cuts and for nothing else, also beyond the last part.
fn check_verdicts(
    policy: &Policy,
    outline: &Outline,
    memory: &Memory,
    plan: &Plan,
) -> Result<(), TestCaseError> {
    let beyond = [outline.part_count() as u32, u32::MAX - 1, u32::MAX].map(PartIx);
    for part in outline.parts().chain(beyond) {
        match policy.verdict(outline, memory, plan, part) {
            Verdict::Cut(cut) => prop_assert_eq!(plan.cut(part), Some(&cut)),
            Verdict::Kept(keep) => {
                prop_assert_eq!(plan.cut(part), None);
                prop_assert_eq!(keep == Keep::Disabled, !policy.enabled);
            }
        }
    }
    Ok(())
}

fn by_budget(cut: &Cut) -> bool {
    matches!(cut.reason, Reason::ByteBudget | Reason::MediaBudget)
}

/// User messages, newest first.
fn users(outline: &Outline) -> impl Iterator<Item = MessageIx> {
    outline.messages().rev().filter(|&message| outline.role(message) == Role::User)
}

fn is_summary(outline: &Outline, message: MessageIx) -> bool {
    outline.is_summary(message) && outline.role(message) == Role::Assistant
}

/// What the watermark family promises of one of its cuts.
fn check_watermark(rule: &Watermark, outline: &Outline, cut: &Cut) -> Result<(), TestCaseError> {
    let (part, message) = (cut.part, outline.owner(cut.part));
    prop_assert_eq!((cut.action, cut.reason), (Action::Clear, Reason::BeyondProtected));
    prop_assert_eq!(outline.kind(part), PartKind::Result);
    prop_assert!(rule.statuses.contains(&outline.status(part)), "unfinished results stay");
    prop_assert!(!is_summary(outline, message), "summaries stay");
    let last_summary = outline.messages().rfind(|&other| is_summary(outline, other));
    let begin = last_summary.filter(|_| rule.summary == AtSummary::Begin);
    let in_view = |message: &MessageIx| begin.is_none_or(|begin| *message > begin);
    prop_assert!(in_view(&message), "history begins with the last summary");
    if let Some(skip) = rule.active_turns.checked_sub(1) {
        match users(outline).filter(in_view).nth(skip as usize) {
            Some(user) if rule.turn_message == TurnMessage::Scanned => prop_assert!(message <= user),
            Some(user) => prop_assert!(message < user),
            None => prop_assert_eq!(rule.too_few_turns, Extent::Everything),
        }
    }
    Ok(())
}

/// What the ratio family promises of one of its cuts.
fn check_ratio(rule: &Ratio, outline: &Outline, cut: &Cut) -> Result<(), TestCaseError> {
    let (part, message) = (cut.part, outline.owner(cut.part));
    prop_assert_eq!(outline.kind(part), PartKind::Result);
    prop_assert!(rule.images == Images::Replace || outline.images(part) == 0, "images stay");
    let first_user = users(outline).last();
    prop_assert!(first_user.is_some_and(|user| message >= user), "what comes before the first user stays");
    if let Some(skip) = rule.keep_last_assistants.checked_sub(1) {
        let mut assistants =
            outline.messages().rev().filter(|&message| outline.role(message) == Role::Assistant);
        let cutoff = assistants.nth(skip as usize);
        prop_assert!(cutoff.is_some_and(|cutoff| message < cutoff), "what the newest assistants saw stays");
    }
    match cut.action {
        Action::Clear => prop_assert!(matches!(cut.reason, Reason::OverHardRatio | Reason::Aggressive)),
        Action::Trim { .. } => prop_assert_eq!(cut.reason, Reason::OverSoftRatio),
        Action::DropMedia => prop_assert!(cut.reason == Reason::OverSoftRatio && outline.images(part) > 0),
        Action::DropThinking => prop_assert!(false, "no policy drops thinking"),
    }
    Ok(())
}

/// What the keep-last family promises of one of its cuts.
fn check_keep_last(rule: &KeepLast, outline: &Outline, plan: &Plan, cut: &Cut) -> Result<(), TestCaseError> {
    prop_assert_eq!((cut.action, cut.reason), (Action::Clear, Reason::OlderThanKept));
    let is_result = |part: &PartIx| outline.kind(*part) == PartKind::Result;
    let newer = outline.parts().filter(is_result).filter(|&part| part > cut.part).count() as u64;
    prop_assert!(newer >= rule.keep, "the newest results stay");
    if !is_result(&cut.part) {
        prop_assert!(
            rule.clear_inputs && outline.kind(cut.part) == PartKind::Call,
            "only inputs go with results"
        );
        // The same id may be used again later, for another call with a result of its own.
        let same_id = |part: &PartIx| outline.call(*part) == outline.call(cut.part);
        let is_call = |part: &PartIx| outline.kind(*part) == PartKind::Call;
        let mut later = outline.parts().filter(|&part| part > cut.part).filter(same_id);
        let answer = later.find(|part| is_call(part) || is_result(part) && plan.cut(*part).is_some());
        prop_assert!(answer.is_some_and(|part| is_result(&part)), "an input goes only with its result");
    }
    Ok(())
}

/// What the budget promises of one of its cuts.
fn check_budget(policy: &Policy, outline: &Outline, cut: &Cut) -> Result<(), TestCaseError> {
    let message = outline.owner(cut.part);
    prop_assert!(users(outline).next().is_some_and(|user| message < user), "the newest turn stays");
    prop_assert!(matches!(outline.kind(cut.part), PartKind::Result | PartKind::Media));
    match cut.reason {
        Reason::ByteBudget => {
            prop_assert!(cut.action == Action::Clear && policy.budget.bytes.is_some());
            prop_assert!(
                outline.bytes(cut.part) > policy.placeholder.len() as u64,
                "clearing it gains nothing"
            );
        }
        _ => {
            prop_assert!(cut.action == Action::DropMedia && policy.budget.media.is_some());
            prop_assert!(outline.images(cut.part) > 0, "there are media to drop");
        }
    }
    Ok(())
}

/// Any watermark whose walk ends at a summary.
fn stopping_policy() -> impl Strategy<Value = Policy> {
    watermark_policy().prop_map(|mut policy| {
        if let Family::Watermark(rule) = &mut policy.family {
            rule.summary = AtSummary::Stop;
        }
        policy
    })
}

fn check_protection(scene: &Scene) -> Result<(), TestCaseError> {
    let (outline, plan) = scene.first_plan();
    let policy = &scene.policy;
    for cut in &plan.cuts {
        let tool = outline.tool(cut.part).unwrap_or_default();
        // What a user attached belongs to no tool; only the budget touches it.
        let attached = outline.kind(cut.part) == PartKind::Media && outline.tool(cut.part).is_none();
        prop_assert!(attached || policy.tools().allows(tool), "{tool:?} is denied");
        match &policy.family {
            _ if by_budget(cut) => check_budget(policy, &outline, cut)?,
            Family::Watermark(rule) => check_watermark(rule, &outline, cut)?,
            Family::Ratio(rule) => check_ratio(rule, &outline, cut)?,
            Family::KeepLast(rule) => check_keep_last(rule, &outline, &plan, cut)?,
            Family::Rent(rule) => crate::rent::check(rule, &outline, scene, cut)?,
        }
    }
    Ok(())
}

/// After the plan the context is within its budget, or nothing is left that could be cut for it.
fn check_budget_kept(scene: &Scene) -> Result<(), TestCaseError> {
    let (outline, plan) = scene.first_plan();
    let policy = &scene.policy;
    let placeholder = policy.placeholder.len() as u64;
    let last_user = users(&outline).next();
    let (mut bytes, mut media) = (0, 0);
    let mut spared = Vec::new();
    for part in
        outline.parts().filter(|&part| !matches!(outline.kind(part), PartKind::Other | PartKind::Compaction))
    {
        let whole = outline.bytes(part);
        bytes += match plan.cut(part).map(|cut| cut.action) {
            Some(Action::Clear) => whole.min(placeholder),
            None if outline.is_cut(part) => whole.min(placeholder),
            Some(Action::Trim { head, tail, .. }) => whole.min(head.saturating_add(tail)),
            Some(Action::DropMedia | Action::DropThinking) | None => whole,
        };
        if plan.cut(part).is_none() && !outline.is_cut(part) {
            media += outline.images(part);
            spared.push(part);
        }
    }
    spared.retain(|&part| matches!(outline.kind(part), PartKind::Result | PartKind::Media));
    spared.retain(|&part| !outline.is_summary(outline.owner(part)));
    spared.retain(|&part| policy.tools().allows(outline.tool(part).unwrap_or_default()));
    spared.retain(|&part| policy.enabled && last_user.is_some_and(|user| outline.owner(part) < user));
    if policy.budget.bytes.is_some_and(|most| bytes > most) {
        let left = spared.iter().find(|&&part| outline.bytes(part) > placeholder);
        prop_assert_eq!(left, None, "{} bytes are too many", bytes);
    }
    if policy.budget.media.is_some_and(|most| media > most) {
        let left = spared.iter().find(|&&part| outline.images(part) > 0);
        prop_assert_eq!(left, None, "{} media are too many", media);
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn plans_are_consistent(scene in scenes_of_any_pass(any_policy())) {
        check_consistency(&scene, &scene.outline(), &Memory::default())?;
    }

    #[test]
    fn plans_are_consistent_whatever_memory_says(
        scene in scenes_of_any_pass(any_policy()),
        memory in foreign_memory(),
    ) {
        check_consistency(&scene, &scene.outline(), &memory)?;
    }

    #[test]
    fn builtin_policies_spare_what_is_protected(scene in scenes(builtin())) {
        check_protection(&scene)?;
    }

    #[test]
    fn watermarks_spare_what_is_protected(scene in scenes(watermark_policy())) {
        check_protection(&scene)?;
    }

    #[test]
    fn ratios_spare_what_is_protected(scene in scenes(ratio_policy())) {
        check_protection(&scene)?;
    }

    #[test]
    fn keep_last_spares_what_is_protected(scene in scenes(keep_last_policy())) {
        check_protection(&scene)?;
    }

    #[test]
    fn rent_spares_what_is_protected(scene in scenes(rent_policy())) {
        check_protection(&scene)?;
    }

    /// A walk that stops at a summary leaves everything before it whole, unless the budget needs it.
    #[test]
    fn nothing_is_cut_behind_a_summary_that_stops_the_walk(scene in scenes(stopping_policy())) {
        let (outline, plan) = scene.first_plan();
        let cut_in = |cut: &Cut| outline.owner(cut.part);
        let own: Vec<_> = plan.cuts.iter().filter(|cut| !by_budget(cut)).map(cut_in).collect();
        if let (Some(&oldest), Some(&newest)) = (own.first(), own.last()) {
            let mut between = outline.messages().filter(|&message| oldest <= message && message <= newest);
            prop_assert!(!between.any(|message| is_summary(&outline, message)));
        }
    }

    /// A context is within its budget after the plan, or there was nothing left that could be cut for it.
    #[test]
    fn budgets_are_kept_where_they_can_be(scene in scenes(any_policy())) {
        check_budget_kept(&scene)?;
    }

    /// A part of which the source says that it was cut is replaced by the placeholder already.
    #[test]
    fn what_the_source_marks_as_cut_is_not_cut_again(scene in scenes(any_policy())) {
        let (outline, plan) = scene.first_plan();
        for cut in &plan.cuts {
            prop_assert!(!outline.is_cut(cut.part), "{cut:?} of a part that was cut before");
        }
    }

    /// A pass that replays makes no new cut, whatever the family and however far over its budget.
    #[test]
    fn a_replay_cuts_nothing_new(scene in scenes_of(messages(), any_policy(), Just(Pass::ReplayOnly))) {
        let (_, plan) = scene.first_plan();
        prop_assert_eq!(&plan.cuts, &[]);
        let why = if scene.policy.enabled { Idle::ReplayOnly } else { Idle::Disabled };
        prop_assert_eq!(plan.idle, Some(why));
    }
}
