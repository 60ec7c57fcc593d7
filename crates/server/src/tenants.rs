//! What belongs to each tenant while the proxy runs: its engine, its conversations and its figures. Tenants share the
//! counters of the metrics, which only operators see, and nothing else in memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use secateur::Catalogue;
use secateur_engine::Engine;
use secateur_store::{LOCAL_TENANT, TenantScope};

use crate::conversation::{Conversations, ThinkingSettings};
use crate::metrics::{Metrics, Recorders};
use crate::settings::Settings;

/// What belongs to a tenant.
pub(crate) struct TenantParts {
    pub engine: Engine,
    pub conversations: Conversations,
    pub recorders: Recorders,
}

/// All tenants that have a token, and the machine's own user.
pub(crate) struct Tenants {
    by_name: BTreeMap<String, Arc<TenantParts>>,
    /// The sessions of all tenants, for operators.
    operator: Engine,
    local: Arc<TenantParts>,
}

impl Tenants {
    /// The tenants of these settings. The engine is that of the machine's own user.
    pub(crate) fn new(
        settings: &Settings,
        engine: Engine,
        catalogue: &Catalogue,
        metrics: &Arc<Metrics>,
    ) -> Self {
        let thinking =
            ThinkingSettings { clearing: settings.provider_clearing, dropping: settings.drop_block };
        let parts = |engine: Engine| {
            let profile = settings.profile.as_str();
            let conversations =
                Conversations::new(engine.clone(), profile, catalogue.clone(), thinking, Arc::clone(metrics));
            Arc::new(TenantParts { engine, conversations, recorders: Recorders::over(Arc::clone(metrics)) })
        };
        let operator = engine.scoped(TenantScope::All);
        let mut by_name = BTreeMap::new();
        for name in settings.tokens.iter().map(|token| &token.tenant).filter(|name| *name != LOCAL_TENANT) {
            let of_tenant = || parts(engine.scoped(TenantScope::One(name.clone())));
            by_name.entry(name.clone()).or_insert_with(of_tenant);
        }
        let local = parts(engine);
        by_name.insert(LOCAL_TENANT.to_owned(), Arc::clone(&local));
        Self { by_name, operator, local }
    }

    /// What belongs to a tenant. Names come from tokens, so there is one for each.
    pub(crate) fn get(&self, name: &str) -> &Arc<TenantParts> {
        self.by_name.get(name).unwrap_or(&self.local)
    }

    /// All of them, by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Arc<TenantParts>)> {
        self.by_name.iter().map(|(name, parts)| (name.as_str(), parts))
    }

    /// The engine for the sessions of all tenants.
    pub(crate) fn operator(&self) -> &Engine {
        &self.operator
    }

    /// Waits until everything is stored. To be called once, when the proxy stops.
    pub(crate) async fn finish(&self) {
        futures_util::future::join_all(self.by_name.values().map(|parts| parts.conversations.finish())).await;
    }
}
