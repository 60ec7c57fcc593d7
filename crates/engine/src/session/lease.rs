//! The right to compact a session, which one process at a time has.

use std::sync::Arc;

use secateur::session::CompactionFailure;
use secateur_store::{Lease, Store, StoreError};
use uuid::Uuid;

use crate::engine::Engine;

/// What is needed to take the lease, and to renew it apart from the session.
#[derive(Clone)]
pub(crate) struct LeaseClaim {
    store: Arc<dyn Store>,
    session: String,
    owner: String,
    duration: std::time::Duration,
}

impl LeaseClaim {
    /// Takes the lease or renews it; none if another process has it.
    async fn claim(&self) -> Result<Option<Lease>, StoreError> {
        let duration_ms = u64::try_from(self.duration.as_millis()).unwrap_or(u64::MAX);
        self.store.lease(&self.session, &self.owner, duration_ms).await
    }

    /// Renews the lease until the work is done. Cancels the work if another process has taken the lease.
    pub(crate) async fn hold_during<T>(&self, work: impl Future<Output = T>) -> Result<T, CompactionFailure> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(self.duration / 3) => {
                    if matches!(self.claim().await, Ok(None)) {
                        return Err(CompactionFailure::Cancelled);
                    }
                }
            }
        }
    }
}

/// The lease of a session while this process has it. Dropping it releases it.
pub(crate) struct CompactionLease {
    claim: LeaseClaim,
    held: Option<Lease>,
}

impl CompactionLease {
    pub(crate) fn new(engine: &Engine, session: &str) -> Self {
        let claim = LeaseClaim {
            store: engine.parts.store.clone(),
            session: session.to_owned(),
            owner: Uuid::now_v7().to_string(),
            duration: engine.parts.lease,
        };
        Self { claim, held: None }
    }

    /// Takes the lease, unless another process has it. Says whether it is held now.
    pub(crate) async fn try_take(&mut self) -> Result<bool, StoreError> {
        self.held = self.claim.claim().await?;
        Ok(self.held.is_some())
    }

    /// Releases the lease, if it is held.
    pub(crate) async fn release(&mut self) {
        if self.held.take().is_some() {
            // If this fails, the lease expires.
            self.claim.store.release(&self.claim.session, &self.claim.owner).await.ok();
        }
    }

    /// What proves to the store that the lease is held.
    pub(crate) fn token(&self) -> Option<u64> {
        self.held.as_ref().map(|lease| lease.token)
    }

    pub(crate) fn claim(&self) -> &LeaseClaim {
        &self.claim
    }
}

impl Drop for CompactionLease {
    fn drop(&mut self) {
        if self.held.take().is_some()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let LeaseClaim { store, session, owner, .. } = self.claim.clone();
            // If this fails, the lease expires.
            runtime.spawn(async move { store.release(&session, &owner).await.ok() });
        }
    }
}
