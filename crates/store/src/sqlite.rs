//! The store in a file: SQLite.
//!
//! SQLite allows one writer at a time, so there is one: a thread with a queue. Commits that wait at the same time
//! share a transaction and so one flush to disk. Readers have their own connections and never wait for the writer.
//! Other processes may open the same file; then SQLite's locks decide.

mod body;
pub(crate) mod check;
mod clipping;
mod commit;
mod connection;
mod find;
mod forget;
mod fork;
mod lease;
mod load;
mod log;
mod malformed;
mod migrate;
mod readers;
mod recover;
mod retention;
mod session;
mod statement;
mod status;
mod writer;

use std::path::Path;
use std::sync::Arc;

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
use crate::retention::{RetentionStore, Swept};
use crate::tenant::{AllTenants, LOCAL_TENANT, SessionName, TenantScope, TenantViews};
use crate::validation::{check_forget, check_fork, check_id, check_session, findable, first_session};
use crate::words::asked;
pub use malformed::set_aside_files;
pub(crate) use malformed::{mark, open_or_set_aside};
pub use recover::{RecoveryReport, recover};
pub use status::{FileStatus, file_status};

use readers::ReaderThreads;
use writer::WriterThread;

/// A refusal, or an error of SQLite.
type SqliteError = BackendError<rusqlite::Error>;

type SqliteResult<T> = Result<T, SqliteError>;

/// A tenant's view of a store in a file or in memory.
#[derive(Clone)]
pub(crate) struct Sqlite {
    handle_key: Option<[u8; 32]>,
    writer: Arc<WriterThread>,
    /// None for a database in memory: only the writer's connection sees it.
    readers: Option<Arc<ReaderThreads>>,
    tenant: String,
}

