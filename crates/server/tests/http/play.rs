//! A client, the proxy and a provider. A test says what the client and the provider send, and when; what arrives at the
//! other side is compared byte by byte.
//!
//! ```ignore
//! let mut play = Play::start().await;
//! let mut client = play.client().await;
//! client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
//! let mut provider = play.provider().await;
//! let request = provider.message().await;
//! provider.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
//! assert_eq!(client.message().await.body, b"hi");
//! ```

use std::future::Future;
use std::net::SocketAddr;
use std::time::Duration;

use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_server::{Counters, Server, Settings, Snapshot};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The proxy, with a provider behind it that does what the test says.
pub(crate) struct Play {
    provider: TcpListener,
    proxy: SocketAddr,
    counters: Counters,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Play {
    pub(crate) async fn start() -> Self {
        Self::start_with(|_| {}).await
    }

    /// Starts the proxy with other settings.
    pub(crate) async fn start_with(change: impl FnOnce(&mut Settings)) -> Self {
        let provider = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream: secateur_server::Upstream =
            format!("http://{}", provider.local_addr().unwrap()).parse().unwrap();
        let mut settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            anthropic: upstream.clone(),
            openai: upstream.clone(),
            gemini: upstream,
            headers: false,
            // What the tests call it.
            hosts: vec!["x".to_owned(), "proxy".to_owned()],
            // A client that goes right after its request is gone.
            grace: Duration::ZERO,
            ..Settings::default()
        };
        change(&mut settings);
        let engine = Engine::new(secateur_store::open("sqlite::memory:").await.unwrap());
        let server = Server::bind(settings, engine, Catalogue::builtin()).await.unwrap();
        let (proxy, counters) = (server.local_addr(), server.counters());
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(server.run_until(async {
            let _ = stopped.await;
        }));
        Self { provider, proxy, counters, stop: Some(stop), running }
    }

    /// A new client.
    pub(crate) async fn client(&self) -> Line {
        Line::new(TcpStream::connect(self.proxy).await.unwrap())
    }

    /// The proxy's next connection to the provider.
    pub(crate) async fn provider(&self) -> Line {
        Line::new(within(self.provider.accept()).await.unwrap().0)
    }

    /// Where the provider is.
    pub(crate) fn host(&self) -> String {
        self.provider.local_addr().unwrap().to_string()
    }

    /// Where the proxy is.
    pub(crate) fn proxy(&self) -> SocketAddr {
        self.proxy
    }

    pub(crate) fn counters(&self) -> Snapshot {
        self.counters.snapshot()
    }

    /// What the proxy tells Prometheus.
    pub(crate) async fn metrics(&self) -> String {
        let mut client = self.client().await;
        client.send("GET /metrics HTTP/1.1\r\nhost: x\r\n\r\n").await;
        client.message().await.text().to_owned()
    }

