//! The engine: a store, a profile, and who may be asked.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use secateur::{Cache, Catalogue, Layer, Lifetime, Limits, Profile, Profiles};
use secateur_formats::Wire;
use secateur_store::{NewSession, SessionRow, Store};
use uuid::Uuid;

use crate::clock::Clock;
use crate::error::EngineError;
use crate::follow;
use crate::hooks::Hooks;
use crate::live::{Channel, Live};
use crate::provider::LanguageModel;
use crate::redact::Redactor;
use crate::session::Session;

/// The profile of sessions for which none is named.
pub const DEFAULT_PROFILE: &str = "balanced";

/// How long the right to compact lasts without being renewed. Long enough for a stall, short enough that others take
/// over soon from a process that died.
const LEASE: Duration = Duration::from_secs(30);

/// Keeps sessions inside their models' windows.
///
/// ```
/// use secateur_engine::{Engine, NewMessage, Opening, Target};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let engine = Engine::new(secateur_store::open("sqlite::memory:").await?);
/// let mut session = engine.create(Opening::default()).await?;
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
    pub(crate) parts: Arc<Parts>,
}

/// What an engine consists of.
pub(crate) struct Parts {
    pub store: Arc<dyn Store>,
    pub profiles: Profiles,
    pub layers: Vec<Layer>,
    /// Profiles as sessions use them, by name and by whether those follow a client.
    shared: Mutex<HashMap<(String, bool), Arc<Profile>>>,
    pub model: Option<Arc<dyn LanguageModel>>,
    pub hooks: Hooks,
    pub redactor: Redactor,
    pub clock: Clock,
    pub live: Channel,
    pub lease: Duration,
    pub lends: bool,
}

impl Parts {
    /// How long a lease lasts, as stores count.
    pub(crate) fn lease_ms(&self) -> u64 {
        u64::try_from(self.lease.as_millis()).unwrap_or(u64::MAX)
    }
}

/// A session that is to be created.
#[derive(Clone, Debug)]
pub struct Opening {
    /// Its id; a new one if none is given.
    pub id: Option<String>,
    /// The form of its messages.
    pub wire: Wire,
    /// The name of its profile; [`DEFAULT_PROFILE`] if none is given.
    pub profile: Option<String>,
    /// What people call it.
    pub title: Option<String>,
    /// The rest of its requests: a JSON object with instructions, tools and the like, without messages.
    pub frame: String,
}

impl Default for Opening {
    fn default() -> Self {
        Self { id: None, wire: Wire::OpenAiChat, profile: None, title: None, frame: "{}".to_owned() }
    }
}

/// The model that a request is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name.
    pub model: String,
    /// What it can take.
    pub limits: Limits,
    /// What its provider's prompt cache is worth; what the builtin catalogue says of the model if none is given.
    pub cache: Option<Cache>,
    /// The form of the request; that of the session if none is given.
    pub wire: Option<Wire>,
}

impl Target {
    /// A model with a window of so many tokens.
    pub fn new(model: &str, context: i64) -> Self {
        let limits = Limits { context, ..Limits::default() };
        Self { model: model.to_owned(), limits, cache: None, wire: None }
    }

    /// What the cache is worth to a session that has shown how long it lives; none if nobody knows.
    pub(crate) fn cache(&self, lifetime: &Lifetime) -> Option<Cache> {
        static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(Catalogue::builtin);
        self.cache.or_else(|| Cache::of(CATALOGUE.find(&self.model)?, lifetime))
    }
}

impl Engine {
    /// An engine that keeps its sessions in this store, with nobody to ask: summaries are digests.
    pub fn new(store: Arc<dyn Store>) -> Self {
        let (redactor, clock) = (Redactor::new(), Clock::System);
        let (profiles, layers) = (Profiles::builtin(), Vec::new());
        let parts = Parts {
            store,
            profiles,
            layers,
            shared: Mutex::default(),
            model: None,
            hooks: Hooks::default(),
            redactor,
            clock,
            live: Channel::default(),
            lease: LEASE,
            lends: false,
        };
        Self { parts: Arc::new(parts) }
    }

    /// The same engine with another store in front of its own.
    pub fn with_store_behind(self, front: impl FnOnce(Arc<dyn Store>) -> Arc<dyn Store>) -> Self {
        self.with(|parts| parts.store = front(Arc::clone(&parts.store)))
    }

