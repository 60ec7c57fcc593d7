//! The database of sessions: messages, what was done to them, and every original.
//!
//! ```text
//!   sessions      one row each: revision, head, where the living part begins, the machine's state
//!   messages      one row each: facts without text, which cuts are made, which body is shown
//!   bodies        the bytes, compressed, addressed by their content, read only when they are needed
//!   operations    what was done (prune, compact, undo), each reversible
//!   events        what happened, in order, to be followed from any point
//!   leases        who may compact a session, and until when
//!   clippings     what was taken out of contexts, by handle and by words
//! ```
//!
//! There is one trait, [`Store`], with two implementations that pass the same tests: SQLite (a file, the default) and
//! PostgreSQL (a server, for many machines). The store decides nothing; the kernel and the engine know what the rows
//! mean. It guarantees four things:
//!
//! * **All or nothing.** A [`Commit`] is one transaction.
//! * **Stale writers are refused.** A commit names the revision that it builds on. If the session has changed since,
//!   the commit is refused with [`StoreError::Stale`] and changes nothing; the writer loads the session again and
//!   decides again.
//! * **Appended once.** A message id is unique in its session. Appending the same message again, for example after a
//!   lost acknowledgement, is refused with [`StoreError::Known`].
//! * **Pruning is not deletion.** A cut changes which body of a message is shown. The original stays until it is
//!   [forgotten](Store::forget) explicitly, or its session is [deleted](RetentionStore::delete).
//!
//! A store may have several tenants. A view of it shows the sessions of one of them, and [`Store::scoped`] makes views.
//!
//! Loading a session costs as much as its live messages: those from `live_from` on, and pinned ones before.

mod address;
mod backend_error;
mod body;
mod check;
mod clipping;
mod erasure;
mod error;
mod postgres;
mod prepared_commit;
mod record;
mod retention;
mod sql;
mod sqlite;
mod stored_row;
mod tenant;
mod tls;
mod validation;
mod words;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use address::StoreAddress;
use postgres::Postgres;
use sqlite::{Sqlite, mark, open_or_set_aside as open_file_or_set_aside};

pub use check::{StoreDamage, StoreReport};
pub use clipping::{Clipping, ClippingSearch, NewClipping};
pub use error::StoreError;
pub use postgres::{ServerStatus, server_status};
pub use record::{
    Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease, Loaded, MessageChange,
    NewOperation, NewSession, NewStoredMessage, OperationRow, RemainingFacts, SessionCursor, SessionRow,
    StoredMessage,
};
pub use retention::{RetentionStore, Swept};
pub use sqlite::{FileStatus, RecoveryReport, file_status, recover, set_aside_files};
pub use tenant::{LOCAL_TENANT, TenantScope, is_tenant_name};
pub use words::word_positions;

/// The longest lease, in milliseconds. A longer one is shortened to this. So a lease that expires later was taken before
/// the clock was set back, and has expired.
pub const LONGEST_LEASE: u64 = 60_000;

/// The most messages or clippings that one lookup returns. A lookup that returns this many may have missed some.
pub const MOST_FOUND: usize = 1000;

/// Opens a store and creates it if it does not exist:
///
/// * a path or `sqlite:PATH`: a file. Several processes may open it at once. A new file is readable by its owner
///   only;
/// * `sqlite::memory:`: a private database in memory, which ends with the store;
/// * `postgres://…` or `postgresql://…`: a server. Tables are looked up along the server's `search_path`, which the
///   URL option `options=-c%20search_path%3DNAME` changes. `sslmode` and `sslrootcert` mean the same as for
///   PostgreSQL's own clients; only `verify-full` protects against a man in the middle.
///
/// It shows the sessions of [`LOCAL_TENANT`]; [`Store::scoped`] gives views for others.
///
/// A database with an older schema is migrated; one with a newer schema is refused with [`StoreError::Newer`]. No
/// error contains credentials from the URL.
///
/// ```
/// use secateur_store::{Commit, NewStoredMessage, NewSession, StoreError, open};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let store = open("sqlite::memory:").await?;
/// let session = store.create(NewSession { id: "s".to_owned(), ..NewSession::default() }).await?;
/// let hello = NewStoredMessage { id: "m".to_owned(), body: b"hello"[..].into(), ..NewStoredMessage::default() };
/// let commit = Commit { revision: session.revision, append: vec![hello], ..Commit::default() };
/// assert_eq!(store.commit("s", commit.clone()).await?.head, 1);
/// assert_eq!(store.load("s").await?.messages[0].body, b"hello");
///
/// // A writer that has not seen that must load again.
/// assert!(matches!(store.commit("s", commit).await, Err(StoreError::Stale { found: 1, .. })));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    let opening = match StoreAddress::read(url)? {
        StoreAddress::Postgres(server) => return Ok(Arc::new(Postgres::open(*server).await?)),
        StoreAddress::File(path) => spawn_blocking(move || Sqlite::open(&path)),
        StoreAddress::Memory => spawn_blocking(Sqlite::open_memory),
    };
    Ok(Arc::new(opening.await.map_err(StoreError::database("cannot open the store"))??))
}

