//! Where clients come in, and how long each may stay.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep};

use crate::http::in_flight::Visits;
use crate::http::socket::Socket;
use crate::proxy::exchange::Proxy;
use crate::settings::Settings;

/// The most that is read at once, and with it the longest head of a request. Reading starts small and only grows with
/// long bodies, which then cost six tenths of what they cost in pieces of 16 kB. A stream after a long request keeps more
/// memory for it; after a short one it makes no difference.
const MOST_READ: usize = 64 << 10;

/// The longest head of a request over HTTP/2, and how much of an answer may wait there to be sent.
const MOST_BUFFERED: usize = 16 << 10;

/// How many requests a client may have open on one HTTP/2 connection.
const MOST_STREAMS: u32 = 256;

/// How much of a body may lie here unread.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 16 << 20;

/// How often a client is asked whether it is still there.
const PULSE: Duration = Duration::from_secs(60);

/// How long to wait before the next client is let in after that failed, as when there are too many open files.
const BREATH: Duration = Duration::from_millis(50);

/// What a client hears for whom there is no room.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// What connections are told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Open,
    /// Finish what has begun.
    Draining,
    /// Drop everything.
    Over,
}

/// Lets clients in.
pub(crate) struct Door {
    pub listener: TcpListener,
    pub proxy: Arc<Proxy>,
    pub watching: watch::Receiver<Phase>,
}

impl Door {
    /// Lets them in as long as this is polled.
    pub(crate) async fn keep_open(self) {
        let builder = Arc::new(builder(&self.proxy.settings));
        let room = Arc::new(Semaphore::new(self.proxy.settings.most_connections));
        loop {
            match self.listener.accept().await {
                Ok((stream, _)) => {
                    let Ok(place) = Arc::clone(&room).try_acquire_owned() else {
                        self.proxy.books.tally.denied("full");
                        let _ = stream.try_write(FULL);
                        continue;
                    };
                    let (proxy, builder) = (Arc::clone(&self.proxy), Arc::clone(&builder));
                    tokio::spawn(serve(stream, place, proxy, builder, self.watching.clone()));
                }
                // The client was faster than we.
                Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(error) => {
                    tracing::warn!(%error, "a client could not be let in");
                    sleep(BREATH).await;
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
        .max_buf_size(MOST_READ);
    builder
        .http2()
        .timer(TokioTimer::new())
        .auto_date_header(false)
        .keep_alive_interval(PULSE)
        .keep_alive_timeout(settings.patience)
        .max_concurrent_streams(MOST_STREAMS)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_send_buf_size(MOST_BUFFERED)
        .max_header_list_size(MOST_BUFFERED as u32);
    builder
}

async fn serve(
    stream: TcpStream,
    place: OwnedSemaphorePermit,
    proxy: Arc<Proxy>,
    builder: Arc<auto::Builder<TokioExecutor>>,
    mut watching: watch::Receiver<Phase>,
) {
    let _ = stream.set_nodelay(true);
    // A client whose machine is gone says nothing more, not even that.
    let _ = SockRef::from(&stream).set_tcp_keepalive(&TcpKeepalive::new().with_time(PULSE));
    let socket = Socket::new(stream, place, proxy.settings.patience);
    let peer = socket.peer();
    let (visits, is_shared) = (Visits::default(), AtomicBool::new(false));
    let head = proxy.settings.head;
    let service = service_fn(|request: Request<Incoming>| {
        let visit = visits.begin();
        is_shared.store(request.version() == Version::HTTP_2, Ordering::Relaxed);
        let (proxy, peer) = (Arc::clone(&proxy), peer.clone());
        async move { proxy.serve(request, peer).await.map(|reply| reply.map(|answer| visit.answered(answer))) }
    });
    let mut connection = pin!(builder.serve_connection_with_upgrades(TokioIo::new(socket), service));
    let mut late = pin!(sleep(head));
    let mut seen = 0;
    loop {
        tokio::select! {
            done = connection.as_mut() => {
                if let Err(error) = &done {
                    tracing::debug!(error, "a connection broke off");
                }
                let error = done.as_ref().err().and_then(|error| error.downcast_ref::<hyper::Error>());
                if peer.is_flawed() {
                    proxy.books.tally.denied("ambiguous");
                } else if error.is_some_and(hyper::Error::is_parse) {
                    proxy.books.tally.denied("malformed");
                }
                return;
            }
            () = late.as_mut() => {
                let begun = visits.begun();
                if begun == 0 {
                    return;
                }
                // Over HTTP/1 the wait for the next head is bounded by the parser.
                if begun == seen && visits.are_over() && is_shared.load(Ordering::Relaxed) {
                    connection.as_mut().graceful_shutdown();
                }
                seen = begun;
                late.as_mut().reset(Instant::now() + head);
            }
            changed = watching.changed() => match *watching.borrow_and_update() {
                Phase::Open if changed.is_ok() => {}
                Phase::Draining if changed.is_ok() => connection.as_mut().graceful_shutdown(),
                _ => return,
            }
        }
    }
}
