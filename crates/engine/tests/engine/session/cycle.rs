//! The whole cycle on a store in memory, without any model: overflow, digest, pivot, prune, undo.

use secateur::session::TurnState;
use secateur::session::{Event, Means};
use secateur::{Limits, Usage};
use secateur_engine::{Clock, Engine, NewMessage, Session, SessionOptions, Settlement, Target};

async fn session(profile: &str) -> (Engine, Session) {
    let store = secateur_store::open("sqlite::memory:").await.unwrap();
    let engine = Engine::new(store).with_clock(Clock::at(1_700_000_000_000));
    let opening = SessionOptions {
        profile: Some(profile.to_owned()),
        envelope: r#"{"tools":[]}"#.to_owned(),
        ..SessionOptions::default()
    };
    let session = engine.create(opening).await.unwrap();
    (engine, session)
}

fn target(context: i64) -> Target {
    let limits = Limits { context, output: Some(500), ..Limits::default() };
    Target { limits, ..Target::new("model", context) }
}

/// A user asks, the model reads a file, and answers.
async fn turn(session: &mut Session, number: u32, size: usize) {
    let (call, output) = (format!("call-{number}"), format!("line {number}\n").repeat(size / 8));
    let messages = [
        serde_json::json!({"role": "user", "content": format!("Please look at file {number}.")}),
        serde_json::json!({"role": "assistant", "content": null, "tool_calls": [{"id": call, "type": "function",
            "function": {"name": "read", "arguments": format!("{{\"path\":\"src/{number}.rs\"}}")}}]}),
        serde_json::json!({"role": "tool", "tool_call_id": call, "content": output}),
        serde_json::json!({"role": "assistant", "content": format!("File {number} is fine.")}),
    ];
    session.append(messages.map(|message| NewMessage::json(message.to_string()))).await.unwrap();
}

#[tokio::test]
async fn a_session_stays_inside_a_small_window_for_ever() {
    let (engine, mut session) = session("balanced").await;
    let mut compactions = 0;
    for number in 0..60 {
        turn(&mut session, number, 3_000).await;
        let request = session.context(&target(4_000)).await.unwrap();
        assert!(request.tokens <= request.usable.unwrap(), "{} tokens", request.tokens);
        assert_eq!(request.repaired, []);
        let completed =
            |event: &&Event| matches!(event, Event::CompactionCompleted { means: Means::Digest, .. });
        compactions += request.events.iter().filter(completed).count();
        let usage = Usage { input: request.body.len() as i64 / 4, output: 20, ..Usage::default() };
        let reported = session.settle(Settlement::Responded { usage, turn: TurnState::Over }).await.unwrap();
        compactions += reported.iter().filter(completed).count();
    }
    assert!(compactions > 3, "{compactions}");
    // A new process sees the same.
    let mut other = engine.open(session.id()).await.unwrap();
    assert_eq!(
        other.context(&target(4_000)).await.unwrap().body,
        session.context(&target(4_000)).await.unwrap().body
    );
    let body = session.context(&target(4_000)).await.unwrap().body;
    println!("{body}");
    // Nothing is lost.
    assert!(session.recall("3.0").await.unwrap().text.starts_with("line 0"));
}

#[tokio::test]
async fn everything_can_be_taken_back() {
    let (_, mut session) = session("balanced").await;
    for number in 0..4 {
        turn(&mut session, number, 300).await;
    }
    let wide = target(200_000);
    let before = session.context(&wide).await.unwrap().body;
    let reported = session.compact(None).await.unwrap();
    assert!(reported.iter().any(|event| matches!(event, Event::CompactionCompleted { .. })), "{reported:?}");
    let compacted = session.context(&wide).await.unwrap().body;
    assert!(compacted.len() < before.len());
    let number = session.undo(None).await.unwrap();
    assert_eq!(session.context(&wide).await.unwrap().body, before);
    assert_eq!(session.redo(None).await.unwrap(), number);
    assert_eq!(session.context(&wide).await.unwrap().body, compacted);
}
