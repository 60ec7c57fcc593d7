//! Answers that come bit by bit.

use std::io::Write;

use super::harness::Harness;
use secateur_testing::connection::Connection;

const ASK: &str =
    "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n";

async fn begin(harness: &Harness, ask: &str) -> (Connection, Connection) {
    let mut client = harness.client().await;
    client.send(ask).await;
    let mut provider = harness.provider().await;
    provider.message().await;
    (client, provider)
}

#[tokio::test]
async fn each_frame_arrives_before_the_next_is_sent() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        let (mut client, mut provider) = begin(&harness, &ASK.replace("/v1/messages", path)).await;
        provider.send(format!("{HEAD}\r\n")).await;
        assert_eq!(client.head().await.head, HEAD);
        for frame in ["a", "data: b\n\n", ": c\r\n", "\0\u{1}", "d"] {
            provider.chunk(frame).await;
            assert_eq!(client.next_chunk().await, frame.as_bytes());
        }
        assert_eq!(harness.counters().open, 1);
        provider.send("0\r\n\r\n").await;
        assert_eq!(client.next_chunk().await, b"");
        harness.until(|counters| counters.open == 0).await;
    }
}

#[tokio::test]
async fn trailers_pass_in_both_directions() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client
        .send("POST /v1/files HTTP/1.1\r\nhost: x\r\nTE: trailers\r\nTrailer: X-Sum\r\ntransfer-encoding: chunked\r\n\r\n")
        .await;
    client.chunk("body").await;
    client.send("0\r\nX-Sum: 7\r\n\r\n").await;
    let mut provider = harness.provider().await;
    let request = provider.message().await;
    assert_eq!((request.text(), request.trailers.to_lowercase().as_str()), ("body", "x-sum: 7\r\n"));
    assert_eq!(request.header("te"), Some("trailers"));
    provider.send(format!("{HEAD}Trailer: X-End\r\n\r\n")).await;
    provider.chunk("answer").await;
    provider.send("0\r\nX-End: 8\r\n\r\n").await;
    let answer = client.message().await;
    assert_eq!((answer.text(), answer.trailers.to_lowercase().as_str()), ("answer", "x-end: 8\r\n"));
}

#[tokio::test]
async fn compressed_answers_pass_untouched_and_their_usage_is_read() {
    let text = "data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":7,\"output_tokens\":1}}}\n\n";
    let mut gzip = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let zstd = zstd::encode_all(text.as_bytes(), 3).unwrap();
    let harness = Harness::start().await;
    let plain = text.as_bytes().to_vec();
    let odd = b"\x00\x01\x02".to_vec();
    for (encoding, body, read) in
        [("gzip", gzip.finish().unwrap(), 1), ("zstd", zstd, 2), ("identity", plain, 3), ("odd", odd, 3)]
    {
        let (mut client, mut provider) = begin(&harness, ASK).await;
        provider.send(format!("{HEAD}Content-Encoding: {encoding}\r\n\r\n")).await;
        for part in body.chunks(9) {
            provider.chunk(part).await;
        }
        provider.send("0\r\n\r\n").await;
        let answer = client.message().await;
        assert_eq!(answer.header("content-encoding"), Some(encoding));
        assert_eq!(answer.body, body);
        assert_eq!(harness.counters().reports, read, "{encoding}");
        assert_eq!(harness.counters().tokens_in, 7 * read);
    }
}

#[tokio::test]
async fn usage_is_known_before_the_client_has_the_last_frame() {
    let harness = Harness::start().await;
    let (mut client, mut provider) = begin(&harness, ASK).await;
    provider.send(format!("{HEAD}\r\n")).await;
    client.head().await;
    provider
        .chunk("data: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":5}}}\n\n")
        .await;
    client.next_chunk().await;
    assert_eq!(harness.counters().reports, 0);
    provider.chunk("data: {\"type\":\"message_stop\"}\n\n").await;
    client.next_chunk().await;
    assert_eq!(harness.counters().reports, 1);

    let (mut client, mut provider) = begin(&harness, ASK).await;
    let body = r#"{"type":"message","stop_reason":"end_turn","usage":{"input_tokens":5,"output_tokens":2}}"#;
    provider.send(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len())).await;
    client.head().await;
    provider.send(body).await;
    client.exactly(body.len()).await;
    assert_eq!(harness.counters().reports, 2);
}

