//! The store in a file: SQLite.
//!
//! SQLite allows one writer at a time, so there is one: a thread with a queue. Commits that wait at the same time
//! share a transaction and so one flush to disk. Readers have their own connections and never wait for the writer.
//! Other processes may open the same file; then SQLite's locks decide.

mod body;
mod clipping;
mod commit;
mod connection;
mod find;
mod forget;
mod fork;
mod lease;
mod load;
mod log;
mod migrate;
mod readers;
mod session;
mod statement;
mod status;
mod writer;

use std::path::Path;

use async_trait::async_trait;
use rusqlite::Connection;

use crate::Store;
use crate::backend_error::BackendError;
use crate::clipping::{Clipping, ClippingSearch};
use crate::error::StoreError;
use crate::prepared_commit::PreparedCommit;
use crate::record::{
    Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease, Loaded, NewSession,
    OperationRow, SessionCursor, SessionRow, StoredMessage,
};
use crate::validation::{check_fork, check_id, check_session, findable};
use crate::words::asked;
pub use status::{FileStatus, file_status};

use readers::ReaderThreads;
use writer::WriterThread;

/// A refusal, or an error of SQLite.
type SqliteError = BackendError<rusqlite::Error>;

type SqliteResult<T> = Result<T, SqliteError>;

/// A store in a file or in memory.
pub(crate) struct Sqlite {
    writer: WriterThread,
    /// None for a database in memory: only the writer's connection sees it.
    readers: Option<ReaderThreads>,
}

impl Sqlite {
    /// Opens a file and creates it if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let doing = "cannot open the store";
        let writer = connection::open_file(path).map_err(|failure| failure.while_doing(doing))?;
        let readers = connection::open_readers(path).map_err(StoreError::database(doing))?;
        Ok(Self { writer: WriterThread::start(writer)?, readers: Some(ReaderThreads::start(readers)?) })
    }

    /// Creates a store in memory.
    pub(crate) fn open_memory() -> Result<Self, StoreError> {
        let writer =
            connection::open_memory().map_err(|failure| failure.while_doing("cannot create a store"))?;
        Ok(Self { writer: WriterThread::start(writer)?, readers: None })
    }

    /// Runs a query in one read transaction.
    async fn read<T, F>(&self, doing: &'static str, query: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> SqliteResult<T> + Send + 'static,
    {
        let query = move |connection: &mut Connection| {
            let moment = connection.transaction()?;
            query(&moment)
        };
        match &self.readers {
            Some(readers) => readers.run(doing, query).await,
            None => self.writer.run_alone(doing, query).await,
        }
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        check_session(&session)?;
        self.writer.write("cannot create a session", move |c| session::create(c, session)).await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let id = id.to_owned();
        self.read("cannot read a session", move |c| session::find(c, &id)).await
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        self.read("cannot list sessions", move |c| session::list(c, limit)).await
    }

    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let cursor = cursor.clone();
        self.read("cannot list sessions", move |c| session::list_after(c, &cursor, limit)).await
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        let ids = serde_json::to_string(&findable(ids)).map_err(StoreError::database(doing))?;
        self.read(doing, move |c| find::find(c, &ids)).await
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        let ids = serde_json::to_string(&findable(ids)).map_err(StoreError::database(doing))?;
        let session = session.to_owned();
        self.read(doing, move |c| find::find_in(c, &session, &ids)).await
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        let id = id.to_owned();
        self.read("cannot load a session", move |c| load::load(c, &id)).await
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        let doing = "cannot commit to a session";
        let id = id.to_owned();
        let commit = PreparedCommit::prepare(commit, doing).await?;
        self.writer.write(doing, move |c| commit::carry_out(c, &id, &commit)).await
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        check_fork(&fork)?;
        let from = from.to_owned();
        self.writer.write("cannot fork a session", move |c| fork::carry_out(c, &from, fork)).await
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (id, seqs) = (id.to_owned(), seqs.to_owned());
        self.read("cannot read originals", move |c| body::originals(c, &id, &seqs)).await
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        let id = id.to_owned();
        self.read("cannot read messages", move |c| load::facts(c, (&id, after, limit))).await
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        let id = id.to_owned();
        self.read("cannot read messages", move |c| load::range(c, &id, from, to)).await
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        let handle = handle.to_owned();
        self.read("cannot find what was cut", move |c| clipping::find(c, &handle)).await
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        let ClippingSearch { words, session, limit } = search;
        let search = move |c: &Connection| clipping::search(c, &asked(&words), session.as_deref(), limit);
        self.read("cannot search what was cut", search).await
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        let id = id.to_owned();
        self.read("cannot read operations", move |c| log::operations(c, (&id, after, limit))).await
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let id = id.to_owned();
        self.read("cannot read events", move |c| log::events(c, (&id, after, limit))).await
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        check_id("the owner of a lease", owner)?;
        let (id, owner) = (id.to_owned(), owner.to_owned());
        self.writer.write("cannot lease a session", move |c| lease::take(c, &id, owner, ttl_ms)).await
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        let (id, owner) = (id.to_owned(), owner.to_owned());
        self.writer.write("cannot release a session", move |c| lease::give_back(c, &id, &owner)).await
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        let id = id.to_owned();
        self.writer.write("cannot forget originals", move |c| forget::carry_out(c, &id, &forget)).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        self.writer.run_alone("cannot shrink the store", |c| forget::shrink(c)).await
    }
}
