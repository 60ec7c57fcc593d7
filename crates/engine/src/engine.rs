//! The engine: a store, profiles, and what sessions may ask: a model, hooks, a redactor, a clock.

mod options;
mod profile;
mod profile_layer;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use secateur::{Layer, Profile, Profiles};
use secateur_formats::HandleKey;
use secateur_store::{LOCAL_TENANT, Store, TenantScope};
use tokio::sync::broadcast;

use crate::clock::Clock;
use crate::events::{self, EngineEvent};
use crate::hooks::Hooks;
use crate::provider::LanguageModel;
use crate::redact::Redactor;
use crate::text_names::{TextNames, random_key};

pub(crate) use options::check_envelope;
pub use options::{SessionOptions, Target};
pub(crate) use profile::SessionKind;
pub(crate) use profile_layer::{FAMILIES, ProfileLayer, applicable, family};

/// The profile of sessions for which none is named.
pub const DEFAULT_PROFILE: &str = "balanced";

/// How long the right to compact lasts without being renewed. Long enough for a stall, short enough that others take
/// over soon from a process that died.
const LEASE: Duration = Duration::from_secs(30);

/// How long another process's compaction is waited for. A summary that takes longer is not worth a client's time.
const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Keeps sessions inside their models' windows.
///
/// ```
/// use secateur_engine::{Engine, NewMessage, SessionOptions, Target};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
/// let mut session = engine.create(SessionOptions::default()).await?;
/// session.append([NewMessage::json(r#"{"role":"user","content":"What is a secateur?"}"#)]).await?;
///
/// let request = session.context(&Target::new("a-model", 200_000)).await?;
/// assert!(request.body.contains("What is a secateur?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    pub(crate) parts: Arc<EngineParts>,
}

/// Profiles by their name and the kind of sessions that share them.
type SharedProfiles = HashMap<(String, SessionKind), Arc<Profile>>;

/// What an engine consists of.
#[derive(Clone)]
pub(crate) struct EngineParts {
    pub store: Arc<dyn Store>,
    /// Whose sessions they are; none if they are those of all tenants.
    tenant: Option<String>,
    pub profiles: Arc<Profiles>,
    pub layers: Vec<ProfileLayer>,
    shared_profiles: Arc<Mutex<SharedProfiles>>,
    pub model: Option<Arc<dyn LanguageModel>>,
    pub hooks: Hooks,
    pub redactor: Redactor,
    pub clock: Clock,
    pub events: broadcast::Sender<EngineEvent>,
    pub lease: Duration,
    pub longest_wait: Duration,
    /// Sessions may get a model from their client if none is configured.
    pub uses_client_models: bool,
    /// Names texts until the store is reached.
    own_key: HandleKey,
}