    /// The same engine with a model that writes summaries.
    pub fn with_model(self, model: Arc<dyn LanguageModel>) -> Self {
        self.with(|parts| parts.model = Some(model))
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

    /// The same engine with further profiles, and values that go over every profile.
    pub fn with_profiles(self, profiles: Profiles, layers: Vec<Layer>) -> Self {
        self.with(|parts| (parts.profiles, parts.layers) = (profiles, layers))
    }

    /// The same engine with another length of the lease that a process holds while it compacts. It is renewed as long
    /// as the process lives; when it dies, others wait that long before they take over.
    pub fn with_lease(self, lease: Duration) -> Self {
        self.with(|parts| parts.lease = lease)
    }

    /// The same engine for sessions that are [lent](Session::lend) a model if none is configured.
    pub fn with_lent_models(self) -> Self {
        self.with(|parts| parts.lends = true)
    }

    fn with(self, change: impl FnOnce(&mut Parts)) -> Self {
        let old = &self.parts;
        let mut parts = Parts {
            store: old.store.clone(),
            profiles: old.profiles.clone(),
            layers: old.layers.clone(),
            shared: Mutex::default(),
            model: old.model.clone(),
            hooks: old.hooks.clone(),
            redactor: old.redactor.clone(),
            clock: old.clock.clone(),
            live: old.live.clone(),
            lease: old.lease,
            lends: old.lends,
        };
        change(&mut parts);
        Self { parts: Arc::new(parts) }
    }

    /// Everything that happens from now on in sessions of this engine, as it happens.
    pub fn watch(&self) -> tokio::sync::broadcast::Receiver<Live> {
        self.parts.live.listen()
    }

    /// Now, by its clock, in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.parts.clock.now()
    }

    /// Where the sessions are.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.parts.store
    }

    /// The profile of this name as sessions use it.
    pub fn profile(&self, name: &str) -> Result<Profile, EngineError> {
        let mut profile = self.parts.profiles.get_with(name, &self.parts.layers)?;
        if self.parts.model.is_none() && !self.parts.lends {
            // Nobody can be asked, so nobody is.
            profile.compaction.attempts = 0;
        }
        Ok(profile)
    }

    /// The same for sessions, which have it in common, and adapted to those that follow a client.
    pub(crate) fn shared_profile(&self, name: &str, follows: bool) -> Result<Arc<Profile>, EngineError> {
        let mut shared = self.parts.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (name.to_owned(), follows);
        if let Some(profile) = shared.get(&key) {
            return Ok(Arc::clone(profile));
        }
        let mut profile = self.profile(name)?;
        if follows {
            follow::adapt(&mut profile);
        }
        let profile = Arc::new(profile);
        shared.insert(key, Arc::clone(&profile));
        Ok(profile)
    }

    /// Creates a session.
    pub async fn create(&self, opening: Opening) -> Result<Session, EngineError> {
        let frame = check_frame(&opening.frame)?;
        let profile = opening.profile.unwrap_or_else(|| DEFAULT_PROFILE.to_owned());
        self.profile(&profile)?;
        let row = NewSession {
            id: opening.id.unwrap_or_else(|| Uuid::now_v7().to_string()),
            wire: opening.wire.name().to_owned(),
            profile,
            title: opening.title,
            envelope: frame,
            state: "{}".to_owned(),
            time: self.parts.clock.now(),
        };
        let row = self.parts.store.create(row).await?;
        self.open(&row.id).await
    }

    /// Opens a session.
    pub async fn open(&self, id: &str) -> Result<Session, EngineError> {
        Session::load(self.clone(), id, None).await
    }

    /// Opens a session to look at it, or to turn back what was done. Nothing is begun that is due, as
    /// [`open`](Self::open) would, so a look changes nothing.
    pub async fn view(&self, id: &str) -> Result<Session, EngineError> {
        let row = self.parts.store.session(id).await?;
        let mut session = Session::of(self.clone(), row, None)?;
        session.reload().await?;
        Ok(session)
    }

    /// The sessions, the one changed last first.
    pub async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, EngineError> {
        Ok(self.parts.store.sessions(limit).await?)
    }
}

/// A frame as it is kept: an object without control over what the engine sets itself.
pub(crate) fn check_frame(frame: &str) -> Result<String, EngineError> {
    let refuse = |reason: String| EngineError::NotAFrame { reason };
    let value: serde_json::Value =
        serde_json::from_str(frame).map_err(|error| refuse(format!("it is not JSON ({error})")))?;
    let Some(object) = value.as_object() else { return Err(refuse("it is not an object".to_owned())) };
    for list in ["messages", "contents", "input"] {
        if object.contains_key(list) {
            return Err(refuse(format!("it has a member {list:?}; append messages instead")));
        }
    }
    Ok(frame.trim().to_owned())
}
