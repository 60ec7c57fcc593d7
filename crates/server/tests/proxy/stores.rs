//! Stores that fail in the middle of a conversation: every request is answered, and when the store is back, what was
//! decided before still holds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use secateur_engine::Engine;
use secateur_store::{OperationRow, Store};

use crate::agent::{Agent, Wire};
use crate::client::same;
use crate::flaky::{Flaky, Mood};
use crate::place::file;
use crate::play::within;
use crate::stage::{Stage, engine, steady};

const WINDOW: u64 = 8_000;
const TASK: &str = "SCENARIO:long steps=36 bytes=4000";

/// An agent that has worked until something was compacted, so that there is room again.
async fn worked(to: SocketAddr) -> Agent {
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    while agent.step(to).await.0.outcome() != "compacted" {}
    agent
}

/// All operations of all sessions.
async fn operations(store: &Arc<dyn Store>) -> Vec<(String, OperationRow)> {
    let mut all = Vec::new();
    for session in store.sessions(99).await.unwrap() {
        let rows = store.operations(&session.id, 0, 999).await.unwrap();
        all.extend(rows.into_iter().map(|row| (session.id.clone(), row)));
    }
    all.sort_by(|one, other| (&one.0, one.1.number).cmp(&(&other.0, other.1.number)));
    all
}

/// That everything that was done before is still there, as it was.
fn check_kept(before: &[(String, OperationRow)], after: &[(String, OperationRow)]) {
    for operation in before {
        assert!(after.contains(operation), "lost: {operation:?}");
    }
}

/// Asks the same again, and says what reached the provider.
async fn again(agent: &Agent, stage: &Stage) -> (String, String) {
    let answer = agent.ask(stage.address()).await;
    assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
    (stage.tap.last(), format!("{} {}", answer.outcome(), answer.reason()))
}

async fn whoever_has_no_store_goes_on(mood: Mood) {
    let store = Flaky::new("sqlite::memory:").await;
    let stage = Stage::with(WINDOW, steady(Engine::new(store.clone()))).await;
    let mut agent = worked(stage.address()).await;
    let (expected, did) = again(&agent, &stage).await;
    let before = operations(store.behind()).await;
    assert_eq!(did, "replayed ");

    store.set(mood);
    // What was decided is replayed, and what is new goes on behind it, as long as it fits.
    let (body, did) = again(&agent, &stage).await;
    same(&body, &expected, &format!("{mood:?}, {did}"));
    let (answer, _) = agent.step(stage.address()).await;
    println!("{mood:?}: {} {}", answer.outcome(), answer.reason());
    same(
        &stage.tap.last()[..expected.len() - 200],
        &expected[..expected.len() - 200],
        "what is new comes behind",
    );
    // Somebody who was never seen is let through.
    let stranger = Agent::new(Wire::Chat, "SCENARIO:hello");
    let (body, _) = again(&stranger, &stage).await;
    same(&body, &stranger.body(), "a stranger");

    store.set(Mood::Well);
    check_kept(&before, &operations(store.behind()).await);
    let mut earlier = agent.clone();
    earlier.items.truncate(agent.items.len() - 2);
    let (body, did) = again(&earlier, &stage).await;
    same(&body, &expected, &format!("after {mood:?}, {did}"));
    let (text, _) = Agent::work(&mut agent, stage.address()).await;
    assert_eq!(text, "Finished long after 36 steps.");
    assert_eq!(stage.model.stats()["violations"], 0);
    check_kept(&before, &operations(store.behind()).await);
}

#[tokio::test]
async fn a_store_that_is_gone_holds_nobody_up() {
    whoever_has_no_store_goes_on(Mood::Broken).await;
}

#[tokio::test]
async fn a_store_that_cannot_be_written_holds_nobody_up() {
    whoever_has_no_store_goes_on(Mood::ReadOnly).await;
}

#[tokio::test]
async fn a_store_that_loses_its_answers_holds_nobody_up() {
    whoever_has_no_store_goes_on(Mood::Forgetful).await;
}

#[tokio::test]
async fn a_store_that_is_slow_holds_nobody_up() {
    whoever_has_no_store_goes_on(Mood::Slow).await;
}

/// Nobody waits longer than the proxy's patience with its store.
#[tokio::test]
async fn a_store_that_never_answers_is_not_waited_for() {
    let store = Flaky::new("sqlite::memory:").await;
    let stage = Stage::with(WINDOW, steady(Engine::new(store.clone()))).await;
    let agent = worked(stage.address()).await;
    let (expected, _) = again(&agent, &stage).await;
    store.set(Mood::Stuck);
    let (body, did) = again(&agent, &stage).await;
    same(&body, &expected, &format!("stuck, {did}"));
    store.set(Mood::Well);
    let (body, did) = again(&agent, &stage).await;
    same(&body, &expected, &format!("well again, {did}"));
}