impl Engine {
    /// An engine that keeps its sessions in this store. Without a model, summaries are digests.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let parts = EngineParts {
            store,
            tenant: Some(LOCAL_TENANT.to_owned()),
            profiles: Arc::new(Profiles::builtin()),
            layers: Vec::new(),
            shared_profiles: Arc::default(),
            model: None,
            hooks: Hooks::default(),
            redactor: Redactor::new(),
            clock: Clock::System,
            events: events::channel(),
            lease: LEASE,
            longest_wait: LONGEST_WAIT,
            uses_client_models: false,
            own_key: random_key(),
        };
        Self { parts: Arc::new(parts) }
    }

    /// The same engine for the sessions of one tenant, or of all of them, with watchers of its own. A new engine is for
    /// [`LOCAL_TENANT`].
    ///
    /// ```
    /// use secateur_engine::{Engine, SessionOptions};
    /// use secateur_store::TenantScope;
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
    /// let anna = engine.scoped(TenantScope::One("anna".to_owned()));
    /// anna.create(SessionOptions::default()).await?;
    /// assert_eq!(anna.sessions(9).await?.len(), 1);
    /// assert_eq!(engine.sessions(9).await?.len(), 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scoped(&self, scope: TenantScope) -> Self {
        self.clone().with(|parts| {
            parts.store = parts.store.scoped(scope.clone());
            parts.events = events::channel();
            parts.tenant = match scope {
                TenantScope::One(tenant) => Some(tenant),
                TenantScope::All => None,
            };
        })
    }

    /// Whose sessions it has; none if they are those of all tenants.
    pub fn tenant(&self) -> Option<&str> {
        self.parts.tenant.as_deref()
    }

    /// The names of texts in its store.
    pub(crate) fn text_names(&self) -> TextNames {
        TextNames::new(self.parts.store.handle_key(), &self.parts.own_key)
    }

    /// The same engine with its store wrapped in another one.
    pub fn with_store_behind(self, front: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Self {
        self.with(|parts| parts.store = front(Arc::clone(&parts.store)))
    }

    /// The same engine with a model that writes summaries.
    pub fn with_model(self, model: Arc<dyn LanguageModel>) -> Self {
        // What profiles depend on is whether there is a model.
        let is_first = self.parts.model.is_none();
        let change = |parts: &mut EngineParts| parts.model = Some(model);
        if is_first { self.with_other_profiles(change) } else { self.with(change) }
    }

    /// The same engine with hooks.
    pub fn with_hooks(self, hooks: Hooks) -> Self {
        self.with(|parts| parts.hooks = hooks)
    }

    /// The same engine with another redactor.
    pub fn with_redactor(self, redactor: Redactor) -> Self {
        self.with(|parts| parts.redactor = redactor)
    }

    /// The same engine with another clock.
    pub fn with_clock(self, clock: Clock) -> Self {
        self.with(|parts| parts.clock = clock)
    }

    /// The same engine with other profiles, and settings that override those of every profile.
    pub fn with_profiles(self, profiles: Profiles, layers: Vec<Layer>) -> Self {
        self.with_profile_layers(profiles, layers.into_iter().map(ProfileLayer::from).collect())
    }

    /// The same engine with further settings, which override all others of every profile.
    pub fn with_layers(self, layers: Vec<Layer>) -> Self {
        self.with_other_profiles(|parts| parts.layers.extend(layers.into_iter().map(ProfileLayer::from)))
    }

    pub(crate) fn with_profile_layers(self, profiles: Profiles, layers: Vec<ProfileLayer>) -> Self {
        self.with_other_profiles(|parts| (parts.profiles, parts.layers) = (Arc::new(profiles), layers))
    }

    /// The same engine with another duration of the lease that a process holds while it compacts. The process renews
    /// it; if the process dies, others take over after this time. At most a minute
    /// ([`LONGEST_LEASE`](secateur_store::LONGEST_LEASE)).
    pub fn with_lease(self, lease: Duration) -> Self {
        self.with(|parts| parts.lease = lease)
    }

    /// The same engine with another limit on waiting for a compaction of another process. After it, older history is
    /// replaced by a digest. Measured by a clock that runs evenly, whatever the machine's clock is set to.
    pub fn with_longest_wait(self, wait: Duration) -> Self {
        self.with(|parts| parts.longest_wait = wait)
    }

    /// The same engine for followed sessions that use their
    /// [client's model](crate::FollowedSession::set_client_model) if none is configured.
    pub fn with_client_models(self) -> Self {
        self.with_other_profiles(|parts| parts.uses_client_models = true)
    }

    /// With a change after which profiles may be different.
    fn with_other_profiles(self, change: impl FnOnce(&mut EngineParts)) -> Self {
        self.with(|parts| {
            parts.shared_profiles = Arc::default();
            change(parts);
        })
    }

    fn with(self, change: impl FnOnce(&mut EngineParts)) -> Self {
        let mut parts = (*self.parts).clone();
        change(&mut parts);
        Self { parts: Arc::new(parts) }
    }

    /// Everything that happens from now on in sessions of this engine, as it happens.
    pub fn watch(&self) -> broadcast::Receiver<EngineEvent> {
        self.parts.events.subscribe()
    }

    /// The time of its clock, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.parts.clock.now()
    }

    /// The store of its sessions.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }
}
