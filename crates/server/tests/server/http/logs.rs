//! What is secret stays out of the log.

use std::time::Duration;

use secateur_server::{AccessToken, TenantToken};

use super::harness::Harness;
use crate::process_log::ProcessLog;

#[tokio::test]
async fn no_key_and_no_content_is_ever_logged() {
    let log = ProcessLog::start();
    let harness = Harness::start().await;
    let answers = [
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nset-cookie: canary\r\n\r\ncanary",
        "HTTP/1.1 400 No\r\ncontent-length: 6\r\n\r\ncanary",
        "HTTP/1.1 200 OK\r\ncanary\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-length: 60\r\n\r\ncanary",
    ];
    for path in ["/v1/messages", "/v1/models/canary-free:generateContent", "/v1/files"] {
        for answer in answers {
            let mut client = harness.client().await;
            client
                .send(format!(
                    "POST {path}?key=canary HTTP/1.1\r\nhost: x\r\nx-api-key: canary\r\nauthorization: Bearer canary\r\n\
                     x-goog-api-key: canary\r\ncookie: canary\r\nconnection: close\r\ncontent-length: 10\r\n\r\n{{\"canary\"}}"
                ))
                .await;
            let mut provider = harness.provider().await;
            assert!(provider.message().await.head.contains("Bearer canary"));
            provider.send(answer).await;
            drop(provider);
            client.head().await;
            client.rest().await;
        }
    }
    let log = log.text();
    assert!(log.contains("/v1/messages"), "there is a log: {log}");
    let log = log.replace("canary-free", "");
    assert!(!log.contains("canary"), "{log}");
}

/// Sends a request for which there is an answer of the proxy's own, and gives its status.
async fn refused(harness: &Harness, request: &str) -> u16 {
    let mut client = harness.client().await;
    client.send(request).await;
    let status = client.head().await.status();
    let _ = client.close_half().await;
    client.rest().await;
    status
}

#[tokio::test]
async fn every_refusal_has_a_line_and_nothing_of_the_request_is_in_it() {
    let log = ProcessLog::start();
    let harness = Harness::start_with(|settings| {
        settings.most_passed = 10_000;
        settings.head_start = Duration::from_millis(500);
    })
    .await;
    let secrets = "x-api-key: canary\r\nauthorization: Bearer canary\r\ncookie: canary";
    let deep = format!("{{\"messages\":[{{\"canary\":{}", "[".repeat(5_000));
    let length = deep.len();
    for (status, request) in [
        (400, format!("GET /v1/canary?key=canary HTTP/1.1\nhost: x\n{secrets}\r\n\r\n")),
        (400, format!("GET /v1/canary canary\r\nhost: x\r\n{secrets}\r\n\r\n")),
        (403, format!("GET /v1/canary?key=canary HTTP/1.1\r\nhost: canary.example\r\n{secrets}\r\n\r\n")),
        (403, format!("GET /metrics HTTP/1.1\r\nhost: x\r\norigin: http://canary\r\n{secrets}\r\n\r\n")),
        (405, format!("CONNECT canary.example:443 HTTP/1.1\r\nhost: x\r\n{secrets}\r\n\r\n")),
        (
            413,
            format!(
                "POST /v1/canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\ncontent-length: 10001\r\n\r\ncanary"
            ),
        ),
        (
            408,
            format!(
                "POST /v1/messages?canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\ncontent-length: 99\r\n\r\ncanary"
            ),
        ),
        (
            400,
            format!(
                "POST /v1/messages?canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\ncontent-length: {length}\r\n\r\n{deep}"
            ),
        ),
        (404, format!("GET /api/canary?canary=canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\n\r\n")),
        (404, format!("GET /api/sessions/canary/outline HTTP/1.1\r\nhost: x\r\n{secrets}\r\n\r\n")),
    ] {
        assert_eq!(refused(&harness, &request).await, status, "{request:.60}");
    }
    let guarded = Harness::start_with(|settings| {
        settings.tokens = vec![TenantToken::of_owner(AccessToken::new("a-token-of-some-length").unwrap())];
    })
    .await;
    for request in [
        format!(
            "GET /token:canary/v1/canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\nx-secateur-token: canary\r\n\r\n"
        ),
        format!("GET /v1/canary HTTP/1.1\r\nhost: x\r\n{secrets}\r\n\r\n"),
    ] {
        assert_eq!(refused(&guarded, &request).await, 401);
    }
    let log = log.text();
    for reason in [
        "ambiguous",
        "malformed",
        "host",
        "origin",
        "connect",
        "too-long",
        "slow",
        "too-deep",
        "wrong-token",
        "no-token",
    ] {
        let line = format!("reason=\"{reason}\"");
        assert!(
            log.lines().any(|found| found.contains(" WARN ") && found.contains(&line)),
            "{reason}: {log}"
        );
    }
    assert!(!log.replace("canary-free", "").contains("canary"), "{log}");
}
