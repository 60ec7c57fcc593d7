//! The thread that writes.
//!
//! A flush to disk costs more than the rows of a commit. So the writer runs all waiting tasks in one transaction,
//! each in its own savepoint, and notifies the callers after the transaction has been committed. A failed task is
//! rolled back alone. A task whose caller stopped waiting is skipped: its result was never reported, and there may be
//! many of them behind a locked file.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rusqlite::{Connection, Error};
use tokio::sync::oneshot;

use super::SqliteResult;
use crate::error::StoreError;

/// The most tasks in one transaction, so that the first one does not wait forever.
const GROUP: usize = 64;

/// The queue of the writer thread, which ends when this is dropped and the queue is empty.
pub(super) struct WriterThread {
    queue: Sender<WriterTask>,
}

/// A task that runs in a transaction.
trait WriteTask: Send {
    /// Whether its caller still waits.
    fn is_awaited(&self) -> bool;

    /// Runs it, or fails it with the reason why there is no transaction.
    fn carry_out(self: Box<Self>, transaction: Result<&Connection, &str>) -> FinishedWrite;
}

/// A task and the channel to its caller.
struct PendingWrite<T, F> {
    doing: &'static str,
    work: F,
    sender: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteTask for PendingWrite<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> SqliteResult<T> + Send,
{
    fn is_awaited(&self) -> bool {
        !self.sender.is_closed()
    }

    fn carry_out(self: Box<Self>, transaction: Result<&Connection, &str>) -> FinishedWrite {
        let Self { doing, work, sender } = *self;
        let failed = move |reason: &str| StoreError::Database { doing, source: reason.into() };
        let result = match transaction {
            Ok(connection) => work(connection).map_err(|failure| failure.while_doing(doing)),
            Err(reason) => Err(failed(reason)),
        };
        let kept = result.is_ok();
        let answer = move |end: Result<(), &str>| {
            // The caller may have stopped waiting.
            let _ = sender.send(result.and_then(|value| end.map(|()| value).map_err(failed)));
        };
        FinishedWrite { kept, answer: Box::new(answer) }
    }
}

/// Reports the result to the caller; the argument says whether the transaction was committed.
type Notify = Box<dyn FnOnce(Result<(), &str>)>;

/// A task for the thread.
enum WriterTask {
    /// A task that may share a transaction with others.
    Write(Box<dyn WriteTask>),
    /// A task that has its own transaction, or needs none.
    Alone(Box<dyn FnOnce(&mut Connection) + Send>),
}

/// A task that ran but was not reported yet.
struct FinishedWrite {
    kept: bool,
    answer: Notify,
}

impl WriterThread {
    /// Starts the thread.
    pub(super) fn start(connection: Connection) -> Result<Self, StoreError> {
        let (queue, jobs) = channel();
        let thread = thread::Builder::new().name("secateur-writer".to_owned());
        thread
            .spawn(move || serve(connection, &jobs))
            .map_err(StoreError::database("cannot start the writer of the store"))?;
        Ok(Self { queue })
    }

    /// Runs a task in a write transaction. If it fails, it changes nothing. If the caller stops waiting, it is done
    /// completely or not at all.
    pub(super) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> SqliteResult<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.send(doing, WriterTask::Write(Box::new(PendingWrite { doing, work, sender })), receiver).await
    }

    /// Runs a task outside of shared transactions.
    pub(super) async fn run_alone<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> SqliteResult<T> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let job = move |connection: &mut Connection| {
            if sender.is_closed() {
                return;
            }
            let _ = sender.send(work(connection).map_err(|failure| failure.while_doing(doing)));
        };
        self.send(doing, WriterTask::Alone(Box::new(job)), receiver).await
    }

    async fn send<T>(
        &self,
        doing: &'static str,
        job: WriterTask,
        answer: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        self.queue.send(job).map_err(|_| StoreError::database(doing)("the writer of the store has ended"))?;
        answer.await.map_err(StoreError::database(doing))?
    }
}

fn serve(mut connection: Connection, jobs: &Receiver<WriterTask>) {
    while let Ok(job) = jobs.recv() {
        let mut next = Some(job);
        while let Some(job) = next.take() {
            match job {
                WriterTask::Write(work) if !work.is_awaited() => {}
                WriterTask::Write(first) => next = write_group(&connection, first, jobs),
                WriterTask::Alone(work) => work(&mut connection),
            }
        }
    }
}

/// Runs all waiting tasks in one transaction. Returns the first task that cannot be part of it.
fn write_group(
    connection: &Connection,
    first: Box<dyn WriteTask>,
    jobs: &Receiver<WriterTask>,
) -> Option<WriterTask> {
    if let Err(error) = connection.execute_batch("BEGIN IMMEDIATE") {
        let reason = error.to_string();
        (first.carry_out(Err(&reason)).answer)(Ok(()));
        return None;
    }
    let mut group = Vec::new();
    let mut next = Some(WriterTask::Write(first));
    let mut end = Ok(());
    while let Some(WriterTask::Write(work)) = next {
        end = write_one(connection, work, &mut group);
        next = if end.is_ok() && group.len() < GROUP { jobs.try_recv().ok() } else { None };
    }
    let commit = || connection.execute_batch("COMMIT").map_err(|error| error.to_string());
    let end = end.and_then(|()| commit());
    if !connection.is_autocommit() {
        // If this fails as well, the next BEGIN reports it.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for done in group {
        (done.answer)(end.as_ref().copied().map_err(String::as_str));
    }
    next
}

/// Runs one task. An error means that the whole transaction is lost.
fn write_one(
    connection: &Connection,
    work: Box<dyn WriteTask>,
    group: &mut Vec<FinishedWrite>,
) -> Result<(), String> {
    if !work.is_awaited() {
        return Ok(());
    }
    let run = |sql| connection.prepare_cached(sql)?.execute([]).map(|_| ());
    let begun = run("SAVEPOINT work").map_err(|error: Error| error.to_string());
    let done = work.carry_out(begun.as_ref().map(|()| connection).map_err(String::as_str));
    let kept = done.kept;
    group.push(done);
    begun?;
    if connection.is_autocommit() {
        return Err("SQLite rolled the transaction back because the disk is full or failing".to_owned());
    }
    let end = if kept { Ok(()) } else { run("ROLLBACK TO work") };
    end.and_then(|()| run("RELEASE work")).map_err(|error| error.to_string())
}
