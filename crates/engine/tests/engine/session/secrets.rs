//! A credential that was said once goes nowhere else.

use secateur::session::TurnState;
use secateur_engine::hooks::{HookCall, HookFacts, HookMoment, HookResponse};
use secateur_engine::{EngineEvent, NewMessage};
use secateur_formats::Wire;
use serde_json::json;

use super::messages::{calls, results, turn, user};
use super::setup::{Author, Listener, answered, ask, engine, hooks, made, open, target};

/// Looks like a key and is none.
const KEY: &str = "sk-ant-api03-Zq8vT2mXw4Rk9LbN7cYdHs3FgJpQ6uEa1oViKtBxWzMnCrDy5GhSlPfUe0IjAoQ";

#[tokio::test]
async fn a_planted_credential_reaches_neither_summariser_nor_summary_nor_hooks_nor_log() {
    for wire in Wire::ALL {
        // The model repeats it, as if it had learned it elsewhere.
        let model = Author::new(&[&format!("## Done\nThe key is {KEY} and works."), "## Done\nAll."]);
        let hook = Listener::new(&HookMoment::ALL, |_: &HookCall| HookResponse {
            context: vec![format!("remember {KEY}")],
            ..HookResponse::default()
        });
        let engine = engine().await.with_model(model.clone()).with_hooks(hooks([hook.clone() as _]));
        let mut watch = engine.watch();
        let mut session = open(&engine, "balanced", wire).await;
        session.append([user(wire, &format!("Use ANTHROPIC_API_KEY={KEY} please."))]).await.unwrap();
        session
            .append(calls(wire, &[("k-1", "bash", json!({"command": format!("export KEY={KEY}")}))]))
            .await
            .unwrap();
        let env = format!("HOME=/root\nANTHROPIC_API_KEY={KEY}\n");
        let result = results(wire, &[("k-1", "bash", &env)]);
        session.append(result).await.unwrap();
        let asked = ask(&mut session, &target(4_000)).await;
        assert!(asked.body.contains(KEY), "what was said is sent as it is");
        for number in 0..8 {
            session.append(turn(wire, number, 2_500)).await.unwrap();
            let request = ask(&mut session, &target(4_000)).await;
            answered(&mut session, request.tokens, TurnState::Over).await;
        }
        session.compact(Some(&format!("everything about {KEY}"))).await.unwrap();
        assert!(model.questions().len() >= 2, "{wire}");

        for question in model.questions() {
            assert!(!question.contains(KEY), "{wire}: {question}");
        }
        for call in hook.calls.lock().unwrap().iter() {
            assert!(!serde_json::to_string(call).unwrap().contains(KEY), "{wire}: {call:?}");
        }
        let pivot = session.state().pivot.clone().unwrap();
        assert!(!session.recall(&pivot.summary.to_string()).await.unwrap().text.contains(KEY), "{wire}");
        let store = engine.store();
        let row = store.session(session.id()).await.unwrap();
        assert!(!row.state.contains(KEY));
        for operation in store.operations(session.id(), 0, 1_000).await.unwrap() {
            assert!(!operation.data.contains(KEY), "{wire}: {}", operation.data);
        }
        for event in store.events(session.id(), 0, 1_000).await.unwrap() {
            assert!(!event.data.contains(KEY), "{wire}: {}", event.data);
        }
        while let Ok(news) = watch.try_recv() {
            let text = match news {
                EngineEvent::SummaryLine { text, .. } => text,
                other => format!("{other:?}"),
            };
            assert!(!text.contains(KEY), "{wire}: {text}");
        }
        // But a recall returns the original.
        let first = if wire == Wire::OpenAiChat { 2 } else { 1 };
        assert!(session.recall(&first.to_string()).await.unwrap().text.contains(KEY), "{wire}");
    }
}

#[tokio::test]
async fn a_hook_reads_the_conversation_without_credentials() {
    let hook = Listener::new(&[HookMoment::BeforeCompaction], |_| HookResponse::default());
    let engine = engine().await.with_hooks(hooks([hook.clone() as _]));
    let wire = Wire::OpenAiChat;
    let mut session = open(&engine, "balanced", wire).await;
    let said: [NewMessage; 1] = [user(wire, &format!("My key: {KEY}. Read the docs."))];
    session.append(said).await.unwrap();
    session.append(turn(wire, 1, 200)).await.unwrap();
    assert_eq!(made(&session.compact(None).await.unwrap()).len(), 1);
    let calls = hook.calls.lock().unwrap();
    let HookFacts::BeforeCompaction { conversation, messages, .. } = &calls[0].facts else { panic!() };
    assert!(conversation.contains("Read the docs.") && !conversation.contains(KEY), "{conversation}");
    assert!(messages.from < messages.to);
}
