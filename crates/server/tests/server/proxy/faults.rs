//! Providers that fail in the middle of a conversation: the client sees what they did, and the conversation goes on.

use std::time::Duration;

use crate::setup::{Setup, catalogue, empty_catalogue, engine};
use secateur_formats::Wire;
use secateur_testing::Action;
use secateur_testing::Agent;
use secateur_testing::client::{assert_same, text, without_handles};

const WINDOW: u64 = 12_000;
const TASK: &str = "SCENARIO:long steps=24 bytes=6000";

fn refusal(status: u16, body: &str) -> String {
    format!(
        "HTTP/1.1 {status} Whatever\r\ncontent-type: application/json\r\nretry-after: 7\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// The bodies that reach the provider if nothing goes wrong.
async fn undisturbed(wire: Wire) -> Vec<String> {
    let setup = Setup::start(WINDOW).await;
    let mut agent = Agent::new(wire, TASK).streaming();
    agent.work(setup.address()).await;
    setup.relay.take().iter().map(text).collect()
}

/// What goes wrong at every fourth request, and several times in a row, changes nothing about what is decided.
#[tokio::test]
async fn storms_pass_and_leave_no_trace() {
    for wire in Wire::ALL {
        let expected = undisturbed(wire).await;
        let setup = Setup::start(WINDOW).await;
        let mut agent = Agent::new(wire, TASK).streaming();
        let mut is_done = false;
        for (number, expected) in expected.iter().enumerate() {
            if number % 4 == 3 {
                for (status, body) in [
                    (429, r#"{"type":"error","error":{"type":"rate_limit_error","message":"slow down"}}"#),
                    (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
                    (500, "<html>oh</html>"),
                    (401, r#"{"error":{"message":"no such key"}}"#),
                    (503, ""),
                ] {
                    setup.relay.plan([Action::Respond(refusal(status, body))]);
                    let answer = agent.ask(setup.address()).await;
                    assert_eq!((answer.status(), answer.body.as_str()), (status, body), "{wire:?}");
                    assert_eq!(answer.header("retry-after"), "7");
                    assert_same(
                        &without_handles(&setup.relay.last_body()),
                        &without_handles(expected),
                        &format!("{wire:?}, request {number}, {status}, {}", answer.outcome()),
                    );
                }
            }
            let (_, text) = agent.step(setup.address()).await;
            assert_same(
                &without_handles(&setup.relay.last_body()),
                &without_handles(expected),
                &format!("{wire:?}, request {number}, after the storm"),
            );
            is_done = text.is_some();
        }
        assert!(is_done, "{wire:?}");
    }
}

/// Streams that are cut off anywhere end for the client there, too.
#[tokio::test]
async fn streams_that_break_off_break_off_and_the_conversation_goes_on() {
    for wire in Wire::ALL {
        let setup = Setup::start(WINDOW).await;
        let mut agent = Agent::new(wire, TASK).streaming();
        let mut bodies: Vec<String> = Vec::new();
        for number in 0.. {
            let bytes = [0, 40, 250, 300, 350][number % 5];
            setup.relay.plan([Action::Reset(bytes)]);
            let answer = agent.ask(setup.address()).await;
            let is_head = bytes >= 250;
            assert_eq!(
                answer.status(),
                if is_head { 200 } else { 502 },
                "{wire:?} after {bytes} bytes: {answer:?}"
            );
            assert!(!is_head || !answer.is_whole, "{wire:?} after {bytes} bytes: {answer:?}");
            let broken = setup.relay.last_body();
            let (answer, text) = agent.step(setup.address()).await;
            bodies.push(setup.relay.last_body());
            // What was decided for the one holds for the other, unless the half of an answer that was heard told that
            // there is hardly any room left.
            if !answer.is_flush() {
                assert_same(
                    &bodies[number],
                    &broken,
                    &format!("{wire:?}, request {number} for the second time"),
                );
            }
            if text.is_some() {
                break;
            }
        }
        assert_eq!(bodies.len(), 25, "{wire:?}");
    }
}

#[tokio::test]
async fn a_provider_that_falls_silent_is_given_up_and_the_conversation_goes_on() {
    let impatient = |settings: &mut secateur_server::Settings| settings.patience = Duration::from_secs(3);
    let store = engine("sqlite::memory:").await;
    let setup = Setup::start_with(Some(WINDOW), store, catalogue(WINDOW), impatient).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=8 bytes=6000").streaming();
    for bytes in [0, 500] {
        agent.work_for(2, setup.address()).await;
        setup.relay.plan([Action::Stall(bytes)]);
        let answer = agent.ask(setup.address()).await;
        assert_eq!(answer.status(), if bytes == 0 { 504 } else { 200 });
        assert_eq!(answer.is_whole, bytes == 0);
    }
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 8 steps.");
}

#[tokio::test]
async fn nonsense_is_passed_on_or_named_and_the_conversation_goes_on() {
    let setup = Setup::start(WINDOW).await;
    let mut agent = Agent::new(Wire::OpenAiChat, "SCENARIO:long steps=12 bytes=6000");
    let length = |body: &str| format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let liar =
        r#"{"usage":{"prompt_tokens":-5,"completion_tokens":1e400,"total_tokens":99999999999999999999}}"#;
    let giant = r#"{"choices":[],"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":9223372036854775807}}"#;
    let nonsense = [
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n".to_owned(), 502, None),
        (String::new(), 502, None),
        (length("\u{0}\u{1}]}{{{"), 200, Some("\u{0}\u{1}]}{{{")),
        (length(liar), 200, Some(liar)),
        (length(giant), 200, Some(giant)),
        (length(r#"{"usage":null}"#), 200, Some(r#"{"usage":null}"#)),
    ];
    for (bytes, status, body) in nonsense {
        agent.work_for(2, setup.address()).await;
        setup.relay.plan([Action::Respond(bytes)]);
        let answer = agent.ask(setup.address()).await;
        assert_eq!(answer.status(), status, "{answer:?}");
        if let Some(body) = body {
            assert_eq!(answer.body, body);
        }
    }
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 12 steps.");
    assert_eq!(setup.model.stats()["violations"], 0);
}

/// Where a stream has begun, the client has seen it: a refusal inside of it is the client's.
#[tokio::test]
async fn a_refusal_in_the_middle_of_a_stream_is_passed_on() {
    let setup = Setup::start(WINDOW).await;
    let mut agent = Agent::new(Wire::OpenAiResponses, "SCENARIO:long steps=6 bytes=6000").streaming();
    agent.work_for(3, setup.address()).await;
    let event = |data: &str| format!("event: x\ndata: {data}\n\n");
    let body = event(r#"{"type":"response.created","response":{"id":"r","status":"in_progress"}}"#)
        + &event(
            r#"{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#,
        );
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    setup.relay.plan([Action::Respond(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()))]);
    let answer = agent.ask(setup.address()).await;
    assert!(answer.is_whole);
    assert_eq!((answer.status(), answer.body.as_str()), (200, body.as_str()));
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 6 steps.");
}

/// A stream that fails before it says anything has told the client nothing yet: where a request is long enough for that,
/// it is made shorter, and the client never sees the refusal.
#[tokio::test]
async fn a_refusal_at_the_beginning_of_a_stream_is_hidden_if_the_request_is_long() {
    let setup = Setup::start(WINDOW).await;
    let mut agent = Agent::new(Wire::OpenAiResponses, "SCENARIO:hello").streaming();
    for number in 0..8 {
        agent.add_model_text(&format!("Answer {number}. {}", "so it is ".repeat(200)));
        agent.say(&format!("Question {number}. {}", "is it so ".repeat(200)));
    }
    let event = |data: &str| format!("event: x\ndata: {data}\n\n");
    let body = event(r#"{"type":"response.created","response":{"id":"r","status":"in_progress"}}"#)
        + &event(r#"{"type":"response.in_progress","response":{"id":"r","status":"in_progress"}}"#)
        + &event(
            r#"{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#,
        );
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    setup.relay.plan([Action::Respond(format!("{head}{:x}\r\n{body}\r\n0\r\n\r\n", body.len()))]);
    let (answer, text) = agent.step(setup.address()).await;
    assert_eq!(text.as_deref(), Some("Hello from the scripted model."), "{}", answer.body);
    assert!(!answer.body.contains("response.failed"), "{}", answer.body);
    let asked: Vec<usize> = setup.relay.take().iter().map(|request| request.body.len()).collect();
    assert!(matches!(asked[..], [refused, taken] if taken < refused), "{asked:?}");
    assert_eq!(setup.proxy.counters().overflows, 1);
}

/// A provider that never takes a request is not asked for ever, and in the end its own words are passed on.
#[tokio::test]
async fn a_provider_that_refuses_everything_is_believed_in_the_end() {
    let setup = Setup::start_with(None, engine("sqlite::memory:").await, empty_catalogue(), |_| {}).await;
    let mut agent = Agent::new(Wire::Anthropic, "SCENARIO:long steps=12 bytes=6000");
    agent.work_for(8, setup.address()).await;
    setup.relay.take();
    let body = r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long"}}"#;
    setup.relay.plan(std::iter::repeat_n(Action::Respond(refusal(400, body)), 20));
    let answer = agent.ask(setup.address()).await;
    assert_eq!((answer.status(), answer.body.as_str()), (400, body));
    let asked = setup.relay.take().len();
    assert!((2..=4).contains(&asked), "asked {asked} times");
}
