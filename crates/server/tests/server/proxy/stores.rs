//! Stores that fail in the middle of a conversation: every request is answered, and when the store is back, what was
//! decided before still holds.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use secateur_engine::Engine;
use secateur_store::{OperationRow, Store};

use super::failing_store::{FailingStore, StoreFault};
use crate::setup::{Setup, engine, with_steady_profile};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::assert_same;
use secateur_testing::connection::within;
use secateur_testing::store_home::store_file;

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
async fn again(agent: &Agent, setup: &Setup) -> (String, String) {
    let answer = agent.ask(setup.address()).await;
    assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
    (setup.relay.last_body(), format!("{} {}", answer.outcome(), answer.reason()))
}

async fn requests_go_on_without_a_store(fault: StoreFault) {
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = Setup::with_engine(WINDOW, with_steady_profile(Engine::new(store.clone()))).await;
    let mut agent = worked(setup.address()).await;
    let (expected, did) = again(&agent, &setup).await;
    let before = operations(store.behind()).await;
    assert_eq!(did, "replayed ");

    store.set(fault);
    // What was decided is replayed, and what is new goes on behind it, as long as it fits.
    let (body, did) = again(&agent, &setup).await;
    assert_same(&body, &expected, &format!("{fault:?}, {did}"));
    let (answer, _) = agent.step(setup.address()).await;
    println!("{fault:?}: {} {}", answer.outcome(), answer.reason());
    assert_same(
        &setup.relay.last_body()[..expected.len() - 200],
        &expected[..expected.len() - 200],
        "what is new comes behind",
    );
    // A client that was never seen is let through.
    let stranger = Agent::new(Wire::OpenAiChat, "SCENARIO:hello");
    let (body, _) = again(&stranger, &setup).await;
    assert_same(&body, &stranger.body(), "a stranger");

    store.set(StoreFault::None);
    check_kept(&before, &operations(store.behind()).await);
    let mut earlier = agent.clone();
    earlier.items.truncate(agent.items.len() - 2);
    let (body, did) = again(&earlier, &setup).await;
    assert_same(&body, &expected, &format!("after {fault:?}, {did}"));
    let (text, _) = Agent::work(&mut agent, setup.address()).await;
    assert_eq!(text, "Finished long after 36 steps.");
    assert_eq!(setup.model.stats()["violations"], 0);
    check_kept(&before, &operations(store.behind()).await);
}

#[tokio::test]
async fn a_store_that_is_gone_delays_no_request() {
    requests_go_on_without_a_store(StoreFault::Broken).await;
}

#[tokio::test]
async fn a_store_that_cannot_be_written_delays_no_request() {
    requests_go_on_without_a_store(StoreFault::ReadOnly).await;
}

#[tokio::test]
async fn a_store_that_loses_its_responses_delays_no_request() {
    requests_go_on_without_a_store(StoreFault::LosesResponses).await;
}

#[tokio::test]
async fn a_store_that_is_slow_delays_no_request() {
    requests_go_on_without_a_store(StoreFault::Slow).await;
}

/// No request waits longer than the time limit of the store.
#[tokio::test]
async fn a_store_that_never_answers_is_not_waited_for() {
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = Setup::with_engine(WINDOW, with_steady_profile(Engine::new(store.clone()))).await;
    let agent = worked(setup.address()).await;
    let (expected, _) = again(&agent, &setup).await;
    store.set(StoreFault::Stuck);
    let (body, did) = again(&agent, &setup).await;
    assert_same(&body, &expected, &format!("stuck, {did}"));
    store.set(StoreFault::None);
    let (body, did) = again(&agent, &setup).await;
    assert_same(&body, &expected, &format!("well again, {did}"));
}

/// The store does everything and returns errors, from the very first request on.
#[tokio::test]
async fn a_conversation_that_begins_while_answers_are_lost_is_kept_later() {
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = Setup::with_engine(1_000_000, with_steady_profile(Engine::new(store.clone()))).await;
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    store.set(StoreFault::LosesResponses);
    agent.work_for(3, setup.address()).await;
    let wait = async {
        while store.behind().sessions(9).await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    within(wait).await;
    store.set(StoreFault::None);
    agent.work_for(2, setup.address()).await;
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
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = Setup::with_engine(WINDOW, with_steady_profile(Engine::new(store.clone()))).await;
    let mut agent = Agent::new(Wire::OpenAiChat, "SCENARIO:long steps=40 bytes=6000");
    let mut failed = 0;
    for step in 0.. {
        let calls = store.calls();
        store.fail_once(1 + step % 7);
        let (answer, text) = agent.step(setup.address()).await;
        failed += u64::from(!answer.reason().is_empty());
        assert!(matches!(answer.reason(), "" | "store"), "step {step}: {}", answer.head);
        // What the answer leads to is done apart; it is over when the store is asked no more.
        let mut seen = calls.wrapping_sub(1);
        while seen != store.calls() {
            seen = store.calls();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        store.fail_once(0);
        setup.relay.take();
        let (first, _) = again(&agent, &setup).await;
        let (second, did) = again(&agent, &setup).await;
        if !did.starts_with("compacted") && !did.starts_with("pruned") {
            assert_same(&second, &first, &format!("step {step}, {did}"));
        }
        if text.is_some() {
            break;
        }
    }
    println!("{failed} requests were passed on with less done to them");
    assert!(failed > 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}

/// The same with a real file, which another process holds locked.
#[tokio::test]
async fn a_file_that_is_locked_delays_no_request() {
    let (_folder, path) = store_file();
    let engine = engine(&path).await;
    let setup = Setup::with_engine(WINDOW, engine.clone()).await;
    let mut agent = worked(setup.address()).await;
    let (expected, _) = again(&agent, &setup).await;
    let before = operations(engine.store()).await;

    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (body, did) = again(&agent, &setup).await;
    assert_same(&body, &expected, &format!("locked, {did}"));
    agent.step(setup.address()).await;
    other.execute_batch("ROLLBACK").unwrap();

    let mut earlier = agent.clone();
    earlier.items.truncate(agent.items.len() - 2);
    let (body, did) = again(&earlier, &setup).await;
    assert_same(&body, &expected, &format!("unlocked, {did}"));
    check_kept(&before, &operations(engine.store()).await);
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 36 steps.");
}

/// A file that is removed, or overwritten, under a proxy that has it open.
#[tokio::test]
async fn a_file_that_is_lost_delays_no_request() {
    for damage in ["removed", "emptied", "overwritten"] {
        let (folder, path) = store_file();
        let setup = Setup::with_engine(WINDOW, engine(&path).await).await;
        let mut agent = worked(setup.address()).await;
        let (expected, _) = again(&agent, &setup).await;
        match damage {
            "removed" => drop(std::fs::remove_dir_all(folder.path())),
            "emptied" => std::fs::write(&path, "").unwrap(),
            _ => std::fs::write(&path, "no database ".repeat(100_000)).unwrap(),
        }
        let (body, did) = again(&agent, &setup).await;
        assert_same(&body, &expected, &format!("{damage}, {did}"));
        for answer in agent.work_for(6, setup.address()).await {
            println!("{damage}: {} {}", answer.outcome(), answer.reason());
        }
        // A new client is let through.
        let stranger = Agent::new(Wire::Gemini, "SCENARIO:hello");
        let (body, _) = again(&stranger, &setup).await;
        assert_same(&body, &stranger.body(), damage);
    }
}
