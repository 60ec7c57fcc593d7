//! A summary is made while the conversation goes on.

use std::sync::Arc;

use secateur::session::{Event, Means, Trigger, TurnState};
use secateur_engine::provider::Endpoint;
use secateur_engine::{Engine, Session};
use secateur_formats::Wire;

use super::messages::{shape, turn, user};
use super::setup::{Author, SUMMARY, answered, ask, engine, made, open, set, target};
use secateur_testing::scripted_provider::{Script, ScriptedProvider};

const WIRE: Wire = Wire::OpenAiChat;

async fn ahead(engine: Engine) -> (Engine, Session) {
    let engine = set(engine, "compaction = { background = \"70%\" }");
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
    }
    (engine, session)
}

#[tokio::test]
async fn it_is_swapped_in_when_it_is_ready_and_what_was_said_meanwhile_stays() {
    let (engine, mut session) = ahead(engine().await.with_model(Author::new(&[]))).await;
    ask(&mut session, &target(8_000)).await;
    let reported = answered(&mut session, 6_000, TurnState::Over).await;
    assert!(
        matches!(reported[..], [Event::CompactionStarted { trigger: Trigger::Ahead, background: true, .. }]),
        "{reported:?}"
    );
    session.append([user(WIRE, "Meanwhile, something else.")]).await.unwrap();
    let reported = session.wait().await.unwrap();
    assert_eq!(made(&reported), [Means::Model], "{reported:?}");
    let request = ask(&mut session, &target(8_000)).await;
    assert!(shape(&request.body).ends_with("user: Meanwhile, something else.\n"), "{}", shape(&request.body));
    assert!(request.body.contains("The files were looked at."));
    let mut other = engine.open(session.id()).await.unwrap();
    assert_eq!(ask(&mut other, &target(8_000)).await.body, request.body);
}

#[tokio::test]
async fn a_request_waits_for_it_only_if_it_does_not_fit_otherwise() {
    let server = ScriptedProvider::start(vec![
        Script::silence(),
        Script::answer(WIRE, SUMMARY),
        Script::answer(WIRE, SUMMARY),
    ])
    .await;
    let endpoint = Endpoint { retries: 0, patience_ms: 100, ..Endpoint::new(WIRE, server.url(), "m") };
    let model = endpoint.connect_as(None).unwrap();
    let (_, mut session) = ahead(engine().await.with_model(Arc::new(model))).await;
    ask(&mut session, &target(8_000)).await;
    answered(&mut session, 6_000, TurnState::Over).await;
    server.wait_for_requests(1).await;
    // The server says nothing, and the conversation goes on.
    let request = ask(&mut session, &target(8_000)).await;
    assert_eq!(made(&request.events), []);
    session.append(turn(WIRE, 9, 6_000)).await.unwrap();
    let request = ask(&mut session, &target(8_000)).await;
    assert_eq!(made(&request.events), [Means::Model], "{:?}", request.events);
}

#[tokio::test]
async fn a_requested_compaction_is_the_one_that_is_being_made() {
    let (_, mut session) = ahead(engine().await.with_model(Author::new(&[]))).await;
    ask(&mut session, &target(8_000)).await;
    answered(&mut session, 6_000, TurnState::Over).await;
    let reported = session.compact(None).await.unwrap();
    assert_eq!(made(&reported).first(), Some(&Means::Model), "{reported:?}");
}

#[tokio::test]
async fn what_another_process_appended_meanwhile_stays_behind_it() {
    let (engine, mut session) = ahead(engine().await.with_model(Author::new(&[]))).await;
    ask(&mut session, &target(8_000)).await;
    answered(&mut session, 6_000, TurnState::Over).await;
    let mut other = engine.open(session.id()).await.unwrap();
    other.append([user(WIRE, "From elsewhere.")]).await.unwrap();
    session.wait().await.unwrap();
    let request = ask(&mut session, &target(8_000)).await;
    assert!(shape(&request.body).ends_with("user: From elsewhere.\n"), "{}", shape(&request.body));
    assert_eq!(ask(&mut other, &target(8_000)).await.body, request.body);
}
