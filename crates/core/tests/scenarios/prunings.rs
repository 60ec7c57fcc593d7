//! When old results are cut, and what is left of them.

use std::collections::BTreeMap;

use insta::assert_snapshot;
use secateur::session::{Event, Input, TurnState};
use secateur::{Occasion, Reason, Role};

use crate::driver::{Scene, profile};

/// Three turns, with more tool output in the first than any system protects.
fn three_turns(scene: &mut Scene) {
    scene.say(Role::User, "read all of it", 100);
    for _ in 0..3 {
        scene.work("read", 140_000);
    }
    scene.say(Role::Assistant, "done", 100);
    for request in ["translate", "print"] {
        scene.say(Role::User, request, 50);
        scene.work("bash", 40_000);
        if request == "print" {
            scene.ask();
        }
        scene.say(Role::Assistant, "done", 100);
    }
}

#[test]
fn where_pruning_is_enough_nothing_is_compacted() {
    let mut scene = Scene::named("balanced");
    three_turns(&mut scene);
    scene.report(190_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, 140000 chars
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, cleared
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    send 156625 of 184000 tokens
    overflow by usage: 190500 of 184000 tokens
    pruned at overflow: 1 results, 190031 to 174901 tokens
    "#);
}

#[test]
fn balanced_leaves_results_alone_while_there_is_room() {
    let mut scene = Scene::named("balanced");
    three_turns(&mut scene);
    scene.drive(Input::Opened { now: scene.now });
    scene.report(170_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, 140000 chars
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    send 156625 of 184000 tokens
    "#);
}

#[test]
fn opencode_prunes_when_the_turn_is_over() {
    let mut scene = Scene::named("opencode@2026-01");
    three_turns(&mut scene);
    let before = scene.show();
    assert!(!before.contains("cleared"), "{before}");
    scene.report(170_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, cleared
    03 assistant call-2 calls read
    04 tool      call-2 result of read, cleared
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    pruned at turn-end: 2 results, 170031 to 75084 tokens
    "#);
}

#[test]
fn opencode_does_not_prune_while_the_model_is_at_work() {
    let mut scene = Scene::named("opencode@2026-01");
    three_turns(&mut scene);
    scene.report(170_000, TurnState::Open);
    let reported = scene.show();
    assert!(!reported.contains("cleared"), "{reported}");
}

#[test]
fn opencode_of_august_prunes_only_if_it_is_asked_to() {
    let mut scene = Scene::named("opencode@2026-08");
    three_turns(&mut scene);
    scene.report(170_000, TurnState::Over);
    let reported = scene.show();
    assert!(!reported.contains("cleared"), "{reported}");
}

#[test]
fn qwery_prunes_when_the_turn_is_over() {
    let mut scene = Scene::named("qwery@2026-02");
    three_turns(&mut scene);
    scene.report(170_000, TurnState::Over);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, cleared
    03 assistant call-2 calls read
    04 tool      call-2 result of read, cleared
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    send 156625 of 184000 tokens
    pruned at turn-end: 2 results, 170031 to 75084 tokens
    "#);
}

#[test]
fn openagentic_prunes_before_a_request() {
    let mut scene = Scene::named("openagentic@2026-01");
    three_turns(&mut scene);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, cleared
    03 assistant call-2 calls read
    04 tool      call-2 result of read, cleared
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    pruned at before-request: 2 results, 156625 to 69145 tokens
    send 69145 of 195904 tokens
    "#);
}

#[test]
fn openclaw_cuts_for_one_request_and_stores_nothing() {
    let mut scene = Scene::named("openclaw@2026-01");
    three_turns(&mut scene);
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, trimmed to 1500 + 1500 of 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, trimmed to 1500 + 1500 of 140000 chars
    05 assistant call-3 calls read
    06 tool      call-3 result of read, trimmed to 1500 + 1500 of 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    send 28270 of 183616 tokens
    "#);
    assert!(scene.machine.context().memory().is_empty());
}

#[test]
fn openclaw_of_late_january_cuts_one_request_when_the_cache_is_cold() {
    for profile in ["openclaw@2026-01c", "openclaw@2026-06"] {
        let mut scene = Scene::named(profile);
        three_turns(&mut scene);
        scene.report(170_000, TurnState::Over);
        scene.say(Role::User, "go on", 50);
        for (pause, is_cut) in [(60_000, false), (300_000, true), (60_000, false)] {
            scene.now += pause;
            scene.ask();
            let shown = scene.show();
            assert_eq!(shown.contains("trimmed to 1500 + 1500"), is_cut, "{profile}: {shown}");
            assert!(scene.machine.context().memory().is_empty(), "{profile}");
        }
    }
}

#[test]
fn openclaw_of_september_waits_until_the_cache_is_cold() {
    let mut scene = Scene::named("openclaw@2026-09");
    three_turns(&mut scene);
    scene.report(170_000, TurnState::Over);
    scene.say(Role::User, "go on", 50);
    scene.now += 60_000;
    scene.ask();
    let warm = scene.show();
    assert!(!warm.contains("trimmed"), "{warm}");
    scene.now += 300_000;
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, trimmed to 1500 + 1500 of 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, trimmed to 1500 + 1500 of 140000 chars
    05 assistant call-3 calls read
    06 tool      call-3 result of read, trimmed to 1500 + 1500 of 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, trimmed to 1500 + 1500 of 40000 chars
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    16 user      "go on" 50 chars
    --
    pruned at before-request: 4 results, 170046 to 18214 tokens
    send 18214 of 183616 tokens
    "#);
}

#[test]
fn a_session_is_pruned_when_it_is_opened_if_a_profile_says_so() {
    let mut opened = profile("balanced");
    opened.compaction.prune_at = vec![Occasion::SessionStart];
    let mut scene = Scene::of(&opened);
    three_turns(&mut scene);
    // After an hour the provider's cache is cold.
    scene.now += 3_600_000;
    scene.drive(Input::Opened { now: scene.now });
    assert_snapshot!(scene.show(), @r#"
    00 user      "read all of it" 100 chars
    01 assistant call-1 calls read
    02 tool      call-1 result of read, 140000 chars
    03 assistant call-2 calls read
    04 tool      call-2 result of read, 140000 chars
    05 assistant call-3 calls read
    06 tool      call-3 result of read, 140000 chars
    07 assistant "done" 100 chars
    08 user      "translate" 50 chars
    09 assistant call-4 calls bash
    10 tool      call-4 result of bash, cleared
    11 assistant "done" 100 chars
    12 user      "print" 50 chars
    13 assistant call-5 calls bash
    14 tool      call-5 result of bash, 40000 chars
    15 assistant "done" 100 chars
    --
    send 156625 of 184000 tokens
    pruned at session-start: 1 results, 156656 to 144178 tokens
    "#);
}

#[test]
fn one_huge_result_is_capped_on_arrival() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "print everything", 100);
    scene.work("bash", 5_000_000);
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      "print everything" 100 chars
    01 assistant call-1 calls bash
    02 tool      call-1 result of bash, trimmed to 110400 + 36800 of 5000000 chars
    --
    pruned at arrival: 1 results, 1562581 to 46123 tokens
    send 46123 of 184000 tokens
    "#);
}

#[test]
fn hooks_may_forbid_a_cut() {
    let mut scene = Scene::named("opencode@2026-01");
    scene.refuses = |_| true;
    three_turns(&mut scene);
    scene.report(170_000, TurnState::Over);
    let reported = scene.show();
    assert!(!reported.contains("cleared") && !reported.contains("pruned"), "{reported}");
}

/// Events that were stored before reasons were told are read as they are.
#[test]
fn an_event_without_reasons_is_read_and_one_with_them_comes_back() {
    let old = r#"{"type":"pruned","occasion":"turn-end","cuts":3,"before":9,"after":1}"#;
    let event: Event = serde_json::from_str(old).unwrap();
    assert!(matches!(&event, Event::Pruned { cuts: 3, reasons, .. } if reasons.is_empty()));
    assert_eq!(serde_json::to_string(&event).unwrap(), old);
    let reasons = BTreeMap::from([(Reason::Rent, 2), (Reason::CacheCold, 1)]);
    let event = Event::Pruned { occasion: Occasion::TurnEnd, cuts: 3, reasons, before: 9, after: 1 };
    let text = serde_json::to_string(&event).unwrap();
    assert!(text.contains(r#""reasons":{"rent":2,"cache-cold":1}"#), "{text}");
    assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
}
