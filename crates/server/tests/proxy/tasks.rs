//! Tasks that are many times longer than the model's window, through the proxy.

use crate::agent::{Agent, WIRES, Wire};
use crate::client::Answer;
use crate::stage::{Stage, catalogue, engine, model, nobody};

const WINDOW: u64 = 10_000;

/// More than five times the window.
const TASK: &str = "SCENARIO:long steps=36 bytes=6000";

/// Only where the proxy decided something, the provider had to read again what it had read before, and at most once.
fn check_books(stage: &Stage, answers: &[Answer]) {
    let stats = stage.model.stats();
    assert_eq!(stats["malformed"], 0, "{stats}");
    let log = stats["log"].as_array().unwrap();
    let turns = log.iter().filter(|line| line["purpose"] == "turn" && line["fate"] == "answered");
    let turns: Vec<_> = turns.collect();
    assert_eq!(turns.len(), answers.len());
    for (number, (turn, answer)) in turns.iter().zip(answers).enumerate() {
        let is_broken = turn["prefix_broken"] == true;
        assert!(!is_broken || answer.is_flush(), "request {number}: {} {turn}", answer.head);
    }
    let count = |did: &str| answers.iter().filter(|answer| answer.outcome() == did).count();
    println!("{} pruned, {} compacted, {} broken", count("pruned"), count("compacted"), stats["broken"]);
    assert!(count("pruned") + count("compacted") > 0, "such a task does not fit by itself");
}

/// The task without a proxy and without a window.
async fn alone(wire: Wire) -> String {
    let model = model(None).await;
    let address = model.url().trim_start_matches("http://").parse().unwrap();
    let mut agent = Agent::new(wire, TASK);
    agent.work(address).await.0
}

async fn through(wire: Wire, streams: bool) {
    let stage =
        Stage::arranged(Some(WINDOW), engine("sqlite::memory:").await, catalogue(WINDOW), |_| {}).await;
    let mut agent = Agent { streams, ..Agent::new(wire, TASK) };
    let (text, answers) = agent.work(stage.address()).await;
    assert!(agent.body().len() as u64 / 4 > 5 * WINDOW, "{}", agent.body().len());
    assert_eq!(text, alone(wire).await, "{wire:?}");
    assert!(answers.iter().all(|answer| answer.reason().is_empty()), "{wire:?}");
    assert_eq!(stage.model.stats()["violations"], 0, "{wire:?}");
    check_books(&stage, &answers);
    assert_eq!(stage.proxy.counters().overflows, 0);
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_in_anthropics_language() {
    through(Wire::Anthropic, false).await;
    through(Wire::Anthropic, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_as_chat() {
    through(Wire::Chat, false).await;
    through(Wire::Chat, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_as_responses() {
    through(Wire::Responses, false).await;
    through(Wire::Responses, true).await;
}

#[tokio::test]
async fn a_task_many_times_the_window_is_done_in_geminis_language() {
    through(Wire::Gemini, false).await;
    through(Wire::Gemini, true).await;
}

/// Nobody told the proxy how much the model takes: it learns that from the refusals, and no client sees one.
#[tokio::test]
async fn no_client_sees_that_a_request_did_not_fit() {
    for wire in WIRES {
        let stage = Stage::arranged(Some(WINDOW), engine("sqlite::memory:").await, nobody(), |_| {}).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=6000");
        let (text, answers) = agent.work(stage.address()).await;
        assert_eq!(text, "Finished long after 24 steps.", "{wire:?}");
        check_books(&stage, &answers);
        let (overflows, violations) = (stage.proxy.counters().overflows, &stage.model.stats()["violations"]);
        println!("{wire:?}: {overflows} refusals");
        assert_eq!(overflows, violations.as_u64().unwrap());
        assert!((1..=6).contains(&overflows), "{wire:?}: {overflows}");
    }
}

/// The catalogue promises more than the provider keeps.
#[tokio::test]
async fn a_window_that_is_smaller_than_everybody_thought_is_learned() {
    for wire in WIRES {
        let store = engine("sqlite::memory:").await;
        let stage = Stage::arranged(Some(WINDOW), store, catalogue(3 * WINDOW), |_| {}).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=6000").streaming();
        let (text, answers) = agent.work(stage.address()).await;
        assert_eq!(text, "Finished long after 24 steps.", "{wire:?}");
        check_books(&stage, &answers);
        let overflows = stage.proxy.counters().overflows;
        println!("{wire:?}: {overflows} refusals");
    }
}
