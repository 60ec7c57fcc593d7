//! Stands between a proxy and the scripted model: records every request, and makes those fail that a test wants to fail.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::client::text;
use crate::connection::{Connection, HttpMessage};

/// What the relay does with a request.
#[derive(Clone, Debug)]
pub enum Action {
    /// Passes it on.
    Pass,
    /// Sends this response and closes the connection.
    Respond(String),
    /// Resets the connection after this many bytes of the response.
    Reset(usize),
    /// Sends this many bytes of the response and then nothing more.
    Stall(usize),
    /// Waits for [`Relay::release`] and passes it on then.
    Hold,
}

/// A running relay; dropping it stops it.
pub struct Relay {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
}

struct Shared {
    model: SocketAddr,
    seen: Mutex<Seen>,
    /// Notified when a response stalls or a request is held.
    stalled: Notify,
    /// Notified when a held request may go on.
    released: Notify,
}

#[derive(Default)]
struct Seen {
    turns: Vec<HttpMessage>,
    summaries: Vec<HttpMessage>,
    actions: VecDeque<Action>,
    summary_actions: VecDeque<Action>,
}

impl Relay {
    /// Starts a relay in front of a model.
    pub async fn start(model: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let model = model.trim_start_matches("http://").parse().unwrap();
        let shared = Arc::new(Shared {
            model,
            seen: Mutex::default(),
            stalled: Notify::new(),
            released: Notify::new(),
        });
        let serving = Arc::clone(&shared);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&serving).serve(Connection::new(socket)));
            }
        });
        Self { address, shared, task }
    }

    /// Its address, as clients write it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What to do with the next requests of conversations. Those after them pass.
    pub fn plan(&self, actions: impl IntoIterator<Item = Action>) {
        self.shared.seen.lock().unwrap().actions.extend(actions);
    }

    /// Passes all requests on from now on.
    pub fn clear_plan(&self) {
        self.shared.seen.lock().unwrap().actions.clear();
    }

    /// What to do with the next requests for summaries.
    pub fn plan_summaries(&self, actions: impl IntoIterator<Item = Action>) {
        self.shared.seen.lock().unwrap().summary_actions.extend(actions);
    }

    /// The requests of conversations that came, oldest first. They are returned once.
    pub fn take(&self) -> Vec<HttpMessage> {
        std::mem::take(&mut self.shared.seen.lock().unwrap().turns)
    }

    /// The requests for summaries that came. They are returned once.
    pub fn take_summaries(&self) -> Vec<HttpMessage> {
        std::mem::take(&mut self.shared.seen.lock().unwrap().summaries)
    }

    /// The body of the last request that came.
    pub fn last_body(&self) -> String {
        self.take().last().map(text).unwrap()
    }

    /// Waits until a response stalls or a request is held.
    pub async fn stalled(&self) {
        crate::connection::within(self.shared.stalled.notified()).await;
    }

    /// Lets one held request go on.
    pub fn release(&self) {
        self.shared.released.notify_one();
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    /// One connection is one request, so that a failure of one touches no other.
    async fn serve(self: Arc<Self>, mut connection: Connection) {
        // A connection that was opened for nothing.
        if connection.socket.peek(&mut [0]).await.unwrap_or(0) == 0 {
            return;
        }
        let request = connection.message().await;
        let head = request.head.clone();
        let body = request.body.clone();
        let is_summary = text(&request).contains("You keep the record of a conversation");
        let action = {
            let mut seen = self.seen.lock().unwrap();
            let Seen { turns, summaries, actions, summary_actions } = &mut *seen;
            let (list, actions) = if is_summary { (summaries, summary_actions) } else { (turns, actions) };
            list.push(request);
            actions.pop_front().unwrap_or(Action::Pass)
        };
        let most = match action {
            Action::Respond(response) => {
                let _ = connection.socket.write_all(response.as_bytes()).await;
                let _ = connection.socket.shutdown().await;
                return;
            }
            Action::Hold => {
                self.stalled.notify_one();
                self.released.notified().await;
                usize::MAX
            }
            Action::Pass => usize::MAX,
            Action::Reset(most) | Action::Stall(most) => most,
        };
        let mut model = TcpStream::connect(self.model).await.unwrap();
        let asked = [format!("{head}connection: close\r\n\r\n").as_bytes(), &body].concat();
        model.write_all(&asked).await.unwrap();
        let mut left = most;
        let mut bytes = vec![0; 1 << 14];
        while left > 0 {
            let length = model.read(&mut bytes).await.unwrap_or(0).min(left);
            // The client may be gone.
            if length == 0 || connection.socket.write_all(&bytes[..length]).await.is_err() {
                break;
            }
            left -= length;
        }
        match action {
            Action::Reset(_) => connection.reset(),
            Action::Stall(_) => {
                self.stalled.notify_one();
                connection.rest().await;
            }
            Action::Pass | Action::Respond(_) | Action::Hold => {}
        }
    }
}
