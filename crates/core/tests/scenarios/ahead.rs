//! Room that is made before the context overflows, and compactions that were undone.

use secateur::session::{SessionMachine, SessionState, TurnState, UndoneCompaction};
use secateur::{Cache, Profile, Role};

use crate::driver::{Scene, profile};

/// `balanced` as followed sessions use it.
fn followed() -> Profile {
    let mut profile = profile("balanced");
    profile.compaction.background = Some("80%".parse().expect("a share"));
    profile
}

/// Turns whose results may be pruned.
fn work(scene: &mut Scene, results: u32, chars: u64) {
    for _ in 0..results {
        scene.say(Role::User, "look", 100);
        scene.work("bash", chars);
        scene.say(Role::Assistant, "I see", 100);
    }
    scene.say(Role::User, "go on", 100);
}

/// An empty session in which operation 7, a compaction, was undone.
fn undone(profile: &Profile) -> Scene {
    let mut scene = Scene::of(profile);
    let undone_compaction = Some(UndoneCompaction { operation: 7, is_told: false });
    let request = scene.machine.state().request.clone();
    let state = SessionState { undone_compaction, request, ..SessionState::default() };
    scene.machine = SessionMachine::new(profile, state, []);
    scene
}

#[test]
fn what_can_be_pruned_is_pruned_before_a_summary_begins_ahead_of_time() {
    let mut scene = Scene::of(&followed());
    // Nothing is pruned to save cost where the cache costs nothing.
    scene.cache = Some(Cache { read: 0.0, ..Cache::default() });
    work(&mut scene, 12, 45_000);
    scene.ask();
    scene.report(150_000, TurnState::Over);
    let shown = scene.show();
    assert!(shown.contains("pruned at overflow"), "{shown}");
    assert!(!shown.contains("compaction"), "{shown}");
    assert!(scene.machine.task().is_none());
}

#[test]
fn a_summary_begins_ahead_of_time_if_pruning_is_not_enough() {
    let mut scene = Scene::of(&followed());
    scene.say(Role::User, "write", 100);
    scene.work("read", 20_000);
    scene.say(Role::Assistant, "a long report", 560_000);
    scene.say(Role::User, "go on", 100);
    scene.ask();
    scene.say(Role::Assistant, "done", 100);
    scene.report(150_000, TurnState::Over);
    let shown = scene.show();
    assert!(shown.contains("compaction by ahead"), "{shown}");
    assert!(scene.machine.task().is_some_and(|task| task.background));
}

#[test]
fn an_undone_compaction_is_not_made_again_ahead_of_time() {
    let mut scene = undone(&followed());
    scene.say(Role::User, "write", 100);
    scene.say(Role::Assistant, "a long report", 560_000);
    for _ in 0..2 {
        scene.say(Role::User, "go on", 100);
        scene.ask();
        scene.say(Role::Assistant, "done", 100);
        scene.report(150_000, TurnState::Over);
    }
    let shown = scene.show();
    assert_eq!(shown.matches("no compaction after operation 7 was undone").count(), 1, "{shown}");
    assert!(!shown.contains("compaction by"), "{shown}");
}

#[test]
fn an_undone_compaction_is_made_again_if_a_request_would_not_fit() {
    for name in ["balanced", "opencode", "opencode@2026-01", "qwery"] {
        let mut scene = undone(&profile(name));
        scene.say(Role::User, "write", 100);
        scene.say(Role::Assistant, "a long report", 560_000);
        scene.say(Role::User, "go on", 100);
        scene.ask();
        scene.say(Role::Assistant, "done", 100);
        scene.report(190_000, TurnState::Over);
        let shown = scene.show();
        assert!(shown.contains("no compaction after operation 7 was undone"), "{name}\n{shown}");
        assert!(!shown.contains("compaction by"), "{name}\n{shown}");
        scene.say(Role::User, "more", 100_000);
        scene.ask();
        let shown = scene.show();
        assert!(shown.contains("compaction by estimate"), "{name}\n{shown}");
        assert!(shown.lines().last().unwrap().starts_with("send "), "{name}\n{shown}");
        assert_eq!(scene.machine.state().undone_compaction, None);
    }
}
