//! Accepting connections of clients, and serving each until it ends.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http::{Request, Response, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use socket2::{Domain, Protocol, SockRef, TcpKeepalive, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep};

use super::response_body::ProxyResponseBody;
use super::socket::{ClientGone, Peer, Socket};
use crate::metrics::Metrics;
use crate::outcome::Denial;
use crate::settings::Settings;

/// The most bytes read at once, and with it the longest head of a request. Reading starts small and only grows with
/// long bodies, which then cost six tenths of what they cost in pieces of 16 kB. A stream after a long request keeps more
/// memory for it; after a short one it makes no difference.
const READ_BUFFER: usize = 64 << 10;

/// The longest head of a request over HTTP/2, and how many bytes of a response are buffered there.
const HTTP2_BUFFER: usize = 16 << 10;

/// How many requests a client may have open on one HTTP/2 connection.
const MAX_STREAMS: u32 = 256;

/// How much of a body a client may send over HTTP/2 before it is read.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// How often an idle client is probed.
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// How long to wait after accepting failed, for example because too many files are open.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The response to a client when there are too many connections.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Listens on an address, with the longest queue that the system allows: a client that finds the queue full tries again a
/// second later at the earliest.
pub(crate) fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = socket2::Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // A proxy that is started again takes its address back at once.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(i32::MAX)?;
    TcpListener::from_std(socket.into())
}

/// What connections are to do.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Serve.
    Open,
    /// Finish open requests, accept no new ones.
    Draining,
    /// Stop at once.
    Over,
}

/// Answers requests.
pub(crate) trait Handler: Send + Sync + 'static {
    /// Answers a request of this client.
    fn handle(
        &self,
        request: Request<Incoming>,
        peer: Peer,
    ) -> impl Future<Output = Result<Response<ProxyResponseBody>, ClientGone>> + Send;
}

/// Accepts connections, and hands their requests to a handler.
pub(crate) struct Acceptor<H> {
    pub listener: TcpListener,
    pub settings: Arc<Settings>,
    pub metrics: Arc<Metrics>,
    pub handler: Arc<H>,
    pub phase: watch::Receiver<Phase>,
}

impl<H: Handler> Acceptor<H> {
    /// Accepts connections while this is polled: all that wait, before anything else is done. Accepted ones are served
    /// beyond that.
    pub(crate) async fn run(self) {
        let builder = Arc::new(builder(&self.settings));
        let slots = Arc::new(Semaphore::new(self.settings.most_connections));
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let Ok(slot) = Arc::clone(&slots).try_acquire_owned() else {
                        self.metrics.denied(Denial::Full);
                        let _ = stream.try_write(FULL);
                        continue;
                    };
                    let connection = Connection {
                        settings: Arc::clone(&self.settings),
                        metrics: Arc::clone(&self.metrics),
                        handler: Arc::clone(&self.handler),
                        builder: Arc::clone(&builder),
                        phase: self.phase.clone(),
                    };
                    tokio::spawn(connection.serve(stream, slot));
                }
                // The client closed it before it was accepted.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!(%error, "cannot accept connections");
                    sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

fn builder(settings: &Settings) -> auto::Builder<TokioExecutor> {
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head)
        .half_close(true)
        .preserve_header_case(true)
        .auto_date_header(false)
        .max_buf_size(READ_BUFFER);
    builder
        .http2()
        .timer(TokioTimer::new())
        .auto_date_header(false)
        .keep_alive_interval(KEEP_ALIVE)
        .keep_alive_timeout(settings.patience)
        .max_concurrent_streams(MAX_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(HTTP2_BUFFER)
        .max_header_list_size(HTTP2_BUFFER as u32);
    builder
}

/// What one connection needs.
struct Connection<H> {
    settings: Arc<Settings>,
    metrics: Arc<Metrics>,
    handler: Arc<H>,
    builder: Arc<auto::Builder<TokioExecutor>>,
    phase: watch::Receiver<Phase>,
}

impl<H: Handler> Connection<H> {
    async fn serve(self, stream: TcpStream, slot: OwnedSemaphorePermit) {
        let Self { settings, metrics, handler, builder, mut phase } = self;
        let _ = stream.set_nodelay(true);
        // A client whose machine is gone does not close its connection.
        let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(KEEP_ALIVE));
        let socket = Socket::new(stream, slot, settings.patience);
        let peer = socket.peer();
        let (in_flight, is_http2) = (InFlight::default(), AtomicBool::new(false));
        let service = service_fn(|request: Request<Incoming>| {
            let guard = in_flight.begin();
            is_http2.store(request.version() == Version::HTTP_2, Ordering::Relaxed);
            let (handler, peer) = (Arc::clone(&handler), peer.clone());
            async move {
                let response = handler.handle(request, peer).await?;
                Ok::<_, ClientGone>(response.map(|body| body.with_guard(guard)))
            }
        });
        let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(socket), service));
        let mut idle = pin!(sleep(settings.head));
        let mut seen = 0;
        loop {
            tokio::select! {
                done = connection.as_mut() => {
                    if let Err(error) = &done {
                        tracing::debug!(error, "connection broke off");
                    }
                    let error = done.as_ref().err().and_then(|error| error.downcast_ref::<hyper::Error>());
                    if peer.is_flawed() {
                        metrics.denied(Denial::Ambiguous);
                    } else if error.is_some_and(hyper::Error::is_parse) {
                        metrics.denied(Denial::Malformed);
                    }
                    return;
                }
                () = idle.as_mut() => {
                    let begun = in_flight.begun();
                    if begun == 0 {
                        return;
                    }
                    // Over HTTP/1 the parser limits the wait for the next head.
                    if begun == seen && in_flight.is_empty() && is_http2.load(Ordering::Relaxed) {
                        connection.as_mut().graceful_shutdown();
                    }
                    seen = begun;
                    idle.as_mut().reset(Instant::now() + settings.head);
                }
                changed = phase.changed() => match *phase.borrow_and_update() {
                    Phase::Open if changed.is_ok() => {}
                    Phase::Draining if changed.is_ok() => connection.as_mut().graceful_shutdown(),
                    _ => return,
                }
            }
        }
    }
}

/// The requests of one connection whose responses are not sent to their ends.
#[derive(Default)]
struct InFlight {
    begun: AtomicU64,
    open: Arc<()>,
}

impl InFlight {
    /// A request begins. It is in flight while the guard lives.
    fn begin(&self) -> Arc<()> {
        self.begun.fetch_add(1, Ordering::Relaxed);
        Arc::clone(&self.open)
    }

    /// How many requests have begun.
    fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    fn is_empty(&self) -> bool {
        Arc::strong_count(&self.open) == 1
    }
}
