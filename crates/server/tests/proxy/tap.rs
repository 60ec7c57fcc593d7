//! Between the proxy and the model: sees every byte that is sent, and lets go wrong what a test wants to go wrong.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use crate::client::text;
use crate::play::{Line, Message};

/// What becomes of a request.
#[derive(Clone, Debug)]
pub(crate) enum Deed {
    /// The model answers.
    Pass,
    /// This is the answer, and then the connection ends.
    Say(String),
    /// The model answers, and after so many bytes the connection is reset.
    Reset(usize),
    /// The model answers, and after so many bytes nothing more comes.
    Stall(usize),
    /// The model is asked when the test says so.
    Hold,
}

/// Where requests pass by. It is gone when this is dropped.
pub(crate) struct Tap {
    address: SocketAddr,
    inside: Arc<Inside>,
    task: JoinHandle<()>,
}

struct Inside {
    model: SocketAddr,
    seen: Mutex<Seen>,
    /// Rings when an answer stalls, or a request is held.
    stalled: Notify,
    /// Rings when one that is held may go on.
    released: Notify,
}

#[derive(Default)]
struct Seen {
    turns: Vec<Message>,
    summaries: Vec<Message>,
    deeds: VecDeque<Deed>,
    summary_deeds: VecDeque<Deed>,
}

impl Tap {
    /// Starts one in front of a model.
    pub(crate) async fn start(model: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let model = model.trim_start_matches("http://").parse().unwrap();
        let inside = Arc::new(Inside {
            model,
            seen: Mutex::default(),
            stalled: Notify::new(),
            released: Notify::new(),
        });
        let shared = Arc::clone(&inside);
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(Arc::clone(&shared).serve(Line::new(socket)));
            }
        });
        Self { address, inside, task }
    }

    /// Its address, as clients write it.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What becomes of the next requests of conversations. Behind them, all pass.
    pub(crate) fn plan(&self, deeds: impl IntoIterator<Item = Deed>) {
        self.inside.seen.lock().unwrap().deeds.extend(deeds);
    }

    /// Lets all requests pass from now on.
    pub(crate) fn forget_plan(&self) {
        self.inside.seen.lock().unwrap().deeds.clear();
    }

    /// What becomes of the next requests for summaries.
    pub(crate) fn plan_summaries(&self, deeds: impl IntoIterator<Item = Deed>) {
        self.inside.seen.lock().unwrap().summary_deeds.extend(deeds);
    }

    /// The requests of conversations that came, oldest first. They are forgotten here.
    pub(crate) fn take(&self) -> Vec<Message> {
        std::mem::take(&mut self.inside.seen.lock().unwrap().turns)
    }

    /// The requests for summaries that came.
    pub(crate) fn summaries(&self) -> Vec<Message> {
        std::mem::take(&mut self.inside.seen.lock().unwrap().summaries)
    }

    /// The body of the last request that came.
    pub(crate) fn last(&self) -> String {
        self.take().last().map(text).unwrap()
    }

    /// Waits until an answer stalls, or a request is held.
    pub(crate) async fn stalled(&self) {
        crate::play::within(self.inside.stalled.notified()).await;
    }

    /// Lets one request go on that is held.
    pub(crate) fn release(&self) {
        self.inside.released.notify_one();
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inside {
    /// One connection is one request, so that nothing that goes wrong with it touches another one.
    async fn serve(self: Arc<Self>, mut line: Line) {
        // A connection that was opened for nothing.
        if line.socket.peek(&mut [0]).await.unwrap_or(0) == 0 {
            return;
        }
        let request = line.message().await;
        let head = request.head.clone();
        let body = request.body.clone();
        let is_summary = text(&request).contains("You keep the record of a conversation");
        let deed = {
            let mut seen = self.seen.lock().unwrap();
            let Seen { turns, summaries, deeds, summary_deeds } = &mut *seen;
            let (list, deeds) = if is_summary { (summaries, summary_deeds) } else { (turns, deeds) };
            list.push(request);
            deeds.pop_front().unwrap_or(Deed::Pass)
        };
        let most = match deed {
            Deed::Say(answer) => {
                let _ = line.socket.write_all(answer.as_bytes()).await;
                let _ = line.socket.shutdown().await;
                return;
            }
            Deed::Hold => {
                self.stalled.notify_one();
                self.released.notified().await;
                usize::MAX
            }
            Deed::Pass => usize::MAX,
            Deed::Reset(most) | Deed::Stall(most) => most,
        };
        let mut model = TcpStream::connect(self.model).await.unwrap();
        let asked = [format!("{head}connection: close\r\n\r\n").as_bytes(), &body].concat();
        model.write_all(&asked).await.unwrap();
        let mut left = most;
        let mut bytes = vec![0; 1 << 14];
        while left > 0 {
            let length = model.read(&mut bytes).await.unwrap_or(0).min(left);
            // Whoever asked may be gone.
            if length == 0 || line.socket.write_all(&bytes[..length]).await.is_err() {
                break;
            }
            left -= length;
        }
        match deed {
            Deed::Reset(_) => line.reset(),
            Deed::Stall(_) => {
                self.stalled.notify_one();
                line.rest().await;
            }
            Deed::Pass | Deed::Say(_) | Deed::Hold => {}
        }
    }
}