/// The same, but if the store is a malformed file, that file is set aside under another name and a new store is begun in
/// its place. Returns the file's new path then.
///
/// That is done only if SQLite says that the file is malformed or no database, and if the file is ours by its header, or
/// because it is where stores are by default. Several processes may do it at once: one of them moves the file.
pub async fn open_or_set_aside(url: &str) -> Result<(Arc<dyn Store>, Option<PathBuf>), StoreError> {
    let StoreAddress::File(path) = StoreAddress::read(url)? else { return Ok((open(url).await?, None)) };
    let opened = spawn_blocking(move || open_file_or_set_aside(&path)).await;
    let (store, set_aside) = opened.map_err(StoreError::database("cannot open the store"))??;
    Ok((Arc::new(store), set_aside))
}

/// Whether a path or URL names a store; the store is not opened.
pub fn check_url(url: &str) -> Result<(), StoreError> {
    StoreAddress::read(url).map(drop)
}

/// Marks a store in which [something malformed](StoreError::is_malformed) was found: the next
/// [`open_or_set_aside`] checks the whole file before it uses it. Does nothing to a store that is no file.
pub async fn mark_malformed(url: &str) -> Result<(), StoreError> {
    const DOING: &str = "cannot mark the store as malformed";
    let StoreAddress::File(path) = StoreAddress::read(url)? else { return Ok(()) };
    let marked = spawn_blocking(move || mark(&path)).await.map_err(StoreError::database(DOING))?;
    marked.map_err(StoreError::database(DOING))
}

/// Checks every row of a store, or as many as can be checked in this time. Nothing is changed, and an older schema is
/// not migrated. Memory is bounded, however large the store is.
///
/// ```
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// # let folder = std::env::temp_dir().join(format!("secateur-check-{}", std::process::id()));
/// # let url = folder.join("store.db").to_string_lossy().into_owned();
/// drop(secateur_store::open(&url).await?);
/// let report = secateur_store::check(&url, None).await?;
/// assert!(report.is_complete && report.damages.is_empty());
/// # std::fs::remove_dir_all(folder).ok();
/// # Ok::<(), secateur_store::StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn check(url: &str, limit: Option<Duration>) -> Result<StoreReport, StoreError> {
    let work = check::CheckWork::new(limit);
    match StoreAddress::read(url)? {
        StoreAddress::Postgres(server) => postgres::check::check(&server, work).await,
        StoreAddress::Memory => Ok(StoreReport { is_complete: true, ..StoreReport::default() }),
        StoreAddress::File(path) => spawn_blocking(move || sqlite::check::check(&path, work))
            .await
            .map_err(StoreError::database("cannot check the store"))?,
    }
}

/// The database of sessions, as one tenant sees it: sessions of others do not exist for it, in no method.
#[async_trait]
pub trait Store: Send + Sync {
    /// The same database as another tenant sees it, or as the operator does. The connections are shared.
    ///
    /// ```
    /// use secateur_store::{NewSession, StoreError, TenantScope, open};
    ///
    /// # tokio::runtime::Runtime::new()?.block_on(async {
    /// let store = open("sqlite::memory:").await?;
    /// let [anna, bert] = ["anna", "bert"].map(|name| store.scoped(TenantScope::One(name.to_owned())));
    /// anna.create(NewSession { id: "s".to_owned(), ..NewSession::default() }).await?;
    /// assert!(matches!(bert.session("s").await, Err(StoreError::NoSession { .. })));
    /// assert_eq!(store.scoped(TenantScope::All).session("s").await?.tenant, "anna");
    /// # Ok::<(), StoreError>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    fn scoped(&self, scope: TenantScope) -> Arc<dyn Store>;

    /// Creates a session at revision 0 without messages. If the id is taken, by whichever tenant:
    /// [`StoreError::SessionExists`]. Ids that tenants cannot guess keep that from telling them anything.
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError>;

    /// Reads one session; [`StoreError::NoSession`] if it does not exist.
    async fn session(&self, id: &str) -> Result<SessionRow, StoreError>;

    /// Lists sessions, most recently changed first, at most `limit`.
    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError>;

