//! Events as they happen.

use std::net::SocketAddr;
use std::time::Duration;

use secateur::Catalogue;
use secateur_engine::SessionOptions;
use secateur_server::{Server, Settings};
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::oneshot;

use super::requests::{all, ask, post, working};
use crate::setup::{Setup, engine};
use secateur_testing::connection::{Connection, within};

/// Begins to follow the events of a session.
async fn follow(to: SocketAddr, id: &str, rest: &str) -> Connection {
    let mut line = Connection::new(TcpStream::connect(to).await.unwrap());
    let path = format!("/api/sessions/{id}/events");
    line.send(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\n{rest}\r\n"))
        .await;
    let head = line.head().await;
    assert_eq!(head.status(), 200, "{}", head.head);
    assert_eq!(head.header("content-type"), Some("text/event-stream"));
    line
}

/// The next event of a stream: its id, and what it says.
async fn next(line: &mut Connection) -> (u64, Value) {
    loop {
        let chunk = String::from_utf8(line.next_chunk().await).unwrap();
        let field = |name: &str| chunk.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        if let (Some(id), Some(data)) = (field("id:"), field("data:")) {
            return (id.parse().unwrap(), serde_json::from_str(data).unwrap());
        }
        assert!(chunk.starts_with(':'), "{chunk:?}");
    }
}

#[tokio::test]
async fn a_stream_tells_what_happened_and_what_happens_and_can_be_resumed() {
    let setup = Setup::start(12_000).await;
    let to = setup.address();
    let (mut agent, id) = working(&setup, 20).await;
    let events = all(to, &format!("/api/sessions/{id}/events"), 500).await;
    let mut line = follow(to, &id, "").await;
    for reported in &events {
        let (number, data) = next(&mut line).await;
        assert_eq!((Value::from(number), &data), (reported["number"].clone(), reported));
    }

    // Now it is up to date, and hears what happens.
    let waiting = tokio::spawn(async move {
        let reported = next(&mut line).await;
        (reported, line)
    });
    post(to, &format!("/api/sessions/{id}/operations/1/undo")).await;
    let ((number, data), line) = within(waiting).await.unwrap();
    assert_eq!(number, events.len() as u64 + 1);
    assert_eq!((&data["event"]["type"], &data["event"]["operation"]), (&"undone".into(), &1.into()));
    drop(line);

    // A listener that was cut off goes on where it was.
    agent.work_for(6, to).await;
    let mut line = follow(to, &id, &format!("last-event-id: {}\r\n", number - 1)).await;
    assert_eq!(next(&mut line).await, (number, data));
    let rest = all(to, &format!("/api/sessions/{id}/events"), 500).await;
    for reported in rest.iter().skip(usize::try_from(number).unwrap()) {
        assert_eq!(next(&mut line).await.1, *reported);
    }
}

#[tokio::test]
async fn the_header_goes_before_the_query_and_must_be_a_number() {
    let setup = Setup::start(12_000).await;
    let (_, id) = working(&setup, 20).await;
    let path = format!("/api/sessions/{id}/events?after=0");
    let answer = ask(setup.address(), "GET", &path, "last-event-id: 1\r\n").await;
    let page: Value = serde_json::from_str(answer.text()).unwrap();
    assert_eq!(page["items"][0]["number"], 2);
    for bad in ["x", "-1", "1.5", ""] {
        let answer = ask(setup.address(), "GET", &path, &format!("last-event-id: {bad}\r\n")).await;
        assert_eq!(answer.status(), 400, "{bad}");
    }
    let none =
        ask(setup.address(), "GET", "/api/sessions/none/events", "accept: text/event-stream\r\n").await;
    assert_eq!(none.status(), 404);
}

#[tokio::test]
async fn a_stream_does_not_keep_the_proxy_from_stopping() {
    let engine = engine("sqlite::memory:").await;
    let id = engine.create(SessionOptions::default()).await.unwrap().id().to_owned();
    let (listen, drain) = ("127.0.0.1:0".parse().unwrap(), Duration::from_secs(3_600));
    let settings = Settings { listen, drain, ..Settings::default() };
    let server = Server::bind(settings, engine, Catalogue::builtin()).await.unwrap();
    let to = server.local_addr();
    let (stop, stopped) = oneshot::channel::<()>();
    let running = tokio::spawn(server.run_until(async { stopped.await.unwrap_or_default() }));
    let mut line = follow(to, &id, "").await;
    stop.send(()).unwrap();
    // It comes to its end, and so does the proxy.
    assert!(line.next_chunk().await.is_empty());
    within(running).await.unwrap();
}
