//! A store that fails when a test wants it to.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use secateur_store::{
    Clipping, ClippingSearch, Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease,
    Loaded, NewSession, OperationRow, RetentionStore, SessionCursor, SessionRow, Store, StoreError,
    StoredMessage, TenantScope,
};
use tokio::sync::Notify;

use secateur_testing::connection::within;

/// How a store is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum StoreFault {
    /// It works.
    None,
    /// Nothing is done, and everything is an error.
    Broken,
    /// Everything is read, but nothing written.
    ReadOnly,
    /// Everything is done, but an error is returned.
    LosesResponses,
    /// Everything is done, but it takes a while to return.
    Slow,
    /// Nothing ever ends.
    Stuck,
}

const FAULTS: [StoreFault; 6] = [
    StoreFault::None,
    StoreFault::Broken,
    StoreFault::ReadOnly,
    StoreFault::LosesResponses,
    StoreFault::Slow,
    StoreFault::Stuck,
];

/// A store in front of another one.
pub(crate) struct FailingStore {
    store: Arc<dyn Store>,
    /// The views for all tenants fail together.
    control: Arc<FaultControl>,
}

/// What a test sets and counts.
#[derive(Default)]
struct FaultControl {
    fault: AtomicU8,
    calls: AtomicU64,
    /// The most messages in one commit.
    largest_commit: AtomicUsize,
    /// The call that fails, counted from 1.
    failing: AtomicU64,
    /// Whether a search for messages waits until it is let through.
    is_closed: AtomicBool,
    waits: Notify,
    opens: Notify,
}

impl FailingStore {
    pub(crate) async fn new(url: &str) -> Arc<Self> {
        let store = secateur_store::open(url).await.unwrap();
        Arc::new(Self { store, control: Arc::default() })
    }

    /// The store behind it, which always works.
    pub(crate) fn behind(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub(crate) fn set(&self, fault: StoreFault) {
        self.control.fault.store(fault as u8, Ordering::Relaxed);
    }

    /// Has one call from now on fail, the first with 1.
    pub(crate) fn fail_once(&self, call: u64) {
        self.control.failing.store(self.control.calls.load(Ordering::Relaxed) + call, Ordering::Relaxed);
    }

    /// Holds the next searches for messages, until [`Self::open`].
    pub(crate) fn close(&self) {
        self.control.is_closed.store(true, Ordering::Relaxed);
    }

    /// Waits until a search is held.
    pub(crate) async fn is_waited_for(&self) {
        within(self.control.waits.notified()).await;
    }

    /// Lets him go on.
    pub(crate) fn open(&self) {
        self.control.opens.notify_one();
    }

    /// How many calls there were.
    pub(crate) fn calls(&self) -> u64 {
        self.control.calls.load(Ordering::Relaxed)
    }

    /// How many messages the largest commit had.
    pub(crate) fn largest_commit(&self) -> usize {
        self.control.largest_commit.load(Ordering::Relaxed)
    }

    async fn act<T>(
        &self,
        writes: bool,
        work: impl Future<Output = Result<T, StoreError>> + Send,
    ) -> Result<T, StoreError> {
        let broken = || StoreError::Database { doing: "cannot do it", source: "the disk is gone".into() };
        if self.control.calls.fetch_add(1, Ordering::Relaxed) + 1
            == self.control.failing.load(Ordering::Relaxed)
        {
            return Err(broken());
        }
        match FAULTS[usize::from(self.control.fault.load(Ordering::Relaxed))] {
            StoreFault::Broken => return Err(broken()),
            StoreFault::ReadOnly if writes => return Err(broken()),
            StoreFault::LosesResponses if writes => {
                drop(work.await?);
                return Err(broken());
            }
            StoreFault::Slow => {
                let done = work.await;
                tokio::time::sleep(Duration::from_millis(30)).await;
                return done;
            }
            StoreFault::Stuck => std::future::pending().await,
            _ => {}
        }
        work.await
    }
}

#[async_trait]
impl Store for FailingStore {
    fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
        Arc::new(Self { store: self.store.scoped(scope), control: Arc::clone(&self.control) })
    }

    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        self.act(true, self.store.create(session)).await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.act(false, self.store.session(id)).await
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        self.act(false, self.store.sessions(limit)).await
    }

    async fn sessions_after(
        &self,
        place: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.act(false, self.store.sessions_after(place, limit)).await
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        if self.control.is_closed.swap(false, Ordering::Relaxed) {
            self.control.waits.notify_one();
            self.control.opens.notified().await;
        }
        self.act(false, self.store.find(ids)).await
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        self.act(false, self.store.find_in(session, ids)).await
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        self.act(false, self.store.load(id)).await
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        self.control.largest_commit.fetch_max(commit.append.len(), Ordering::Relaxed);
        self.act(true, self.store.commit(id, commit)).await
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        self.act(true, self.store.fork(from, fork)).await
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.act(false, self.store.originals(id, seqs)).await
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        self.act(false, self.store.facts(id, after, limit)).await
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        self.act(false, self.store.messages(id, from, to)).await
    }

    fn handle_key(&self) -> Option<[u8; 32]> {
        self.store.handle_key()
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        self.act(false, self.store.clippings(handle)).await
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        self.act(false, self.store.search(search)).await
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        self.act(false, self.store.operations(id, after, limit)).await
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.act(false, self.store.events(id, after, limit)).await
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        self.act(true, self.store.lease(id, owner, ttl_ms)).await
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        self.act(true, self.store.release(id, owner)).await
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        self.act(true, self.store.forget(id, forget)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.act(true, self.store.check_writable()).await
    }

    async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError> {
        self.act(true, self.store.touch(id, time)).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        self.act(true, self.store.shrink()).await
    }

    fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
        self.store.retention()
    }
}
