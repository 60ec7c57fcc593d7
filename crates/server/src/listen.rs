//! Where clients come in.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::{Request, Version};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_engine::config::Setting;
use secateur_engine::provider::Connector;
use socket2::{SockRef, TcpKeepalive};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::api::configuration::Configured;
use crate::conversation::Conversations;
use crate::ear::Books;
use crate::exchange::Proxy;
use crate::room::Room;
use crate::savings::Savings;
use crate::settings::Settings;
use crate::socket::Socket;
use crate::tally::Snapshot;
use crate::upstream::Client;
use crate::visit::Visits;

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

/// A proxy that listens.
///
/// ```no_run
/// use secateur::Catalogue;
/// use secateur_engine::Engine;
/// use secateur_server::{Server, Settings};
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
/// let server = Server::bind(Settings::default(), engine, Catalogue::builtin()).await?;
/// println!("listening on {}", server.local_addr());
/// server.run_until(std::future::pending()).await;
/// # Ok(())
/// # }
/// ```
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    proxy: Arc<Proxy>,
}

/// Why a proxy does not start.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// The address is taken, or not ours.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
    /// Everybody in the network could use it.
    #[error("{address} can be reached from other machines, and no token is set; --token-file sets one")]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// Providers cannot be told from impostors.
    #[error("cannot use the system's certificates: {source}")]
    Certificates {
        /// What is wrong with them.
        source: rustls::Error,
    },
}

/// Shows what passed through a server, also while it runs.
#[derive(Clone)]
pub struct Counters {
    books: Books,
}

impl Counters {
    /// The counters now.
    pub fn snapshot(&self) -> Snapshot {
        self.books.tally.snapshot()
    }

    /// What was saved in a run of an agent: in requests to `/run:NAME/…`. None if there were none.
    pub fn run(&self, name: &str) -> Option<Savings> {
        self.books.runs.get(name)
    }
}

/// What connections are told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Open,
    /// Finish what has begun.
    Draining,
    /// Drop everything.
    Over,
}

impl Server {
    /// Takes the address of the settings. The engine keeps the conversations; what models can take is looked up in the
    /// catalogue.
    pub async fn bind(settings: Settings, engine: Engine, catalogue: Catalogue) -> Result<Self, BindError> {
        let store = Arc::clone(engine.store());
        let engine = engine.with_lent_models();
        let books = Books::default();
        let api = Api::new(engine.clone(), &settings, books.clone());
        let conversations = Conversations::new(engine, &settings.profile, catalogue, books.tally.clone());
        let client = Client::new(&settings).map_err(|source| BindError::Certificates { source })?;
        let address = settings.listen;
        if settings.token.is_none() && !address.ip().is_loopback() {
            return Err(BindError::Exposed { address });
        }
        let listen = |source| BindError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(listen)?;
        let address = listener.local_addr().map_err(listen)?;
        let connector = Connector::default();
        let (room, later) = (Room::new(settings.most_held), TaskTracker::new());
        let proxy = Proxy { settings, client, conversations, api, connector, store, books, room, later };
        Ok(Self { listener, address, proxy: Arc::new(proxy) })
    }

    /// Shows these values as the configuration at `/api/configuration`, each with where it came from.
    pub fn with_configuration(mut self, settings: impl IntoIterator<Item = Setting>) -> Self {
        if let Some(proxy) = Arc::get_mut(&mut self.proxy) {
            proxy.api.configure(settings.into_iter().map(Configured::from).collect());
        }
        self
    }

    /// Where it listens.
    pub fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// What passes through it.
    pub fn counters(&self) -> Counters {
        Counters { books: self.proxy.books.clone() }
    }

    /// Serves until the future is done. Then nobody is let in any more, and streams and what is done after them may go
    /// on for a while.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, proxy, .. } = self;
        let (phase, watching) = watch::channel(Phase::Open);
        let door = Door { listener, proxy: Arc::clone(&proxy), watching };
        tokio::select! {
            () = door.keep_open() => {}
            () = shutdown => {}
        }
        phase.send_replace(Phase::Draining);
        proxy.api.close();
        proxy.later.close();
        let ended = async {
            phase.closed().await;
            proxy.later.wait().await;
        };
        if timeout(proxy.settings.drain, ended).await.is_err() {
            tracing::warn!(open = proxy.books.tally.snapshot().open, "answers are broken off to stop");
            phase.send_replace(Phase::Over);
            phase.closed().await;
        }
        proxy.conversations.rest().await;
    }
}

/// Lets clients in.
struct Door {
    listener: TcpListener,
    proxy: Arc<Proxy>,
    watching: watch::Receiver<Phase>,
}

impl Door {
    async fn keep_open(self) {
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
