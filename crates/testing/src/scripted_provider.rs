//! A server that answers by script: every way in which a provider can behave, on demand and without a network.
//!
//! ```ignore
//! let server = ScriptedProvider::start(vec![Script::refusal(529, "busy"), Script::answer(wire, "a text")]).await;
//! let endpoint = Endpoint::new(wire, server.url(), "m");
//! // … ask …
//! assert_eq!(server.requests().len(), 2);
//! ```
//!
//! Each request gets the next script; when there is none left, it is refused with status 400, so that a test that asks
//! too often fails. Every request is recorded before it is answered.

mod bodies;
mod script;

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::{JoinHandle, JoinSet};

pub use bodies::{answer, events, whole};
pub use script::{Script, Step};

/// The server, for as long as it is not dropped.
pub struct ScriptedProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Shared {
    scripts: Mutex<std::collections::VecDeque<Script>>,
    requests: Mutex<Vec<ReceivedRequest>>,
    disconnects: AtomicUsize,
    news: Notify,
}

/// A request as it came.
#[derive(Clone, Debug)]
pub struct ReceivedRequest {
    /// The method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: String,
}

impl ReceivedRequest {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|(known, value)| (known == name).then_some(value.as_str()))
    }

    /// The body as JSON.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

impl ScriptedProvider {
    /// Starts a server that plays these scripts, one for each request.
    pub async fn start(scripts: Vec<Script>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared { scripts: Mutex::new(scripts.into()), ..Shared::default() });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { address, shared, task }
    }

    /// Where it is, without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that came so far.
    pub fn requests(&self) -> Vec<ReceivedRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    /// The only request that came.
    pub fn request(&self) -> ReceivedRequest {
        let mut requests = self.requests();
        assert_eq!(requests.len(), 1, "there should be one request");
        requests.remove(0)
    }

    /// Waits until this many requests have arrived.
    pub async fn wait_for_requests(&self, count: usize) {
        self.wait(|| self.shared.requests.lock().unwrap().len() >= count).await;
    }

    /// Waits until this many clients have disconnected in the middle of a script.
    pub async fn wait_for_disconnects(&self, count: usize) {
        self.wait(|| self.shared.disconnects.load(Ordering::SeqCst) >= count).await;
    }

    async fn wait(&self, condition: impl Fn() -> bool) {
        loop {
            let news = self.shared.news.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            if condition() {
                return;
            }
            news.await;
        }
    }
}

impl Drop for ScriptedProvider {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    // Dropped with this task, and all connections with it.
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        connections.spawn(async move {
            let _ = socket.set_nodelay(true);
            if play(socket, &shared).await.is_none() {
                shared.disconnects.fetch_add(1, Ordering::SeqCst);
            }
            shared.news.notify_waiters();
        });
    }
}

/// Reads one request and plays one script. Nothing if the client hung up before the end.
async fn play(mut socket: TcpStream, shared: &Shared) -> Option<()> {
    let seen = read_request(&mut socket).await?;
    shared.requests.lock().unwrap().push(seen);
    shared.news.notify_waiters();
    let script = shared.scripts.lock().unwrap().pop_front();
    let script =
        script.unwrap_or_else(|| Script::refusal(400, r#"{"error":{"message":"no script is left"}}"#));
    let mut has_head = false;
    for step in &script.steps {
        if !has_head && !matches!(step, Step::Stall | Step::Cut | Step::Pause(_)) {
            socket.write_all(script.head().as_bytes()).await.ok()?;
            has_head = true;
        }
        match step {
            Step::Chunk(bytes) => write_chunk(&mut socket, bytes).await?,
            Step::Pause(time) => tokio::time::sleep(*time).await,
            Step::Drip { bytes, gap } => loop {
                write_chunk(&mut socket, bytes).await?;
                listen(&mut socket, *gap).await?;
            },
            Step::Stall => loop {
                listen(&mut socket, Duration::from_secs(3_600)).await?;
            },
            Step::Cut => return Some(()),
        }
    }
    if !has_head {
        socket.write_all(script.head().as_bytes()).await.ok()?;
    }
    socket.write_all(b"0\r\n\r\n").await.ok()?;
    socket.shutdown().await.ok()
}

async fn write_chunk(socket: &mut TcpStream, bytes: &[u8]) -> Option<()> {
    if bytes.is_empty() {
        return Some(());
    }
    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
    chunk.extend_from_slice(bytes);
    chunk.extend_from_slice(b"\r\n");
    socket.write_all(&chunk).await.ok()?;
    socket.flush().await.ok()
}

/// Waits, and nothing if the client hangs up meanwhile.
async fn listen(socket: &mut TcpStream, time: Duration) -> Option<()> {
    let mut byte = [0];
    match tokio::time::timeout(time, socket.read(&mut byte)).await {
        Ok(Ok(0) | Err(_)) => None,
        Ok(Ok(_)) | Err(_) => Some(()),
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<ReceivedRequest> {
    let mut bytes = vec![];
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let mut body = bytes.split_off(head + 4);
    let head = String::from_utf8(bytes).ok()?;
    let mut lines = head.lines();
    let mut request = lines.next()?.split(' ');
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    };
    let mut seen = ReceivedRequest {
        method: request.next()?.to_owned(),
        path: request.next()?.to_owned(),
        headers: lines.filter_map(header).collect(),
        body: String::new(),
    };
    let length = seen.header("content-length")?.parse().ok()?;
    while body.len() < length {
        if socket.read_buf(&mut body).await.ok()? == 0 {
            return None;
        }
    }
    seen.body = String::from_utf8(body).ok()?;
    Some(seen)
}
