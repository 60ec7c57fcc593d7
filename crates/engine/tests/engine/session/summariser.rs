//! The question for a summary goes wrong in every way, and the session goes on.

use std::sync::Arc;

use secateur::session::{CompactionFailure, Event, Means};
use secateur_engine::provider::Endpoint;
use secateur_engine::{Engine, EngineEvent, Session, SessionBeginning, SessionOptions};
use secateur_formats::Wire;
use serde_json::json;

use super::messages::{shape, turn};
use super::setup::{SUMMARY, ask, engine, made, open, target};
use secateur_testing::scripted_provider::{Script, ScriptedProvider, Step, answer, events};

const WIRE: Wire = Wire::OpenAiChat;

/// A session that needs a compaction, and the server that is asked for it.
async fn full(scripts: Vec<Script>, change: impl Fn(&mut Endpoint)) -> (Engine, Session, ScriptedProvider) {
    let server = ScriptedProvider::start(scripts).await;
    let mut endpoint =
        Endpoint { retries: 0, first_wait_ms: 1, context: 8_000, ..Endpoint::new(WIRE, server.url(), "m") };
    change(&mut endpoint);
    let model = endpoint.connect_as(None).unwrap();
    let engine = engine().await.with_model(Arc::new(model));
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..4 {
        session.append(turn(WIRE, number, 3_000)).await.unwrap();
    }
    (engine, session, server)
}

fn failures(reported: &[Event]) -> Vec<&CompactionFailure> {
    fn why(event: &Event) -> Option<&CompactionFailure> {
        match event {
            Event::CompactionFailed { why, means: Means::Model, .. } => Some(why),
            _ => None,
        }
    }
    reported.iter().filter_map(why).collect()
}

