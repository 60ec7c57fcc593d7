//! Deleting whole sessions, in steps that are small enough to run beside requests.

use async_trait::async_trait;

use crate::error::StoreError;
use crate::record::SessionCursor;

/// What was removed of deleted sessions in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The sessions of which nothing is left.
    pub sessions: u64,
    /// By how much the [size](RetentionStore::size) of the store fell.
    pub bytes: u64,
    /// Whether no deleted session has rows left.
    pub is_done: bool,
}

/// What retention needs of a store. [`Store::retention`](crate::Store::retention) returns it.
///
/// A deleted session is gone at once for all that [`Store`](crate::Store) does: it is neither listed nor found, and its
/// id can be used again. Its rows are removed step by step, also after a process died in between.
#[async_trait]
pub trait RetentionStore: Send + Sync {
    /// Takes or renews the right to apply retention, for `ttl_ms` milliseconds by the database's clock. False if another
    /// owner has it. A lifetime of 0 gives it back.
    async fn claim(&self, owner: &str, ttl_ms: u64) -> Result<bool, StoreError>;

    /// Lists sessions of the view's tenant that were last used before a time, least recently used first, at most `limit`;
    /// those that follow a cursor in this order, if there is one.
    async fn unused(
        &self,
        before: i64,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Vec<SessionCursor>, StoreError>;

    /// Deletes a session of the view's tenant that was last used before a time. False if it was used since;
    /// [`StoreError::NoSession`] if it does not exist.
    async fn delete(&self, id: &str, before: i64) -> Result<bool, StoreError>;

    /// Removes rows of deleted sessions of all tenants, and bodies that no other session refers to: about as many as `rows`, in one
    /// transaction.
    async fn sweep(&self, rows: usize) -> Result<Swept, StoreError>;

    /// The bytes of the store: in SQLite those of all used pages, in PostgreSQL those of all bodies, compressed.
    async fn size(&self) -> Result<u64, StoreError>;

    /// The compressed bytes of the bodies of each tenant that has any.
    async fn tenant_sizes(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// Returns a small part of the freed space to the file system and empties the log, without waiting for others. Says
    /// whether that was all. PostgreSQL has autovacuum for that; here it deletes bodies that others had locked.
    async fn give_back(&self) -> Result<bool, StoreError>;
}
