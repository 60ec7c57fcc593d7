//! What is done apart from requests: nobody waits for it, but whoever stops.

use std::sync::Arc;
use std::time::Duration;

use secateur::session::Event;
use tokio::sync::watch;

use crate::tally::Tally;

/// How long whoever stops waits for what is being stored. A store that takes longer is away.
const LONGEST: Duration = Duration::from_secs(5);

/// What is done apart from requests.
pub(crate) struct Apart {
    /// Everything that is on its way holds a receiver.
    tasks: watch::Sender<()>,
    tally: Arc<Tally>,
}

/// Something that is on its way, for as long as this lives.
pub(crate) struct OnItsWay(#[expect(dead_code, reason = "it only has to be there")] watch::Receiver<()>);

impl Apart {
    pub(crate) fn new(tally: Arc<Tally>) -> Arc<Self> {
        Arc::new(Self { tasks: watch::Sender::new(()), tally })
    }

    /// Something begins that must not be broken off.
    pub(crate) fn begin(&self) -> OnItsWay {
        OnItsWay(self.tasks.subscribe())
    }

    /// Counts what happened to a conversation while nobody asked.
    pub(crate) fn count(&self, events: &[Event]) {
        self.tally.count(events);
    }

    /// Waits until nothing is on its way.
    pub(crate) async fn rest(&self) {
        if tokio::time::timeout(LONGEST, self.tasks.closed()).await.is_err() {
            tracing::warn!("what was said last is not stored");
        }
    }
}
