//! Compaction on the way: by estimate, and because the provider refused.

use secateur_engine::provider::ReportedOverflow;
use secateur_formats::Wire;

use super::agent::{Agent, process};
use crate::conversation::error::ConversationError;
use crate::conversation::layout::ComposedBody;
use crate::conversation::recognition::recognise;
use crate::outcome::{Outcome, PassReason};

/// A pending without tools: nothing can be pruned.
fn chat(words: usize, turns: usize) -> Agent {
    let mut agent = Agent::new("The very first task: sort the shed.");
    for turn in 0..turns {
        agent.say(&format!("Turn {turn}. {}", "word ".repeat(words)));
    }
    agent
}

#[tokio::test]
async fn what_cannot_be_pruned_is_summarised() {
    let conversations = process("sqlite::memory:", 40_000).await;
    let agent = chat(1_500, 40);
    let sent = agent.ask(&conversations).await;
    assert_eq!(sent.report.outcome, Outcome::Compacted, "{:?}", sent.report);
    assert!(sent.body.len() / 4 < 40_000);
    let messages = sent.messages();
    assert_eq!(messages[0]["content"][0]["text"], "The very first task: sort the shed.");
    let last = messages.last().unwrap().to_string();
    assert!(last.contains("Turn 39."), "{last}");
    assert!(last.contains("cache_control"));
}

/// What is said of the shorter one comes when the session has let the longer one through.
#[tokio::test]
async fn what_a_provider_counts_is_believed_of_the_request_that_it_counted() {
    const WINDOW: i64 = 40_000;
    let conversations = process("sqlite::memory:", WINDOW).await;
    let short = chat(1_500, 5).ask(&conversations).await;
    let long = chat(1_500, 13).ask(&conversations).await;
    short.answer().await;
    long.answer().await;
    let agent = chat(1_500, 22);
    let sent = agent.ask(&conversations).await;
    assert!(agent.body().len() / 4 > WINDOW as usize);
    assert!(sent.body.len() / 4 < WINDOW as usize, "{:?}", sent.report);
}

/// A client that goes back to anywhere, also to where a summary ends, is answered to what it said there.
#[tokio::test]
async fn a_request_ends_with_what_was_said_last_wherever_a_client_goes_back_to() {
    let conversations = process("sqlite::memory:", 40_000).await;
    let whole = chat(1_500, 40);
    let sent = whole.ask(&conversations).await;
    assert_eq!(sent.report.outcome, Outcome::Compacted, "{:?}", sent.report);
    sent.answer().await;
    for length in 1..whole.messages.len() {
        let mut earlier = whole.clone();
        earlier.messages.truncate(length);
        let sent = earlier.ask(&conversations).await;
        let last = earlier.messages.last().unwrap()["content"].to_string();
        let unmarked = sent.messages().last().unwrap()["content"].to_string();
        let unmarked = unmarked.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
        assert!(unmarked == last, "of {length} messages: {:?}", sent.report);
    }
}

#[tokio::test]
async fn a_refusal_is_answered_with_less() {
    let conversations = process("sqlite::memory:", 0).await;
    let agent = chat(1_500, 40);
    let sent = agent.ask(&conversations).await;
    assert_eq!(
        (sent.report.outcome, sent.body.len()),
        (Outcome::Unchanged, agent.body().len()),
        "nobody knows the window yet"
    );
    let said = ReportedOverflow { used: Some(75_000), limit: Some(40_000) };
    let ready = conversations.make_room(sent.pending.unwrap(), said).await.expect("something can be done");
    let body = ready.body.concat();
    assert!(body.len() / 4 < 40_000, "{}", body.len());
    assert_eq!(ready.report.outcome, Outcome::Compacted);

    // It is known from now on, also to other conversations.
    let mut other = chat(1_500, 40);
    other.say("Another one.");
    let sent = other.ask(&conversations).await;
    assert!(sent.body.len() / 4 < 40_000);
}

