//! The thread that writes.
//!
//! A flush to the disk costs more than the rows of a commit. So the writer takes everything that waits, lets each
//! piece of work have a savepoint of its own in one transaction, and answers after the transaction is through. WriteTask
//! that fails is taken back alone. WriteTask that nobody waits for any more is left undone: nobody was told that it was kept,
//! and behind a file that is locked there may be a lot of it.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use rusqlite::{Connection, Error};
use tokio::sync::oneshot;

use super::SqliteError;
use crate::error::StoreError;

/// The most that is put into one transaction, so that the first does not wait for ever.
const GROUP: usize = 64;

/// The way to the writer's thread, which ends when this is dropped and the queue is empty.
pub(super) struct WriterThread {
    queue: Sender<WriterTask>,
}

/// A piece of work inside of a transaction.
trait WriteTask: Send {
    /// Whether somebody waits for it.
    fn is_awaited(&self) -> bool;

    /// Does it; it is told the reason if there is no transaction.
    fn carry_out(self: Box<Self>, transaction: Result<&Connection, &str>) -> FinishedWrite;
}

/// A piece of work, and who waits for it.
struct PendingWrite<T, F> {
    doing: &'static str,
    work: F,
    sender: oneshot::Sender<Result<T, StoreError>>,
}

impl<T, F> WriteTask for PendingWrite<T, F>
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, SqliteError> + Send,
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
            // Nobody may be listening any more.
            let _ = sender.send(result.and_then(|value| end.map(|()| value).map_err(failed)));
        };
        FinishedWrite { kept, answer: Box::new(answer) }
    }
}

/// Tells the caller what came of it; with the reason if the transaction failed after all.
type Notify = Box<dyn FnOnce(Result<(), &str>)>;

/// Something for the thread to do.
enum WriterTask {
    /// Something that may share a transaction with others.
    Write(Box<dyn WriteTask>),
    /// Something that brings its own transaction along, or needs none.
    Alone(Box<dyn FnOnce(&mut Connection) + Send>),
}

/// A piece of work that ran, but is not answered yet.
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

    /// Does a piece of work in a transaction that begins with the right to write. If it fails, it changed nothing.
    /// If the caller stops waiting, it is done as a whole or not at all.
    pub(super) async fn write<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, SqliteError> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.send(doing, WriterTask::Write(Box::new(PendingWrite { doing, work, sender })), receiver).await
    }

    /// Does something outside of the transactions that are shared.
    pub(super) async fn run_alone<T, F>(&self, doing: &'static str, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, SqliteError> + Send + 'static,
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

/// Writes what waits, and gives back the first job that does not belong into a transaction.
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
        // If even that fails, so does the next BEGIN, and says so.
        let _ = connection.execute_batch("ROLLBACK");
    }
    for done in group {
        (done.answer)(end.as_ref().copied().map_err(String::as_str));
    }
    next
}

/// Does one piece of work. An error means that the whole transaction is lost.
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
        return Err("SQLite has taken back the transaction, because the disk is full or fails".to_owned());
    }
    let end = if kept { Ok(()) } else { run("ROLLBACK TO work") };
    end.and_then(|()| run("RELEASE work")).map_err(|error| error.to_string())
}
