//! The store on a server, for many machines: PostgreSQL.
//!
//! The files have the same names as SQLite's and do the same in the same order. What differs: many writers work at
//! once. A commit locks the session's row first, so commits to one session run one after another and those to
//! different sessions in parallel. Rows are sent in arrays, so a commit of a thousand messages takes as many round
//! trips as one of a single message.

mod body;
pub(crate) mod check;
mod clipping;
mod commit;
mod driver_error;
mod find;
mod forget;
mod fork;
mod lease;
mod load;
mod log;
mod migrate;
mod retention;
mod row_access;
mod session;
mod statement;
mod status;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};

use crate::Store;
use crate::address::ServerAddress;
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
use driver_error::DriverError;
use row_access::{ALL_ROWS, TransactionKind, begin};

pub use status::{ServerStatus, server_status};

/// A refusal, or an error of PostgreSQL.
type PostgresError = BackendError<DriverError>;

type PostgresResult<T> = Result<T, PostgresError>;

const CONNECTIONS: usize = 10;

/// How long a caller waits for a free connection.
const PATIENCE: Duration = Duration::from_secs(30);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a change is tried that conflicts with another one.
const ATTEMPTS: u32 = 10;

/// Repeats a change that conflicts with another one.
macro_rules! retry {
    ($work:expr) => {{
        let mut attempt = 1;
        loop {
            match $work.await {
                Err(PostgresError::Database(error)) if error.is_transient() && attempt < ATTEMPTS => {
                    attempt += 1
                }
                result => break result,
            }
        }
    }};
}

/// Runs a function in a transaction of the store's tenant; a writing one again after a conflict.
macro_rules! in_transaction {
    ($store:ident, $doing:expr, read |$transaction:ident| $work:expr) => {{
        let doing = $doing;
        let mut connection = $store.connect(doing).await?;
        let result = async {
            let moment = begin(&mut connection, &$store.tenant, TransactionKind::Read).await?;
            let $transaction = &moment;
            // It ends when it is dropped, and the answer does not wait for that.
            $work.await
        };
        let result = result.await;
        finish(connection, doing, result)
    }};
    ($store:ident, $doing:expr, write |$transaction:ident| $work:expr) => {{
        let doing = $doing;
        let mut connection = $store.connect(doing).await?;
        let result = retry!(async {
            let changes = begin(&mut connection, &$store.tenant, TransactionKind::Write).await?;
            let $transaction = &changes;
            let done = $work.await?;
            changes.commit().await?;
            Ok(done)
        });
        finish(connection, doing, result)
    }};
}

/// A tenant's view of a store on a server.
#[derive(Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    handle_key: Option<[u8; 32]>,
    tenant: String,
}

impl Postgres {
    /// Connects to a server and migrates the tables.
    pub(crate) async fn open(server: ServerAddress) -> Result<Self, StoreError> {
        let ServerAddress { mut config, tls } = server;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_application_name().is_none() {
            config.application_name("secateur");
        }
        let manager = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let pool = Pool::builder(Manager::from_config(config, tls.connector()?, manager))
            .max_size(CONNECTIONS)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(PATIENCE))
            .build()
            .map_err(|_| StoreError::database("cannot open the store")("there is no runtime"))?;
        let mut store = Self { pool, handle_key: None, tenant: LOCAL_TENANT.to_owned() };
        let mut client = store.connect("cannot connect to the store").await?;
        // Processes of the previous version may use the tables during the migration.
        let result = retry!(migrate::migrate(&mut client));
        store.handle_key = finish(client, "cannot migrate the tables of the store", result)?;
        Ok(store)
    }

    fn of(&self, tenant: &str) -> Self {
        Self { tenant: tenant.to_owned(), ..self.clone() }
    }

    /// A session of this tenant.
    fn name(&self, id: &str) -> SessionName {
        SessionName { tenant: self.tenant.clone(), id: id.to_owned() }
    }

    async fn connect(&self, doing: &'static str) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(|error| PostgresError::from(error).while_doing(doing))
    }
}

/// Returns a connection to the pool, unless it broke: the pool would notice only later, and hand it out until then.
fn finish<T>(client: Object, doing: &'static str, result: PostgresResult<T>) -> Result<T, StoreError> {
    if let Err(PostgresError::Database(error)) = &result
        && error.is_broken()
    {
        drop(Object::take(client));
    }
    result.map_err(|failure| failure.while_doing(doing))
}

#[async_trait]
impl TenantViews for Postgres {
    fn handle_key(&self) -> Option<[u8; 32]> {
        self.handle_key
    }

    fn view(&self, tenant: &str) -> Arc<dyn Store> {
        Arc::new(self.of(tenant))
    }

    async fn tenants(&self) -> Result<Vec<String>, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot list tenants", read | t | session::tenants(t))
    }

    async fn tenant_of(&self, id: &str) -> Result<String, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot read a session", read | t | session::tenant_of(t, id))
    }
}