/// The store does what it is told and nobody hears of it, from the very first request on.
#[tokio::test]
async fn a_conversation_that_begins_while_answers_are_lost_is_kept_later() {
    let store = Flaky::new("sqlite::memory:").await;
    let stage = Stage::with(1_000_000, steady(Engine::new(store.clone()))).await;
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    store.set(Mood::Forgetful);
    agent.work_for(3, stage.address()).await;
    let wait = async {
        while store.behind().sessions(9).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(wait).await;
    store.set(Mood::Well);
    agent.work_for(2, stage.address()).await;
    // All but the last answer and the result of its call, and the result before that, which may still be said otherwise.
    let wait = async {
        while store.behind().sessions(9).await.unwrap()[0].head < agent.items.len() as u64 - 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(wait).await;
    assert_eq!(store.behind().sessions(9).await.unwrap().len(), 1);
}

/// Whichever call to the store fails, the request is answered, and the next ones are as they would have been.
#[tokio::test]
async fn any_single_failure_of_the_store_is_survived() {
    let store = Flaky::new("sqlite::memory:").await;
    let stage = Stage::with(WINDOW, steady(Engine::new(store.clone()))).await;
    let mut agent = Agent::new(Wire::Chat, "SCENARIO:long steps=40 bytes=6000");
    let mut failed = 0;
    for step in 0.. {
        let calls = store.calls();
        store.fail_once(1 + step % 7);
        let (answer, text) = agent.step(stage.address()).await;
        failed += u64::from(!answer.reason().is_empty());
        assert!(matches!(answer.reason(), "" | "store"), "step {step}: {}", answer.head);
        // What the answer leads to is done apart; it is over when the store is asked no more.
        let mut seen = calls.wrapping_sub(1);
        while seen != store.calls() {
            seen = store.calls();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.fail_once(0);
        stage.tap.take();
        let (first, _) = again(&agent, &stage).await;
        let (second, did) = again(&agent, &stage).await;
        if !did.starts_with("compacted") && !did.starts_with("pruned") {
            same(&second, &first, &format!("step {step}, {did}"));
        }
        if text.is_some() {
            break;
        }
    }
    println!("{failed} requests were passed on with less done to them");
    assert!(failed > 0);
    assert_eq!(stage.model.stats()["malformed"], 0);
}

/// The same with a real file, which somebody else holds locked.
#[tokio::test]
async fn a_file_that_is_locked_holds_nobody_up() {
    let (_folder, path) = file();
    let engine = engine(&path).await;
    let stage = Stage::with(WINDOW, engine.clone()).await;
    let mut agent = worked(stage.address()).await;
    let (expected, _) = again(&agent, &stage).await;
    let before = operations(engine.store()).await;

    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (body, did) = again(&agent, &stage).await;
    same(&body, &expected, &format!("locked, {did}"));
    agent.step(stage.address()).await;
    other.execute_batch("ROLLBACK").unwrap();

    let mut earlier = agent.clone();
    earlier.items.truncate(agent.items.len() - 2);
    let (body, did) = again(&earlier, &stage).await;
    same(&body, &expected, &format!("unlocked, {did}"));
    check_kept(&before, &operations(engine.store()).await);
    let (text, _) = agent.work(stage.address()).await;
    assert_eq!(text, "Finished long after 36 steps.");
}

/// A file that is removed, or overwritten, under a proxy that has it open.
#[tokio::test]
async fn a_file_that_is_lost_holds_nobody_up() {
    for damage in ["removed", "emptied", "overwritten"] {
        let (folder, path) = file();
        let stage = Stage::with(WINDOW, engine(&path).await).await;
        let mut agent = worked(stage.address()).await;
        let (expected, _) = again(&agent, &stage).await;
        match damage {
            "removed" => drop(std::fs::remove_dir_all(folder.path())),
            "emptied" => std::fs::write(&path, "").unwrap(),
            _ => std::fs::write(&path, "no database ".repeat(100_000)).unwrap(),
        }
        let (body, did) = again(&agent, &stage).await;
        same(&body, &expected, &format!("{damage}, {did}"));
        for answer in agent.work_for(6, stage.address()).await {
            println!("{damage}: {} {}", answer.outcome(), answer.reason());
        }
        // Somebody new is let through.
        let stranger = Agent::new(Wire::Gemini, "SCENARIO:hello");
        let (body, _) = again(&stranger, &stage).await;
        same(&body, &stranger.body(), damage);
    }
}
