//! OpenClaw of January 2026, written down a second time as plainly as its authors did.
//!
//! As in the module `oracle`, for the system that weighs the context against the window: a function that goes
//! through the steps one after the other and changes a list of characters as it goes.

use proptest::prelude::*;
use proptest::sample::select;
use secateur::{
    Action, Family, Memory, MessageFacts, MessageIx, Outline, PLACEHOLDER, PartIx, PartKind, Pass, Role,
    SurrogatePairs, Thinking, Unit, trim_note,
};

use crate::config;
use crate::outlines::{Message, messages};
use crate::policies::named;
use crate::scene::{Scene, scenes_of};

/// Characters that a part counts for.
fn chars(outline: &Outline, thinking: Thinking, part: PartIx) -> u64 {
    let images = 8_000 * outline.images(part);
    match outline.kind(part) {
        PartKind::Text => outline.units(part),
        PartKind::Reasoning if thinking == Thinking::Sent => outline.units(part),
        PartKind::Call => outline.size(part, Unit::JsJson),
        PartKind::Result => outline.units(part) + images,
        PartKind::Media => images,
        _ => 0,
    }
}

/// The results that may be touched: before the third-last assistant, not before the first user, no image.
fn eligible(outline: &Outline) -> Vec<PartIx> {
    let is = |role: Role| move |message: &MessageIx| outline.role(*message) == role;
    let start = outline.messages().find(is(Role::User));
    let cutoff = outline.messages().filter(is(Role::Assistant)).rev().nth(2);
    let (Some(start), Some(cutoff)) = (start, cutoff) else { return Vec::new() };
    let within = |part: &PartIx| (start..cutoff).contains(&outline.owner(*part));
    let plain = |part: &PartIx| outline.kind(*part) == PartKind::Result && outline.images(*part) == 0;
    outline.parts().filter(within).filter(plain).filter(|&part| !outline.is_cut(part)).collect()
}

/// Mode adaptive: trim what is long above three tenths of the window, clear the oldest above a half.
fn adaptive(outline: &Outline, case: &Case) -> Vec<(PartIx, Action)> {
    let (thinking, window) = (case.scene.situation.thinking, case.window);
    let placeholder = PLACEHOLDER.len() as u64;
    let marked = |part: PartIx| outline.is_cut(part).then_some(placeholder);
    let mut now: Vec<u64> =
        outline.parts().map(|part| marked(part).unwrap_or_else(|| chars(outline, thinking, part))).collect();
    let unknown =
        256 * outline.messages().filter(|&message| outline.role(message) == Role::Other).count() as u64;
    let ratio = |now: &[u64]| (now.iter().sum::<u64>() + unknown) as f64 / (window * 4.0);
    let mut done = Vec::new();
    if ratio(&now) < 0.3 {
        return done;
    }
    let eligible = eligible(outline);
    for &part in &eligible {
        let joined = outline.units(part) + outline.blocks(part).saturating_sub(1);
        if joined > 4_000 {
            now[part.0 as usize] =
                1_500 + "\n...\n".len() as u64 + 1_500 + trim_note(1_500, 1_500, joined).len() as u64;
            done.push((part, Action::Trim { head: 1_500, tail: 1_500, pairs: SurrogatePairs::Split }));
        }
    }
    if ratio(&now) < 0.5 || eligible.iter().map(|part| now[part.0 as usize]).sum::<u64>() < case.least {
        return done;
    }
    for &part in &eligible {
        if ratio(&now) < 0.5 {
            break;
        }
        now[part.0 as usize] = placeholder;
        done.retain(|&(trimmed, _)| trimmed != part);
        done.push((part, Action::Clear));
    }
    done.sort_by_key(|&(part, _)| part);
    done
}

/// Mode aggressive: clear whatever may be touched and does not read so already.
fn aggressive(outline: &Outline) -> Vec<(PartIx, Action)> {
    let fresh = eligible(outline).into_iter().filter(|&part| !outline.is_placeholder(part));
    fresh.map(|part| (part, Action::Clear)).collect()
}

/// Histories as OpenClaw has them: what a message of an unknown role holds is not known. Most end with enough
/// assistant messages for something older to be touched.
fn histories() -> impl Strategy<Value = Vec<Message>> {
    let answer = MessageFacts { role: Role::Assistant, ..MessageFacts::default() };
    let answer = Message { facts: answer, parts: Vec::new(), report: None };
    (messages(), 0..4usize).prop_map(move |(mut messages, answers)| {
        messages.extend(std::iter::repeat_n(answer.clone(), answers));
        for message in messages.iter_mut().filter(|message| message.facts.role == Role::Other) {
            message.parts.clear();
        }
        messages
    })
}

/// A scene whose window is known. Clearing has to gain at least 50,000 characters, which takes a longer
/// history than is made here; so the number is drawn.
#[derive(Clone, Debug)]
struct Case {
    scene: Scene,
    window: f64,
    least: u64,
}

fn cases(profile: &'static str) -> impl Strategy<Value = Case> {
    let window = prop_oneof![(1.0..10_000.0), (10_000.0..400_000.0)];
    let least = select(vec![50_000, 8_000, 0]);
    let scenes = scenes_of(histories(), Just(named(profile)), Just(Pass::Full));
    (scenes, window, least).prop_map(|(mut scene, window, least)| {
        scene.situation.window = Some(window);
        if let Family::Ratio(rule) = &mut scene.policy.family {
            rule.min_prunable = least;
        }
        Case { scene, window, least }
    })
}

fn cuts(scene: &Scene, outline: &Outline) -> Vec<(PartIx, Action)> {
    let plan = scene.plan(outline, &Memory::default());
    plan.cuts.iter().map(|cut| (cut.part, cut.action)).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn openclaw_of_january(case in cases("openclaw@2026-01")) {
        let outline = case.scene.outline();
        prop_assert_eq!(cuts(&case.scene, &outline), adaptive(&outline, &case));
    }

    #[test]
    fn openclaw_of_january_in_its_aggressive_mode(case in cases("openclaw@2026-01-aggressive")) {
        let outline = case.scene.outline();
        prop_assert_eq!(cuts(&case.scene, &outline), aggressive(&outline));
    }
}

/// The generator must reach what is compared: trimming and clearing both have to happen often.
#[test]
fn windows_are_tight_enough() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;

    let mut runner = TestRunner::deterministic();
    let strategy = cases("openclaw@2026-01");
    let (mut trimming, mut clearing) = (0, 0);
    for _ in 0..200 {
        let case = strategy.new_tree(&mut runner).unwrap().current();
        let done = adaptive(&case.scene.outline(), &case);
        trimming += usize::from(done.iter().any(|(_, action)| *action != Action::Clear));
        clearing += usize::from(done.iter().any(|(_, action)| *action == Action::Clear));
    }
    assert!(trimming > 15 && clearing > 15, "{trimming} of 200 trim, {clearing} clear");
    assert!(PLACEHOLDER.is_ascii(), "lengths here are bytes");
}
