//! Compactions get somewhere, or it is said that they do not.

use secateur::session::{CompactionFailure, Event, Means, TurnState};
use secateur_engine::{Clock, EngineError, NewMessage};
use secateur_formats::Wire;

use super::messages::{turn, user};
use super::setup::{Author, SUMMARY, answered, ask, engine, made, open, target};

const WIRE: Wire = Wire::OpenAiChat;

#[tokio::test]
async fn what_cannot_fit_is_refused_with_the_reason_and_not_tried_for_ever() {
    let model = Author::new(&[]);
    let engine = engine().await.with_model(model.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    let rules = "Never touch the release branch. ".repeat(500);
    session.append([NewMessage { pinned: true, ..user(WIRE, &rules) }]).await.unwrap();
    session.append(turn(WIRE, 1, 200)).await.unwrap();
    for _ in 0..3 {
        let error = session.context(&target(4_000)).await.unwrap_err();
        let EngineError::NoRoom(no_room) = error else { panic!("{error}") };
        assert_eq!(no_room.largest, Some(2), "the pinned message");
        assert!(matches!(no_room.why, Some(CompactionFailure::NoProgress { .. })), "{no_room:?}");
    }
    assert_eq!(
        model.questions(),
        [] as [&str; 0],
        "the few words that could go are not worth a model's time"
    );
    // A wider window is all that it takes.
    ask(&mut session, &target(40_000)).await;
}

#[tokio::test]
async fn what_is_too_long_to_land_low_is_not_held_against_the_model() {
    let model = Author::new(&[]);
    let engine = engine().await.with_model(model.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 900)).await.unwrap();
    }
    // So long that with recent turns beside it the low mark is out of reach.
    session.append([user(WIRE, &"Consider this. ".repeat(480))]).await.unwrap();
    let request = ask(&mut session, &target(3_000)).await;
    assert_eq!(made(&request.events), [Means::Model], "{:?}", request.events);
    assert_eq!(model.questions().len(), 1, "the model is not asked for a summary that cannot be enough");
    assert_eq!(session.state().breaker.failures, 0);
}

#[tokio::test]
async fn a_broken_summariser_is_left_alone_until_its_time_is_over_also_in_another_process() {
    let clock = Clock::at(1_700_000_000_000);
    let model = Author::failing(3);
    let engine = engine().await.with_model(model.clone()).with_clock(clock.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    let mut reported = Vec::new();
    for number in 0..8 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
        reported.extend(ask(&mut session, &target(4_000)).await.events);
        // Every step is taken by a process that knows only what was stored.
        session = engine.open(session.id()).await.unwrap();
    }
    assert!(reported.contains(&Event::BreakerOpened { failures: 3 }), "{reported:?}");
    assert_eq!(model.questions().len(), 3);
    assert!(
        made(&reported).len() >= 2 && made(&reported).iter().all(|means| *means == Means::Digest),
        "{reported:?}"
    );

    clock.set(1_700_000_000_000 + 600_000);
    reported.clear();
    for number in 8..14 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
        reported.extend(ask(&mut session, &target(4_000)).await.events);
    }
    assert!(reported.contains(&Event::BreakerClosed), "{reported:?}");
    assert!(made(&reported).contains(&Means::Model), "{reported:?}");
    assert!(ask(&mut session, &target(4_000)).await.body.contains(SUMMARY.lines().nth(1).unwrap()));
}

#[tokio::test]
async fn a_full_session_that_is_asked_again_and_again_is_compacted_once() {
    let model = Author::new(&[]);
    let engine = engine().await.with_model(model.clone());
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
    }
    let mut reported = Vec::new();
    for _ in 0..5 {
        let request = ask(&mut session, &target(4_000)).await;
        reported.extend(request.events);
        reported.extend(answered(&mut session, request.tokens, TurnState::Over).await);
    }
    assert_eq!(made(&reported), [Means::Model], "{reported:?}");
    assert_eq!(model.questions().len(), 1);
}
