//! A client, the proxy and a provider. A test says what the client and the provider send, and when; what arrives at the
//! other side is compared byte by byte.
//!
//! ```ignore
//! let mut harness = Harness::start().await;
//! let mut client = harness.client().await;
//! client.send("GET /v1/models HTTP/1.1\r\nhost: x\r\n\r\n").await;
//! let mut provider = harness.provider().await;
//! let request = provider.message().await;
//! provider.send("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi").await;
//! assert_eq!(client.message().await.body, b"hi");
//! ```

use std::net::SocketAddr;
use std::time::Duration;

use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_server::{Counters, Server, Settings, Snapshot};
use secateur_testing::{Connection, within};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// The proxy, with a provider behind it that does what the test says.
pub(crate) struct Harness {
    provider: TcpListener,
    proxy: SocketAddr,
    counters: Counters,
    stop: Option<oneshot::Sender<()>>,
    running: JoinHandle<()>,
}

impl Harness {
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
    pub(crate) async fn client(&self) -> Connection {
        Connection::new(TcpStream::connect(self.proxy).await.unwrap())
    }

    /// The proxy's next connection to the provider.
    pub(crate) async fn provider(&self) -> Connection {
        Connection::new(within(self.provider.accept()).await.unwrap().0)
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
