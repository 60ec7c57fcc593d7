//! A session with a real model: past its real window, and summarised by itself.
//!
//! The model is small and slow, so little is sent, and whether it writes sense is never looked at: only that what it wrote
//! is what is sent on, or that what went wrong was called by its name. Which of the two it was, the output says. `crates/engine/tests/llm/run` starts one and sets
//! `SECATEUR_LLM` to its address.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

use std::sync::Arc;

use secateur::session::{CompactionFailure, Event, Means, Trigger};
use secateur::{Layer, Limits, Profiles};
use secateur_engine::ledger::HEADER;
use secateur_engine::provider::{Endpoint, read_overflow};
use secateur_engine::{Engine, EngineEvent, NewMessage, SessionOptions, Settlement, Target};
use secateur_formats::{Wire, lint};
use serde_json::{Value, json};

/// The window of the model, in tokens.
const WINDOW: i64 = 8_192;

/// How often the model may try to write a summary. It guesses anew each time.
const ATTEMPTS: usize = 3;

/// Sends a request; gives status and body of what comes back.
async fn send(url: &str, body: &str) -> (u16, String) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let request =
        client.post(format!("{url}/v1/chat/completions")).header("content-type", "application/json");
    let response = request.body(body.to_owned()).send().await.unwrap();
    (response.status().as_u16(), response.text().await.unwrap())
}

/// A turn of about 6,000 characters: numbers, of which a model makes more tokens than an estimate does.
fn turn(number: u32) -> [NewMessage; 4] {
    let digits = |line: u32| (line * 7_919 % 65_521, line * 104_729 % 65_521);
    let line = |line: u32| format!("{:04x}-{:04x} unit {line}: passed\n", digits(line).0, digits(line).1);
    let output: String = (number * 220..number * 220 + 220).map(line).collect();
    let call = format!("call-{number}");
    [
        json!({"role": "user", "content": format!("Run the tests of part {number}.")}),
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": call, "type": "function",
            "function": {"name": "bash", "arguments": format!("{{\"command\":\"make part-{number}\"}}")}}]}),
        json!({"role": "tool", "tool_call_id": call, "content": output}),
        json!({"role": "assistant", "content": format!("All tests of part {number} pass.")}),
    ]
    .map(|message| NewMessage::json(message.to_string()))
}

/// Why the model's summary was not taken.
fn failure(event: &Event) -> Option<&CompactionFailure> {
    match event {
        Event::CompactionFailed { means: Means::Model, why, .. } => {
            assert!(
                matches!(why, CompactionFailure::Model { .. } | CompactionFailure::Flawed { .. }),
                "{why:?}"
            );
            Some(why)
        }
        _ => None,
    }
}

#[tokio::test]
#[ignore = "needs a model; crates/engine/tests/llm/run starts one"]
async fn a_session_goes_past_a_real_window_and_on() {
    let Ok(url) = std::env::var("SECATEUR_LLM") else { panic!("SECATEUR_LLM names no server") };
    rustls::crypto::ring::default_provider().install_default().ok();
    // Little is asked, so that an answer comes soon; the answer may be as long as so small a model makes it.
    let endpoint = Endpoint {
        context: WINDOW as u32,
        input: Some(1_600),
        output: Some(1_500),
        patience_ms: 300_000,
        retries: 0,
        ..Endpoint::new(Wire::OpenAiChat, url.as_str(), "small")
    };
    let values = format!(
        "compaction = {{ attempts = {ATTEMPTS}, summary = 1200, tail = {{ tokens = 800, request = true }} }}"
    );
    let layer = Layer { origin: "the test".to_owned(), values: toml::from_str(&values).unwrap() };
    let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap())
        .with_profiles(Profiles::builtin(), vec![layer])
        .with_model(Arc::new(endpoint.connect().unwrap()));
    let mut watch = engine.watch();
    let opening = SessionOptions {
        envelope: r#"{"max_tokens":16,"temperature":0}"#.to_owned(),
        ..SessionOptions::default()
    };
    let mut session = engine.create(opening).await.unwrap();
    let limits = Limits { context: WINDOW, output: Some(200), ..Limits::default() };
    let target = Target { limits, ..Target::new("small", WINDOW) };

    // By the estimate it fits. The provider sees it otherwise, and says so at once.
    for number in 0..4 {
        session.append(turn(number)).await.unwrap();
    }
    session.append([NewMessage::json(r#"{"role":"user","content":"Do all tests pass?"}"#)]).await.unwrap();
    let request = session.context(&target).await.unwrap();
    assert_eq!(request.events, []);
    let (status, body) = send(&url, &request.body).await;
    println!("estimated {}; status {status}: {body}", request.tokens);
    let refusal = read_overflow(status, &body).unwrap();
    assert_eq!(refusal.limit, Some(WINDOW as u64));
    assert!(refusal.used.unwrap() > WINDOW as u64, "{refusal:?}");

    let reported = session.settle(Settlement::Overflow { tokens: refusal.used }).await.unwrap();
    println!("{reported:#?}");
    assert!(matches!(reported[0], Event::Overflow { trigger: Trigger::Refusal, .. }), "{reported:?}");
    let completed = reported.iter().find_map(|event| match event {
        Event::CompactionCompleted { means, before, after, .. } => Some((*means, *before, *after)),
        _ => None,
    });
    let (means, before, after) = completed.unwrap();
    assert!(after < before, "{after} of {before}");
    let failures: Vec<&CompactionFailure> = reported.iter().filter_map(failure).collect();
    let mut lines = Vec::new();
    while let Ok(news) = watch.try_recv() {
        match news {
            EngineEvent::SummaryLine { text, .. } => lines.push(text),
            EngineEvent::SummaryRestart { .. } => lines.clear(),
            _ => {}
        }
    }

    // What is sent now fits, and the model answers.
    let request = session.context(&target).await.unwrap();
    assert_eq!(lint::lint(Wire::OpenAiChat, &request.body), []);
    let (status, body) = send(&url, &request.body).await;
    assert_eq!(status, 200, "{body}");

    let sent: Value = serde_json::from_str(&request.body).unwrap();
    let texts = sent["messages"].as_array().unwrap().iter().filter_map(|message| message["content"].as_str());
    let summary = texts.into_iter().find(|text| text.starts_with(HEADER)).unwrap();
    match means {
        Means::Model => {
            assert!(lines.iter().any(|line| !line.trim().is_empty()), "a summary comes line by line");
            let lost = lines.iter().find(|line| !summary.contains(line.trim()));
            assert_eq!(lost, None, "what the model wrote is what is sent: {summary}");
            println!(
                "The model's own summary was accepted, {} lines, after {} attempts that were not.",
                lines.len(),
                failures.len()
            );
        }
        Means::Digest => {
            // So small a model may write what cannot be used. Then that is said, and the digest stands in.
            assert_eq!(failures.len(), ATTEMPTS, "{reported:?}");
            println!("No summary of the model was accepted, the digest stood in: {failures:#?}");
        }
    }
    // Nothing is lost.
    assert!(session.recall("3").await.unwrap().text.contains("unit 0: passed"));
}
