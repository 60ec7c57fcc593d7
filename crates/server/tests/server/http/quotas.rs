//! Clients that take up more than their share.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use secateur_testing::connection::within;

use super::harness::Harness;

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}";

fn head(name: &str, more: &str, length: usize) -> String {
    format!(
        "POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-client: {name}\r\ncontent-type: application/json\r\n{more}content-length: {length}\r\n\r\n"
    )
}

/// A short body that becomes a long one.
fn bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"").unwrap();
    for _ in 0..12 {
        encoder.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    encoder.write_all(b"\"}]}").unwrap();
    encoder.finish().unwrap()
}

/// All on one thread: what blocks it blocks everything.
#[tokio::test]
async fn a_request_passes_those_of_others_whose_bodies_explode() {
    let harness = Harness::start().await;
    let bomb = bomb();
    let mut bombs = Vec::new();
    for _ in 0..3 {
        let mut client = harness.client().await;
        client
            .send([head("bomb", "content-encoding: gzip\r\n", bomb.len()).as_bytes(), &bomb].concat())
            .await;
        bombs.push(client);
    }
    let mut client = harness.client().await;
    let body = "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    client.send(format!("{}{body}", head("other", "", body.len()))).await;
    let mut provider = harness.provider().await;
    let first = provider.message().await;
    assert_eq!(first.header("x-client"), Some("other"), "a later, small request comes first");
    provider.send(ANSWER).await;
    assert_eq!(client.message().await.status(), 200);
    // The others are answered as well.
    within(async {
        for _ in 0..3 {
            let mut provider = harness.provider().await;
            assert_eq!(provider.message().await.header("x-client"), Some("bomb"));
            provider.send(ANSWER).await;
        }
        for mut client in bombs {
            assert_eq!(client.message().await.status(), 200);
        }
    })
    .await;
}

#[tokio::test]
async fn a_client_with_too_many_bodies_is_told_when_to_come_back() {
    let harness = Harness::start_with(|settings| settings.client_bodies = 0).await;
    let mut client = harness.client().await;
    let body = "{\"model\":\"m\",\"messages\":[]}";
    client.send(format!("{}{body}", head("many", "", body.len()))).await;
    let answer = client.message().await;
    assert_eq!((answer.status(), answer.header("retry-after")), (429, Some("1")));
    assert!(answer.text().contains("try again"), "{}", answer.text());
    let metrics = harness.metrics().await;
    assert!(metrics.contains("secateur_denied_total{reason=\"bodies\"} 1"), "{metrics}");
    // What has no conversation is passed on as ever.
    let mut client = harness.client().await;
    client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut provider = harness.provider().await;
    provider.head().await;
    provider.send(ANSWER).await;
    assert_eq!(client.message().await.status(), 200);
}

#[tokio::test]
async fn a_client_without_memory_left_passes_unread_also_if_its_body_explodes() {
    let harness = Harness::start_with(|settings| {
        settings.headers = true;
        settings.client_memory = 300 << 10;
    })
    .await;
    let plain =
        format!("{{\"model\":\"m\",\"messages\":[],\"x\":\"{}\"}}", "x".repeat(400 << 10)).into_bytes();
    for (body, more, reason) in
        [(plain, "", "busy"), (bomb(), "content-encoding: gzip\r\n", "not-understood")]
    {
        let mut client = harness.client().await;
        client.send([head("large", more, body.len()).as_bytes(), &body].concat()).await;
        let mut provider = harness.provider().await;
        assert_eq!(provider.message().await.body, body);
        provider.send(ANSWER).await;
        let answer = client.message().await;
        assert_eq!((answer.status(), answer.header("x-secateur-reason")), (200, Some(reason)));
    }
}
