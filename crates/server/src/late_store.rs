//! A store that may be opened later than the proxy starts.
//!
//! A proxy that does not start stops its agents. So it starts without its store, decides in memory, and tries to open the
//! store again and again. Until then every call fails like one to a store that is away.

use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use parking_lot::Mutex;
use secateur_store::{
    Clipping, ClippingSearch, Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease,
    Loaded, NewSession, OperationRow, RetentionStore, SessionCursor, SessionRow, Store, StoreError,
    StoredMessage, TenantScope,
};
use tokio::sync::oneshot;
use tokio::time::{sleep, timeout};

/// How long the start waits for the store. Opening goes on after that.
const FIRST_WAIT: Duration = Duration::from_secs(5);

/// How long to wait before opening is tried again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// A store that is opened as soon as it can be.
pub struct LateStore {
    opening: Arc<Opening>,
    /// Whose view of the store this is, and the view itself, once the store is open.
    scope: Option<TenantScope>,
    view: OnceLock<Arc<dyn Store>>,
}

/// A store that is being opened, which all views share.
struct Opening {
    url: String,
    store: OnceLock<Arc<dyn Store>>,
    /// Why it cannot be used: it is not open, or its file is malformed.
    why: Mutex<Option<String>>,
}

impl LateStore {
    /// Opens the store at a path or URL. If that fails, or takes long, it is tried again in the background until it
    /// succeeds. A malformed file is [set aside](secateur_store::open_or_set_aside). The only error is a path or URL that
    /// names no store.
    ///
    /// ```
    /// use secateur_server::LateStore;
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// assert!(LateStore::open("ftp://host/store").await.is_err());
    ///
    /// let store = LateStore::open("/dev/null/sessions.db").await?;
    /// assert!(store.fault().is_some());
    /// # Ok::<(), secateur_store::StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn open(url: &str) -> Result<Arc<Self>, StoreError> {
        secateur_store::check_url(url)?;
        let why = Mutex::new(Some("it does not answer".to_owned()));
        let opening = Arc::new(Opening { url: url.to_owned(), store: OnceLock::new(), why });
        let (tried, first) = oneshot::channel();
        tokio::spawn(open_in_time(Arc::downgrade(&opening), tried));
        // Whether it was opened shows when it is used.
        timeout(FIRST_WAIT, first).await.ok();
        Ok(Arc::new(Self { opening, scope: None, view: OnceLock::new() }))
    }

    /// Why the store cannot be used now: it is not open, or its file is malformed.
    pub fn fault(&self) -> Option<String> {
        self.opening.why.lock().clone()
    }

    /// The store, once it is open.
    fn opened(&self) -> Result<&Arc<dyn Store>, StoreError> {
        let store = self.opening.store.get().ok_or_else(|| {
            let source = self.fault().unwrap_or_default().into();
            StoreError::Database { doing: "the store is not open", source }
        })?;
        Ok(self.view.get_or_init(|| match &self.scope {
            Some(scope) => store.scoped(scope.clone()),
            None => Arc::clone(store),
        }))
    }

    async fn watch<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        self.opening.watch(result).await
    }
}

impl Opening {
    /// Tries to open the store once.
    async fn try_open(&self) -> Result<(), StoreError> {
        let (store, set_aside) = secateur_store::open_or_set_aside(&self.url).await?;
        if let Some(file) = set_aside {
            tracing::error!(
                file = %file.display(),
                "the store was malformed: its file was set aside and a new store begun; `secateur store recover {}` \
                 reads what is left",
                file.display()
            );
        }
        *self.why.lock() = None;
        // Opened once: only one task does this.
        self.store.set(store).ok();
        Ok(())
    }

    /// Passes a result on. If it says that the file is malformed, that is noted: the next start checks the file.
    async fn watch<T>(&self, result: Result<T, StoreError>) -> Result<T, StoreError> {
        let Err(error) = &result else { return result };
        if error.is_malformed() && self.why.lock().replace(error.to_string()).is_none() {
            tracing::error!(
                %error,
                "the store is malformed: what is decided is kept in memory; stop all proxies that use it and start them \
                 again to set the file aside"
            );
            if let Err(error) = secateur_store::mark_malformed(&self.url).await {
                tracing::error!(%error, "the next start will not know that the store is malformed");
            }
        }
        result
    }
}

/// Tries to open the store until it is open, or no longer needed. Tells when it has been tried once.
async fn open_in_time(store: Weak<Opening>, tried: oneshot::Sender<()>) {
    let (mut pause, mut tried) = (FIRST_PAUSE, Some(tried));
    loop {
        let Some(late) = store.upgrade() else { return };
        let opened = late.try_open().await;
        let is_first = tried.take().is_some_and(|tried| tried.send(()).is_ok());
        match opened {
            Ok(()) if is_first => return,
            Ok(()) => {
                tracing::warn!("the store is open now");
                return;
            }
            Err(error) => {
                tracing::error!(%error, "cannot open the store; conversations are kept in memory until it can be opened");
                *late.why.lock() = Some(error.to_string());
            }
        }
        drop(late);
        sleep(pause).await;
        pause = LONGEST_PAUSE.min(pause * 2);
    }
}

/// Implements the store by calls of the one that was opened.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)+) => {
        #[async_trait]
        impl Store for LateStore {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$output, StoreError> {
                let result = self.opened()?.$name($($argument),*).await;
                self.watch(result).await
            })+

            fn handle_key(&self) -> Option<[u8; 32]> {
                self.opened().ok()?.handle_key()
            }

            fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
                self.opened()?.retention()
            }

            fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
                let opening = Arc::clone(&self.opening);
                Arc::new(LateStore { opening, scope: Some(scope), view: OnceLock::new() })
            }

            async fn check_writable(&self) -> Result<(), StoreError> {
                let written = self.opened()?.check_writable().await;
                self.watch(written).await?;
                match self.fault() {
                    None => Ok(()),
                    Some(why) => {
                        Err(StoreError::Database { doing: "the store is malformed", source: why.into() })
                    }
                }
            }
        }
    };
}

forward! {
    create(session: NewSession) -> SessionRow;
    session(id: &str) -> SessionRow;
    sessions(limit: usize) -> Vec<SessionRow>;
    sessions_after(place: &SessionCursor, limit: usize) -> Vec<SessionRow>;
    find(ids: &[String]) -> Vec<FoundMessage>;
    find_in(session: &str, ids: &[String]) -> Vec<FoundMessage>;
    load(id: &str) -> Loaded;
    commit(id: &str, commit: Commit) -> Committed;
    fork(from: &str, fork: Fork) -> SessionRow;
    originals(id: &str, seqs: &[u64]) -> Vec<Option<Vec<u8>>>;
    facts(id: &str, after: u64, limit: usize) -> Vec<StoredMessage>;
    messages(id: &str, from: u64, to: u64) -> Vec<StoredMessage>;
    clippings(handle: &str) -> Vec<Clipping>;
    search(search: ClippingSearch) -> Vec<Clipping>;
    operations(id: &str, after: u64, limit: usize) -> Vec<OperationRow>;
    events(id: &str, after: u64, limit: usize) -> Vec<EventRow>;
    lease(id: &str, owner: &str, ttl_ms: u64) -> Option<Lease>;
    release(id: &str, owner: &str) -> ();
    touch(id: &str, time: i64) -> ();
    forget(id: &str, forget: Forget) -> Forgotten;
    shrink() -> ();
}