    /// The same with its head, or what is said instead where there is no room. Nothing, if that is lost with the
    /// connection.
    pub(crate) async fn metrics_now(&self) -> String {
        let mut client = self.client().await;
        client.send("GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await;
        String::from_utf8(client.rest().await).unwrap()
    }

    /// Waits until the counters are as wanted.
    pub(crate) async fn until(&self, wanted: impl Fn(&Snapshot) -> bool) {
        let wait = async {
            while !wanted(&self.counters()) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        within(wait).await;
    }

    /// Tells the proxy to stop.
    pub(crate) fn stop(&mut self) {
        let _ = self.stop.take().map(|stop| stop.send(()));
    }

    /// Whether the proxy has not stopped yet.
    pub(crate) fn is_running(&self) -> bool {
        !self.running.is_finished()
    }

    /// Waits until the proxy has stopped.
    pub(crate) async fn stopped(self) {
        within(self.running).await.unwrap();
    }
}

/// One end of a connection.
pub(crate) struct Line {
    pub socket: TcpStream,
    buffer: Vec<u8>,
}

/// A request or an answer, as its bytes came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Message {
    /// The first line and the headers, with the line ends but without the empty line.
    pub head: String,
    /// The body, without the marks of its chunks.
    pub body: Vec<u8>,
    /// What follows the last chunk.
    pub trailers: String,
}

impl Message {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(':'));
        lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
    }

    pub(crate) fn status(&self) -> u16 {
        self.head.split(' ').nth(1).unwrap().parse().unwrap()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl Line {
    pub(crate) fn new(socket: TcpStream) -> Self {
        socket.set_nodelay(true).unwrap();
        Self { socket, buffer: vec![] }
    }

    pub(crate) async fn send(&mut self, bytes: impl AsRef<[u8]>) {
        within(self.socket.write_all(bytes.as_ref())).await.unwrap();
    }

    /// Sends a chunk of a chunked body.
    pub(crate) async fn chunk(&mut self, bytes: impl AsRef<[u8]>) {
        let bytes = bytes.as_ref();
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.send(chunk).await;
    }

    /// Says that nothing more will be said.
    pub(crate) async fn close_half(&mut self) {
        self.socket.shutdown().await.unwrap();
    }

    /// Drops the connection without a farewell.
    pub(crate) fn reset(self) {
        self.socket.set_zero_linger().unwrap();
    }

    /// More bytes; false at the end, however it comes.
    async fn more(&mut self) -> bool {
        within(self.socket.read_buf(&mut self.buffer)).await.unwrap_or(0) > 0
    }

    /// Reads exactly so many bytes.
    pub(crate) async fn exactly(&mut self, length: usize) -> Vec<u8> {
        while self.buffer.len() < length {
            assert!(self.more().await, "it ends after {:?}", String::from_utf8_lossy(&self.buffer));
        }
        let rest = self.buffer.split_off(length);
        std::mem::replace(&mut self.buffer, rest)
    }

    /// Reads to the end of a mark.
    pub(crate) async fn through(&mut self, mark: &str) -> String {
        let mark = mark.as_bytes();
        let mut seen = 0;
        let end = loop {
            let found = self.buffer[seen..].windows(mark.len()).position(|window| window == mark);
            if let Some(at) = found {
                break seen + at + mark.len();
            }
            seen = self.buffer.len().saturating_sub(mark.len());
            assert!(self.more().await, "it ends after {:?}", String::from_utf8_lossy(&self.buffer));
        };
        String::from_utf8(self.exactly(end).await).unwrap()
    }

    /// Reads the head of a message.
    pub(crate) async fn head(&mut self) -> Message {
        let mut head = self.through("\r\n\r\n").await;
        head.truncate(head.len() - 2);
        Message { head, ..Message::default() }
    }

    /// Reads one chunk of a body; it is empty at the end.
    pub(crate) async fn next_chunk(&mut self) -> Vec<u8> {
        let length = self.through("\r\n").await;
        let length = usize::from_str_radix(length.trim(), 16).unwrap();
        let chunk = self.exactly(length).await;
        if length > 0 {
            self.exactly(2).await;
        }
        chunk
    }

    /// Reads a whole message.
    pub(crate) async fn message(&mut self) -> Message {
        let mut message = self.head().await;
        if message.header("transfer-encoding") == Some("chunked") {
            loop {
                let chunk = self.next_chunk().await;
                if chunk.is_empty() {
                    break;
                }
                message.body.extend(chunk);
            }
            loop {
                let line = self.through("\r\n").await;
                if line == "\r\n" {
                    break;
                }
                message.trailers.push_str(&line);
            }
        } else {
            let length = message.header("content-length").map_or(0, |length| length.parse().unwrap());
            message.body = self.exactly(length).await;
        }
        message
    }

    /// Reads to the end of the connection.
    pub(crate) async fn rest(&mut self) -> Vec<u8> {
        while self.more().await {}
        std::mem::take(&mut self.buffer)
    }
}

/// Waits for what must come. The limit is for a test that would otherwise never end, and proves nothing.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it should have come long ago")
}
