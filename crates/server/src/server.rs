//! The server: puts everything together, and runs until it is stopped.

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
use crate::http::accept::{Acceptor, Phase, listen};
use crate::http::health::StoreReadiness;
use crate::http::upstream::UpstreamClient;
use crate::metrics::savings::Savings;
use crate::metrics::{Metrics, Snapshot};
use crate::proxy::Proxy;
use crate::quota::Quotas;
use crate::retention::apply_retention;
use crate::settings::Settings;
use crate::tenants::Tenants;

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
    /// The address is in use, or not one of this machine.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The error of the system.
        source: io::Error,
    },
    /// Other machines could use it without a token.
    #[error(
        "{address} can be reached from other machines, and no token is set; --token-file or serve.tokens in the configuration sets some"
    )]
    Exposed {
        /// The address.
        address: SocketAddr,
    },
    /// The certificates of the system cannot be used.
    #[error("cannot use the system's certificates: {source}")]
    Certificates {
        /// What is wrong with them.
        source: rustls::Error,
    },
}

/// The counters of a server, also while it runs.
#[derive(Clone)]
pub struct Counters {
    metrics: Arc<Metrics>,
    tenants: Arc<Tenants>,
}

impl Counters {
    /// The counters now.
    pub fn snapshot(&self) -> Snapshot {
        self.metrics.snapshot()
    }

    /// The savings of a run of an agent, which are the requests to `/run:NAME/…`, of whichever tenant. None if there were
    /// none.
    pub fn run(&self, name: &str) -> Option<Savings> {
        self.tenants.all().find_map(|(_, parts)| parts.recorders.runs.get(name))
    }
}

impl Server {
    /// Binds the address of the settings. The engine manages the conversations; the catalogue has the windows of models.
    pub async fn bind(settings: Settings, engine: Engine, catalogue: Catalogue) -> Result<Self, BindError> {
        let store = Arc::clone(engine.store());
        let engine = engine.with_client_models();
        let metrics = Arc::<Metrics>::default();
        let tenants = Arc::new(Tenants::new(&settings, engine, &catalogue, &metrics));
        let api = Api::new(Arc::clone(&tenants), &settings);
        let client = UpstreamClient::new(&settings).map_err(|source| BindError::Certificates { source })?;
        let address = settings.listen;
        if settings.tokens.is_empty() && !address.ip().is_loopback() {
            return Err(BindError::Exposed { address });
        }
        let failed = |source| BindError::Listen { address, source };
        let listener = listen(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let proxy = Proxy {
            quotas: Quotas::of(&settings),
            settings: Arc::new(settings),
            client,
            tenants,
            api,
            connector: Connector::default(),
            store,
            readiness: StoreReadiness::default(),
            metrics,
            tasks: TaskTracker::new(),
        };
        Ok(Self { listener, address, proxy: Arc::new(proxy) })
    }

    /// Shows these settings at `/api/configuration`, each with its origin.
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

    /// Its counters.
    pub fn counters(&self) -> Counters {
        Counters { metrics: Arc::clone(&self.proxy.metrics), tenants: Arc::clone(&self.proxy.tenants) }
    }

    /// Serves until the future is done. Then no connection is accepted any more, and open responses may continue for a
    /// while.
    pub async fn run_until(self, shutdown: impl Future<Output = ()>) {
        let Self { listener, proxy, .. } = self;
        let (phase, receiver) = watch::channel(Phase::Open);
        let acceptor = Acceptor {
            listener,
            settings: Arc::clone(&proxy.settings),
            metrics: Arc::clone(&proxy.metrics),
            handler: Arc::clone(&proxy),
            phase: receiver,
        };
        tokio::select! {
            () = acceptor.run() => {}
            () = apply_retention(&proxy.tenants, proxy.settings.retention, &proxy.metrics) => {}
            () = shutdown => {}
        }
        phase.send_replace(Phase::Draining);
        proxy.api.close();
        proxy.tasks.close();
        let ended = async {
            phase.closed().await;
            proxy.tasks.wait().await;
        };
        if timeout(proxy.settings.drain, ended).await.is_err() {
            tracing::warn!(open = proxy.metrics.snapshot().open, "stopping: open responses are broken off");
            phase.send_replace(Phase::Over);
            phase.closed().await;
        }
        proxy.tenants.finish().await;
    }
}
