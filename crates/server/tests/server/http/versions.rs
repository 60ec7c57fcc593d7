//! The many ways to speak HTTP.

use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;

use super::harness::Harness;
use secateur_testing::connection::{Connection, within};

#[tokio::test]
async fn a_client_may_speak_http_2() {
    let harness = Harness::start().await;
    let stream = TcpStream::connect(harness.proxy()).await.unwrap();
    let (mut http, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let asked = |body: &'static str| {
        let request = Request::post("http://proxy/v1/messages?x=%20").header("x-api-key", "k");
        request.header("content-type", "application/json").body(Full::new(Bytes::from(body))).unwrap()
    };
    let first = http.send_request(asked("{}"));
    let mut provider = harness.provider().await;
    let second = http.send_request(asked("[]"));
    let mut other = harness.provider().await;
    let request = provider.message().await;
    let host = harness.host();
    assert!(request.head.starts_with("POST /v1/messages?x=%20 HTTP/1.1\r\n"), "{}", request.head);
    assert_eq!(
        (request.text(), request.header("host"), request.header("x-api-key")),
        ("{}", Some(&*host), Some("k"))
    );
    assert_eq!(other.message().await.text(), "[]");
    // The second is answered first, and in pieces.
    other.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\nA: b\r\n\r\n").await;
    let mut answer = within(second).await.unwrap();
    assert_eq!(answer.headers()["a"], "b");
    assert!(!answer.headers().contains_key("connection"));
    for frame in ["one", "two"] {
        other.chunk(frame).await;
        let data = within(answer.frame()).await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(data, frame);
    }
    drop(other);
    assert!(within(answer.frame()).await.unwrap().is_err());
    // Who gives up is heard.
    drop(first);
    assert_eq!(provider.rest().await, b"");
}

