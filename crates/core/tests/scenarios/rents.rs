//! Sessions under the default profile: when keeping a result costs more than letting it go.

use insta::assert_snapshot;
use secateur::session::{Input, SessionMachine, SessionState, TurnState};
use secateur::{Cache, Role, Usage};

use crate::driver::{Scene, profile};

/// The model works on, with a small result at each step; the provider reports what was asked.
fn steps(scene: &mut Scene, count: u32) {
    for _ in 0..count {
        scene.ask();
        scene.now += 20_000;
        scene.report(scene.machine.tokens(), TurnState::Open);
        scene.work("bash", 200);
    }
}

/// A long output of a command, some text behind it, and so many steps.
fn long_output(scene: &mut Scene, count: u32) {
    scene.say(Role::User, "why does it fail", 100);
    scene.work("bash", 30_000);
    scene.say(Role::User, "here is the specification", 1_000);
    steps(scene, count);
}

#[test]
fn an_output_goes_when_its_rent_has_paid_for_the_rewrite() {
    let mut scene = Scene::named("balanced");
    long_output(&mut scene, 8);
    assert_snapshot!(scene.show(), @r#"
    00 user      "why does it fail" 100 chars
    01 assistant call-1 calls bash
    02 tool      call-1 result of bash, cleared
    03 user      "here is the specification" 1000 chars
    04 assistant call-2 calls bash
    05 tool      call-2 result of bash, 200 chars
    06 assistant call-3 calls bash
    07 tool      call-3 result of bash, 200 chars
    08 assistant call-4 calls bash
    09 tool      call-4 result of bash, 200 chars
    10 assistant call-5 calls bash
    11 tool      call-5 result of bash, 200 chars
    12 assistant call-6 calls bash
    13 tool      call-6 result of bash, 200 chars
    14 assistant call-7 calls bash
    15 tool      call-7 result of bash, 200 chars
    16 assistant call-8 calls bash
    17 tool      call-8 result of bash, 200 chars
    18 assistant call-9 calls bash
    19 tool      call-9 result of bash, 200 chars
    --
    send 9768 of 184000 tokens
    send 9880 of 184000 tokens
    send 9992 of 184000 tokens
    send 10104 of 184000 tokens
    send 10216 of 184000 tokens
    pruned at before-request: 1 results, 10328 to 976 tokens
    send 976 of 184000 tokens
    send 1088 of 184000 tokens
    send 1200 of 184000 tokens
    "#);
}

#[test]
fn after_a_pause_that_the_cache_does_not_survive_it_goes_for_free() {
    let mut scene = Scene::named("balanced");
    long_output(&mut scene, 4);
    scene.now += 600_000;
    scene.ask();
    assert_snapshot!(scene.show(), @r#"
    00 user      "why does it fail" 100 chars
    01 assistant call-1 calls bash
    02 tool      call-1 result of bash, cleared
    03 user      "here is the specification" 1000 chars
    04 assistant call-2 calls bash
    05 tool      call-2 result of bash, 200 chars
    06 assistant call-3 calls bash
    07 tool      call-3 result of bash, 200 chars
    08 assistant call-4 calls bash
    09 tool      call-4 result of bash, 200 chars
    10 assistant call-5 calls bash
    11 tool      call-5 result of bash, 200 chars
    --
    send 9768 of 184000 tokens
    send 9880 of 184000 tokens
    send 9992 of 184000 tokens
    send 10104 of 184000 tokens
    pruned at before-request: 1 results, 10216 to 864 tokens
    send 864 of 184000 tokens
    "#);
}

/// The provider says after a longer pause that it had everything: its cache lives longer than the price list says.
#[test]
fn a_cache_that_outlives_its_time_is_believed() {
    let mut scene = Scene::named("balanced");
    scene.say(Role::User, "hello", 100);
    scene.ask();
    scene.report(9_000, TurnState::Over);
    scene.now += 900_000;
    scene.ask();
    let usage = Usage { cache_read: 9_000, input: 10, ..Usage::default() };
    let sent = scene.machine.state().sent_chars;
    scene.drive(Input::Responded { usage, turn: TurnState::Open, sent, now: scene.now });
    long_output(&mut scene, 4);
    scene.now += 600_000;
    scene.ask();
    let reported = scene.show();
    assert!(!reported.contains("pruned"), "{reported}");
}

/// Ages are counted from the messages and what was learned is in the state, so a session that is opened anew at every
/// step does the same.
#[test]
fn a_session_that_is_opened_again_goes_on_where_it_was() {
    let balanced = profile("balanced");
    let (mut whole, mut torn) = (Scene::of(&balanced), Scene::of(&balanced));
    for scene in [&mut whole, &mut torn] {
        scene.say(Role::User, "why does it fail", 100);
        scene.work("bash", 30_000);
        scene.say(Role::User, "here is the specification", 1_000);
    }
    for _ in 0..10 {
        steps(&mut whole, 1);
        steps(&mut torn, 1);
        let state = serde_json::to_string(torn.machine.state()).unwrap();
        let state: SessionState = serde_json::from_str(&state).unwrap();
        torn.machine = SessionMachine::new(&balanced, state, torn.machine.context().rows().to_vec());
    }
    let reported = whole.show();
    assert!(reported.contains("pruned at before-request"), "{reported}");
    assert_eq!(torn.show(), reported);
}

/// How long it is kept depends on what the model's provider charges.
#[test]
fn a_provider_without_a_cache_is_spared_at_once() {
    let cut_after = |cache: Option<Cache>| {
        let mut scene = Scene::named("balanced");
        scene.cache = cache;
        long_output(&mut scene, 0);
        (1..60).find(|_| {
            steps(&mut scene, 1);
            scene.show().contains("pruned")
        })
    };
    let deep = Cache { read: 0.02, write: 1.0, ..Cache::default() };
    let waits = [Some(Cache::NONE), None, Some(Cache::default()), Some(deep)].map(cut_after);
    assert_eq!(waits, [Some(4), Some(6), Some(6), None]);
}
