//! The right to compact a session, which one process at a time has.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::CompactionFailure;
use secateur_store::{LONGEST_LEASE, Lease, Store, StoreError};
use tokio::time::Instant;

use crate::engine::Engine;

/// How often a process that waits for another one's compaction looks at the session.
const POLL: Duration = Duration::from_millis(50);

/// What is needed to take the lease, and to renew it apart from the session.
#[derive(Clone)]
pub(crate) struct LeaseClaim {
    store: Arc<dyn Store>,
    session: String,
    owner: String,
    duration: Duration,
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
                // Work that is done is not cancelled.
                biased;
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
    longest_wait: Duration,
    /// Until when another process's compaction is waited for. The machine's clock may be set; this one runs evenly.
    wait_end: Option<Instant>,
}

impl CompactionLease {
    pub(crate) fn new(engine: &Engine, session: &str) -> Self {
        let claim = LeaseClaim {
            store: engine.parts.store.clone(),
            session: session.to_owned(),
            owner: engine.parts.clock.new_id().to_string(),
            duration: engine.parts.lease.min(Duration::from_millis(LONGEST_LEASE)),
        };
        Self { claim, held: None, longest_wait: engine.parts.longest_wait, wait_end: None }
    }

    /// Takes the lease, unless another process has it. Says whether it is held now.
    pub(crate) async fn try_take(&mut self) -> Result<bool, StoreError> {
        self.held = self.claim.claim().await?;
        Ok(self.held.is_some())
    }

    /// Waits a little for the process that has the lease. False once it was waited for long enough.
    pub(crate) async fn wait(&mut self) -> bool {
        let end = *self.wait_end.get_or_insert_with(|| Instant::now() + self.longest_wait);
        tokio::time::sleep(POLL).await;
        Instant::now() < end
    }

    /// Releases the lease, if it is held.
    pub(crate) async fn release(&mut self) {
        self.wait_end = None;
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
