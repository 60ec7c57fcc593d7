//! Requests on behalf of clients, over shared connections.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use secateur_engine::provider::{ConnectError, Connector, Endpoint, Secret};
use secateur_formats::Wire;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::{ask_model, endpoint};
use secateur_testing::scripted_provider::{ReceivedRequest, Script, ScriptedProvider, whole};

fn secrets<'a>(headers: &[(&'a str, &str)]) -> Vec<(&'a str, Secret)> {
    headers.iter().map(|&(name, value)| (name, Secret::new(value))).collect()
}

/// The request that an endpoint sends with these headers.
async fn sent(wire: Wire, headers: &[(&str, &str)], change: impl FnOnce(&mut Endpoint)) -> ReceivedRequest {
    let server = ScriptedProvider::start(vec![Script::answer(wire, "yes")]).await;
    let mut endpoint = endpoint(wire, &server);
    change(&mut endpoint);
    let model = endpoint.connect_through(&Connector::new(), &secrets(headers)).unwrap();
    ask_model(&model).await.answer();
    server.request()
}

#[tokio::test]
async fn headers_are_passed_on_instead_of_a_key() {
    for wire in Wire::ALL {
        let headers = [("Authorization", "Bearer sk-sesame"), ("x-team", "a"), ("X-Team", "b")];
        let seen = sent(wire, &headers, |endpoint| {
            // Neither is used.
            endpoint.key_env = Some("SECATEUR_TEST_NO_SUCH_VARIABLE".to_owned());
            endpoint.key_header = Some("api-key".to_owned());
            endpoint.headers.insert("x-team".to_owned(), "settings".to_owned());
            endpoint.headers.insert("x-more".to_owned(), "settings".to_owned());
        })
        .await;
        assert_eq!(seen.header("authorization"), Some("Bearer sk-sesame"), "{wire}");
        let teams: Vec<_> = seen.headers.iter().filter(|(name, _)| name == "x-team").collect();
        assert_eq!(teams, [&("x-team".to_owned(), "a".to_owned()), &("x-team".to_owned(), "b".to_owned())]);
        assert_eq!(seen.header("x-more"), Some("settings"), "{wire}");
        for name in ["api-key", "x-api-key", "x-goog-api-key"] {
            assert_eq!(seen.header(name), None, "{wire}");
        }
    }
}

#[tokio::test]
async fn headers_of_the_other_request_and_its_connection_are_left_out() {
    let headers = [
        ("Content-Length", "7"),
        ("content-type", "text/plain"),
        ("accept", "image/png"),
        ("Accept-Encoding", "gzip, br"),
        ("host", "elsewhere.example"),
        ("connection", "upgrade"),
        ("transfer-encoding", "chunked"),
        ("anthropic-version", "2030-01-01"),
        ("user-agent", "somebody/1"),
    ];
    let seen = sent(Wire::Anthropic, &headers, |_| {}).await;
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("text/event-stream, application/json"));
    assert_eq!(seen.header("accept-encoding"), None);
    assert!(seen.header("host").unwrap().starts_with("127.0.0.1:"));
    assert_ne!(seen.header("content-length"), Some("7"));
    assert_eq!((seen.header("connection"), seen.header("transfer-encoding")), (None, None));
    // The client's headers are passed on unchanged.
    assert_eq!(seen.header("anthropic-version"), Some("2030-01-01"));
    assert_eq!(seen.header("user-agent"), Some("somebody/1"));
}

#[tokio::test]
async fn a_key_in_the_query_is_sent() {
    let seen = sent(Wire::Gemini, &[], |endpoint| endpoint.url += "/v1beta?key=se%2Fsame").await;
    assert_eq!(seen.path, "/v1beta/models/m:streamGenerateContent?key=se%2Fsame&alt=sse");
}

#[tokio::test]
async fn what_was_passed_on_is_in_no_error() {
    for wire in Wire::ALL {
        let said = "no sk-sesame of Bearer sk-sesame, gardeners, open/sesame or open%2Fsesame";
        let refused = json!({ "error": { "message": said, "code": 401 } }).to_string();
        for script in [Script::refusal(401, refused.as_str()), Script::json(refused.as_str())] {
            let server = ScriptedProvider::start(vec![script]).await;
            let mut endpoint = Endpoint { retries: 0, ..endpoint(wire, &server) };
            endpoint.url += "/v1?key=open%2Fsesame";
            let headers = secrets(&[("authorization", "Bearer sk-sesame"), ("x-team", "gardeners")]);
            let model = endpoint.connect_through(&Connector::new(), &headers).unwrap();
            let error = ask_model(&model).await.error();
            let shown = format!("{error} {error:?} {model:?} {headers:?}");
            assert!(shown.contains("[secret]"), "{wire}: {shown}");
            assert!(!shown.contains("sesame") && !shown.contains("gardeners"), "{wire}: {shown}");
        }
    }
}

#[tokio::test]
async fn what_is_no_header_is_refused_without_its_value() {
    let endpoint = Endpoint::new(Wire::OpenAiChat, "http://host", "m");
    for (name, value) in [("not a name", "sesame"), ("x-token", "two\nsesames")] {
        let error = endpoint.connect_through(&Connector::new(), &secrets(&[(name, value)])).unwrap_err();
        assert_eq!(error, ConnectError::Header { name: name.to_owned() });
        assert!(!error.to_string().contains("sesame"), "{error}");
    }
}

#[tokio::test]
async fn clients_share_the_connections_of_their_connector() {
    let server = Patient::start().await;
    let connector = Connector::new();
    let endpoint = Endpoint::new(Wire::OpenAiChat, server.url.as_str(), "m");
    for n in 0..5 {
        let key = format!("Bearer {n}");
        let headers = [("authorization", Secret::new(&key))];
        let model = endpoint.connect_through(&connector.clone(), &headers).unwrap();
        assert_eq!(ask_model(&model).await.answer().text, format!("for bearer {n}"));
    }
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
    // Others do not.
    let model = endpoint.connect_through(&Connector::new(), &[]).unwrap();
    ask_model(&model).await.answer();
    assert_eq!(server.connections.load(Ordering::SeqCst), 2);
}

/// A server that keeps its connections open and counts them. It tells each client its number.
struct Patient {
    url: String,
    connections: Arc<AtomicUsize>,
}

impl Patient {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(serve(socket));
            }
        });
        Self { url, connections }
    }
}

async fn serve(mut socket: TcpStream) -> Option<()> {
    let mut read = String::new();
    loop {
        let (head, rest) = loop {
            if let Some((head, rest)) = read.split_once("\r\n\r\n") {
                break (head.to_lowercase(), rest.to_owned());
            }
            read_more(&mut socket, &mut read).await?;
        };
        let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let length: usize = value("content-length:")?.parse().ok()?;
        let caller = value("authorization:").unwrap_or("nobody").to_owned();
        read = rest;
        while read.len() < length {
            read_more(&mut socket, &mut read).await?;
        }
        read.drain(..length);
        let body = whole(Wire::OpenAiChat, &format!("for {caller}"));
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(format!("{head}{body}").as_bytes()).await.ok()?;
    }
}

async fn read_more(socket: &mut TcpStream, read: &mut String) -> Option<()> {
    let mut bytes = [0; 4096];
    let count = socket.read(&mut bytes).await.ok().filter(|&count| count > 0)?;
    read.push_str(std::str::from_utf8(&bytes[..count]).ok()?);
    Some(())
}
