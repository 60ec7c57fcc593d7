//! Four systems, written down a second time as plainly as their authors did.
//!
//! The profiles express OpenCode, openagentic-sdk and Qwery as parameters of one rule, and Anthropic's
//! clearing as parameters of another. Here each is a loop of its own over the same outline, with none of the
//! parameters, and must come to the same cuts.

use std::collections::BTreeSet;

use proptest::prelude::*;
use secateur::{Memory, MessageIx, Outline, PartIx, PartKind, Pass, Role, Situation, ToolStatus, Unit};

use crate::config;
use crate::outlines::heavy_messages;
use crate::policies::named;
use crate::scene::{Scene, scenes_of};

const PROTECT: u64 = 40_000;
const MINIMUM: u64 = 20_000;

fn newest_first(before: u32) -> impl Iterator<Item = MessageIx> {
    (0..before).rev().map(MessageIx)
}

fn parts_newest_first(outline: &Outline, message: MessageIx) -> impl Iterator<Item = PartIx> {
    outline.parts_of(message).rev().map(PartIx)
}

fn is_summary(outline: &Outline, message: MessageIx) -> bool {
    outline.role(message) == Role::Assistant && outline.is_summary(message)
}

/// OpenCode of January 2026: `prune`.
fn opencode(outline: &Outline) -> BTreeSet<PartIx> {
    let mut collected = BTreeSet::new();
    let (mut turns, mut total, mut pruned) = (0, 0, 0);
    'walk: for message in newest_first(outline.message_count() as u32) {
        if outline.role(message) == Role::User {
            turns += 1;
        }
        if turns < 2 {
            continue;
        }
        if is_summary(outline, message) {
            break 'walk;
        }
        for part in parts_newest_first(outline, message) {
            if outline.kind(part) != PartKind::Result || outline.status(part) != ToolStatus::Completed {
                continue;
            }
            if outline.tool(part) == Some("skill") {
                continue;
            }
            if outline.is_cut(part) {
                break 'walk;
            }
            let estimate = (outline.units(part) + 2) / 4;
            total += estimate;
            if total > PROTECT {
                pruned += estimate;
                collected.insert(part);
            }
        }
    }
    if pruned > MINIMUM { collected } else { BTreeSet::new() }
}

/// openagentic-sdk of January 2026, whose history is a list of events: a user's event holds no result.
fn openagentic(outline: &Outline) -> BTreeSet<PartIx> {
    let begin = outline.messages().rfind(|&message| is_summary(outline, message));
    let mut collected = BTreeSet::new();
    let (mut turns, mut total, mut pruned) = (0, 0, 0);
    'walk: for message in newest_first(outline.message_count() as u32) {
        if begin.is_some_and(|begin| message <= begin) {
            break;
        }
        if outline.role(message) == Role::User {
            turns += 1;
            continue;
        }
        if turns < 2 {
            continue;
        }
        for part in parts_newest_first(outline, message) {
            let finished = matches!(outline.status(part), ToolStatus::Completed | ToolStatus::Error);
            if outline.kind(part) != PartKind::Result || !finished {
                continue;
            }
            if outline.is_cut(part) {
                break 'walk;
            }
            if outline.tool(part).is_some_and(|tool| tool.to_lowercase() == "skill") {
                continue;
            }
            let printed = outline.size(part, Unit::PyJson);
            let cost = if printed == 0 { 0 } else { (printed / 4).max(1) };
            total += cost;
            if total > PROTECT {
                pruned += cost;
                collected.insert(part);
            }
        }
    }
    if pruned > MINIMUM { collected } else { BTreeSet::new() }
}

/// Qwery of February 2026: `checkPrune`.
fn qwery_may_prune(outline: &Outline, part: PartIx) -> bool {
    outline.kind(part) == PartKind::Result
        && matches!(outline.status(part), ToolStatus::Completed | ToolStatus::Error)
        && outline.tool(part) != Some("skill")
        && !outline.is_cut(part)
}