#[async_trait]
impl Store for Postgres {
    fn scoped(&self, scope: TenantScope) -> Arc<dyn Store> {
        match scope {
            TenantScope::One(tenant) => self.view(&tenant),
            TenantScope::All => Arc::new(AllTenants::new(Arc::new(self.clone()))),
        }
    }

    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        check_session(&session)?;
        in_transaction!(
            self,
            "cannot create a session",
            write | t | session::create(t, &self.tenant, &session)
        )
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        in_transaction!(self, "cannot read a session", read | t | session::find(t, &self.name(id)))
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        in_transaction!(self, "cannot list sessions", read | t | session::list(t, &self.tenant, limit))
    }

    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let doing = "cannot list sessions";
        in_transaction!(self, doing, read | t | session::list_after(t, &self.tenant, cursor, limit))
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        in_transaction!(self, "cannot find messages", read | t | find::find(t, &self.tenant, &findable(ids)))
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        if session.contains('\0') {
            return Ok(Vec::new());
        }
        let name = self.name(session);
        in_transaction!(self, "cannot find messages", read | t | find::find_in(t, &name, &findable(ids)))
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        in_transaction!(self, "cannot load a session", read | t | load::load(t, &self.name(id)))
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        let doing = "cannot commit to a session";
        let commit = PreparedCommit::prepare(commit, &self.tenant, doing).await?;
        in_transaction!(self, doing, write | t | commit::carry_out(t, &self.name(id), &commit))
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        check_fork(&fork)?;
        in_transaction!(
            self,
            "cannot fork a session",
            write | t | fork::carry_out(t, &self.name(from), &fork)
        )
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        in_transaction!(self, "cannot read originals", read | t | body::originals(t, &self.name(id), seqs))
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        let name = self.name(id);
        in_transaction!(self, "cannot read messages", read | t | load::facts(t, (&name, after, limit)))
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        in_transaction!(self, "cannot read messages", read | t | load::range(t, &self.name(id), from, to))
    }

    fn handle_key(&self) -> Option<[u8; 32]> {
        self.handle_key
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        if handle.contains('\0') {
            return Ok(Vec::new());
        }
        in_transaction!(self, "cannot find what was cut", read | t | clipping::find(t, &self.tenant, handle))
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        let ClippingSearch { words, session, limit } = search;
        let (words, session) = (asked(&words), session.map(|id| self.name(&id)));
        let doing = "cannot search what was cut";
        in_transaction!(
            self,
            doing,
            read | t | clipping::search(t, &self.tenant, &words, session.as_ref(), limit)
        )
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        let name = self.name(id);
        in_transaction!(self, "cannot read operations", read | t | log::operations(t, (&name, after, limit)))
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let name = self.name(id);
        in_transaction!(self, "cannot read events", read | t | log::events(t, (&name, after, limit)))
    }

    async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError> {
        let name = self.name(id);
        in_transaction!(self, "cannot note the use of a session", write | t | session::touch(t, &name, time))
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        check_id("the owner of a lease", owner)?;
        let name = self.name(id);
        in_transaction!(self, "cannot lease a session", write | t | lease::take(t, &name, owner, ttl_ms))
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        in_transaction!(
            self,
            "cannot release a session",
            write | t | lease::give_back(t, &self.name(id), owner)
        )
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        check_forget(&forget)?;
        let name = self.name(id);
        in_transaction!(self, "cannot forget originals", write | t | forget::carry_out(t, &name, &forget))
    }

    async fn check_writable(&self) -> Result<(), StoreError> {
        in_transaction!(self, "cannot write to the store", write | t | migrate::write_version(t))
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        let doing = "cannot shrink the store";
        let mut client = self.connect(doing).await?;
        let result = forget::shrink(&mut client).await;
        finish(client, doing, result)
    }

    fn retention(&self) -> Result<&dyn RetentionStore, StoreError> {
        Ok(self)
    }
}

#[async_trait]
impl RetentionStore for Postgres {
    async fn claim(&self, owner: &str, ttl_ms: u64) -> Result<bool, StoreError> {
        check_id("the owner of retention", owner)?;
        in_transaction!(self, "cannot begin retention", write | t | retention::claim(t, owner, ttl_ms))
    }

    async fn unused(
        &self,
        before: i64,
        after: Option<&SessionCursor>,
        limit: usize,
    ) -> Result<Vec<SessionCursor>, StoreError> {
        let after = after.cloned().unwrap_or_else(first_session);
        let doing = "cannot list sessions";
        in_transaction!(self, doing, read | t | retention::unused(t, &self.tenant, before, &after, limit))
    }

    async fn delete(&self, id: &str, before: i64) -> Result<bool, StoreError> {
        let name = self.name(id);
        in_transaction!(self, "cannot delete a session", write | t | retention::delete(t, &name, before))
    }

    async fn sweep(&self, rows: usize) -> Result<Swept, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot remove deleted sessions", write | t | retention::sweep(t, rows))
    }

    async fn size(&self) -> Result<u64, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot read the size of the store", read | t | retention::size(t))
    }

    async fn tenant_sizes(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot read the sizes of tenants", read | t | retention::tenant_sizes(t))
    }

    async fn give_back(&self) -> Result<bool, StoreError> {
        let all = self.of(ALL_ROWS);
        in_transaction!(all, "cannot return freed space", write | t | body::sweep_all(t))?;
        Ok(true)
    }
}
