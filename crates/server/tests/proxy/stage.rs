//! The proxy with a scripted model behind it, all in one process.

use std::net::SocketAddr;
use std::time::Duration;

use secateur::{Catalogue, Profiles};
use secateur_engine::Engine;
use secateur_server::{Counters, Server, Settings, Snapshot, Upstream};
use tokio::task::JoinHandle;

use crate::model::{self, Model};
use crate::tap::Tap;

/// The name of a model that nobody sells.
pub(crate) const MODEL: &str = "scripted";

/// The profile of tests that compare what is sent to the byte: summaries are made when they are needed and not in the
/// background, where nobody knows when they are ready.
pub(crate) const STEADY: &str = "steady";

/// A model, what comes to it, and a proxy in front.
pub(crate) struct Stage {
    pub model: Model,
    pub tap: Tap,
    pub proxy: Proxy,
}

impl Stage {
    /// A model with this window, known to the proxy, which keeps its conversations in memory.
    pub(crate) async fn start(window: u64) -> Self {
        Self::with(window, engine("sqlite::memory:").await).await
    }

    /// The same with conversations that are kept elsewhere.
    pub(crate) async fn with(window: u64, engine: Engine) -> Self {
        Self::arranged(Some(window), engine, catalogue(window), steadily).await
    }

    /// Everything as wanted.
    pub(crate) async fn arranged(
        window: Option<u64>,
        engine: Engine,
        catalogue: Catalogue,
        change: impl FnOnce(&mut Settings),
    ) -> Self {
        let model = model(window).await;
        let tap = Tap::start(&model.url()).await;
        let proxy = Proxy::start(&tap.url(), engine, catalogue, change).await;
        Self { model, tap, proxy }
    }

    /// Where clients send their requests.
    pub(crate) fn address(&self) -> SocketAddr {
        self.proxy.address
    }
}

/// A proxy. It is gone when this is dropped.
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

/// A scripted model.
pub(crate) async fn model(window: Option<u64>) -> Model {
    Model::start(model::Settings { window, ..model::Settings::default() }).await.unwrap()
}

/// An engine on a store.
pub(crate) async fn engine(store: &str) -> Engine {
    steady(Engine::new(secateur_store::open(store).await.unwrap()))
}

/// An engine that knows the profile of these tests.
pub(crate) fn steady(engine: Engine) -> Engine {
    let mut profiles = Profiles::builtin();
    profiles.add("test", &profile()).unwrap();
    engine.with_profiles(profiles, Vec::new())
}

/// That profile as a page.
pub(crate) fn profile() -> String {
    format!("name = \"{STEADY}\"\nextends = \"balanced\"\n[compaction]\nbackground = \"100%\"\n")
}

/// Has a proxy work by that profile.
pub(crate) fn steadily(settings: &mut Settings) {
    STEADY.clone_into(&mut settings.profile);
}

/// What the proxy knows of the scripted model.
pub(crate) fn catalogue(window: u64) -> Catalogue {
    Catalogue::parse(&page(window), "test").unwrap()
}

/// The same as a page.
pub(crate) fn page(window: u64) -> String {
    format!("[[model]]\nid = \"{MODEL}\"\nprovider = \"test\"\ncontext = {window}\noutput = 1000\n")
}

/// Nothing is known of any model.
pub(crate) fn nobody() -> Catalogue {
    Catalogue::parse("model = []", "test").unwrap()
}
