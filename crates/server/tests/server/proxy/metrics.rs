//! What is counted while conversations go through.

use super::own_paths::{counter, get};
use crate::setup::{Setup, catalogue, engine};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::post;

const WINDOW: u64 = 8_000;

/// Cuts, summaries and requests that are not understood, each in its own counter.
#[tokio::test]
async fn everything_that_happens_moves_its_counter() {
    let setup = Setup::start(WINDOW).await;
    let before = get(setup.address(), "/metrics").await;
    let (mut pruned, mut compacted, mut requests) = (0, 0, 0);
    for wire in Wire::ALL {
        let (_, answers) = Agent::new(wire, "SCENARIO:long steps=24 bytes=4000").work(setup.address()).await;
        requests += answers.len() as u64;
        pruned += answers.iter().filter(|answer| answer.outcome() == "pruned").count() as u64;
        compacted += answers.iter().filter(|answer| answer.outcome() == "compacted").count() as u64;
    }
    assert!(pruned > 0 && compacted > 0, "{pruned}, {compacted}");
    post(setup.address(), "/v1/messages", "", "{\"messages\":7}").await;
    let after = get(setup.address(), "/metrics").await;
    let moved = |name: &str| counter(&after, name) - counter(&before, name);
    assert_eq!(moved("secateur_conversation_requests_total{outcome=\"pruned\"}"), pruned);
    assert_eq!(moved("secateur_conversation_requests_total{outcome=\"compacted\"}"), compacted);
    assert_eq!(moved("secateur_conversation_requests_total{outcome=\"passed-through\"}"), 1);
    assert_eq!(moved("secateur_passthroughs_total{reason=\"not-understood\"}"), 1);
    assert_eq!(moved("secateur_reports_total"), requests);
    assert!(moved("secateur_compactions_total{outcome=\"summary\"}") >= compacted);
    let cuts = |metrics: &str| -> u64 {
        let lines = metrics.lines().filter(|line| line.starts_with("secateur_cuts_total{"));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    assert!(cuts(&after) >= pruned, "{after}");
    let unexplained = after.lines().find(|line| line.contains("reason=\"other\"") && !line.ends_with(" 0"));
    assert_eq!(unexplained, None);
    for kind in ["fresh", "output", "saved"] {
        assert!(moved(&format!("secateur_tokens_total{{kind=\"{kind}\"}}")) > 0, "{kind}");
    }
    let bytes = |stage: &str| moved(&format!("secateur_conversation_bytes_total{{stage=\"{stage}\"}}"));
    assert!(bytes("sent") < bytes("received"));
    assert_eq!(counter(&after, "secateur_altered_bytes_total"), 0);
}

/// A summary that is made in the background is counted when it takes its place, whether or not anybody asks again.
#[tokio::test]
async fn a_summary_in_the_background_is_counted_without_a_request() {
    let store = engine("sqlite::memory:").await;
    let setup = Setup::start_with(Some(WINDOW), store.clone(), catalogue(WINDOW), |_| {}).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=40 bytes=2000");
    let summaries = async || {
        let metrics = get(setup.address(), "/metrics").await;
        counter(&metrics, "secateur_compactions_total{outcome=\"summary\"}")
    };
    let made = async || {
        let id = store.sessions(1).await.unwrap().first()?.id.clone();
        let rows = store.operations(&id, 0, 999).await.unwrap();
        Some(rows.iter().filter(|row| row.kind == "compact").count() as u64).filter(|count| *count > 0)
    };
    let mut count = None;
    for _ in 0..40 {
        agent.step(setup.address()).await;
        for _ in 0..20 {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
            count = made().await;
            if count.is_some() {
                break;
            }
        }
        if count.is_some() {
            break;
        }
    }
    let count = count.expect("nothing was compacted");
    // It is stored first and counted then.
    let wait = async {
        while summaries().await < count {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    };
    secateur_testing::within(wait).await;
    assert_eq!(summaries().await, count);
    agent.step(setup.address()).await;
    assert_eq!(summaries().await, count, "it is counted once");
}
