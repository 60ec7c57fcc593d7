//! Bodies that are unusual: with NUL in them, and with very many messages.

use std::fmt::Write as _;

use secateur_engine::Engine;
use secateur_formats::Wire;
use secateur_testing::client::post;
use secateur_testing::{Agent, StoreHome, on_each_home};
use serde_json::json;

use super::failing_store::FailingStore;
use crate::setup::{Setup, engine, with_steady_profile};

on_each_home!(a_nul_is_not_understood_and_an_escaped_one_is_like_any_other_character);

async fn a_nul_is_not_understood_and_an_escaped_one_is_like_any_other_character(home: StoreHome) {
    let setup = Setup::with_engine(8_000, engine(&home.url).await).await;
    let raw =
        "{\"model\":\"scripted\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"a\0b\"}]}";
    let answer = post(setup.address(), "/v1/messages", "", raw).await;
    assert_eq!((answer.outcome(), answer.reason()), ("passed-through", "not-understood"), "{}", answer.head);
    // In what is said, in what is cut, in names, and in what the client calls its conversation.
    for wire in Wire::ALL {
        let mut agent = Agent::new(wire, "SCENARIO:long steps=24 bytes=6000 a\0b");
        agent.name = "an\0agent".to_owned();
        let mut decided = 0;
        for _ in 0..16 {
            let (answer, _) = agent.step(setup.address()).await;
            assert_eq!((answer.status(), answer.reason()), (200, ""), "{wire:?}: {}", answer.head);
            decided += usize::from(answer.is_flush());
            for item in &mut agent.items {
                put_nul(item);
            }
        }
        assert!(decided > 0, "{wire:?}");
    }
    let body = json!({
        "model": "scripted",
        "prompt_cache_key": "a\0b",
        "messages": [{"role": "user", "content": "SCENARIO:hello"}],
    });
    let answer = post(setup.address(), "/v1/chat/completions", "", &body.to_string()).await;
    assert_eq!((answer.status(), answer.reason()), (200, ""), "{}{}", answer.head, answer.body);
    assert_eq!(setup.model.stats()["violations"], 0);
}

/// Puts a NUL at the end of every long text in a message.
fn put_nul(value: &mut serde_json::Value) {
    use serde_json::Value;
    match value {
        Value::String(text) if text.len() > 1_000 && !text.ends_with('\0') => text.push('\0'),
        Value::Array(list) => list.iter_mut().for_each(put_nul),
        Value::Object(members) => members.values_mut().for_each(put_nul),
        _ => {}
    }
}

/// A request with this many messages, and one more.
fn long_history(messages: usize, last: &str) -> String {
    let mut body = String::from("{\"model\":\"scripted\",\"messages\":[");
    for number in 0..messages {
        let role = ["user", "assistant"][number % 2];
        write!(body, "{{\"role\":\"{role}\",\"content\":\"message {number}\"}},").unwrap();
    }
    write!(body, "{{\"role\":\"user\",\"content\":\"{last}\"}}]}}").unwrap();
    body
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_of_very_many_messages_is_learned_once() {
    const MESSAGES: usize = 12_000;
    let store = FailingStore::new("sqlite::memory:").await;
    let setup = Setup::with_engine(10_000_000, with_steady_profile(Engine::new(store.clone()))).await;
    let body = long_history(MESSAGES, "SCENARIO:hello");
    let before = store.calls();
    let answer = post(setup.address(), "/v1/chat/completions", "", &body).await;
    assert_eq!((answer.status(), answer.reason()), (200, ""), "{}{}", answer.head, answer.body);
    let session = answer.header("x-secateur-session").to_owned();
    // What is looked up before the answer does not grow with the history.
    let asked = store.calls() - before;
    assert!(asked < 40, "{asked} calls of the store");
    while store.behind().session(&session).await.is_ok_and(|row| row.head < MESSAGES as u64)
        || store.behind().session(&session).await.is_err()
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(store.largest_commit() <= 1_001, "{} messages in one commit", store.largest_commit());
    // A new process finds it, with few questions, and so does this one.
    let other = Setup::with_engine(10_000_000, with_steady_profile(Engine::new(store.clone()))).await;
    for setup in [&setup, &other] {
        let before = store.calls();
        let body = long_history(MESSAGES, "SCENARIO:hello once more");
        let answer = post(setup.address(), "/v1/chat/completions", "", &body).await;
        assert_eq!((answer.status(), answer.reason()), (200, ""), "{}{}", answer.head, answer.body);
        let asked = store.calls() - before;
        assert!(asked < 60, "{asked} calls of the store");
    }
}
