//! Clients that are slow, endless or many.

use std::time::Duration;

use tokio::io::AsyncWriteExt;

use super::harness::Harness;
use secateur_testing::connection::within;

#[tokio::test]
async fn more_connections_than_there_is_room_for_are_turned_away() {
    let harness = Harness::start_with(|settings| settings.most_connections = 2).await;
    let (first, _second) = (harness.client().await, harness.client().await);
    // Clients are let in as they come, so both are in before the third.
    let mut third = harness.client().await;
    assert_eq!(third.head().await.status(), 503);
    drop(first);
    // Its place is free as soon as the proxy has seen that it is gone.
    let asking = async {
        loop {
            let said = harness.metrics_now().await;
            if said.starts_with("HTTP/1.1 200 ") {
                break said;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let metrics = within(asking).await;
    assert!(metrics.contains("secateur_denied_total{reason=\"full\"}"), "{metrics}");
    assert!(!metrics.contains("secateur_denied_total{reason=\"full\"} 0"), "{metrics}");
}

#[tokio::test]
async fn a_body_that_comes_drop_by_drop_is_given_up() {
    let harness = Harness::start_with(|settings| {
        settings.head_start = Duration::from_millis(50);
        settings.slowest = 1_000_000;
    })
    .await;
    let mut client = harness.client().await;
    client.send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 100000\r\n\r\n").await;
    let dripping = async {
        let pause = Duration::from_millis(5);
        while tokio::time::timeout(pause, client.socket.readable()).await.is_err() {
            client.send("x").await;
        }
        client.head().await.status()
    };
    assert_eq!(within(dripping).await, 408);
}

#[tokio::test]
async fn a_body_of_which_nothing_comes_is_given_up_as_soon() {
    let harness = Harness::start_with(|settings| settings.head_start = Duration::from_millis(50)).await;
    for (path, part) in [("/v1/messages", ""), ("/v1/messages", "{"), ("/v1/files", ""), ("/v1/files", "x")] {
        let mut client = harness.client().await;
        client.send(format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{part}")).await;
        // Default patience is far longer than a test may take.
        assert_eq!(client.message().await.status(), 408, "{path} {part}");
        client.rest().await;
    }
    let metrics = harness.metrics().await;
    assert!(metrics.contains("secateur_denied_total{reason=\"slow\"} 4"), "{metrics}");
}

#[tokio::test]
async fn a_slow_provider_is_not_held_against_the_client() {
    let harness = Harness::start_with(|settings| {
        settings.head_start = Duration::from_secs(2);
        settings.slowest = u64::MAX;
    })
    .await;
    let mut client = harness.client().await;
    // More than fits between the two, so that the client has to wait for the provider.
    let body = "x".repeat(32 << 20);
    let asking = async {
        client
            .send(format!("POST /v1/files HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n", body.len()))
            .await;
        client.send(&body).await;
        client.message().await.status()
    };
    let answering = async {
        let mut provider = harness.provider().await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        assert!(provider.message().await.body.len() == body.len());
        provider.send("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    };
    assert_eq!(tokio::join!(asking, answering).0, 200);
}

#[tokio::test]
async fn a_client_that_takes_nothing_is_let_go() {
    let harness = Harness::start_with(|settings| settings.patience = Duration::from_millis(500)).await;
    let mut client = harness.client().await;
    client.send("GET /v1/files HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut provider = harness.provider().await;
    provider.message().await;
    provider.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
    let chunk = format!("{:x}\r\n{}\r\n", 1 << 20, "x".repeat(1 << 20));
    let sending = async { while provider.socket.write_all(chunk.as_bytes()).await.is_ok() {} };
    within(sending).await;
    harness.until(|counters| counters.open == 0).await;
}

#[tokio::test]
async fn a_body_that_is_too_long_is_not_even_begun() {
    let harness = Harness::start_with(|settings| settings.most_passed = 1_000_000).await;
    for path in ["/v1/files", "/v1/messages", "/api/sessions", "/healthz"] {
        let mut client = harness.client().await;
        client.send(format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000001\r\n\r\n")).await;
        assert_eq!(client.head().await.status(), 413, "{path}");
    }
    assert_eq!(harness.counters().bytes_in, 0, "nothing went to the provider");
    let metrics = harness.metrics().await;
    assert!(metrics.contains("secateur_denied_total{reason=\"too-long\"} 4"), "{metrics}");
}

#[tokio::test]
async fn a_body_without_an_end_is_cut_off() {
    let harness = Harness::start_with(|settings| {
        settings.most_body = 100_000;
        settings.most_passed = 1_000_000;
    })
    .await;
    let chunk = format!("{:x}\r\n{}\r\n", 10_000, "x".repeat(10_000));
    for path in ["/v1/files", "/v1/messages"] {
        let mut client = harness.client().await;
        let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n");
        client.send(head).await;
        let sending = async {
            for _ in 0..101 {
                client.send(&chunk).await;
            }
            client.head().await.status()
        };
        let receiving = async { harness.provider().await.rest().await.len() };
        let (status, received) = tokio::join!(within(sending), receiving);
        assert_eq!(status, 413, "{path}");
        assert!(received < 1_200_000, "{path}: {received}");
    }
}

#[tokio::test]
async fn bodies_for_which_there_is_no_room_pass_unread() {
    let harness = Harness::start_with(|settings| {
        settings.headers = true;
        settings.most_held = 1000;
    })
    .await;
    let body = format!("{{\"model\":\"m\",\"messages\":[],\"x\":\"{}\"}}", "x".repeat(500));
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length";
    let answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";
    // One that comes and does not end.
    let mut other = harness.client().await;
    other.send(format!("{head}: {}\r\n\r\n{body}", body.len() + 1)).await;
    let ask = async || {
        let mut client = harness.client().await;
        client.send(format!("{head}: {}\r\n\r\n{body}", body.len())).await;
        let mut provider = harness.provider().await;
        assert_eq!(provider.message().await.text(), body);
        provider.send(answer).await;
        let answer = client.message().await;
        assert_eq!(answer.status(), 200);
        answer.header("x-secateur-reason") == Some("busy")
    };
    within(async { while !ask().await {} }).await;
    // Its room is free for others when it is answered.
    other.send(" ").await;
    let mut provider = harness.provider().await;
    provider.message().await;
    provider.send(answer).await;
    assert_ne!(other.message().await.header("x-secateur-reason"), Some("busy"));
    assert!(!ask().await);
}
