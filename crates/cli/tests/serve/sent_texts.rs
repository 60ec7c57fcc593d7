//! What agents have said and what they were shown of it, and whether the store still has all of it.

use std::collections::{BTreeSet, HashSet};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use secateur_testing::Agent;
use secateur_testing::client::text;
use secateur_testing::connection::HttpMessage;

/// How long something may take to be stored, or to be decided, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What was said, and under which handles parts of it were cut.
#[derive(Default)]
pub(crate) struct SentTexts {
    handles: BTreeSet<String>,
    said: HashSet<String>,
}

impl SentTexts {
    /// Notes the handles that a model was shown.
    pub(crate) fn shown(&mut self, requests: &[HttpMessage]) {
        for request in requests {
            let text = text(request);
            let behind =
                text.split("; recall ").skip(1).filter_map(|rest| rest.split_once(" brings it back"));
            self.handles.extend(behind.map(|(handle, _)| handle.to_owned()));
        }
    }

    /// Notes what agents have sent.
    pub(crate) fn said(&mut self, texts: HashSet<String>) {
        self.said.extend(texts);
    }

    /// Whatever was cut comes back under its handle, as an agent has sent it. How many handles that were.
    pub(crate) async fn check(&self, proxies: [SocketAddr; 2]) -> usize {
        for (handle, to) in self.handles.iter().zip(proxies.into_iter().cycle()) {
            let (status, recalled) = get(to, &format!("/api/recall/{handle}")).await;
            assert_eq!(status, 200, "{handle} is lost: {recalled}");
            let text = recalled["text"].as_str().unwrap();
            assert!(self.said.contains(text), "{handle} brings back what no agent has said: {text}");
        }
        self.handles.len()
    }
}

/// All texts in a history.
pub(crate) fn texts(items: &[Value]) -> HashSet<String> {
    let mut found = HashSet::new();
    items.iter().for_each(|item| gather(item, &mut found));
    found
}

fn gather(value: &Value, found: &mut HashSet<String>) {
    match value {
        Value::String(text) => drop(found.insert(text.clone())),
        Value::Array(list) => list.iter().for_each(|value| gather(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| gather(value, found)),
        _ => {}
    }
}

/// Everything in an agent's history is in its session.
pub(crate) async fn is_kept(agent: &Agent, session: &str, to: SocketAddr) {
    let (wanted, began) = (texts(&agent.items), Instant::now());
    loop {
        let kept = originals(session, to).await;
        let lost: Vec<&String> = wanted.difference(&kept).collect();
        if lost.is_empty() {
            return;
        }
        // The last answer is stored when it is through, which its reader may know a moment earlier.
        assert!(began.elapsed() < PATIENCE, "{}: {session} has lost {lost:?}", agent.name);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// All texts of the originals of a session.
async fn originals(session: &str, to: SocketAddr) -> HashSet<String> {
    let (_, outline) = get(to, &format!("/api/sessions/{session}/outline?limit=500")).await;
    let mut found = HashSet::new();
    for message in outline["items"].as_array().unwrap() {
        let (status, recalled) =
            get(to, &format!("/api/sessions/{session}/recall/{}", message["number"])).await;
        assert_eq!(status, 200, "message {} of {session}: {recalled}", message["number"]);
        gather(&recalled["original"], &mut found);
    }
    found
}

/// Asks the API of a proxy.
async fn get(to: SocketAddr, path: &str) -> (u16, Value) {
    let mut socket = TcpStream::connect(to).await.unwrap();
    let asked = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
    socket.write_all(asked.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{path}: {error}: {body}")))
}
