//! The threads that read. They share a queue, so that a long load blocks nothing while another reader is free.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::SqliteResult;
use crate::error::StoreError;

type ReadTask = Box<dyn FnOnce(&mut Connection) + Send>;

/// The queue of the reader threads, which end when this is dropped.
pub(super) struct ReaderThreads {
    queue: Sender<ReadTask>,
}

impl ReaderThreads {
    /// Starts a thread for each connection.
    pub(super) fn start(connections: Vec<Connection>) -> Result<Self, StoreError> {
        let (queue, jobs) = channel::<ReadTask>();
        let jobs = Arc::new(Mutex::new(jobs));
        for connection in connections {
            let jobs = Arc::clone(&jobs);
            let thread = thread::Builder::new().name("secateur-reader".to_owned());
            thread
                .spawn(move || serve(connection, &jobs))
                .map_err(StoreError::database("cannot start a reader of the store"))?;
        }
        Ok(Self { queue })
    }

    /// Runs a query on the first connection that is free.
    pub(super) async fn run<T, F>(&self, doing: &'static str, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> SqliteResult<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let job = move |connection: &mut Connection| {
            // The caller may have stopped waiting.
            if !sender.is_closed() {
                let _ = sender.send(query(connection).map_err(|failure| failure.while_doing(doing)));
            }
        };
        let ended = |_| StoreError::database(doing)("the readers of the store have ended");
        self.queue.send(Box::new(job)).map_err(ended)?;
        receiver.await.map_err(StoreError::database(doing))?
    }
}

fn serve(mut connection: Connection, jobs: &Mutex<Receiver<ReadTask>>) {
    loop {
        // The lock is held while waiting, not while working.
        let Ok(Ok(job)) = jobs.lock().map(|jobs| jobs.recv()) else {
            return;
        };
        job(&mut connection);
    }
}
