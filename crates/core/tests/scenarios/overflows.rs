//! How an overflow is noticed, and what follows it.

use insta::assert_snapshot;
use secateur::session::{Input, TurnState};
use secateur::{Role, Usage};

use crate::driver::{Scene, profile};

/// Two finished turns with two results each.
fn two_turns(scene: &mut Scene) {
    scene.say(Role::User, "look at the tree", 200);
    scene.work("read", 140_000);
    scene.work("read", 140_000);
    scene.say(Role::Assistant, "it is large", 150);
    scene.say(Role::User, "fix the build", 120);
    scene.work("bash", 140_000);
    scene.work("bash", 120_000);
    scene.ask();
    scene.say(Role::Assistant, "it builds", 90);
}

#[test]
fn a_turn_that_is_over_is_not_continued() {
    let mut scene = Scene::named("balanced");
    two_turns(&mut scene);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      "fix the build" 120 chars
    03 assistant "it builds" 90 chars
    --
    send 169096 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 10 messages, model
    summarise 10 messages by model
    compacted by model: 190028 to 495 tokens
    "#);
}

#[test]
fn a_request_that_was_answered_does_not_stand_at_the_end_as_if_it_were_new() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "a story", 100);
    scene.say(Role::Assistant, "the story", 400_000);
    scene.say(Role::User, "a poem", 100);
    scene.ask();
    scene.say(Role::Assistant, "the poem", 150_000);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    --
    send 125062 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    compacted by model: 236875 to 569 tokens
    ");
}

#[test]
fn opencode_continues_even_a_turn_that_is_over() {
    let mut scene = Scene::named("opencode@2026-01");
    two_turns(&mut scene);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      <continue> 30 chars
    --
    send 169096 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 12 messages, model
    summarise 12 messages by model
    compacted by model: 190037 to 431 tokens
    ");
}

#[test]
fn an_interrupted_model_with_nothing_left_to_answer_is_asked_to_continue() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "write the report", 200);
    scene.say(Role::Assistant, "first half", 540_000);
    scene.ask();
    scene.say(Role::Assistant, "second half", 3_000);
    scene.report(190_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      "write the report" 200 chars
    03 assistant "second half" 3000 chars
    04 user      <continue> 30 chars
    --
    send 168812 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 1 messages, model
    summarise 1 messages by model
    compacted by model: 190937 to 1547 tokens
    "#);
}

#[test]
fn a_request_that_would_not_fit_is_compacted_before_it_is_sent() {
    let mut scene = Scene::named("balanced");
    two_turns(&mut scene);
    scene.say(Role::User, "here is the log", 500_000);
    scene.say(Role::Assistant, "I see", 60);
    scene.say(Role::User, "what is wrong", 80);
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 assistant "I see" 60 chars
    03 user      "what is wrong" 80 chars
    --
    send 169096 of 184000 tokens
    overflow by estimate: 325418 of 184000 tokens
    pruned at overflow: 1 results, 325418 to 281691 tokens
    compaction by estimate of 13 messages, model
    summarise 13 messages by model
    compacted by model: 281691 to 418 tokens
    send 428 of 184000 tokens
    "#);
}

#[test]
fn what_the_provider_refused_is_said_again_behind_the_summary() {
    let mut scene = Scene::named("opencode@2026-08");
    two_turns(&mut scene);
    scene.say(Role::User, "and the tests", 70);
    scene.ask();
    let sent = scene.machine.state().sent_chars;
    scene.drive(Input::Refused { tokens: Some(205_000), sent, now: scene.now });
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 assistant "it builds" 90 chars
    03 user      "and the tests" 70 chars
    --
    send 169096 of 184000 tokens
    send 169146 of 184000 tokens
    overflow by refusal: 205000 of 184000 tokens
    compaction by refusal of 11 messages, model
    summarise 11 messages by model
    compacted by model: 205000 to 488 tokens
    send 526 of 184000 tokens
    "#);
}

