//! Several processes, several branches, clients that change their mind.

use serde_json::json;

use super::agent::{Agent, Sent, process, send};
use crate::conversation::{Conversations, ResponseReport};
use crate::outcome::Outcome;
use crate::route::RequestKind;
use secateur::Usage;
use secateur::session::TurnState;
use secateur_formats::Wire;
use secateur_store::Fork;

const WINDOW: i64 = 60_000;

fn file() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db").display().to_string();
    (folder, path)
}

/// An agent that has worked for so long.
async fn work(conversations: &Conversations, steps: usize) -> (Agent, String) {
    let mut agent = Agent::new("Do it.");
    let mut last = String::new();
    for _ in 0..steps {
        agent.step(9_000);
        last = agent.ask(conversations).await.answer().await;
    }
    (agent, last)
}

/// What was done is done again after a restart, byte for byte.
#[tokio::test]
async fn a_restart_changes_nothing() {
    let (_folder, path) = file();
    let (agent, last) = work(&process(&path, WINDOW).await, 40).await;
    let again = agent.ask(&process(&path, WINDOW).await).await;
    assert_eq!(again.body, last);
    assert_eq!(again.report.outcome, Outcome::Replayed);
}

/// A store that was replaced, by an empty one or an older one, does not know what is in memory.
#[tokio::test]
async fn a_session_that_the_store_has_lost_is_begun_anew() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let (mut agent, _) = work(&conversations, 40).await;
    let lost = agent.ask(&conversations).await.report.session;
    let other = rusqlite::Connection::open(&path).unwrap();
    let tables = ["clippings", "events", "messages", "operations", "leases", "sessions"];
    let sql = tables.map(|table| format!("DELETE FROM {table};")).concat();
    other.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
    let sent = agent.ask(&conversations).await;
    assert_eq!(sent.report.reason, None, "{:?}", sent.report);
    let session = sent.report.session.clone();
    assert_ne!(session, lost);
    sent.answer().await;
    agent.step(9_000);
    let sent = agent.ask(&conversations).await;
    assert_eq!((&sent.report.session, sent.report.reason), (&session, None));
    sent.answer().await;
    assert_eq!(conversations.engine.sessions(99).await.unwrap().len(), 1);
}

#[tokio::test]
async fn processes_that_share_a_store_say_the_same() {
    let (_folder, path) = file();
    let (one, two) = (process(&path, WINDOW).await, process(&path, WINDOW).await);
    let alone = process("sqlite::memory:", WINDOW).await;
    let mut agent = Agent::new("Do it.");
    for step in 0..40 {
        agent.step(9_000);
        let both = if step % 2 == 0 { &one } else { &two };
        let sent = agent.ask(both).await;
        assert_eq!(sent.report.reason, None, "{:?}", sent.report);
        let session = sent.report.session.clone();
        let body = sent.answer().await;
        let expected = agent.ask(&alone).await;
        assert_eq!(cuts(&body), cuts(&expected.body), "step {step}, session {session:?}");
        expected.answer().await;
    }
    let sessions = one.engine.sessions(99).await.unwrap();
    assert_eq!(sessions.len(), 1, "one conversation is one session");
}

/// Two processes hear the same before either has stored it. Each begins a session, and both go on with one of them.
#[tokio::test]
async fn processes_that_hear_the_same_at_once_say_the_same_afterwards() {
    let (_folder, path) = file();
    let (one, two) = (process(&path, WINDOW).await, process(&path, WINDOW).await);
    let mut agent = Agent::new("Do it.");
    for _ in 0..10 {
        agent.step(9_000);
    }
    agent.messages.push(json!({"role": "assistant", "content": "Done."}));
    let (first, second) = (agent.ask(&one).await, agent.ask(&two).await);
    assert_ne!(first.report.session, second.report.session);
    // What the first was told makes it cut more than the other.
    let told = Usage { input: 2 * WINDOW, output: 50, ..Usage::default() };
    let pending = first.pending.unwrap();
    let branch = pending.branch.clone();
    pending.settle(ResponseReport { usage: Some(told), turn: TurnState::Open, provider: None });
    branch.state().await.store().await.unwrap();
    second.answer().await;
    let (first, second) = (agent.ask(&one).await, agent.ask(&two).await);
    assert_eq!(first.report.session, second.report.session);
    assert_eq!(first.body, second.body);
}

