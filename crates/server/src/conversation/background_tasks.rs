//! Work that no request waits for.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::Event;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::provisional_branches::ProvisionalBranches;
use crate::metrics::Metrics;

/// How long to wait for the store when the proxy stops.
const STOP_TIMEOUT: Duration = Duration::from_secs(5);

/// Work that no request waits for. Only stopping the proxy does.
pub(crate) struct BackgroundTasks {
    tasks: TaskTracker,
    metrics: Arc<Metrics>,
    /// The branches with decisions that the store could not take yet.
    pub provisional: ProvisionalBranches,
}

impl BackgroundTasks {
    pub(crate) fn new(metrics: Arc<Metrics>) -> Self {
        let provisional = ProvisionalBranches::new(Arc::clone(&metrics));
        Self { tasks: TaskTracker::new(), metrics, provisional }
    }

    /// Begins work that must not be broken off while the token lives.
    pub(crate) fn begin(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    /// Counts events that happened between requests.
    pub(crate) fn count_events(&self, events: &[Event]) {
        self.metrics.count_events(events);
    }

    /// Waits until no work is left.
    pub(crate) async fn finish(&self) {
        self.tasks.close();
        if tokio::time::timeout(STOP_TIMEOUT, self.tasks.wait()).await.is_err() {
            tracing::warn!("stopped before the last messages were stored");
        }
    }
}
