//! What happens, for those who watch it happen. What must not get lost is in the store; this is only heard by those
//! who listen.

use secateur::session::Event;
use tokio::sync::broadcast;

/// News of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Live {
    /// Something happened that the store knows as well.
    Event {
        /// The session.
        session: String,
        /// What happened.
        event: Event,
    },
    /// A summary that is being written has another line.
    Delta {
        /// The session.
        session: String,
        /// The task.
        task: u64,
        /// The line, without credentials.
        text: String,
    },
    /// What was written of a summary so far does not count.
    Restart {
        /// The session.
        session: String,
        /// The task.
        task: u64,
    },
}

/// Hands out news.
#[derive(Clone, Debug)]
pub(crate) struct Channel(broadcast::Sender<Live>);

impl Default for Channel {
    fn default() -> Self {
        Self(broadcast::channel(1_024).0)
    }
}

impl Channel {
    /// Tells those who listen, if anybody does.
    pub(crate) fn send(&self, news: Live) {
        // An error means that nobody listens.
        self.0.send(news).ok();
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Live> {
        self.0.subscribe()
    }
}
