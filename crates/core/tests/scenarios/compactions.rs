//! Compactions that were requested, that follow one another, or that run in the background.

use insta::assert_snapshot;
use secateur::Role;
use secateur::session::{Input, TurnState};

use crate::driver::{Scene, profile};

fn turn(scene: &mut Scene, ask: &str, chars: u64) {
    scene.say(Role::User, ask, 100);
    scene.work("read", chars);
    scene.say(Role::Assistant, "done", 100);
}

#[test]
fn a_requested_compaction_is_not_continued() {
    for name in ["opencode@2026-01", "opencode", "openagentic@2026-01", "qwery", "balanced"] {
        let mut scene = Scene::named(name);
        turn(&mut scene, "read all of it", 90_000);
        turn(&mut scene, "read it again", 90_000);
        scene.ask();
        scene.drive(Input::Compact { now: scene.now });
        let reported = scene.show();
        assert!(
            reported.contains("compaction by manual") && !reported.contains("<continue>"),
            "{name}: {reported}"
        );
    }
}

#[test]
fn a_manual_compaction_keeps_the_recent_turn() {
    let mut scene = Scene::named("balanced");
    turn(&mut scene, "read all of it", 90_000);
    turn(&mut scene, "read it again", 30_000);
    scene.drive(Input::Compact { now: scene.now });
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 assistant "done" 100 chars
    03 user      "read it again" 100 chars
    04 assistant call-2 calls read
    05 tool      call-2 result of read, 30000 chars
    06 assistant "done" 100 chars
    --
    compaction by manual of 3 messages, model
    summarise 3 messages by model
    compacted by model: 37725 to 9893 tokens
    "#);
}