    /// Lists the sessions that follow a cursor in the order of [`sessions`](Self::sessions), at most `limit`. A
    /// session that changes meanwhile moves to the front, so paging may miss it.
    async fn sessions_after(
        &self,
        cursor: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError>;

    /// Finds messages by id in all sessions of the tenant, at most [`MOST_FOUND`]. Most recently changed session first; ties by
    /// session id, then by message number. Hidden messages and those before `live_from` are found, messages that an
    /// operation made are not.
    ///
    /// Uses an index. The cost grows with all messages that have one of these ids, also beyond the first
    /// [`MOST_FOUND`].
    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError>;

    /// The same within one session. Finds nothing if the session does not exist.
    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError>;

    /// Loads a session with its live messages: those from `live_from` on and pinned ones before it, in order of
    /// number, without hidden ones, each with the body that is shown.
    async fn load(&self, id: &str) -> Result<Loaded, StoreError>;

    /// Carries out a commit in one transaction, or changes nothing. If the caller stops waiting, the commit is stored
    /// completely or not at all.
    ///
    /// Refused, checked in this order, if the revision is not the session's ([`StoreError::Stale`]), if the named
    /// lease is not the current one ([`StoreError::LeaseLost`]; an expired lease stays valid until another owner
    /// takes it), if a named message or operation does not exist ([`StoreError::NoMessage`],
    /// [`StoreError::NoOperation`]), if a message was appended before ([`StoreError::Known`]), or if it shows an
    /// original that was forgotten ([`StoreError::OriginalForgotten`]), or if a handle names another text
    /// ([`StoreError::HandleTaken`]). A body that the database has with other bytes is replaced: those are damaged.
    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError>;

    /// Creates a session as a copy of `from` up to and including message `at`. The copy has the state of those
    /// messages, all operations, all messages that operations made (wherever they are), and the other values of the
    /// session. `head` and `live_from` are copied too, so both sessions number new messages alike, and numbers
    /// between `at` and `head` may not exist in the copy. The copy has no events, no lease and revision 0. Afterwards
    /// the two are independent, except that they share bodies: what one [forgets](Self::forget), the other still has.
    ///
    /// Refused, checked in this order, if `from` does not exist ([`StoreError::NoSession`]) or has changed
    /// ([`StoreError::Stale`]), if `at` is above its head ([`StoreError::NoMessage`]), or if the id is taken
    /// ([`StoreError::SessionExists`]).
    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError>;

    /// Reads the original bodies of these messages, in the order of `seqs`; `None` where the message does not exist
    /// or its original was forgotten.
    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// The key of this store's handles: 32 random bytes that were made with it and are the same in every process. None
    /// if the store was never reached, or the key is damaged. It is a secret: with it, texts could be made whose handles are equal.
    fn handle_key(&self) -> Option<[u8; 32]>;

    /// Finds clippings by handle in all sessions of the tenant, at most [`MOST_FOUND`]: most recently changed session first, then
    /// newest message first. If no clipping has it, finds those whose letters begin with it: that is so if a text had a
    /// handle of an earlier version before.
    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError>;

    /// Finds clippings that contain all of the words, newest message first. A word is a run of letters, digits and
    /// underscores; case does not matter. Parts of identifiers, such as `big` in `big_file`, count as words too. All
    /// other characters only separate words, and a search without a word finds nothing. A handle that several
    /// messages have is returned once, from the most recently changed session. [`StoreError::NoSession`] if the named
    /// session does not exist.
    ///
    /// Undoing a cut does not change what is found; forgetting an original does.
    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError>;

    /// Lists the messages of a session after number `after`, oldest first, including hidden ones and those before
    /// `live_from`. Bodies are not read and come back empty.
    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<StoredMessage>, StoreError>;

    /// Reads the messages `from..to`, including hidden ones and those before `live_from`, with the body that is shown
    /// (empty if it was forgotten).
    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<StoredMessage>, StoreError>;

    /// Lists the operations of a session after number `after`, oldest first.
    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError>;

    /// Lists the events of a session after number `after`, oldest first.
    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError>;

    /// Notes that a session was used at a time, so that [retention](RetentionStore) keeps it. Changes no revision. Does
    /// nothing if it was used later or does not exist.
    async fn touch(&self, id: &str, time: i64) -> Result<(), StoreError>;

    /// Takes the lease of a session for `ttl_ms` milliseconds, at most [`LONGEST_LEASE`], if it is free or expired; renews
    /// it if `owner` holds it; `None` if another owner holds it. The clock is the database's, so that all machines agree. Every
    /// acquisition gets a higher token; renewing keeps the token.
    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError>;

    /// Releases the lease if `owner` holds it; otherwise does nothing.
    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError>;

    /// Deletes originals: the named ones are gone or replaced by the body that is shown. What was indexed of them goes,
    /// too, unless a fork has the same message. Refused like a commit if the session has changed or if a named operation
    /// does not exist, and with [`StoreError::Alive`] if a message in `gone` would still be loaded. The revision grows,
    /// so that writers that loaded the session before do not rely on a deleted original.
    ///
    /// Copies of what was deleted may be left in unused bytes of the database until it is [shrunk](Self::shrink).
    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError>;

    /// Writes something that changes nothing, to show that the store can be written: not full, not read-only, not locked.
    /// Costs as much as the smallest commit.
    async fn check_writable(&self) -> Result<(), StoreError>;

    /// Rewrites the database, so that nothing is left of what was deleted, and returns freed space to the file system.
    /// The time and the room on disk that this takes grow with the database, and writers wait for it.
    async fn shrink(&self) -> Result<(), StoreError>;

    /// Deleting whole sessions. Fails if the store was never reached.
    fn retention(&self) -> Result<&dyn RetentionStore, StoreError>;
}
