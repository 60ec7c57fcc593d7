//! The incremental plan is the plain plan, and neither panics.

use proptest::prelude::*;
use secateur::{Memory, MessageFacts, Outline, PartIx, PlanIndex};

use crate::config;
use crate::outlines::{all_measures, build, messages, report};
use crate::policies::{
    any_policy, builtin, extreme_policy, keep_last_policy, ratio_policy, rent_policy, watermark_policy,
};
use crate::scene::{Scene, foreign_memory, scenes, scenes_of_any_pass};

/// What happens to memory after a step of a growing history.
#[derive(Clone, Copy, Debug)]
enum Then {
    Nothing,
    /// The plan is carried out.
    Commit,
    /// A remembered cut is forgotten: the one at this place, counted around.
    Undo(usize),
}

fn thens() -> impl Strategy<Value = Vec<Then>> {
    let then = prop_oneof![
        3 => Just(Then::Nothing),
        2 => Just(Then::Commit),
        1 => (0..10usize).prop_map(Then::Undo),
    ];
    prop::collection::vec(then, 1..8)
}

fn apply(then: Then, scene: &Scene, outline: &Outline, memory: &mut Memory) {
    match then {
        Then::Nothing => {}
        Then::Commit => {
            let plan = scene.plan(outline, memory);
            memory.commit(&plan, outline, &scene.policy.placeholder);
        }
        Then::Undo(place) => {
            let known: Vec<PartIx> = memory.cuts().map(|(part, _)| part).collect();
            if let Some(&part) = known.get(place % known.len().max(1)) {
                memory.undo(part);
            }
        }
    }
}

/// Advances the tally and holds its plan against the plain one.
fn check(
    tally: &mut PlanIndex,
    scene: &Scene,
    outline: &Outline,
    memory: &Memory,
) -> Result<(), TestCaseError> {
    let Scene { policy, situation, .. } = scene;
    tally.advance(outline, policy, memory);
    let incremental = tally.plan(outline, policy, situation, memory);
    prop_assert_eq!(incremental, scene.plan(outline, memory));
    Ok(())
}

/// Advances once at the end.
fn check_at_once(scene: &Scene, memory: &Memory) -> Result<(), TestCaseError> {
    check(&mut PlanIndex::default(), scene, &scene.outline(), memory)
}

/// Advances after every message and after every part, with commits and undos between them, and plans each
/// time.
fn check_step_by_step(scene: &Scene, thens: &[Then], mut memory: Memory) -> Result<(), TestCaseError> {
    let mut outline = Outline::new(all_measures());
    let mut tally = PlanIndex::default();
    let mut thens = thens.iter().copied().cycle();
    for message in &scene.messages {
        outline.push_message(message.facts);
        check(&mut tally, scene, &outline, &memory)?;
        for &part in &message.parts {
            outline.push_part(part);
            check(&mut tally, scene, &outline, &memory)?;
            apply(thens.next().unwrap_or(Then::Nothing), scene, &outline, &mut memory);
            check(&mut tally, scene, &outline, &memory)?;
        }
        // A report may come before the next message, or when its message was counted long ago.
        report(&mut outline, message);
        check(&mut tally, scene, &outline, &memory)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn at_once_under_builtin_policies(scene in scenes_of_any_pass(builtin())) {
        check_at_once(&scene, &Memory::default())?;
    }

    #[test]
    fn at_once_under_any_policy(scene in scenes_of_any_pass(any_policy())) {
        check_at_once(&scene, &Memory::default())?;
    }

    #[test]
    fn step_by_step_under_builtin_policies(scene in scenes(builtin()), thens in thens()) {
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    #[test]
    fn step_by_step_under_watermarks(scene in scenes(watermark_policy()), thens in thens()) {
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    #[test]
    fn step_by_step_under_ratios(scene in scenes(ratio_policy()), thens in thens()) {
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    #[test]
    fn step_by_step_under_keep_last(scene in scenes(keep_last_policy()), thens in thens()) {
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    #[test]
    fn step_by_step_under_rent(scene in scenes(rent_policy()), thens in thens()) {
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    /// A memory may come from a file, and may speak of parts that are not there or are no results.
    #[test]
    fn with_a_memory_of_other_parts(
        scene in scenes_of_any_pass(any_policy()),
        memory in foreign_memory(),
        thens in thens(),
    ) {
        check_at_once(&scene, &memory)?;
        check_step_by_step(&scene, &thens, memory)?;
    }

    /// As above, where the memory is honest but belongs to another and longer history.
    #[test]
    fn with_a_memory_of_another_history(scene in scenes(any_policy()), more in messages()) {
        let longer = Scene { messages: [scene.messages.as_slice(), &more].concat(), ..scene.clone() };
        let (outline, plan) = longer.first_plan();
        let memory = longer.committed(&outline, &plan, Memory::default());
        check_at_once(&scene, &memory)?;
        let other = Scene { messages: more, ..scene };
        check_at_once(&other, &memory)?;
    }

    /// Sizes that no sum can hold saturate; they do not panic, and both ways of planning agree on them.
    #[test]
    fn with_sizes_beyond_all_sums(scene in scenes(extreme_policy()), thens in thens()) {
        check_at_once(&scene, &Memory::default())?;
        check_step_by_step(&scene, &thens, Memory::default())?;
    }

    /// A tally that was kept while its history was rewound to a shorter one starts over, also if nothing but
    /// messages without parts went.
    #[test]
    fn after_the_history_was_rewound(scene in scenes(any_policy()), lost in 0..3usize) {
        let mut tally = PlanIndex::default();
        let mut outline = scene.outline();
        outline.push_message(MessageFacts::default());
        check(&mut tally, &scene, &outline, &Memory::default())?;
        let left = scene.messages.len().saturating_sub(lost);
        let rewound = build(&scene.messages[..left]);
        check(&mut tally, &scene, &rewound, &Memory::default())?;
    }
}
