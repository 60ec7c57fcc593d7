//! Events for watchers, as they happen. They are not kept: what must not be lost is in the store.

use secateur::session::Event;
use tokio::sync::broadcast;

/// How many events a slow watcher may fall behind before it misses some.
const BACKLOG: usize = 1_024;

/// Something that happens in an engine.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineEvent {
    /// An event of a session, which the store has as well.
    Session {
        /// The session.
        session: String,
        /// What happened.
        event: Event,
    },
    /// The summariser wrote another line.
    SummaryLine {
        /// The session.
        session: String,
        /// The compaction task.
        task: u64,
        /// The line, without credentials.
        text: String,
    },
    /// The summariser starts again: earlier lines of this summary are void.
    SummaryRestart {
        /// The session.
        session: String,
        /// The compaction task.
        task: u64,
    },
}

/// A channel to all watchers. Sending fails if there are none.
pub(crate) fn channel() -> broadcast::Sender<EngineEvent> {
    broadcast::channel(BACKLOG).0
}
