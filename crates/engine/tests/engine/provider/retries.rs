//! When a request is repeated, and when it is not.

use std::time::{Duration, Instant};

use secateur_engine::provider::{Endpoint, Finish, ModelError};
use secateur_formats::Wire;
use serde_json::json;

use super::{RESTART, ask, endpoint};
use secateur_testing::scripted_provider::{Script, ScriptedProvider, Step, answer, events};

#[tokio::test]
async fn what_may_pass_is_asked_again() {
    for wire in Wire::ALL {
        for status in [429, 500, 502, 503, 504, 529] {
            let server = ScriptedProvider::start(vec![
                Script::refusal(status, r#"{"error":{"message":"later"}}"#),
                Script::refusal(status, "<html>later</html>"),
                Script::answer(wire, "yes"),
            ])
            .await;
            let asked = ask(&endpoint(wire, &server)).await;
            assert_eq!(asked.heard, ["yes"], "{wire} {status}");
            assert_eq!(asked.answer().text, "yes", "{wire} {status}");
            let requests = server.requests();
            assert_eq!(requests.len(), 3, "{wire} {status}");
            assert!(requests.iter().all(|request| request.body == requests[0].body));
        }
    }
}

#[tokio::test]
async fn an_overload_by_name_is_asked_again() {
    let body = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    let scripts = vec![Script::refusal(400, body), Script::answer(Wire::Anthropic, "yes")];
    let server = ScriptedProvider::start(scripts).await;
    assert_eq!(ask(&endpoint(Wire::Anthropic, &server)).await.answer().text, "yes");
}

#[tokio::test]
async fn a_connection_that_closes_before_anything_came_is_tried_again() {
    for wire in Wire::ALL {
        let headers_only = Script::stream("").then(Step::Cut);
        let scripts = vec![Script::disconnect(), headers_only, Script::answer(wire, "yes")];
        let server = ScriptedProvider::start(scripts).await;
        assert_eq!(ask(&endpoint(wire, &server)).await.answer().text, "yes", "{wire}");
    }
}

#[tokio::test]
async fn what_does_not_pass_is_not_asked_again() {
    for wire in Wire::ALL {
        for status in [307, 400, 401, 403, 404, 413, 422, 501] {
            let scripts = vec![Script::refusal(status, r#"{"error":{"message":"no"}}"#)];
            let server = ScriptedProvider::start(scripts).await;
            let error = ask(&endpoint(wire, &server)).await.error();
            assert!(!error.is_worth_retrying(), "{wire} {status}: {error}");
            assert_eq!(server.requests().len(), 1, "{wire} {status}");
        }
        let quota = r#"{"error":{"message":"pay first","code":"insufficient_quota"}}"#;
        for script in [
            Script::refusal(429, quota),
            Script::answer(wire, ""),
            Script::stream("data: nonsense\n\n"),
            Script::stream(&answer(wire, "One two")[..300]).then(Step::Cut),
        ] {
            let server = ScriptedProvider::start(vec![script]).await;
            let error = ask(&endpoint(wire, &server)).await.error();
            assert!(!error.is_worth_retrying(), "{wire}: {error}");
            assert_eq!(server.requests().len(), 1, "{wire}: {error}");
        }
    }
}

#[tokio::test]
async fn the_last_error_is_returned_when_all_retries_are_used_up() {
    for wire in Wire::ALL {
        let busy = |word: &str| Script::refusal(503, json!({ "error": { "message": word } }).to_string());
        let server =
            ScriptedProvider::start(vec![busy("one"), busy("two"), busy("three"), busy("four")]).await;
        let error = ask(&endpoint(wire, &server)).await.error();
        let expected = ModelError::Server { status: 503, retry_after: None, message: "three".to_owned() };
        assert_eq!(error, expected, "{wire}");
        assert_eq!(server.requests().len(), 3, "{wire}");
    }
}

#[tokio::test]
async fn a_listener_that_got_a_part_is_notified_of_a_restart() {
    let busy = json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } });
    for wire in Wire::ALL {
        let body = answer(wire, "One two ");
        let two = body.find(r#""two "#).unwrap();
        let until = two + body[two..].find("\n\n").unwrap() + 2;
        let broken = format!("{}{}", &body[..until], events(wire, std::slice::from_ref(&busy)));
        let silent = events(wire, std::slice::from_ref(&busy));
        let scripts = vec![Script::stream(broken), Script::stream(silent), Script::answer(wire, "Three")];
        let server = ScriptedProvider::start(scripts).await;
        let asked = ask(&endpoint(wire, &server)).await;
        assert_eq!(asked.heard, ["One ", "two ", RESTART, "Three"], "{wire}");
        let answer = asked.answer();
        assert_eq!((answer.text.as_str(), answer.finish), ("Three", Finish::Complete), "{wire}");
    }
}

#[tokio::test]
async fn the_wait_that_a_provider_asks_for_is_kept() {
    for wire in Wire::ALL {
        let busy = Script::refusal(429, "{}").header("retry-after-ms", "60");
        let server = ScriptedProvider::start(vec![busy, Script::answer(wire, "yes")]).await;
        let start = Instant::now();
        assert_eq!(ask(&endpoint(wire, &server)).await.answer().text, "yes", "{wire}");
        assert!(start.elapsed() >= Duration::from_millis(60), "{wire}");
    }
}

#[tokio::test]
async fn a_requested_wait_of_zero_is_kept() {
    for value in ["0", "Sun, 06 Nov 1994 08:49:37 GMT", "soon"] {
        let busy = Script::refusal(503, "{}").header("retry-after", value);
        let server = ScriptedProvider::start(vec![busy, Script::answer(Wire::Anthropic, "yes")]).await;
        assert_eq!(ask(&endpoint(Wire::Anthropic, &server)).await.answer().text, "yes", "{value}");
    }
}

#[tokio::test]
async fn a_requested_wait_that_is_too_long_ends_the_retries() {
    for (value, seconds) in [("61", 61), ("Fri, 31 Dec 9999 23:59:59 GMT", 1_000_000)] {
        let server =
            ScriptedProvider::start(vec![Script::refusal(429, "{}").header("retry-after", value)]).await;
        let error = ask(&endpoint(Wire::OpenAiChat, &server)).await.error();
        assert!(matches!(error, ModelError::RateLimited { .. }), "{error}");
        assert!(error.retry_after().unwrap() >= Duration::from_secs(seconds), "{error:?}");
        assert_eq!(server.requests().len(), 1, "{value}");
    }
}

#[tokio::test]
async fn a_wait_that_would_outlast_the_time_is_not_begun() {
    let busy = Script::refusal(503, "{}").header("retry-after", "50");
    let server = ScriptedProvider::start(vec![busy]).await;
    let settings = Endpoint { timeout_ms: 40_000, ..endpoint(Wire::OpenAiChat, &server) };
    let error = ask(&settings).await.error();
    assert!(matches!(error, ModelError::Server { status: 503, .. }), "{error}");
}
