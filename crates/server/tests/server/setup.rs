//! The proxy with a scripted model behind it, all in one process.

use std::net::SocketAddr;
use std::time::Duration;

use secateur::{Catalogue, Profiles};
use secateur_engine::Engine;
use secateur_server::{Counters, Server, Settings, Snapshot, Upstream};
use secateur_testing::configuration::{STEADY, model_catalogue, steady_profile};
use secateur_testing::{Relay, ScriptedModel};
use tokio::task::JoinHandle;

/// A scripted model, a relay in front of it, and a proxy in front of both.
pub(crate) struct Setup {
    pub model: ScriptedModel,
    pub relay: Relay,
    pub proxy: Proxy,
}

impl Setup {
    /// A model with this window, known to the proxy, which keeps its conversations in memory.
    pub(crate) async fn start(window: u64) -> Self {
        Self::with_engine(window, engine("sqlite::memory:").await).await
    }

    /// The same with the store of another engine.
    pub(crate) async fn with_engine(window: u64, engine: Engine) -> Self {
        Self::start_with(Some(window), engine, catalogue(window), use_steady_profile).await
    }

    /// Starts with these parts and settings.
    pub(crate) async fn start_with(
        window: Option<u64>,
        engine: Engine,
        catalogue: Catalogue,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        Self::with_model(ScriptedModel::with_window(window).await, engine, catalogue, change).await
    }

    /// The same with this model.
    pub(crate) async fn with_model(
        model: ScriptedModel,
        engine: Engine,
        catalogue: Catalogue,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let relay = Relay::start(&model.url()).await;
        let proxy = Proxy::start(&relay.url(), engine, catalogue, change).await;
        Self { model, relay, proxy }
    }

    /// Where clients send their requests.
    pub(crate) fn address(&self) -> SocketAddr {
        self.proxy.address
    }
}

/// A running proxy; dropping it stops it.
pub(crate) struct Proxy {
    pub address: SocketAddr,
    counters: Counters,
    running: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn start(
        upstream: &str,
        engine: Engine,
        catalogue: Catalogue,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let upstream: Upstream = upstream.parse().unwrap();
        let mut settings = Settings {
            listen: "127.0.0.1:0".parse().unwrap(),
            anthropic: upstream.clone(),
            openai: upstream.clone(),
            gemini: upstream,
            drain: Duration::ZERO,
            ..Settings::default()
        };
        change(&mut settings);
        let server = Server::bind(settings, engine, catalogue).await.unwrap();
        let (address, counters) = (server.local_addr(), server.counters());
        let running = tokio::spawn(server.run_until(std::future::pending()));
        Self { address, counters, running }
    }

    pub(crate) fn counters(&self) -> Snapshot {
        self.counters.snapshot()
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.running.abort();
    }
}

/// An engine on a store.
pub(crate) async fn engine(store: &str) -> Engine {
    with_steady_profile(Engine::new(secateur_store::open(store).await.unwrap()))
}

/// An engine that knows the profile of these tests.
pub(crate) fn with_steady_profile(engine: Engine) -> Engine {
    let mut profiles = Profiles::builtin();
    profiles.add("test", &steady_profile()).unwrap();
    engine.with_profiles(profiles, Vec::new())
}

/// Sets that profile.
pub(crate) fn use_steady_profile(settings: &mut Settings) {
    STEADY.clone_into(&mut settings.profile);
}

/// A catalogue with the scripted model.
pub(crate) fn catalogue(window: u64) -> Catalogue {
    Catalogue::parse(&model_catalogue(window), "test").unwrap()
}

/// A catalogue without models.
pub(crate) fn empty_catalogue() -> Catalogue {
    Catalogue::parse("model = []", "test").unwrap()
}
