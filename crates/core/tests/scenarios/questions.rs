//! Whatever the profile, a request ends with what the user or a tool said last.

use secateur::session::{CompactionFailure, Input, MessageKind, TurnState};
use secateur::{PartKind, PivotStart, Profile, Profiles, Role};

use crate::driver::Scene;

/// How a conversation ends that is too long.
#[derive(Clone, Copy, Debug)]
enum Ending {
    Question,
    TwoQuestions,
    Result,
    Results,
    ResultAndQuestion,
}

const ENDINGS: [Ending; 5] =
    [Ending::Question, Ending::TwoQuestions, Ending::Result, Ending::Results, Ending::ResultAndQuestion];

/// Every built-in profile, for kept sessions and as followed ones use it.
fn profiles() -> Vec<(String, Profile)> {
    let mut all = Vec::new();
    for name in Profiles::builtin().names() {
        let kept = Profiles::builtin().get(name).expect("a builtin profile");
        let mut followed = kept.clone();
        followed.compaction.background = Some("80%".parse().expect("a share"));
        followed.compaction.resume_when = secateur::ResumeWhen::Never;
        followed.compaction.replay = secateur::Replay::Never;
        followed.compaction.marker_at = secateur::MarkerAt::End;
        followed.pivot.start = PivotStart::Summary;
        all.push((format!("{name}, kept"), kept));
        all.push((format!("{name}, followed"), followed));
    }
    all
}

/// A conversation that does not fit; its end waits for an answer.
fn converse(scene: &mut Scene, ending: Ending) {
    for _ in 0..3 {
        scene.say(Role::User, "look", 100);
        scene.work("read", 100_000);
        scene.say(Role::Assistant, "a long report", 160_000);
    }
    scene.say(Role::User, "go on", 100);
    match ending {
        Ending::Question => {}
        Ending::TwoQuestions => scene.say(Role::User, "and another thing", 100),
        Ending::Result => scene.work("read", 3_000),
        Ending::Results => {
            scene.work("read", 3_000);
            scene.work("edit", 3_000);
        }
        Ending::ResultAndQuestion => {
            scene.work("read", 3_000);
            scene.say(Role::User, "wait", 100);
        }
    }
}

/// Asserts that the newest message is the last one, and that the results at the end have their calls.
fn assert_asks(scene: &mut Scene, newest: u64, about: &str) {
    let shown = scene.show();
    let rows = scene.machine.context().rows();
    assert_eq!(rows.last().map(|row| row.seq), Some(newest), "{about}\n{shown}");
    assert!(scene.machine.context().is_sound(), "{about}\n{shown}");
    let unseen = rows.iter().rev().take_while(|row| row.facts.role != Role::Assistant);
    let results = unseen.filter(|row| row.facts.parts.iter().any(|part| part.kind == PartKind::Result));
    let calls = rows.iter().rev().find(|row| row.facts.role == Role::Assistant);
    let calls = calls.is_some_and(|row| row.facts.parts.iter().any(|part| part.kind == PartKind::Call));
    assert_eq!(results.count() > 0, calls, "{about}\n{shown}");
    assert!(shown.lines().last().is_some_and(|line| line.starts_with("send ")), "{about}\n{shown}");
}

#[test]
fn a_request_ends_with_what_was_said_last() {
    for (name, profile) in profiles() {
        for ending in ENDINGS {
            for attempts in [0, 1] {
                let mut profile = profile.clone();
                profile.compaction.attempts = attempts;
                let mut scene = Scene::of(&profile);
                converse(&mut scene, ending);
                let newest = scene.machine.context().rows().last().unwrap().seq;
                scene.ask();
                scene.finish();
                let about = format!("{name}, {ending:?}, {attempts} attempts");
                if attempts == 0 && profile.compaction.fallback == secateur::Fallback::Nothing {
                    // Without a summary there is too much talk.
                    assert_eq!(scene.machine.context().rows().last().unwrap().seq, newest, "{about}");
                    continue;
                }
                assert_asks(&mut scene, newest, &about);
            }
        }
    }
}

#[test]
fn what_was_said_last_stays_behind_every_kind_of_compaction() {
    for (name, profile) in profiles() {
        for ending in ENDINGS {
            for how in ["usage", "refusal", "asked for"] {
                let mut scene = Scene::of(&profile);
                converse(&mut scene, ending);
                let newest = scene.machine.context().rows().last().unwrap().clone();
                let (sent, now) = (Some(792_000), scene.now);
                match how {
                    "usage" => scene.report(250_000, TurnState::Open),
                    "refusal" => scene.drive(Input::Refused { tokens: Some(250_000), sent, now }),
                    _ => scene.drive(Input::Compact { now }),
                }
                let shown = scene.show();
                let last = scene.machine.context().rows().last().unwrap();
                // A message that is repeated has another number.
                assert_eq!(last.facts, newest.facts, "{name}, {ending:?}, {how}\n{shown}");
                assert!(scene.machine.context().is_sound(), "{name}, {ending:?}, {how}\n{shown}");
            }
        }
    }
}

#[test]
fn a_summariser_that_fails_leaves_no_message_behind_the_question() {
    for (name, profile) in profiles() {
        let mut scene = Scene::of(&profile);
        let dead = || Err(CompactionFailure::Model { message: "connection refused".into() });
        scene.summaries.extend([dead(), dead(), dead(), dead()]);
        converse(&mut scene, Ending::Result);
        let newest = scene.machine.context().rows().last().unwrap().seq;
        scene.ask();
        let last = scene.machine.context().rows().last().unwrap().seq;
        assert_eq!(last, newest, "{name}\n{}", scene.show());
    }
}

#[test]
fn a_failing_summariser_is_never_worse_than_none() {
    for (name, mut profile) in profiles() {
        let requests = [0, profile.compaction.attempts].map(|attempts| {
            profile.compaction.attempts = attempts;
            let mut scene = Scene::of(&profile);
            let dead = || Err(CompactionFailure::Model { message: "connection refused".into() });
            scene.summaries.extend([dead(), dead(), dead(), dead()]);
            for tool in ["read", "bash", "read", "bash", "read"] {
                scene.say(Role::User, "look", 100);
                scene.work(tool, 200_000);
                scene.say(Role::Assistant, "I see", 100);
            }
            scene.say(Role::User, "go on", 100);
            scene.ask();
            let shown = scene.show();
            assert!(shown.lines().last().unwrap().starts_with("send "), "{name}, {attempts}\n{shown}");
            let kinds = scene.machine.context().rows().iter().map(|row| row.facts.kind);
            kinds.filter(|kind| *kind == MessageKind::Plain).count()
        });
        assert_eq!(requests[0], requests[1], "{name}");
    }
}
