//! A store with time limits.
//!
//! A database may take half a minute to report that it is locked, and one whose machine is gone never answers. Requests
//! wait for what earlier ones write, so without a limit they would wait just as long. What takes too long has failed;
//! whether it was stored after all shows at the next access.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use secateur_store::{
    Clipping, ClippingSearch, Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease,
    Loaded, NewSession, OperationRow, SessionCursor, SessionRow, Store, StoreError, StoredMessage,
};
use tokio::time::timeout;

/// The usual limit. A client is better served without the proxy than by waiting longer.
const LIMIT: Duration = Duration::from_secs(5);

/// The limit after the store did not answer in time.
const SHORT_LIMIT: Duration = Duration::from_millis(250);

/// A store with time limits.
pub(crate) struct TimeoutStore {
    store: Arc<dyn Store>,
    /// Whether the last read, or write, took too long. A locked file can still be read.
    is_read_slow: AtomicBool,
    is_write_slow: AtomicBool,
}

impl TimeoutStore {
    pub(crate) fn in_front_of(store: Arc<dyn Store>) -> Arc<dyn Store> {
        Arc::new(Self { store, is_read_slow: AtomicBool::new(false), is_write_slow: AtomicBool::new(false) })
    }

    async fn read<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        limit(&self.is_read_slow, work).await
    }

    async fn write<T>(&self, work: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
        limit(&self.is_write_slow, work).await
    }
}

async fn limit<T>(
    is_slow: &AtomicBool,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let limit = if is_slow.load(Ordering::Relaxed) { SHORT_LIMIT } else { LIMIT };
    let done = timeout(limit, work).await;
    is_slow.store(done.is_err(), Ordering::Relaxed);
    done.unwrap_or_else(|late| {
        Err(StoreError::Database { doing: "the store did not answer", source: Box::new(late) })
    })
}

#[async_trait]
impl Store for TimeoutStore {
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        self.write(self.store.create(session)).await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        self.read(self.store.session(id)).await
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        self.read(self.store.sessions(limit)).await
    }

    async fn sessions_after(
        &self,
        place: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        self.read(self.store.sessions_after(place, limit)).await
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        self.read(self.store.find(ids)).await
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        self.read(self.store.find_in(session, ids)).await
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        self.read(self.store.load(id)).await
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        self.write(self.store.commit(id, commit)).await
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        self.write(self.store.fork(from, fork)).await
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        self.read(self.store.originals(id, seqs)).await
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(self.store.facts(id, after, limit)).await
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        self.read(self.store.messages(id, from, to)).await
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        self.read(self.store.clippings(handle)).await
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        self.read(self.store.search(search)).await
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        self.read(self.store.operations(id, after, limit)).await
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        self.read(self.store.events(id, after, limit)).await
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        self.write(self.store.lease(id, owner, ttl_ms)).await
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        self.write(self.store.release(id, owner)).await
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        self.write(self.store.forget(id, forget)).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        self.store.shrink().await
    }
}
