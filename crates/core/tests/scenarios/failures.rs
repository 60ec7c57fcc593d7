//! Summaries that fail, hooks that object, and what a session does then.

use insta::assert_snapshot;
use secateur::Role;
use secateur::session::{CompactionFailure, Input, Proposal, TurnState};

use crate::driver::Scene;

fn broken() -> Result<u64, CompactionFailure> {
    Err(CompactionFailure::Model { message: "status 500".into() })
}

/// A session of talk alone, so that only a summary can help.
fn talk(scene: &mut Scene) {
    for (ask, answer) in [("a story", "the story"), ("a poem", "the poem")] {
        scene.say(Role::User, ask, 100);
        scene.say(Role::Assistant, answer, 280_000);
    }
    scene.say(Role::User, "a title", 100);
    scene.ask();
    scene.say(Role::Assistant, "the title", 200);
}

#[test]
fn a_summary_that_fails_once_is_asked_for_again() {
    let mut scene = Scene::named("balanced");
    scene.summaries.extend([broken()]);
    talk(&mut scene);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    send 175093 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    failed by model, attempt 1: status 500
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    compacted by model: 190062 to 508 tokens
    "#);
}

#[test]
fn after_three_failures_the_model_is_left_alone_for_a_while() {
    let mut scene = Scene::named("balanced");
    scene.summaries.extend([broken(), broken(), broken()]);
    talk(&mut scene);
    scene.report(190_000, TurnState::Over);
    // Two failures, then a digest.
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 800 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    send 175093 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    failed by model, attempt 1: status 500
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    failed by model, attempt 2: status 500
    compaction by usage of 4 messages, digest
    summarise 4 messages by digest
    compacted by digest: 190062 to 373 tokens
    "#);

    talk(&mut scene);
    // The third opens the breaker.
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 2> 800 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    overflow by estimate: 190353 of 184000 tokens
    compaction by estimate of 6 messages, model
    summarise 6 messages, updating <summary 1> 800 chars by model
    failed by model, attempt 1: status 500
    breaker opened after 3 failures
    compaction by estimate of 6 messages, digest
    summarise 6 messages, updating <summary 1> 800 chars by digest
    compacted by digest: 190353 to 305 tokens
    send 315 of 184000 tokens
    "#);

    talk(&mut scene);
    // No model is asked meanwhile.
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 3> 800 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    overflow by estimate: 190353 of 184000 tokens
    compaction by estimate of 6 messages, digest
    summarise 6 messages, updating <summary 2> 800 chars by digest
    compacted by digest: 190353 to 305 tokens
    send 315 of 184000 tokens
    "#);

    scene.now += 600_000;
    talk(&mut scene);
    // And later it closes.
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 4> 1200 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    overflow by estimate: 190353 of 184000 tokens
    compaction by estimate of 6 messages, model
    summarise 6 messages, updating <summary 3> 800 chars by model
    compacted by model: 190353 to 440 tokens
    breaker closed
    send 451 of 184000 tokens
    "#);
}

#[test]
fn opencode_of_january_keeps_everything_if_there_is_no_summary() {
    let mut scene = Scene::named("opencode@2026-01");
    scene.summaries.extend([broken()]);
    talk(&mut scene);
    scene.report(190_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      "a story" 100 chars
    01 assistant "the story" 280000 chars
    02 user      "a poem" 100 chars
    03 assistant "the poem" 280000 chars
    04 user      "a title" 100 chars
    05 assistant "the title" 200 chars
    06 user      <marker> 30 chars
    --
    send 175093 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 6 messages, model
    summarise 6 messages by model
    failed by model, attempt 1: status 500
    compaction given up: status 500
    "#);
}

#[test]
fn openagentic_continues_even_after_a_failure() {
    let mut scene = Scene::named("openagentic@2026-01");
    scene.summaries.extend([broken()]);
    talk(&mut scene);
    scene.report(197_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      "a story" 100 chars
    01 assistant "the story" 280000 chars
    02 user      "a poem" 100 chars
    03 assistant "the poem" 280000 chars
    04 user      "a title" 100 chars
    05 assistant "the title" 200 chars
    06 user      <marker> 30 chars
    07 user      <continue> 30 chars
    --
    send 175093 of 195904 tokens
    overflow by usage: 197500 of 195904 tokens
    compaction by usage of 6 messages, model
    summarise 6 messages by model
    failed by model, attempt 1: status 500
    compaction given up: status 500
    "#);
}

#[test]
fn openagentic_continues_even_after_a_veto() {
    let mut scene = Scene::named("openagentic@2026-01");
    scene.refuses = |about| matches!(about, Proposal::Compaction(_));
    talk(&mut scene);
    scene.report(197_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      "a story" 100 chars
    01 assistant "the story" 280000 chars
    02 user      "a poem" 100 chars
    03 assistant "the poem" 280000 chars
    04 user      "a title" 100 chars
    05 assistant "the title" 200 chars
    06 user      <continue> 30 chars
    --
    send 175093 of 195904 tokens
    overflow by usage: 197500 of 195904 tokens
    compaction given up: vetoed
    "#);
}

#[test]
fn a_veto_leaves_everything_as_it_was() {
    let mut scene = Scene::named("balanced");
    scene.refuses = |about| matches!(about, Proposal::Compaction(_));
    talk(&mut scene);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      "a story" 100 chars
    01 assistant "the story" 280000 chars
    02 user      "a poem" 100 chars
    03 assistant "the poem" 280000 chars
    04 user      "a title" 100 chars
    05 assistant "the title" 200 chars
    --
    send 175093 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction given up: vetoed
    "#);
}

#[test]
fn a_hook_may_keep_the_work_from_going_on() {
    let mut scene = Scene::named("opencode@2026-08");
    scene.refuses = |about| matches!(about, Proposal::Resume);
    talk(&mut scene);
    scene.report(190_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    send 175093 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    compacted by model: 190071 to 518 tokens
    "#);
}

#[test]
fn a_summary_that_saves_nothing_is_not_taken() {
    let mut scene = Scene::named("balanced");
    scene.summaries.extend([Ok(600_000), Ok(600_000)]);
    talk(&mut scene);
    scene.drive(Input::Compact { now: scene.now });
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 800 chars
    02 user      "a title" 100 chars
    03 assistant "the title" 200 chars
    --
    send 175093 of 184000 tokens
    compaction by manual of 4 messages, model
    summarise 4 messages by model
    failed by model, attempt 1: no progress, 175156 to 187600 tokens, at most 110400 wanted
    compaction by manual of 4 messages, model
    summarise 4 messages by model
    failed by model, attempt 2: no progress, 175156 to 187600 tokens, at most 110400 wanted
    compaction by manual of 4 messages, digest
    summarise 4 messages by digest
    compacted by digest: 175156 to 343 tokens
    "#);
}
