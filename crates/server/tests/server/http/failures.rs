//! Providers that refuse, fail, talk nonsense or say nothing.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use socket2::{Domain, Socket, Type};

use super::harness::Harness;
use secateur_testing::connection::{Connection, HttpMessage};

const PATHS: [&str; 4] =
    ["/v1/messages", "/v1/chat/completions", "/v1/responses", "/v1beta/models/m:generateContent?key=hunter2"];

fn ask(path: &str) -> String {
    format!("POST {path} HTTP/1.1\r\nhost: x\r\nx-api-key: hunter2\r\ncontent-length: 2\r\n\r\n{{}}")
}

async fn begin(harness: &Harness, path: &str) -> (Connection, Connection) {
    let mut client = harness.client().await;
    client.send(ask(path)).await;
    let mut provider = harness.provider().await;
    provider.message().await;
    (client, provider)
}

/// The message of an error in the form that clients of this provider can read.
fn message(path: &str, answer: &HttpMessage) -> String {
    let body: Value = serde_json::from_slice(&answer.body).unwrap();
    let error = &body["error"];
    match path {
        "/v1/messages" => assert_eq!((&body["type"], &error["type"]), (&"error".into(), &"api_error".into())),
        "/v1/chat/completions" | "/v1/responses" => assert_eq!(error["type"], "server_error"),
        _ => assert_eq!(error["code"], answer.status()),
    }
    assert!(!answer.text().contains("hunter2"));
    error["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn errors_of_the_provider_pass_unchanged() {
    let harness = Harness::start().await;
    let said = [
        (
            400,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 > 8"}}"#,
        ),
        (400, r#"{"error": {"message" : "no"}}"#),
        (413, "<html>too large</html>"),
        (429, r#"{"type":"error","error":{"type":"rate_limit_error"}}"#),
        (500, ""),
        (529, r#"{"type":"error","error":{"type":"overloaded_error"}}"#),
    ];
    for path in PATHS {
        for (status, body) in said {
            let (mut client, mut provider) = begin(&harness, path).await;
            let head = format!(
                "HTTP/1.1 {status} Whatever\r\nRetry-After: 7\r\nX-Should-Retry: true\r\nContent-Length: {}\r\n",
                body.len()
            );
            provider.send(format!("{head}\r\n{body}")).await;
            let answer = client.message().await;
            assert_eq!((answer.head.as_str(), answer.text()), (head.as_str(), body));
        }
    }
}

#[tokio::test]
async fn a_long_error_passes_whole_and_one_that_breaks_off_breaks_off() {
    let harness = Harness::start().await;
    let body = "e".repeat(300_000);
    let (mut client, mut provider) = begin(&harness, PATHS[0]).await;
    provider.send(format!("HTTP/1.1 400 No\r\ncontent-length: {}\r\n\r\n{body}", body.len())).await;
    assert!(client.message().await.text() == body);
    drop(provider);

    let (mut client, mut provider) = begin(&harness, PATHS[0]).await;
    provider.send("HTTP/1.1 400 No\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n").await;
    drop(provider);
    client.head().await;
    assert_eq!(client.next_chunk().await, b"ab");
    assert_eq!(client.rest().await, b"");
}

#[tokio::test]
async fn a_provider_that_cannot_be_reached_is_named() {
    // A port that nothing listens on, and that no other process can take.
    let taken = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    taken.bind(&SocketAddr::from(([127, 0, 0, 1], 0)).into()).unwrap();
    let closed = taken.local_addr().unwrap().as_socket().unwrap();
    let harness = Harness::start_with(|settings| {
        let upstream: secateur_server::Upstream = format!("http://{closed}/secret-path").parse().unwrap();
        (settings.anthropic, settings.openai, settings.gemini) =
            (upstream.clone(), upstream.clone(), upstream);
    })
    .await;
    for path in PATHS {
        let mut client = harness.client().await;
        client.send(ask(path)).await;
        let answer = client.message().await;
        assert_eq!(answer.status(), 502);
        let message = message(path, &answer);
        assert!(message.contains(&closed.to_string()) && message.contains("address"), "{message}");
    }
    assert_eq!(harness.counters().failures, 4);
}

#[tokio::test]
async fn nonsense_is_a_bad_gateway() {
    let harness = Harness::start().await;
    for path in PATHS {
        for nonsense in ["SSH-2.0-OpenSSH_9.6\r\n\r\n", "HTTP/1.1 200 OK\r\nhunter2 no colon\r\n\r\n", ""] {
            let (mut client, mut provider) = begin(&harness, path).await;
            provider.send(nonsense).await;
            drop(provider);
            let answer = client.message().await;
            assert_eq!(answer.status(), 502);
            message(path, &answer);
        }
    }
}

#[tokio::test]
async fn silence_ends() {
    let harness = Harness::start_with(|settings| settings.patience = Duration::from_millis(500)).await;
    for path in PATHS {
        let (mut client, mut provider) = begin(&harness, path).await;
        let answer = client.message().await;
        assert_eq!(answer.status(), 504);
        assert!(message(path, &answer).contains("500ms"));
        assert_eq!(provider.rest().await, b"");

        let (mut client, mut provider) = begin(&harness, path).await;
        provider.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n").await;
        client.head().await;
        assert_eq!(client.next_chunk().await, b"ab");
        assert_eq!(client.rest().await, b"", "there is no last chunk");
        assert_eq!(provider.rest().await, b"");
    }
}

#[tokio::test]
async fn a_client_that_never_says_what_it_wants_is_let_go() {
    let harness = Harness::start_with(|settings| settings.head = Duration::from_millis(20)).await;
    for part in ["", "P", "POST /v1/messages HTTP/1.1\r\nhost:"] {
        let mut client = harness.client().await;
        client.send(part).await;
        client.rest().await;
    }
    let harness = Harness::start_with(|settings| settings.patience = Duration::from_millis(20)).await;
    let mut client = harness.client().await;
    client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{").await;
    assert_eq!(client.message().await.status(), 408);
}

#[tokio::test]
async fn a_head_that_is_too_long_is_refused() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    let long = "x".repeat(100 << 10);
    client.send(format!("GET /v1/models HTTP/1.1\r\nhost: x\r\na: {long}\r\n\r\n")).await;
    assert_eq!(client.head().await.status(), 431);
    let mut client = harness.client().await;
    client.send("CONNECT api.openai.com:443 HTTP/1.1\r\nhost: x\r\n\r\n").await;
    assert_eq!(client.message().await.status(), 405);
}
