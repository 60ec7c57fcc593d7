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
    Loaded, NewSession, OperationRow, RetentionStore, SessionCursor, SessionRow, Store, StoreError,
    StoredMessage, TenantScope,
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

/// Implements the store by calls of the one behind it, each with the limit of a read or of a write.
macro_rules! forward {
    ($($limit:ident $name:ident($($argument:ident: $type:ty),*) -> $output:ty;)+) => {
        #[async_trait]
        impl Store for TimeoutStore {
            $(async fn $name(&self, $($argument: $type),*) -> Result<$output, StoreError> {
                self.$limit(self.store.$name($($argument),*)).await
            })+

            fn handle_key(&self) -> Option<[u8; 32]> {
                self.store.handle_key()
            }

            fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
                Self::in_front_of(self.store.scoped(scope))
            }

            async fn shrink(&self) -> Result<(), StoreError> {
                self.store.shrink().await
            }

            fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
                self.store.retention()
            }
        }
    };
}

forward! {
    write create(session: NewSession) -> SessionRow;
    read session(id: &str) -> SessionRow;
    read sessions(limit: usize) -> Vec<SessionRow>;
    read sessions_after(place: &SessionCursor, limit: usize) -> Vec<SessionRow>;
    read find(ids: &[String]) -> Vec<FoundMessage>;
    read find_in(session: &str, ids: &[String]) -> Vec<FoundMessage>;
    read load(id: &str) -> Loaded;
    write commit(id: &str, commit: Commit) -> Committed;
    write fork(from: &str, fork: Fork) -> SessionRow;
    read originals(id: &str, seqs: &[u64]) -> Vec<Option<Vec<u8>>>;
    read facts(id: &str, after: u64, limit: usize) -> Vec<StoredMessage>;
    read messages(id: &str, from: u64, to: u64) -> Vec<StoredMessage>;
    read clippings(handle: &str) -> Vec<Clipping>;
    read search(search: ClippingSearch) -> Vec<Clipping>;
    read operations(id: &str, after: u64, limit: usize) -> Vec<OperationRow>;
    read events(id: &str, after: u64, limit: usize) -> Vec<EventRow>;
    write lease(id: &str, owner: &str, ttl_ms: u64) -> Option<Lease>;
    write release(id: &str, owner: &str) -> ();
    write touch(id: &str, time: i64) -> ();
    write forget(id: &str, forget: Forget) -> Forgotten;
    write check_writable() -> ();
}