#[tokio::test]
async fn a_client_that_does_not_read_holds_the_provider_up() {
    let harness = Harness::start().await;
    let (mut client, mut provider) = begin(&harness, ASK).await;
    provider.send("HTTP/1.1 200 OK\r\ncontent-length: 1099511627776\r\n\r\n").await;
    client.head().await;
    // Until no more can be written: everything between the two is full then.
    let block = vec![b'x'; 1 << 16];
    let mut written: u64 = 0;
    let mut full = 0;
    while full < 50 {
        match provider.socket.try_write(&block) {
            Ok(bytes) => {
                written += bytes as u64;
                full = 0;
            }
            Err(_) => full += 1,
        }
        tokio::time::sleep(std::time::Duration::from_millis(2)).await;
    }
    // The proxy has handed over no more than the kernel takes from it, and holds only what it has read but not handed
    // over.
    assert!(written < 64 << 20, "{written} bytes were taken");
    let handed = harness.counters().bytes_out;
    assert!(handed <= written);
    // What is read again makes room again.
    client.exactly(usize::try_from(written).unwrap() / 2).await;
    provider.send(&block).await;
}

#[tokio::test]
async fn long_and_chunked_bodies_arrive_whole() {
    let harness = Harness::start().await;
    let long = "x".repeat(3 << 20);
    for path in ["/v1/chat/completions", "/v1/files"] {
        let mut client = harness.client().await;
        let sending = async {
            client
                .send(format!("POST {path} HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"))
                .await;
            for part in long.as_bytes().chunks(100_000) {
                client.chunk(part).await;
            }
            client.send("0\r\n\r\n").await;
        };
        let receiving = async {
            let mut provider = harness.provider().await;
            (provider.message().await, provider)
        };
        let ((), (request, mut provider)) = tokio::join!(sending, receiving);
        assert!(request.text() == long);
        provider.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        assert_eq!(client.message().await.text(), "ok");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_passed_on_unread() {
    let harness = Harness::start_with(|settings| {
        settings.most_body = 1000;
        settings.headers = true;
    })
    .await;
    let body = "y".repeat(5000);
    let chunked = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    for rest in [format!("content-length: 5000\r\n\r\n{body}"), chunked] {
        let mut client = harness.client().await;
        client.send(format!("POST /v1/messages HTTP/1.1\r\nhost: x\r\n{rest}")).await;
        let mut provider = harness.provider().await;
        assert_eq!(provider.message().await.text(), body);
        provider.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        let answer = client.message().await;
        assert_eq!((answer.text(), answer.header("x-secateur-reason")), ("ok", Some("large")));
    }
    assert_eq!(harness.counters().passed_through, [("large", 2)]);
}

#[tokio::test]
async fn what_was_done_is_said_in_headers_where_conversations_go() {
    let harness = Harness::start_with(|settings| settings.headers = true).await;
    let ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    let (mut client, mut provider) = begin(&harness, ASK).await;
    provider.send(ok).await;
    assert!(client.message().await.header("x-secateur-outcome").is_some());
    client
        .send("POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-encoding: gzip\r\ncontent-length: 1\r\n\r\n?")
        .await;
    provider.message().await;
    provider.send(ok).await;
    let answer = client.message().await;
    assert_eq!(answer.header("x-secateur-outcome"), Some("passed-through"));
    assert_eq!(answer.header("x-secateur-reason"), Some("not-understood"));
    assert_eq!(answer.header("x-secateur-bytes"), Some("1/1"));
    client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    provider.message().await;
    provider.send(ok).await;
    assert!(!client.message().await.head.contains("secateur"));
}