#[tokio::test]
async fn a_good_answer_becomes_the_summary_line_by_line() {
    let (engine, mut session, server) = full(vec![Script::answer(WIRE, SUMMARY)], |_| {}).await;
    let mut watch = engine.watch();
    let request = ask(&mut session, &target(4_000)).await;
    assert_eq!(made(&request.events), [Means::Model]);
    assert_eq!(request.body.matches("This is a record of").count(), 1, "one heading is enough");
    insta::assert_snapshot!(shape(&request.body), @"
    00 system: Be brief.
    01 user: What did we do so far?
    02 assistant: This is a record of the conversation so far, made to save ro … (417 chars)
    03 user: Please look at file 3.
    04 assistant: File 3 is fine.
    05 user: Please go on with what you were doing. If nothing is left to do, say so.
    ");
    let asked = server.request().json();
    assert_eq!((&asked["stream"], asked.get("tools")), (&json!(true), None));
    let mut lines = Vec::new();
    while let Ok(news) = watch.try_recv() {
        if let EngineEvent::SummaryLine { text, .. } = news {
            lines.push(text);
        }
    }
    assert_eq!(lines.join("\n").trim_end(), SUMMARY);
}

#[tokio::test]
async fn whatever_the_server_does_there_is_a_digest_and_nothing_half_done() {
    let half = answer(WIRE, SUMMARY);
    let half = half.split("\"delta\":{},").next().unwrap();
    let half = &half[..half.rfind("\n\n").unwrap() + 2];
    let tool = json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": {"name": "ls"}}]}}]});
    let cases = [
        ("stall", Script::silence()),
        ("stall in the middle", Script::stream(half).then(Step::Stall)),
        ("cut", Script::stream(half).then(Step::Cut)),
        ("hang up", Script::disconnect()),
        ("busy", Script::refusal(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "900")),
        ("broken", Script::refusal(500, "oh")),
        ("too large", Script::refusal(413, "<html>413</html>")),
        ("not allowed", Script::refusal(401, r#"{"error":{"message":"no"}}"#)),
        ("malformed", Script::stream("data: {\"choices\": [\n\ndata: x\n\n")),
        ("a tool call", Script::stream(events(WIRE, &[tool]))),
        ("empty", Script::answer(WIRE, "  ")),
        ("far too much", Script::answer(WIRE, &"and then there was more ".repeat(2_000))),
        ("the same again and again", Script::answer(WIRE, &"word\n".repeat(250))),
        ("a refusal", Script::answer(WIRE, "I'm sorry, but I can't help with that.")),
    ];
    for (name, script) in cases {
        let scripts = vec![script; 12];
        let (engine, mut session, server) = full(scripts, |endpoint| {
            (endpoint.patience_ms, endpoint.timeout_ms) = (60, 5_000);
            endpoint.most_bytes = 40_000;
        })
        .await;
        let request = ask(&mut session, &target(4_000)).await;
        assert_eq!(made(&request.events), [Means::Digest], "{name}: {:?}", request.events);
        let failures = failures(&request.events);
        assert_eq!(failures.len(), 2, "{name}: asked twice, then no more");
        assert!(
            failures
                .iter()
                .all(|why| matches!(why, CompactionFailure::Model { .. } | CompactionFailure::Flawed { .. })),
            "{name}: {failures:?}"
        );
        assert!(!server.requests().is_empty());
        let compactions = engine.operations(session.id(), 0, 100).await.unwrap();
        let compactions = compactions.iter().filter(|row| row.kind == "compact").count();
        assert_eq!(compactions, 1, "{name}");
        // Another process sees the same, and the originals are there.
        let mut other = engine.open(session.id()).await.unwrap();
        assert_eq!(ask(&mut other, &target(4_000)).await.body, request.body, "{name}");
        assert!(other.recall("4").await.unwrap().text.starts_with("line 0"));
    }
}

#[tokio::test]
async fn a_provider_that_is_busy_for_a_moment_is_asked_again() {
    let busy = Script::refusal(429, r#"{"error":{"message":"slow down"}}"#).header("retry-after", "0");
    let scripts = vec![busy, Script::refusal(529, "later"), Script::answer(WIRE, SUMMARY)];
    let (_, mut session, server) = full(scripts, |endpoint| endpoint.retries = 3).await;
    let request = ask(&mut session, &target(4_000)).await;
    assert_eq!(made(&request.events), [Means::Model]);
    assert_eq!(failures(&request.events), [] as [&CompactionFailure; 0]);
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_question_that_overflows_is_made_smaller() {
    let too_long = r#"{"error":{"message":"This model's maximum context length is 2000 tokens. However, your messages resulted in 5000 tokens.","code":"context_length_exceeded"}}"#;
    let mut scripts = vec![Script::refusal(400, too_long)];
    scripts.extend(std::iter::repeat_n(Script::answer(WIRE, SUMMARY), 10));
    let (_, mut session, server) = full(scripts, |_| {}).await;
    let request = ask(&mut session, &target(4_000)).await;
    assert_eq!(made(&request.events), [Means::Model], "{:?}", request.events);
    let sizes: Vec<usize> = server.requests().iter().map(|seen| seen.body.len()).collect();
    assert!(sizes.len() > 1 && sizes[1..].iter().all(|size| *size < sizes[0]), "{sizes:?}");
}

#[tokio::test]
async fn without_a_floor_a_failed_summary_changes_nothing() {
    let (engine, _, _) = full(vec![], |_| {}).await;
    let engine = super::setup::set(engine, "compaction = { fallback = \"nothing\" }");
    let mut session = open(&engine, "balanced", WIRE).await;
    for number in 0..3 {
        session.append(turn(WIRE, number, 900)).await.unwrap();
    }
    let before = ask(&mut session, &target(100_000)).await.body;
    let reported = session.compact(None).await.unwrap();
    assert_eq!(made(&reported), []);
    assert!(reported.iter().any(|event| matches!(event, Event::CompactionRefused { .. })), "{reported:?}");
    assert_eq!(ask(&mut session, &target(100_000)).await.body, before);
}

#[tokio::test]
async fn a_model_continues_the_summary_that_the_session_began_with() {
    let server = ScriptedProvider::start(vec![Script::answer(WIRE, SUMMARY)]).await;
    let endpoint = Endpoint { context: 8_000, ..Endpoint::new(WIRE, server.url(), "m") };
    let engine = engine().await.with_model(Arc::new(endpoint.connect_as(None).unwrap()));
    let long = "The soil is wet. ".repeat(300);
    let body = json!({ "messages": [
        { "role": "user", "content": "The ferns were dry." }, { "role": "user", "content": "And now?" },
        { "role": "assistant", "content": long }, { "role": "user", "content": "Go on." } ] });
    let (body, summaries) = (body.to_string(), ["The ferns were dry.".to_owned()]);
    let beginning = SessionBeginning { body: &body, summaries: &summaries };
    let options = SessionOptions { wire: WIRE, ..SessionOptions::default() };
    let mut session = engine.import(options, beginning).await.unwrap();
    let reported = session.compact(None).await.unwrap();
    assert_eq!(made(&reported), [Means::Model], "{reported:?}");
    let prompt = server.request().json()["messages"].to_string();
    let record = prompt.split("[begin record ").nth(1).expect("it continues a record");
    let record = record.split("[end record ").next().unwrap();
    assert!(record.contains("The ferns were dry."), "{prompt}");
    assert_eq!(prompt.matches("The ferns were dry.").count(), 1, "{prompt}");
    let text = session.summary().await.unwrap().unwrap();
    assert!(text.contains("## Earlier summaries\n- > The ferns were dry.\n"), "{text}");
    assert!(!text.contains("asked first\n- > The ferns"), "{text}");
}