#[test]
fn a_short_session_is_compacted_as_a_whole_on_request() {
    let mut scene = Scene::named("opencode@2026-08");
    turn(&mut scene, "read all of it", 8_000);
    scene.drive(Input::Compact { now: scene.now });
    assert_snapshot!(scene.show(), @r"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    --
    compaction by manual of 4 messages, model
    summarise 4 messages by model
    compacted by model: 2621 to 384 tokens
    ");
}

#[test]
fn a_marker_that_waits_is_answered_after_a_crash() {
    let mut scene = Scene::named("opencode@2026-01");
    turn(&mut scene, "read all of it", 90_000);
    scene.mark();
    scene.drive(Input::Compact { now: scene.now });
    assert_snapshot!(scene.show(), @r"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    --
    compaction by manual of 4 messages, model
    summarise 4 messages by model
    compacted by model: 28246 to 384 tokens
    ");
}

#[test]
fn an_empty_session_has_nothing_to_summarise() {
    let mut scene = Scene::named("balanced");
    scene.drive(Input::Compact { now: scene.now });
    assert_snapshot!(scene.show(), @r"
    --
    compaction given up: nothing-to-summarise
    ");
}

#[test]
fn what_is_pinned_and_the_instructions_survive_two_compactions() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::System, "be careful", 300);
    turn(&mut scene, "read all of it", 60_000);
    scene.pin("never touch the lock file", 60);
    turn(&mut scene, "read it again", 60_000);
    turn(&mut scene, "and once more", 60_000);
    scene.drive(Input::Compact { now: scene.now });
    // The first.
    assert_snapshot!(scene.show(), @r#"
    00 system    "be careful" 300 chars
    01 user      "never touch the lock file" 60 chars
    02 user      <marker> 30 chars
    03 assistant <summary 1> 1200 chars
    04 assistant "done" 100 chars
    05 user      "and once more" 100 chars
    06 assistant call-3 calls read
    07 tool      call-3 result of read, 60000 chars
    08 assistant "done" 100 chars
    --
    compaction by manual of 7 messages, model
    summarise 7 messages by model
    compacted by model: 56700 to 19381 tokens
    "#);

    turn(&mut scene, "go on", 60_000);
    turn(&mut scene, "and on", 60_000);
    scene.drive(Input::Compact { now: scene.now });
    // The second updates the first.
    assert_snapshot!(scene.show(), @r#"
    00 system    "be careful" 300 chars
    01 user      "never touch the lock file" 60 chars
    02 user      <marker> 30 chars
    03 assistant <summary 2> 1200 chars
    04 assistant "done" 100 chars
    05 user      "and on" 100 chars
    06 assistant call-5 calls read
    07 tool      call-5 result of read, 60000 chars
    08 assistant "done" 100 chars
    --
    compaction by manual of 8 messages, model
    summarise 8 messages, updating <summary 1> 1200 chars by model
    compacted by model: 57115 to 19381 tokens
    "#);
}

#[test]
fn qwery_shows_the_summary_without_its_marker() {
    let mut scene = Scene::named("qwery@2026-02");
    turn(&mut scene, "read all of it", 550_000);
    scene.say(Role::User, "and now", 50);
    scene.ask();
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 assistant <summary 1> 1200 chars
    01 user      "and now" 50 chars
    --
    send 172003 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    compaction by usage of 4 messages, model
    summarise 4 messages by model
    compacted by model: 190000 to 431 tokens
    "#);
}

#[test]
fn the_conversation_goes_on_while_a_summary_is_made_in_the_background() {
    let mut ahead = profile("balanced");
    ahead.compaction.background = Some("70%".parse().unwrap());
    let mut scene = Scene::of(&ahead);
    for request in ["read all of it", "and the tests", "read it again"] {
        turn(&mut scene, request, 140_000);
    }
    scene.say(Role::User, "thank you", 20);
    scene.ask();
    scene.say(Role::Assistant, "you are welcome", 20);
    scene.report(150_000, TurnState::Over);
    scene.say(Role::User, "meanwhile", 50);
    scene.work("read", 20_000);
    scene.ask();
    // Nothing has changed yet.
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant "done" 100 chars
    04 user      "and the tests" 100 chars
    05 assistant call-2 calls read
    06 tool      call-2 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "read it again" 100 chars
    09 assistant call-3 calls read
    10 tool      call-3 result of read, 140000 chars
    11 assistant "done" 100 chars
    12 user      "thank you" 20 chars
    13 assistant "you are welcome" 20 chars
    14 user      "meanwhile" 50 chars
    15 assistant call-4 calls read
    16 tool      call-4 result of read, 20000 chars
    --
    send 131593 of 184000 tokens
    compaction by ahead of 11 messages, model in the background
    send 156321 of 184000 tokens
    "#);

    scene.finish();
    // The summary is there.
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 assistant "done" 100 chars
    03 user      "thank you" 20 chars
    04 assistant "you are welcome" 20 chars
    05 user      "meanwhile" 50 chars
    06 assistant call-4 calls read
    07 tool      call-4 result of read, 20000 chars
    --
    summarise 11 messages by model
    compacted by model: 156321 to 7676 tokens
    "#);

    // The answer to the request before it says how long that was, which is true no more.
    scene.report(190_000, TurnState::Over);
    assert!(!scene.show().contains("compaction"), "{}", scene.show());
}

#[test]
fn a_request_that_no_longer_fits_waits_for_the_summary_in_the_background() {
    let mut ahead = profile("balanced");
    ahead.compaction.background = Some("70%".parse().unwrap());
    let mut scene = Scene::of(&ahead);
    for request in ["read all of it", "and the tests", "read it again"] {
        scene.say(Role::User, request, 100);
        scene.say(Role::Assistant, "a long answer", 140_000);
    }
    scene.say(Role::User, "thank you", 20);
    scene.ask();
    scene.say(Role::Assistant, "you are welcome", 20);
    scene.report(150_000, TurnState::Over);
    scene.say(Role::User, "here is the log", 150_000);
    scene.show();
    scene.ask();
    let waiting = scene.show();
    assert!(waiting.ends_with("--"), "{waiting}");
    scene.finish();
    assert_snapshot!(scene.show(), @r#"
    00 user      <marker> 30 chars
    01 assistant <summary 1> 1200 chars
    02 user      "thank you" 20 chars
    03 assistant "you are welcome" 20 chars
    04 user      "here is the log" 150000 chars
    --
    summarise 6 messages by model
    overflow by estimate: 196881 of 184000 tokens
    compacted by model: 196881 to 53973 tokens
    send 53983 of 184000 tokens
    "#);
}