impl Sqlite {
    /// Opens a file and creates it if it does not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let doing = "cannot open the store";
        let writer = connection::open_file(path).map_err(|failure| failure.while_doing(doing))?;
        let handle_key = migrate::handle_key(&writer).map_err(|failure| failure.while_doing(doing))?;
        let readers = connection::open_readers(path).map_err(StoreError::database(doing))?;
        Self::over(handle_key, writer, Some(Arc::new(ReaderThreads::start(readers)?)))
    }

    /// Creates a store in memory.
    pub(crate) fn open_memory() -> Result<Self, StoreError> {
        let doing = "cannot create a store";
        let writer = connection::open_memory().map_err(|failure| failure.while_doing(doing))?;
        let handle_key = migrate::handle_key(&writer).map_err(|failure| failure.while_doing(doing))?;
        Self::over(handle_key, writer, None)
    }

    fn over(
        handle_key: Option<[u8; 32]>,
        writer: Connection,
        readers: Option<Arc<ReaderThreads>>,
    ) -> Result<Self, StoreError> {
        let writer = Arc::new(WriterThread::start(writer)?);
        Ok(Self { handle_key, writer, readers, tenant: LOCAL_TENANT.to_owned() })
    }

    /// A session of this tenant.
    fn name(&self, id: &str) -> SessionName {
        SessionName { tenant: self.tenant.clone(), id: id.to_owned() }
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
impl TenantViews for Sqlite {
    fn handle_key(&self) -> Option<[u8; 32]> {
        self.handle_key
    }

    fn view(&self, tenant: &str) -> Arc<dyn Store> {
        Arc::new(Self { tenant: tenant.to_owned(), ..self.clone() })
    }

    async fn tenants(&self) -> Result<Vec<String>, StoreError> {
        self.read("cannot list tenants", session::tenants).await
    }

    async fn tenant_of(&self, id: &str) -> Result<String, StoreError> {
        let id = id.to_owned();
        self.read("cannot read a session", move |c| session::tenant_of(c, &id)).await
    }
}

#[async_trait]
impl Store for Sqlite {
    fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
        match scope {
            TenantScope::One(tenant) => self.view(&tenant),
            TenantScope::All => Arc::new(AllTenants::new(Arc::new(self.clone()))),
        }
    }

    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        check_session(&session)?;
        let tenant = self.tenant.clone();
        self.writer.write("cannot create a session", move |c| session::create(c, tenant, session)).await
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let name = self.name(id);
        self.read("cannot read a session", move |c| session::find(c, &name)).await
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let tenant = self.tenant.clone();
        self.read("cannot list sessions", move |c| session::list(c, &tenant, limit)).await
    }

    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let (tenant, cursor) = (self.tenant.clone(), cursor.clone());
        self.read("cannot list sessions", move |c| session::list_after(c, &tenant, &cursor, limit)).await
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        let ids = serde_json::to_string(&findable(ids)).map_err(StoreError::database(doing))?;
        let tenant = self.tenant.clone();
        self.read(doing, move |c| find::find(c, &tenant, &ids)).await
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        let ids = serde_json::to_string(&findable(ids)).map_err(StoreError::database(doing))?;
        let name = self.name(session);
        self.read(doing, move |c| find::find_in(c, &name, &ids)).await
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        let name = self.name(id);
        self.read("cannot load a session", move |c| load::load(c, &name)).await
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        let doing = "cannot commit to a session";
        let name = self.name(id);
        let commit = PreparedCommit::prepare(commit, &self.tenant, doing).await?;
        self.writer.write(doing, move |c| commit::carry_out(c, &name, &commit)).await
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        check_fork(&fork)?;
        let from = self.name(from);
        self.writer.write("cannot fork a session", move |c| fork::carry_out(c, &from, fork)).await
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let (name, seqs) = (self.name(id), seqs.to_owned());
        self.read("cannot read originals", move |c| body::originals(c, &name, &seqs)).await
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        let name = self.name(id);
        self.read("cannot read messages", move |c| load::facts(c, (&name, after, limit))).await
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        let name = self.name(id);
        self.read("cannot read messages", move |c| load::range(c, &name, from, to)).await
    }

    fn handle_key(&self) -> Option<[u8; 32]> {
        self.handle_key
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        let (tenant, handle) = (self.tenant.clone(), handle.to_owned());
        self.read("cannot find what was cut", move |c| clipping::find(c, &tenant, &handle)).await
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        let ClippingSearch { words, session, limit } = search;
        let (tenant, session) = (self.tenant.clone(), session.map(|id| self.name(&id)));
        let search =
            move |c: &Connection| clipping::search(c, &tenant, &asked(&words), session.as_ref(), limit);
        self.read("cannot search what was cut", search).await
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        let name = self.name(id);
        self.read("cannot read operations", move |c| log::operations(c, (&name, after, limit))).await
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let name = self.name(id);
        self.read("cannot read events", move |c| log::events(c, (&name, after, limit))).await
    }

    async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError> {
        let name = self.name(id);
        self.writer.write("cannot note the use of a session", move |c| session::touch(c, &name, time)).await
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        check_id("the owner of a lease", owner)?;
        let (name, owner) = (self.name(id), owner.to_owned());
        self.writer.write("cannot lease a session", move |c| lease::take(c, &name, owner, ttl_ms)).await
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        let (name, owner) = (self.name(id), owner.to_owned());
        self.writer.write("cannot release a session", move |c| lease::give_back(c, &name, &owner)).await
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        check_forget(&forget)?;
        let name = self.name(id);
        self.writer.write("cannot forget originals", move |c| forget::carry_out(c, &name, &forget)).await
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        self.writer.write("cannot write to the store", migrate::write_version).await
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        self.writer.run_alone("cannot shrink the store", |c| forget::shrink(c)).await
    }

    fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
        Ok(self)
    }
}

#[async_trait]
impl RetentionStore for Sqlite {
    async fn claim(&self, owner: &str, ttl_ms: u64) -> Result<bool, StoreError> {
        check_id("the owner of retention", owner)?;
        let owner = owner.to_owned();
        self.writer.write("cannot begin retention", move |c| retention::claim(c, &owner, ttl_ms)).await
    }

    async fn unused(
        &self,
        before: i64,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Vec<SessionCursor>, StoreError> {
        let (tenant, after) = (self.tenant.clone(), after.cloned().unwrap_or_else(first_session));
        let list = move |c: &Connection| retention::unused(c, &tenant, before, &after, limit);
        self.read("cannot list sessions", list).await
    }

    async fn delete(&self, id: &str, before: i64) -> Result<bool, StoreError> {
        let name = self.name(id);
        self.writer.write("cannot delete a session", move |c| retention::delete(c, &name, before)).await
    }

    async fn sweep(&self, rows: usize) -> Result<Swept, StoreError> {
        self.writer.write("cannot remove deleted sessions", move |c| retention::sweep(c, rows)).await
    }

    async fn size(&self) -> Result<u64, StoreError> {
        self.read("cannot read the size of the store", retention::size).await
    }

    async fn tenant_sizes(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.read("cannot read the sizes of tenants", retention::tenant_sizes).await
    }

    async fn give_back(&self) -> Result<bool, StoreError> {
        self.writer.run_alone("cannot return freed space", |c| retention::give_back(c)).await
    }
}
