//! What is done apart from requests: nobody waits for it, but whoever stops.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::Event;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::metrics::Tally;

/// How long whoever stops waits for what is being stored. A store that takes longer is away.
const LONGEST: Duration = Duration::from_secs(5);

/// What is done apart from requests.
pub(crate) struct Apart {
    tasks: TaskTracker,
    tally: Arc<Tally>,
}

impl Apart {
    pub(crate) fn new(tally: Arc<Tally>) -> Arc<Self> {
        Arc::new(Self { tasks: TaskTracker::new(), tally })
    }

    /// Something begins that must not be broken off, for as long as the token lives.
    pub(crate) fn begin(&self) -> TaskTrackerToken {
        self.tasks.token()
    }

    /// Counts what happened to a conversation while nobody asked.
    pub(crate) fn count(&self, events: &[Event]) {
        self.tally.count(events);
    }

    /// Waits until nothing is on its way.
    pub(crate) async fn rest(&self) {
        self.tasks.close();
        if tokio::time::timeout(LONGEST, self.tasks.wait()).await.is_err() {
            tracing::warn!("what was said last is not stored");
        }
    }
}
