//! What is not cut stays as it is, and what was cut once stays cut that way.

use secateur_formats::Wire;

use super::agent::{Agent, prefix, process, send, unmarked};
use crate::outcome::{Outcome, PassReason};
use crate::route::RequestKind;

#[tokio::test]
async fn without_cuts_not_a_byte_changes() {
    let conversations = process("sqlite::memory:", 200_000).await;
    let mut agent = Agent::new("Do it.");
    for _ in 0..5 {
        agent.step(2_000);
        let sent = agent.ask(&conversations).await;
        assert_eq!(sent.body, agent.body());
        assert_eq!((sent.report.outcome, sent.report.reason), (Outcome::Unchanged, None));
        sent.answer().await;
    }
    assert_eq!(conversations.registry.len(), 1);
}

#[tokio::test]
async fn bodies_that_are_no_conversation_pass() {
    let conversations = process("sqlite::memory:", 200_000).await;
    for body in
        ["", "null", "{", "{}", r#"{"messages":"hi"}"#, r#"{"messages":[{"role":"user"}],"messages":[]}"#]
    {
        let sent = send(&conversations, Wire::OpenAiChat, RequestKind::Generate, body).await;
        assert_eq!((sent.body.as_str(), sent.report.outcome), (body, Outcome::PassedThrough));
        assert_eq!(sent.report.reason, Some(PassReason::NotUnderstood), "{body}");
    }
    let body = r#"{"input":[{"role":"user","content":"hi"}],"previous_response_id":"r"}"#;
    let sent = send(&conversations, Wire::OpenAiResponses, RequestKind::Generate, body).await;
    assert_eq!(
        (sent.report.outcome, sent.report.reason),
        (Outcome::PassedThrough, Some(PassReason::KeptByProvider))
    );
}

/// Plays a long session; gives how often the prefix of a request was not that of the one before.
async fn play(steps: usize, bytes: usize, window: i64) -> (u32, u32, usize) {
    let conversations = process("sqlite::memory:", window).await;
    let mut agent = Agent::new("Do it.");
    let (mut breaks, mut flushes, mut largest) = (0, 0, 0);
    let mut before: Option<String> = None;
    for _ in 0..steps {
        agent.step(bytes);
        let sent = agent.ask(&conversations).await;
        assert_eq!(sent.report.reason, None, "{:?}", sent.report);
        let flushed = matches!(sent.report.outcome, Outcome::Pruned | Outcome::Compacted);
        let body = sent.answer().await;
        largest = largest.max(body.len());
        let is_kept = before.as_ref().is_none_or(|before| unmarked(&body).starts_with(before.as_str()));
        assert!(is_kept || flushed, "the prefix breaks only where something was decided");
        breaks += u32::from(!is_kept);
        flushes += u32::from(flushed);
        before = Some(prefix(&body));
    }
    (breaks, flushes, largest)
}

#[tokio::test]
async fn the_prefix_breaks_only_where_something_is_cut() {
    let (breaks, flushes, _) = play(60, 4_000, 200_000).await;
    assert!(breaks <= flushes, "{breaks} breaks in {flushes} flushes");
    assert!(flushes >= 1, "old results pay no rent for ever");
    assert!(flushes < 20, "{flushes}");
}

#[tokio::test]
async fn a_session_many_times_the_window_stays_inside_it() {
    let (breaks, flushes, largest) = play(80, 12_000, 60_000).await;
    assert!(breaks <= flushes, "{breaks} breaks in {flushes} flushes");
    assert!(largest / 4 < 60_000, "{largest} bytes were sent");
}

#[tokio::test]
async fn counting_sees_what_would_be_sent() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").display().to_string();
    let conversations = process(&path, 60_000).await;
    let mut agent = Agent::new("Do it.");
    let mut last = String::new();
    for _ in 0..40 {
        agent.step(9_000);
        last = agent.ask(&conversations).await.answer().await;
    }
    let counted = send(&conversations, Wire::Anthropic, RequestKind::Count, &agent.body()).await;
    assert_eq!(counted.body, last);
    assert_eq!(counted.report.outcome, Outcome::Replayed);
    // Another process counts the same, although it was never asked to send it.
    let counted =
        send(&process(&path, 60_000).await, Wire::Anthropic, RequestKind::Count, &agent.body()).await;
    assert_eq!((counted.body, counted.report.outcome), (last, Outcome::Replayed));
    let unknown = Agent::new("Never heard of.");
    let counted = send(&conversations, Wire::Anthropic, RequestKind::Count, &unknown.body()).await;
    assert_eq!((counted.body, counted.report.outcome), (unknown.body(), Outcome::Unchanged));
}
