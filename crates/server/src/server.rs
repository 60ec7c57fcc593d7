//! A proxy that listens, from its start to its end.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_engine::config::Setting;
use secateur_engine::provider::Connector;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use crate::api::Api;
use crate::api::configuration::Configured;
use crate::conversation::Conversations;
use crate::http::accept::{Door, Phase};
use crate::http::memory_budget::Room;
use crate::http::upstream::Client;
use crate::metrics::Snapshot;
use crate::metrics::savings::Savings;
use crate::proxy::exchange::Proxy;
use crate::proxy::response_observer::Books;
use crate::settings::Settings;

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

impl Server {
    /// Takes the address of the settings. The engine keeps the conversations; what models can take is looked up in the
    /// catalogue.
    pub async fn bind(settings: Settings, engine: Engine, catalogue: Catalogue) -> Result<Self, BindError> {
        let store = Arc::clone(engine.store());
        let engine = engine.with_client_models();
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
