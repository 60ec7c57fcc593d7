//! What is left in memory of a request when it is over.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use secateur::Usage;
use secateur::session::TurnState;
use secateur_engine::provider::{Connector, ReportedOverflow};
use secateur_formats::Wire;

use super::agent::{Agent, prepare, process, quota};
use crate::conversation::client_model::SummaryUsage;
use crate::conversation::{ClientEndpoint, PreparedRequest, ResponseReport};
use crate::route::RequestKind;

/// Waits until nobody but the test holds any part of a body.
async fn is_released(body: &Bytes, when: &str) {
    let wait = async {
        while !body.is_unique() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(10), wait).await.is_ok(), "{when}");
}

/// Only the user has spoken, so nothing is stored yet: it may still be said otherwise.
#[tokio::test]
async fn no_request_is_held_by_what_was_taken_in_of_it() {
    let conversations = process("sqlite::memory:", 60_000).await;
    let ask = async |task: &str| {
        let body = Bytes::from(Agent::new(&format!("{task} {}", "word ".repeat(500))).body().into_bytes());
        let PreparedRequest { pending, .. } =
            prepare(&conversations, Wire::Anthropic, RequestKind::Generate, &body).await;
        (body, pending.unwrap())
    };
    let (body, mut pending) = ask("Answered.").await;
    pending.accepted();
    pending.settle(ResponseReport {
        usage: Some(Usage { input: 600, ..Usage::default() }),
        turn: TurnState::Open,
        provider: None,
    });
    is_released(&body, "answered").await;

    let (body, mut pending) = ask("Accepted.").await;
    pending.accepted();
    is_released(&body, "accepted").await;
    drop(pending);

    let (body, pending) = ask("Nobody was there, or the client has gone.").await;
    drop(pending);
    is_released(&body, "dropped").await;

    let (body, pending) = ask("Refused.").await;
    drop(conversations.make_room(pending, ReportedOverflow { used: Some(9), limit: Some(1) }).await);
    is_released(&body, "refused").await;
    assert_eq!(conversations.registry.len(), 4);
}

/// Whatever becomes of a decision, the client's credentials do not stay behind.
#[tokio::test]
async fn credentials_are_dropped_with_the_decision() {
    let conversations = process("sqlite::memory:", 60_000).await;
    let sent = Agent::new("Do it.").ask(&conversations).await;
    let branch = sent.pending.as_ref().unwrap().branch.clone();
    let endpoint = ClientEndpoint { url: "http://127.0.0.1:1/".to_owned(), connector: Connector::default() };
    let (limits, headers) = (secateur::Limits::default(), http::HeaderMap::new());
    let model = endpoint.model(Wire::Anthropic, "m", limits, &headers, quota(), SummaryUsage::default());
    let mut state = branch.state().await;
    let deciding = async {
        let _guard = state.with_client_model(Arc::clone(&model));
        assert_eq!(Arc::strong_count(&model), 2);
        std::future::pending::<()>().await;
    };
    assert!(tokio::time::timeout(Duration::from_millis(10), deciding).await.is_err());
    assert_eq!(Arc::strong_count(&model), 1);
}

/// Whoever stops waits for what is being stored.
#[tokio::test]
async fn what_was_said_last_is_stored_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").display().to_string();
    let conversations = process(&path, 60_000).await;
    let mut agent = Agent::new("Do it.");
    agent.step(900);
    let mut pending = agent.ask(&conversations).await.pending.unwrap();
    pending.accepted();
    pending.settle(ResponseReport {
        usage: Some(Usage { input: 600, ..Usage::default() }),
        turn: TurnState::Open,
        provider: None,
    });
    conversations.finish().await;
    let sessions = conversations.engine.sessions(9).await.unwrap();
    assert_eq!(sessions.iter().map(|session| session.head).collect::<Vec<_>>(), [2]);
}

/// Retention drops what is not used, and nothing else.
#[tokio::test]
async fn a_branch_in_use_is_not_released() {
    let conversations = process("sqlite::memory:", 60_000).await;
    let mut agent = Agent::new("Do it.");
    agent.step(900);
    let sent = agent.ask(&conversations).await;
    let session = sent.report.session.clone().unwrap();
    assert!(!conversations.registry.release(&session), "a response is awaited");
    sent.answer().await;
    let released = async {
        while !conversations.registry.release(&session) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(10), released).await.is_ok());
    assert_eq!(conversations.registry.len(), 0);
    assert!(conversations.registry.release("unknown"));
}
