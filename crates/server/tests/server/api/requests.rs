//! Requests to the API.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;

use crate::setup::Setup;
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::ClientResponse;
use secateur_testing::connection::{Connection, HttpMessage};

/// A conversation that is so long that something was cut in it.
pub(crate) const TASK: &str = "SCENARIO:long steps=40 bytes=6000";

/// Asks with any method and with further headers, each with its line end.
pub(crate) async fn ask(to: SocketAddr, method: &str, path: &str, headers: &str) -> HttpMessage {
    let mut line = Connection::new(TcpStream::connect(to).await.unwrap());
    let host =
        if headers.to_lowercase().contains("host:") { String::new() } else { format!("host: {to}\r\n") };
    line.send(format!("{method} {path} HTTP/1.1\r\n{host}{headers}connection: close\r\n\r\n")).await;
    line.message().await
}

/// Asks for something that is there.
pub(crate) async fn get(to: SocketAddr, path: &str) -> Value {
    let answer = ask(to, "GET", path, "").await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    assert_eq!(answer.header("content-type"), Some("application/json"), "{path}");
    assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    serde_json::from_str(answer.text()).unwrap()
}

/// Has something done.
pub(crate) async fn post(to: SocketAddr, path: &str) -> Value {
    let answer = ask(to, "POST", path, "content-length: 0\r\n").await;
    assert_eq!(answer.status(), 200, "{path}: {}", answer.text());
    serde_json::from_str(answer.text()).unwrap()
}

/// All rows of a list, read in pages of this size.
pub(crate) async fn all(to: SocketAddr, path: &str, limit: usize) -> Vec<Value> {
    let mut rows = Vec::new();
    let mut next = String::new();
    loop {
        let page = get(to, &format!("{path}?limit={limit}{next}")).await;
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= limit, "{path}: {}", items.len());
        rows.extend(items.iter().cloned());
        next = match &page["next"] {
            Value::Null => return rows,
            mark => format!("&after={}", mark.as_str().unwrap()),
        };
    }
}

/// A session once it is at rest: what was said and learned last is stored a moment after the answer.
pub(crate) async fn settled(to: SocketAddr, id: &str) -> Value {
    let mut last = Value::Null;
    loop {
        let session = get(to, &format!("/api/sessions/{id}")).await;
        if session == last {
            return session;
        }
        last = session;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

/// An agent that has worked until something was cut, and the name of its session.
pub(crate) async fn working(setup: &Setup, steps: usize) -> (Agent, String) {
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    let answers = agent.work_for(steps, setup.address()).await;
    let last = answers.last().unwrap();
    assert!(answers.iter().any(ClientResponse::is_flush), "nothing was cut: {}", last.head);
    (agent, last.header("x-secateur-session").to_owned())
}