/// Helpers that share a history ask at the same time, and each is refused.
#[tokio::test]
async fn refusals_of_requests_with_the_same_history_are_all_answered_with_less() {
    for said in [ReportedOverflow { used: Some(75_000), limit: Some(40_000) }, ReportedOverflow::default()] {
        let conversations = process("sqlite::memory:", 0).await;
        let shared = chat(1_500, 40);
        let mut asked = Vec::new();
        for number in 0..4 {
            let mut helper = shared.clone();
            helper.say(&format!("You are helper {number}."));
            let sent = helper.ask(&conversations).await;
            assert_eq!(sent.report.outcome, Outcome::Unchanged);
            asked.push((format!("You are helper {number}."), sent));
        }
        let conversations = &conversations;
        let refused = asked.into_iter().map(|(words, sent)| async move {
            let length = sent.body.len();
            let ready =
                conversations.make_room(sent.pending.unwrap(), said).await.expect("something can be done");
            let body = String::from_utf8(ready.body.concat()).unwrap();
            assert!(body.contains(&words), "{words}");
            assert!(body.len() < length, "{} of {length}", body.len());
            assert!(said.limit.is_none() || body.len() / 4 < 40_000, "{}", body.len());
        });
        futures_util::future::join_all(refused).await;
    }
}

#[tokio::test]
async fn a_refusal_without_numbers_is_answered_with_less_and_less() {
    let conversations = process("sqlite::memory:", 0).await;
    let agent = chat(1_500, 40);
    let sent = agent.ask(&conversations).await;
    let mut length = sent.body.len();
    let mut pending = sent.pending;
    for _ in 0..2 {
        let ready = conversations
            .make_room(pending.take().unwrap(), ReportedOverflow::default())
            .await
            .expect("there is room to make");
        let shorter = ready.body.concat().len();
        assert!(shorter < length, "{shorter} of {length}");
        (length, pending) = (shorter, ready.pending);
    }
}

#[tokio::test]
async fn conversations_that_nobody_goes_on_with_leave_memory() {
    let conversations = process("sqlite::memory:", 60_000).await;
    for number in 0..3_000 {
        let sent = Agent::new(&format!("Task {number}.")).ask(&conversations).await;
        assert_eq!(sent.report.reason, None);
    }
    let count = conversations.registry.len();
    assert!(count <= 2_048, "{count} branches are in memory");
}

#[tokio::test]
async fn a_client_that_summarises_by_itself_sees_all() {
    let conversations = process("sqlite::memory:", 60_000).await;
    let mut agent = Agent::new("Do it.");
    for _ in 0..8 {
        agent.step(9_000);
        agent.ask(&conversations).await.answer().await;
    }
    agent.say("Your task is to create a detailed summary of the conversation so far.");
    let sent = agent.ask(&conversations).await;
    assert_eq!(sent.report.reason, Some(PassReason::ClientCompacts), "{:?}", sent.report);
    assert!(matches!(sent.report.outcome, Outcome::Unchanged | Outcome::Replayed));
}

/// A decision that the provider would refuse is taken back, and from then on nothing new is decided.
#[tokio::test]
async fn what_a_provider_would_refuse_is_taken_back() {
    let conversations = process("sqlite::memory:", 60_000).await;
    let mut agent = Agent::new("Do it.");
    let branch = loop {
        agent.step(9_000);
        let sent = agent.ask(&conversations).await;
        let branch = sent.pending.as_ref().unwrap().branch.clone();
        if sent.report.outcome == Outcome::Pruned {
            break branch;
        }
        sent.answer().await;
    };
    let registry = &conversations.registry;
    let (received, _) = recognise(registry, Wire::Anthropic, &agent.body().into(), None).unwrap();
    let mut state = branch.state().await;
    let whole = ComposedBody { pieces: vec![received.body.clone()], ..ComposedBody::default() };
    assert!(state.check_acceptable(&received, &whole).await.is_ok());
    let mut broken = agent.clone();
    broken.messages.remove(1);
    let broken = ComposedBody { pieces: vec![broken.body().into()], ..ComposedBody::default() };
    let refused = state.check_acceptable(&received, &broken).await;
    assert!(
        matches!(&refused, Err(ConversationError::Lint { rule }) if rule.contains("result")),
        "{refused:?}"
    );
    drop(state);
    for _ in 0..10 {
        let sent = agent.ask(&conversations).await;
        assert_eq!(
            (sent.report.reason, sent.report.outcome, sent.report.cuts),
            (Some(PassReason::Lint), Outcome::Unchanged, 0)
        );
        assert_eq!(sent.body, agent.body());
        sent.answer().await;
        agent.step(9_000);
    }
}