#[tokio::test]
async fn an_http_2_client_is_let_go_when_it_has_nothing_to_say_and_not_before() {
    let harness = Harness::start_with(|settings| settings.head = Duration::from_secs(1)).await;
    let stream = TcpStream::connect(harness.proxy()).await.unwrap();
    let (mut http, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = Request::get("http://proxy/v1/models").body(Full::new(Bytes::new())).unwrap();
    let answer = http.send_request(request);
    let mut provider = harness.provider().await;
    provider.message().await;
    provider.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
    let answer = within(answer).await.unwrap();
    // A model may think for as long as it likes.
    tokio::time::sleep(Duration::from_millis(2500)).await;
    assert!(!connection.is_finished() && http.ready().await.is_ok());
    provider.send("2\r\nok\r\n0\r\n\r\n").await;
    assert_eq!(within(answer.collect()).await.unwrap().to_bytes(), "ok");
    within(connection).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_client_that_waits_for_100_continue_gets_it() {
    let harness = Harness::start().await;
    for path in ["/v1/messages", "/v1/files"] {
        let mut client = harness.client().await;
        client
            .send(format!(
                "POST {path} HTTP/1.1\r\nhost: x\r\nExpect: 100-continue\r\ncontent-length: 2\r\n\r\n"
            ))
            .await;
        assert_eq!(client.head().await.head, "HTTP/1.1 100 Continue\r\n");
        client.send("{}").await;
        let mut provider = harness.provider().await;
        let request = provider.message().await;
        assert_eq!((request.text(), request.header("expect")), ("{}", None));
        // The provider may say so, too.
        provider.send("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
        assert_eq!(client.message().await.text(), "ok");
    }
}

#[tokio::test]
async fn an_old_client_gets_an_answer_that_it_can_read() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send("GET /v1/models HTTP/1.0\r\n\r\n").await;
    let mut provider = harness.provider().await;
    assert_eq!(provider.message().await.header("host"), Some(&*harness.host()));
    provider.send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n").await;
    let answer = String::from_utf8(client.rest().await).unwrap();
    assert!(answer.starts_with("HTTP/1.0 200 OK\r\n") && answer.ends_with("\r\n\r\nab"), "{answer}");
}

#[tokio::test]
async fn heads_and_empty_answers_have_no_body() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client.send("HEAD /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut provider = harness.provider().await;
    provider.message().await;
    provider.send("HTTP/1.1 200 OK\r\ncontent-length: 999\r\n\r\n").await;
    assert_eq!(client.head().await.header("content-length"), Some("999"));
    client.send("DELETE /v1/files/1 HTTP/1.1\r\nhost: x\r\n\r\n").await;
    let mut provider = provider;
    provider.message().await;
    provider.send("HTTP/1.1 204 No Content\r\n\r\n").await;
    assert_eq!(client.head().await.head, "HTTP/1.1 204 No Content\r\n");
}

#[tokio::test]
async fn a_web_socket_is_joined_through() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    client
        .send("GET /v1/responses HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: k\r\n\r\n")
        .await;
    let mut provider = harness.provider().await;
    let request = provider.head().await;
    assert_eq!(
        (request.header("connection"), request.header("upgrade")),
        (Some("upgrade"), Some("websocket"))
    );
    assert_eq!(request.header("sec-websocket-key"), Some("k"));
    let head = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: a\r\n";
    provider.send(format!("{head}\r\nhello")).await;
    assert_eq!(client.head().await.header("sec-websocket-accept"), Some("a"));
    assert_eq!(client.exactly(5).await, b"hello");
    client.send("\0frame\u{1}").await;
    assert_eq!(provider.exactly(7).await, b"\0frame\x01");
    drop(client);
    assert_eq!(provider.rest().await, b"");
}

const UPGRADE: &str =
    "GET /v1/realtime HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
const SWITCHING: &str =
    "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";

/// Both ends of a web socket.
async fn web_socket(harness: &Harness) -> (Connection, Connection) {
    let mut client = harness.client().await;
    client.send(UPGRADE).await;
    let mut provider = harness.provider().await;
    provider.head().await;
    provider.send(SWITCHING).await;
    client.head().await;
    (client, provider)
}

#[tokio::test]
async fn a_web_socket_keeps_its_slot_until_it_is_closed() {
    let harness = Harness::start_with(|settings| settings.most_connections = 1).await;
    let (mut client, mut provider) = web_socket(&harness).await;
    harness.until(|counters| counters.open == 1).await;
    // What is no request is none of the guard's business.
    client.send("\nGET / HTTP/1.1\n\n").await;
    provider.exactly(17).await;
    assert_eq!(harness.client().await.head().await.status(), 503);
    drop((client, provider));
    harness.until(|counters| counters.open == 0).await;
    let served = async {
        while !harness.metrics_now().await.starts_with("HTTP/1.1 200 ") {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    within(served).await;
}

#[tokio::test]
async fn a_stopping_proxy_lets_web_sockets_end() {
    let mut harness = Harness::start().await;
    let (mut client, mut provider) = web_socket(&harness).await;
    let mut idle = harness.client().await;
    harness.stop();
    assert_eq!(idle.rest().await, b"");
    client.send("last").await;
    assert_eq!(provider.exactly(4).await, b"last");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(harness.is_running(), "it waits for the web socket");
    drop((client, provider));
    harness.stopped().await;
    let mut harness = Harness::start_with(|settings| settings.drain = Duration::from_millis(10)).await;
    let _open = web_socket(&harness).await;
    harness.stop();
    harness.stopped().await;
}

#[tokio::test]
async fn codex_is_sent_to_plain_http() {
    let harness = Harness::start().await;
    let mut client = harness.client().await;
    let upgrade = "Host: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOriginator: codex_exec\r\n\r\n";
    client.send(format!("GET /v1/responses HTTP/1.1\r\n{upgrade}")).await;
    let refusal = client.message().await;
    assert!(refusal.head.starts_with("HTTP/1.1 426 "), "{}", refusal.head);
    assert_eq!(refusal.header("upgrade"), Some("HTTP/1.1"));
    // What holds no conversation is its own affair.
    let mut client = harness.client().await;
    client.send(format!("GET /v1/realtime HTTP/1.1\r\n{upgrade}")).await;
    assert!(harness.provider().await.head().await.head.starts_with("GET /v1/realtime "));
}
