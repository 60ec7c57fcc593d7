//! What is undone while the conversation goes on.

use std::time::Duration;

use serde_json::Value;

use super::requests::{TASK, all, ask, get, post, working};
use crate::setup::Setup;
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::assert_same;

/// So large that nothing has to go: what is cut is cut because it pays.
const WINDOW: u64 = 60_000;

/// The body that reaches the provider for the same request, asked twice, and what was done.
async fn sent(setup: &Setup, agent: &Agent) -> (String, String) {
    setup.relay.take();
    agent.ask(setup.address()).await;
    let mut first = setup.relay.last_body();
    loop {
        let answer = agent.ask(setup.address()).await;
        let second = setup.relay.last_body();
        // An answer may tell that something pays now, or that there is hardly any room left. That comes to an end.
        if !answer.is_flush() {
            assert_same(&first, &second, "the same request, sent again");
            return (first, answer.outcome().to_owned());
        }
        first = second;
    }
}

#[tokio::test]
async fn an_undone_cut_takes_effect_in_the_next_request_and_stays_so() {
    let setup = Setup::start(WINDOW).await;
    let to = setup.address();
    let (mut agent, id) = working(&setup, 34).await;
    let (cut, did) = sent(&setup, &agent).await;
    assert_eq!(did, "replayed");
    let operations = all(to, &format!("/api/sessions/{id}/operations"), 100).await;
    let prune = operations.iter().rfind(|operation| operation["kind"] == "prune").unwrap();
    let number = &prune["number"];

    let turned = post(to, &format!("/api/sessions/{id}/operations/{number}/undo")).await;
    assert!(turned["after"].as_i64() > turned["before"].as_i64(), "{turned}");
    let (whole, _) = sent(&setup, &agent).await;
    assert!(whole.len() > cut.len());
    for name in prune["cuts"].as_array().unwrap().iter().map(|cut| cut["name"].as_str().unwrap()) {
        let recalled = get(to, &format!("/api/sessions/{id}/recall/{name}")).await;
        let original = Value::from(recalled["text"].as_str().unwrap()).to_string();
        assert!(whole.contains(&original), "{name} is not sent as it was");
        assert!(!cut.contains(&original), "{name} was not cut");
    }

    // The conversation goes on, and what was undone is not cut again.
    agent.work_for(2, to).await;
    let (later, _) = sent(&setup, &agent).await;
    let shared = whole.bytes().zip(later.bytes()).take_while(|(one, other)| one == other).count();
    assert!(shared > cut.len(), "only {shared} bytes are as before");

    // Done again, it is as if nothing had been.
    post(to, &format!("/api/sessions/{id}/operations/{number}/redo")).await;
    let (again, _) = sent(&setup, &agent).await;
    let shared = cut.bytes().zip(again.bytes()).take_while(|(one, other)| one == other).count();
    assert!(shared + 1_000 > cut.len(), "only {shared} of {} bytes are as they were", cut.len());
    let stats = setup.model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
}

#[tokio::test]
async fn an_undone_summary_takes_effect_in_the_next_request() {
    let setup = Setup::start(6_000).await;
    let to = setup.address();
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    let id = loop {
        let (answer, text) = agent.step(to).await;
        assert_eq!(text, None, "there was no summary");
        if answer.outcome() == "compacted" {
            break answer.header("x-secateur-session").to_owned();
        }
    };
    let operations = all(to, &format!("/api/sessions/{id}/operations"), 100).await;
    let compaction = operations.iter().rfind(|operation| operation["kind"] == "compact").unwrap();
    let (before, _) = sent(&setup, &agent).await;
    post(to, &format!("/api/sessions/{id}/operations/{}/undo", compaction["number"])).await;
    // What is sent fits all the same: there is another summary, or more is cut.
    let (after, did) = sent(&setup, &agent).await;
    assert_ne!(before, after, "{did}");
    let (text, _) = agent.work(to).await;
    assert_eq!(text, "Finished long after 40 steps.");
    let stats = setup.model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
}

#[tokio::test]
async fn undoing_all_the_time_takes_nothing_from_an_agent() {
    let setup = Setup::start(12_000).await;
    let to = setup.address();
    let (mut agent, id) = working(&setup, 16).await;
    let turning = async {
        for round in 0..60_u64 {
            let operations = all(to, &format!("/api/sessions/{id}/operations"), 500).await;
            let at = usize::try_from(round * 7).unwrap() % operations.len();
            let action = if operations[at]["undone"] == true { "redo" } else { "undo" };
            let path = format!("/api/sessions/{id}/operations/{}/{action}", operations[at]["number"]);
            let answer = ask(to, "POST", &path, "").await;
            // The agent may have been faster.
            assert!(matches!(answer.status(), 200 | 409), "{path}: {}", answer.text());
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let working = async {
        let (text, answers) = agent.work(to).await;
        assert!(answers.iter().all(|answer| answer.status() == 200));
        text
    };
    let (text, ()) = tokio::join!(working, turning);
    assert_eq!(text, "Finished long after 40 steps.");
    // When all is quiet, the same request is the same bytes again.
    sent(&setup, &agent).await;
    let stats = setup.model.stats();
    assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()));
}
