//! A process of the proxy in a simulation.

use std::cell::RefCell;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use secateur::Catalogue;
use secateur_engine::provider::{Connector, LanguageModel};
use secateur_engine::{Clock, Engine};
use secateur_store::{Store, TenantScope};
use secateur_testing::simulated_store::{SimulatedConnection, SimulatedStore};

use super::super::agent::quota;
use super::client::SimulatedClient;
use super::provider::{MODEL, SimulatedProvider, THINKING_MODEL, WindowKnowledge};
use crate::conversation::{
    ClientEndpoint, ConversationRequest, Conversations, PreparedRequest, ThinkingSettings,
};
use crate::metrics::Metrics;
use crate::quota::ClientQuota;
use crate::route::RequestKind;

/// The tenants of a schedule.
pub(super) const TENANTS: [&str; 2] = ["anna", "bert"];

/// A process of the proxy.
pub(super) struct SimulatedProcess {
    pub number: u64,
    /// Those of each tenant, and what recalls for it without time limits.
    tenants: Vec<(Arc<Conversations>, Engine)>,
    pub connection: Arc<SimulatedConnection>,
    pub clock: Clock,
}

/// What all processes of a thread share: making it takes longer than a schedule.
struct SharedParts {
    /// Engines whose store is exchanged, without a model and with one.
    engine: Engine,
    engine_with_model: Option<Engine>,
    metrics: Arc<Metrics>,
    connector: Connector,
    quota: Arc<ClientQuota>,
}

thread_local! {
    static SHARED: RefCell<SharedParts> = RefCell::new(SharedParts {
        engine: Engine::new(SimulatedStore::new(0).connect()),
        engine_with_model: None,
        metrics: Arc::default(),
        connector: Connector::default(),
        quota: quota(),
    });
}

/// An engine that has read its profiles.
fn engine_with(model: Option<Arc<dyn LanguageModel>>) -> Engine {
    SHARED.with_borrow_mut(|shared| {
        let Some(model) = model else { return shared.engine.clone() };
        let plain = &shared.engine;
        let with_model =
            shared.engine_with_model.get_or_insert_with(|| plain.clone().with_model(model.clone()));
        with_model.clone().with_model(model)
    })
}

/// What the proxy knows about the provider's models.
pub(super) fn catalogue(provider: &SimulatedProvider) -> Catalogue {
    let window = match provider.knowledge {
        WindowKnowledge::Exact => provider.window,
        WindowKnowledge::TooLarge => provider.window * 2,
        WindowKnowledge::None => return Catalogue::parse("", "simulation").unwrap(),
    };
    let model = |id: &str| {
        format!(
            "[[model]]\nid = \"{id}\"\nprovider = \"test\"\ncontext = {window}\noutput = 256\n\
             price = {{ input = 4.0, output = 20.0, cache_read = 0.4, cache_write = 5.0 }}\n"
        )
    };
    Catalogue::parse(&[MODEL, THINKING_MODEL].map(model).concat(), "simulation").unwrap()
}

impl SimulatedProcess {
    pub(super) fn start(
        number: u64,
        store: &SimulatedStore,
        clock: Clock,
        catalogue: &Catalogue,
        summariser: Option<Arc<dyn LanguageModel>>,
    ) -> Self {
        let connection = store.connect();
        let behind: Arc<dyn Store> = connection.clone();
        let metrics = SHARED.with_borrow(|shared| Arc::clone(&shared.metrics));
        let engine = engine_with(summariser).with_store_behind(|_| behind).with_clock(clock.clone());
        let thinking = ThinkingSettings { clearing: true, dropping: true };
        let tenant = |name: &str| {
            let engine = engine.scoped(TenantScope::One(name.to_owned()));
            let (catalogue, metrics) = (catalogue.clone(), Arc::clone(&metrics));
            let conversations = Conversations::new(engine.clone(), "balanced", catalogue, thinking, metrics);
            (Arc::new(conversations), engine)
        };
        let tenants = TENANTS.iter().map(|name| tenant(name)).collect();
        Self { number, tenants, connection, clock }
    }

    /// The conversations of a tenant.
    pub(super) fn conversations(&self, tenant: usize) -> &Conversations {
        &self.tenants[tenant].0
    }

    /// What recalls for a tenant.
    pub(super) fn engine(&self, tenant: usize) -> &Engine {
        &self.tenants[tenant].1
    }

    /// Stops in order.
    pub(super) async fn finish(&self) {
        for (conversations, _) in &self.tenants {
            conversations.finish().await;
        }
    }

    /// Decides what is sent in place of a client's request.
    pub(super) async fn prepare(&self, client: &SimulatedClient, body: &bytes::Bytes) -> PreparedRequest {
        let mut headers = HeaderMap::new();
        if let Some(key) = &client.key {
            headers.insert("session-id", HeaderValue::from_str(key).unwrap());
        }
        let (connector, quota) =
            SHARED.with_borrow(|shared| (shared.connector.clone(), Arc::clone(&shared.quota)));
        let request = ConversationRequest {
            wire: client.wire,
            kind: RequestKind::Generate,
            model: Some(client.model()),
            headers: &headers,
            body,
            endpoint: ClientEndpoint { url: "http://127.0.0.1:1/".to_owned(), connector },
            quota,
        };
        self.conversations(client.tenant).prepare(request).await.unwrap()
    }
}