/// What is asked is stored although the answer is still on its way, and another process goes on with it.
#[tokio::test]
async fn a_long_answer_does_not_keep_its_request_from_being_stored() {
    let (_folder, path) = file();
    let (one, two) = (process(&path, WINDOW).await, process(&path, WINDOW).await);
    let mut agent = Agent::new("Do it.");
    agent.step(900);
    agent.step(900);
    let sent = agent.ask(&one).await;
    let mut pending = sent.pending.unwrap();
    pending.accepted();
    while one.engine.sessions(1).await.unwrap().first().is_none_or(|row| row.head == 0) {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    agent.step(900);
    assert_eq!(agent.ask(&two).await.report.session, sent.report.session);
    drop(pending);
}

/// What is left of each result.
fn cuts(body: &str) -> Vec<bool> {
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap().iter();
    messages.map(|message| message.to_string().contains("[cut: ")).collect()
}

#[tokio::test]
async fn a_last_message_that_is_always_written_anew_makes_no_branches() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let mut agent = Agent::new("Do it.");
    for step in 0..12 {
        agent.step(3_000);
        let mut volatile = agent.clone();
        volatile.messages.push(
            json!({"role": "user", "content": [{"type": "text", "text": format!("It is {step} o'clock.")}]}),
        );
        let sent = volatile.ask(&conversations).await;
        assert_eq!(sent.report.reason, None);
        sent.answer().await;
    }
    assert_eq!(conversations.engine.sessions(99).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_client_that_goes_back_gets_what_was_decided_then() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let (agent, last) = work(&conversations, 40).await;
    // Back a few steps, and then another way.
    let mut other = agent.clone();
    other.messages.truncate(agent.messages.len() - 4);
    other.say("Now something else.");
    let sent = other.ask(&conversations).await;
    assert_eq!(sent.report.reason, None, "{:?}", sent.report);
    assert_ne!(sent.report.outcome, Outcome::Unchanged, "what was cut in the shared part stays cut");
    let shared = last.bytes().zip(sent.body.bytes()).take_while(|(one, two)| one == two).count();
    assert!(shared > 2_000, "{shared} bytes are the same");
    let session = sent.report.session.clone();
    sent.answer().await;

    // Both go on.
    let again = agent.ask(&conversations).await;
    assert_eq!(again.body, last);
    assert_ne!(again.report.session, session);
    again.answer().await;
    other.step(500);
    let sent = other.ask(&conversations).await;
    assert_eq!(sent.report.session, session);
    assert_eq!(conversations.engine.sessions(99).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_client_that_goes_back_behind_a_summary_has_its_history_again() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let mut agent = Agent::new("Do it.");
    let mut compacted = false;
    for step in 0..400 {
        agent.step(400);
        agent.say(&format!("Say {step} with many words. {}", "word ".repeat(800)));
        let sent = agent.ask(&conversations).await;
        compacted = sent.report.replaced > 0;
        sent.answer().await;
        if compacted {
            break;
        }
    }
    assert!(compacted);
    let mut other = agent.clone();
    other.messages.truncate(5);
    other.say("From here.");
    let sent = other.ask(&conversations).await;
    assert_eq!((sent.report.reason, sent.report.replaced), (None, 0), "{:?}", sent.report);
    assert_eq!(sent.messages().len(), other.messages.len());
}

/// A client with so many messages at least, some of which a summary has replaced.
async fn compacted(conversations: &Conversations, least: usize) -> Agent {
    let mut agent = Agent::new("Do it.");
    while agent.messages.len() < least || agent.ask(conversations).await.report.replaced == 0 {
        agent.step(400);
        agent.say(&format!("Say {} with many words. {}", agent.messages.len(), "word ".repeat(800)));
        agent.ask(conversations).await.answer().await;
    }
    agent
}

/// Who goes back behind a summary that another process made takes nothing from those who go on.
#[tokio::test]
async fn a_process_that_is_asked_for_less_knows_what_was_said_since() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let agent = compacted(&conversations, 12).await;
    let before = agent.ask(&conversations).await;
    let other = process(&path, WINDOW).await;
    for length in [1, 5] {
        let mut shorter = agent.clone();
        shorter.messages.truncate(length);
        let sent = shorter.ask(&other).await;
        assert_eq!((sent.report.replaced, sent.messages().len()), (0, length), "{:?}", sent.report);
        assert_ne!(sent.report.session, before.report.session);
    }
    let sent = agent.ask(&other).await;
    assert_eq!((sent.report.session, sent.body), (before.report.session, before.body));
}

/// A branch is a copy before it is one of its own. Whoever finds it then, or because its maker died, finishes it.
#[tokio::test]
async fn a_branch_that_is_not_finished_tells_nothing_of_what_others_said() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let mut agent = compacted(&conversations, 12).await;
    let session = agent.ask(&conversations).await.report.session.unwrap();
    let store = conversations.engine.store().clone();
    let row = store.session(&session).await.unwrap();
    let id = format!("{session}-branch");
    let fork = Fork { revision: row.revision, at: 5, id: id.clone(), title: None, time: row.updated + 1 };
    store.fork(&session, fork).await.unwrap();
    agent.messages.truncate(5);
    let sent = agent.ask(&process(&path, WINDOW).await).await;
    assert_eq!((sent.report.session.clone(), sent.report.replaced), (Some(id), 0), "{:?}", sent.report);
    assert_eq!(sent.messages().len(), 5);
}

