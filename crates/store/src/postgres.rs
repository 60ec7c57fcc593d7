//! The store on a server, by PostgreSQL, for many machines.
//!
//! The files here have the names of those of SQLite's and do the same in the same order. What differs is that many
//! writers are at work at once: a commit locks the session's row first, so that commits to one session come one after
//! another and those to different sessions side by side, and rows travel in arrays, so that a commit of a thousand
//! messages takes as many round trips as one of a single message.

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
mod status;
mod tls;

use std::time::Duration;

use async_trait::async_trait;
use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime};
use tokio::task::spawn_blocking;

use crate::Store;
use crate::address::ServerAddress;
use crate::backend_error::BackendError;
use crate::clipping::{Clipping, ClippingSearch};
use crate::error::StoreError;
use crate::prepared_commit::PreparedCommit;
use crate::record::{
    Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease, Loaded, MessageRow,
    NewSession, OperationRow, SessionCursor, SessionRow,
};
use crate::validation::{check_fork, check_id, check_session, findable};
use crate::words::asked;
use driver_error::DriverError;

pub use status::{ServerStatus, server_status};
pub(crate) use tls::{TlsMode, TlsRoots, TlsSettings};

/// A refusal, or a error with PostgreSQL.
type PostgresError = BackendError<DriverError>;

const CONNECTIONS: usize = 10;

/// How long a caller waits for a connection that others use.
const PATIENCE: Duration = Duration::from_secs(30);

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a change is tried that got into the way of another one.
const ATTEMPTS: u32 = 10;

/// A store on a server.
pub(crate) struct Postgres {
    pool: Pool,
}

impl Postgres {
    /// Connects to a server and brings the tables up to date.
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
        let mut attempt = 1;
        loop {
            match migrate::migrate(&mut client).await {
                // Processes of the version before are at work while tables are changed under them.
                Err(PostgresError::Database(error)) if error.passes() && attempt < ATTEMPTS => attempt += 1,
                result => {
                    finish(client, "cannot bring the tables of the store up to date", result)?;
                    return Ok(store);
                }
            }
        }
    }

    async fn connect(&self, doing: &'static str) -> Result<Object, StoreError> {
        self.pool.get().await.map_err(|error| PostgresError::from(error).while_doing(doing))
    }
}

/// Gives a connection back, unless it broke: the pool would notice only a moment later, and hand it out until then.
fn finish<T>(client: Object, doing: &'static str, result: Result<T, PostgresError>) -> Result<T, StoreError> {
    if let Err(PostgresError::Database(error)) = &result
        && error.breaks()
    {
        drop(Object::take(client));
    }
    result.map_err(|failure| failure.while_doing(doing))
}

#[async_trait]
impl Store for Postgres {
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError> {
        let doing = "cannot create a session";
        check_session(&session)?;
        let client = self.connect(doing).await?;
        let result = session::create(&client, session).await;
        finish(client, doing, result)
    }

    async fn session(&self, id: &str) -> Result<SessionRow, StoreError> {
        let doing = "cannot read a session";
        let client = self.connect(doing).await?;
        let result = session::find(&client, id).await;
        finish(client, doing, result)
    }

    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError> {
        let doing = "cannot list sessions";
        let client = self.connect(doing).await?;
        let result = session::list(&client, limit).await;
        finish(client, doing, result)
    }

    async fn sessions_after(
        &self,
        place: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError> {
        let doing = "cannot list sessions";
        let client = self.connect(doing).await?;
        let result = session::list_after(&client, place, limit).await;
        finish(client, doing, result)
    }

    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        let client = self.connect(doing).await?;
        let result = find::find(&client, &findable(ids)).await;
        finish(client, doing, result)
    }

    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError> {
        let doing = "cannot find messages";
        if session.contains('\0') {
            return Ok(Vec::new());
        }
        let client = self.connect(doing).await?;
        let result = find::find_in(&client, session, &findable(ids)).await;
        finish(client, doing, result)
    }

    async fn load(&self, id: &str) -> Result<Loaded, StoreError> {
        let doing = "cannot load a session";
        let mut client = self.connect(doing).await?;
        let result = load::load(&mut client, id).await;
        finish(client, doing, result)
    }

    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError> {
        let doing = "cannot commit to a session";
        let commit = spawn_blocking(move || PreparedCommit::new(commit))
            .await
            .map_err(StoreError::database(doing))??;
        let mut client = self.connect(doing).await?;
        let mut attempt = 1;
        loop {
            match commit::carry_out(&mut client, id, &commit).await {
                Err(PostgresError::Database(error)) if error.passes() && attempt < ATTEMPTS => attempt += 1,
                result => return finish(client, doing, result),
            }
        }
    }

    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError> {
        let doing = "cannot branch off from a session";
        check_fork(&fork)?;
        let mut client = self.connect(doing).await?;
        let mut attempt = 1;
        loop {
            match fork::carry_out(&mut client, from, &fork).await {
                Err(PostgresError::Database(error)) if error.passes() && attempt < ATTEMPTS => attempt += 1,
                result => return finish(client, doing, result),
            }
        }
    }

    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError> {
        let doing = "cannot read originals";
        let client = self.connect(doing).await?;
        let result = body::originals(&client, id, seqs).await;
        finish(client, doing, result)
    }

    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<MessageRow>, StoreError> {
        let doing = "cannot read messages";
        let client = self.connect(doing).await?;
        let result = load::facts(&client, id, after, limit).await;
        finish(client, doing, result)
    }

    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<MessageRow>, StoreError> {
        let doing = "cannot read messages";
        let client = self.connect(doing).await?;
        let result = load::range(&client, id, from, to).await;
        finish(client, doing, result)
    }

    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError> {
        let doing = "cannot find what was cut";
        if handle.contains('\0') {
            return Ok(Vec::new());
        }
        let client = self.connect(doing).await?;
        let result = clipping::find(&client, handle).await;
        finish(client, doing, result)
    }

    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError> {
        let doing = "cannot search what was cut";
        let client = self.connect(doing).await?;
        let ClippingSearch { words, session, limit } = search;
        let result = clipping::search(&client, &asked(&words), session.as_deref(), limit).await;
        finish(client, doing, result)
    }

    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError> {
        let doing = "cannot read operations";
        let client = self.connect(doing).await?;
        let result = log::operations(&client, id, after, limit).await;
        finish(client, doing, result)
    }

    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError> {
        let doing = "cannot read events";
        let client = self.connect(doing).await?;
        let result = log::events(&client, id, after, limit).await;
        finish(client, doing, result)
    }

    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError> {
        let doing = "cannot lease a session";
        check_id("the owner of a lease", owner)?;
        let client = self.connect(doing).await?;
        let result = lease::take(&client, id, owner, ttl_ms).await;
        finish(client, doing, result)
    }

    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError> {
        let doing = "cannot release a session";
        let client = self.connect(doing).await?;
        let result = lease::give_back(&client, id, owner).await;
        finish(client, doing, result)
    }

    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError> {
        let doing = "cannot forget originals";
        let mut client = self.connect(doing).await?;
        let mut attempt = 1;
        loop {
            match forget::carry_out(&mut client, id, &forget).await {
                Err(PostgresError::Database(error)) if error.passes() && attempt < ATTEMPTS => attempt += 1,
                result => return finish(client, doing, result),
            }
        }
    }

    async fn shrink(&self) -> Result<(), StoreError> {
        let doing = "cannot shrink the store";
        let mut client = self.connect(doing).await?;
        let result = forget::shrink(&mut client).await;
        finish(client, doing, result)
    }
}