/// Qwery of February 2026: `prune`, in its two phases.
fn qwery(outline: &Outline) -> BTreeSet<PartIx> {
    let estimate = |part: PartIx| outline.units(part).div_ceil(4).min(50_000);
    let last_user = outline.messages().rev().find(|&message| outline.role(message) == Role::User);
    let end = last_user.map_or(outline.message_count() as u32, |message| message.0);

    let mut total = 0;
    let mut last_protected = end;
    'protect: for message in newest_first(end) {
        if is_summary(outline, message) {
            continue;
        }
        for part in parts_newest_first(outline, message) {
            if qwery_may_prune(outline, part) {
                total += estimate(part);
                if total >= PROTECT {
                    last_protected = message.0;
                    break 'protect;
                }
            }
        }
    }

    let mut collected = BTreeSet::new();
    for message in newest_first(last_protected) {
        if !is_summary(outline, message) {
            collected
                .extend(parts_newest_first(outline, message).filter(|&part| qwery_may_prune(outline, part)));
        }
    }
    let pruned: u64 = collected.iter().map(|&part| estimate(part)).sum();
    if pruned > MINIMUM { collected } else { BTreeSet::new() }
}

/// The Anthropic API's `clear_tool_uses_20250919` with its defaults; our summaries are never cut.
fn anthropic(outline: &Outline, input_tokens: u64) -> BTreeSet<PartIx> {
    let mut results: Vec<PartIx> =
        outline.parts().filter(|&part| outline.kind(part) == PartKind::Result).collect();
    results.truncate(results.len().saturating_sub(3));
    results.retain(|&part| !outline.is_cut(part) && !outline.is_summary(outline.owner(part)));
    if input_tokens > 100_000 { results.into_iter().collect() } else { BTreeSet::new() }
}

/// What the profile of this name cuts.
fn cuts(scene: &Scene, outline: &Outline) -> BTreeSet<PartIx> {
    scene.plan(outline, &Memory::default()).cuts.iter().map(|cut| cut.part).collect()
}

fn heavy_scenes(profile: &'static str) -> impl Strategy<Value = Scene> {
    scenes_of(heavy_messages(), Just(named(profile)), Just(Pass::Full))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn opencode_of_january(scene in heavy_scenes("opencode@2026-01")) {
        let outline = scene.outline();
        prop_assert_eq!(cuts(&scene, &outline), opencode(&outline));
    }

    #[test]
    fn openagentic_of_january(scene in heavy_scenes("openagentic@2026-01")) {
        let mut scene = scene;
        for message in scene.messages.iter_mut().filter(|message| message.facts.role == Role::User) {
            message.parts.clear();
        }
        let outline = scene.outline();
        prop_assert_eq!(cuts(&scene, &outline), openagentic(&outline));
    }

    #[test]
    fn anthropic_by_default(scene in heavy_scenes("anthropic"), input_tokens in 99_990..100_011u64) {
        let outline = scene.outline();
        let situation = Situation { input_tokens: Some(input_tokens), ..scene.situation };
        let scene = Scene { situation, ..scene };
        prop_assert_eq!(cuts(&scene, &outline), anthropic(&outline, input_tokens));
    }

    #[test]
    fn qwery_of_february(scene in heavy_scenes("qwery@2026-02")) {
        let outline = scene.outline();
        prop_assert_eq!(cuts(&scene, &outline), qwery(&outline));
    }
}

/// The generator must reach what is compared: both systems have to cut in a fair share of the cases.
#[test]
fn heavy_outlines_are_heavy_enough() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let strategy = heavy_messages();
    let (mut by_opencode, mut by_qwery) = (0, 0);
    for _ in 0..200 {
        let outline = crate::outlines::build(&strategy.new_tree(&mut runner).unwrap().current());
        by_opencode += usize::from(!opencode(&outline).is_empty());
        by_qwery += usize::from(!qwery(&outline).is_empty());
    }
    assert!(by_opencode > 20 && by_qwery > 40, "{by_opencode} and {by_qwery} of 200 cut");
}
