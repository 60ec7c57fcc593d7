//! The store on a server, for many machines: PostgreSQL.
//!
//! The files have the same names as SQLite's and do the same in the same order. What differs: many writers work at
//! once. A commit locks the session's row first, so commits to one session run one after another and those to
//! different sessions in parallel. Rows are sent in arrays, so a commit of a thousand messages takes as many round
//! trips as one of a single message.

mod body;
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
mod session;
mod statement;
mod status;

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
use crate::validation::{check_fork, check_id, check_session, findable};
use crate::words::asked;
use driver_error::DriverError;

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

/// Runs a function with a connection from the pool, with `retry` also again after a conflict.
macro_rules! with_client {
    ($store:ident, $doing:expr, |$client:ident| $work:expr) => {{
        let doing = $doing;
        let mut connection = $store.connect(doing).await?;
        let $client = &mut connection;
        let result = $work.await;
        finish(connection, doing, result)
    }};
    ($store:ident, $doing:expr, retry |$client:ident| $work:expr) => {{
        let doing = $doing;
        let mut connection = $store.connect(doing).await?;
        let $client = &mut connection;
        let result = retry!($work);
        finish(connection, doing, result)
    }};
}

/// A store on a server.
pub(crate) struct Postgres {
    pool: Pool,
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
        let store = Self { pool };
        let mut client = store.connect("cannot connect to the store").await?;
        // Processes of the previous version may use the tables during the migration.
        let result = retry!(migrate::migrate(&mut client));
        finish(client, "cannot migrate the tables of the store", result)?;
        Ok(store)
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
impl Store for Postgres {
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        check_session(&session)?;
        with_client!(self, "cannot create a session", |client| session::create(client, session))
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        with_client!(self, "cannot read a session", |client| session::find(client, id))
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        with_client!(self, "cannot list sessions", |client| session::list(client, limit))
    }

    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        with_client!(self, "cannot list sessions", |client| session::list_after(client, cursor, limit))
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        with_client!(self, "cannot find messages", |client| find::find(client, &findable(ids)))
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        if session.contains('\0') {
            return Ok(Vec::new());
        }
        with_client!(self, "cannot find messages", |client| find::find_in(client, session, &findable(ids)))
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        with_client!(self, "cannot load a session", |client| load::load(client, id))
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        let doing = "cannot commit to a session";
        let commit = PreparedCommit::prepare(commit, doing).await?;
        with_client!(self, doing, retry | client | commit::carry_out(client, id, &commit))
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        check_fork(&fork)?;
        with_client!(self, "cannot fork a session", retry | client | fork::carry_out(client, from, &fork))
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        with_client!(self, "cannot read originals", |client| body::originals(client, id, seqs))
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError> {
        with_client!(self, "cannot read messages", |client| load::facts(client, (id, after, limit)))
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError> {
        with_client!(self, "cannot read messages", |client| load::range(client, id, from, to))
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        if handle.contains('\0') {
            return Ok(Vec::new());
        }
        with_client!(self, "cannot find what was cut", |client| clipping::find(client, handle))
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        let ClippingSearch { words, session, limit } = search;
        with_client!(self, "cannot search what was cut", |client| clipping::search(
            client,
            &asked(&words),
            session.as_deref(),
            limit
        ))
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        with_client!(self, "cannot read operations", |client| log::operations(client, (id, after, limit)))
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        with_client!(self, "cannot read events", |client| log::events(client, (id, after, limit)))
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        check_id("the owner of a lease", owner)?;
        with_client!(self, "cannot lease a session", |client| lease::take(client, id, owner, ttl_ms))
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        with_client!(self, "cannot release a session", |client| lease::give_back(client, id, owner))
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        with_client!(self, "cannot forget originals", retry | client | forget::carry_out(client, id, &forget))
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        with_client!(self, "cannot shrink the store", |client| forget::shrink(client))
    }
}