/// However many younger conversations share a history, its own session is found, in memory and after a restart.
#[tokio::test]
async fn a_history_that_many_share_is_not_lost() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let agent = compacted(&conversations, 80).await;
    let session = agent.ask(&conversations).await.report.session.unwrap();
    let store = conversations.engine.store().clone();
    let row = store.session(&session).await.unwrap();
    for number in 0..250 {
        let id = format!("{session}-{number}");
        let fork = Fork { revision: row.revision, at: 60, id, title: None, time: row.updated + 1 };
        store.fork(&session, fork).await.unwrap();
    }

    // Somebody goes back to what a summary has replaced.
    let mut other = agent.clone();
    other.messages.truncate(9);
    other.say("From here.");
    let sent = other.ask(&conversations).await;
    assert_eq!((sent.report.reason, sent.report.replaced), (None, 0), "{:?}", sent.report);
    assert_eq!(sent.messages().len(), other.messages.len());

    // Others change the session, and everything is loaded anew.
    conversations.engine.open(&session).await.unwrap().undo(None).await.unwrap();
    assert_eq!(agent.ask(&conversations).await.report.session, Some(session.clone()));
    let again = agent.ask(&process(&path, WINDOW).await).await;
    assert_eq!(again.report.session, Some(session));
}

#[tokio::test]
async fn conversations_with_the_same_beginning_are_told_apart() {
    let conversations = process("sqlite::memory:", WINDOW).await;
    let mut agents: Vec<Agent> = (0..5).map(|_| Agent::new("The same task.")).collect();
    for round in 0..6 {
        for (index, agent) in agents.iter_mut().enumerate() {
            if round == 0 {
                agent.say(&format!("I am number {index}."));
            }
            agent.step(1_000);
            let sent = agent.ask(&conversations).await;
            assert_eq!((&sent.body, sent.report.reason), (&agent.body(), None));
            sent.answer().await;
        }
    }
}

#[tokio::test]
async fn questions_at_the_same_time_are_all_answered() {
    let conversations = process("sqlite::memory:", WINDOW).await;
    let (agent, _) = work(&conversations, 30).await;
    let asked = (0..8).map(|index| {
        let (mut agent, conversations) = (agent.clone(), &conversations);
        async move {
            agent.say(&format!("Side question {index}"));
            let sent: Sent = agent.ask(conversations).await;
            assert_eq!(sent.report.reason, None);
            assert!(sent.body.contains(&format!("Side question {index}")));
            sent.answer().await
        }
    });
    futures_util::future::join_all(asked).await;
}

#[tokio::test]
async fn an_undone_cut_is_not_replayed() {
    let (_folder, path) = file();
    let conversations = process(&path, WINDOW).await;
    let (agent, last) = work(&conversations, 40).await;
    let session = agent.ask(&conversations).await.report.session.unwrap();
    let engine = conversations.engine.clone();
    let mut elsewhere = engine.open(&session).await.unwrap();
    elsewhere.undo(None).await.unwrap();
    let sent = send(&conversations, Wire::Anthropic, RequestKind::Count, &agent.body()).await;
    drop(sent);
    let sent = agent.ask(&conversations).await;
    assert_eq!(sent.report.reason, None);
    assert_ne!(sent.body, last);
}