#[test]
fn balanced_prunes_after_a_refusal_and_asks_again() {
    let mut scene = Scene::named("balanced");
    two_turns(&mut scene);
    scene.say(Role::User, "and the tests", 70);
    scene.work("bash", 1_000);
    scene.ask();
    let sent = scene.machine.state().sent_chars;
    scene.drive(Input::Refused { tokens: Some(205_000), sent, now: scene.now });
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      "look at the tree" 200 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, 140000 chars
    05 assistant "it is large" 150 chars
    06 user      "fix the build" 120 chars
    07 assistant call-3 calls bash
    08 tool      call-3 result of bash, cleared
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 120000 chars
    11 assistant "it builds" 90 chars
    12 user      "and the tests" 70 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 1000 chars
    --
    send 169096 of 184000 tokens
    send 169509 of 184000 tokens
    overflow by refusal: 205000 of 184000 tokens
    pruned at overflow: 1 results, 205000 to 152117 tokens
    send 152117 of 184000 tokens
    "#);
}

#[test]
fn opencode_compacts_at_overflow_although_pruning_would_be_enough() {
    let mut scene = Scene::named("opencode@2026-01");
    two_turns(&mut scene);
    scene.say(Role::User, "and the tests", 70);
    scene.ask();
    scene.say(Role::Assistant, "they pass", 70);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      <continue> 30 chars
    --
    send 169096 of 184000 tokens
    send 169146 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 14 messages, model
    summarise 14 messages by model
    compacted by model: 190031 to 431 tokens
    ");
}

#[test]
fn a_smaller_window_is_made_to_fit_before_the_first_request() {
    let mut scene = Scene::named("balanced");
    two_turns(&mut scene);
    scene.say(Role::User, "and the tests", 70);
    scene.ask();
    scene.limits.context = 100_000;
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 assistant "it builds" 90 chars
    03 user      "and the tests" 70 chars
    --
    send 169096 of 184000 tokens
    send 169146 of 184000 tokens
    overflow by estimate: 169146 of 84000 tokens
    compaction by estimate of 11 messages, model
    summarise 11 messages by model
    compacted by model: 169146 to 425 tokens
    send 434 of 84000 tokens
    "#);
}

#[test]
fn with_auto_off_everything_is_sent() {
    let mut balanced = profile("balanced");
    balanced.compaction.auto = false;
    let mut scene = Scene::of(&balanced);
    two_turns(&mut scene);
    scene.say(Role::User, "here is the log", 900_000);
    scene.ask();
    scene.report(400_000, TurnState::Open);
    assert_snapshot!(scene.show(), @r#"
    00 user      "look at the tree" 200 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, 140000 chars
    05 assistant "it is large" 150 chars
    06 user      "fix the build" 120 chars
    07 assistant call-3 calls bash
    08 tool      call-3 result of bash, 140000 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 120000 chars
    11 assistant "it builds" 90 chars
    12 user      "here is the log" 900000 chars
    --
    send 169096 of 184000 tokens
    send 450375 of 184000 tokens
    "#);
}

#[test]
fn a_request_that_cannot_fit_is_rejected_with_the_message_in_the_way() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "hello", 40);
    scene.say(Role::Assistant, "hello", 40);
    scene.say(Role::User, "the whole book", 4_000_000);
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      "hello" 40 chars
    01 assistant "hello" 40 chars
    02 user      "the whole book" 4000000 chars
    --
    overflow by estimate: 1250025 of 184000 tokens
    compaction given up: no progress, 1250025 to 1250006 tokens, at most 1231625 wanted
    reject 1250025 of 184000 tokens: "the whole book" 4000000 chars, no-progress
    "#);
}

#[test]
fn what_is_said_of_one_request_is_not_learned_of_another() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "look at the tree", 8_000);
    scene.ask();
    let first = scene.machine.state().sent_chars;
    scene.say(Role::User, "and at the tests", 80_000);
    scene.ask();
    let second = scene.machine.state().sent_chars;
    for (sent, input) in [(first, 2_000), (second, 22_000)] {
        let usage = Usage { input, ..Usage::default() };
        scene.drive(Input::Responded { usage, turn: TurnState::Over, sent, now: scene.now });
        assert_eq!(scene.machine.state().sent_chars, second.filter(|_| sent == first));
    }
    assert_eq!(scene.machine.tokens(), 22_000);
    // What this was about is unknown.
    let usage = Usage { input: 9_000, ..Usage::default() };
    scene.drive(Input::Responded { usage, turn: TurnState::Over, sent: None, now: scene.now });
    assert_eq!(scene.machine.tokens(), 22_000);
}
