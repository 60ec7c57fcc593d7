//! Keeps sessions: what was said, what was done to it, and every original.
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
//! There is one trait, [`Store`], and two implementations that pass the same suite of tests: SQLite, a file, the
//! default; and PostgreSQL, for many machines. Nothing here decides anything: rows come in and go out, and what
//! they mean is the business of the kernel and the engine. The store's part is that nothing is lost:
//!
//! * **All or nothing.** A [`Commit`] is one transaction. Whatever it says was kept, was kept.
//! * **Stale writers are refused.** A commit names the revision that it builds on. If somebody else was faster, it is
//!   refused with [`StoreError::Stale`] and changes nothing; the writer loads again and thinks again.
//! * **Said once.** A message has an id that is unique in its session. Appending it a second time, because the
//!   acknowledgement got lost, is refused with [`StoreError::Known`], so nothing is said twice.
//! * **Pruning is not deletion.** A cut changes which body of a message is shown. The original stays until somebody
//!   asks to [forget](Store::forget) it.
//!
//! The cost of loading a session is that of its living part: messages from `live_from` on, and pinned ones before.

mod address;
mod backend_error;
mod body;
mod clipping;
mod erasure;
mod error;
mod postgres;
mod prepared_commit;
mod record;
mod sqlite;
mod validation;
mod words;

use std::sync::Arc;

use async_trait::async_trait;
use tokio::task::spawn_blocking;

use address::StoreAddress;
use postgres::Postgres;
use sqlite::Sqlite;

pub use clipping::{Clipping, ClippingSearch, NewClipping};
pub use error::StoreError;
pub use postgres::{ServerStatus, server_status};
pub use record::{
    Commit, Committed, EventRow, Forget, Forgotten, Fork, FoundMessage, Lease, Loaded, MessageChange,
    MessageRow, NewMessageRow, NewOperation, NewSession, OperationRow, SessionCursor, SessionRow,
};
pub use sqlite::{FileStatus, file_status};
pub use words::word_positions;

/// No lease is longer than a hundred years, so that no clock overflows.
const LONGEST_LEASE: u64 = 100 * 366 * 24 * 3600 * 1000;

/// The most messages that are found at once. Whoever finds so many may have missed some.
pub const MOST_FOUND: usize = 1000;

/// Opens a store, and makes it if there is none:
///
/// * a path or `sqlite:PATH`: a file, which several processes may open at once. A new file can be read by its owner
///   only;
/// * `sqlite::memory:`: a database of its own in memory, which ends with the store;
/// * `postgres://…` or `postgresql://…`: a server. Tables are looked for where the server's `search_path` says; the
///   option `options=-c%20search_path%3DNAME` of the URL changes it. `sslmode` and `sslrootcert` say how safe the
///   connection has to be, as for PostgreSQL's own clients; `verify-full` is safe from whoever stands in between.
///
/// A database of an older version is brought up to date; one of a newer version is refused with
/// [`StoreError::Newer`]. What is in a URL, such as a password, is in no error.
///
/// ```
/// use secateur_store::{Commit, NewMessageRow, NewSession, StoreError, open};
///
/// # tokio::runtime::Runtime::new()?.block_on(async {
/// let store = open("sqlite::memory:").await?;
/// let session = store.create(NewSession { id: "s".to_owned(), ..NewSession::default() }).await?;
/// let hello = NewMessageRow { id: "m".to_owned(), body: b"hello"[..].into(), ..NewMessageRow::default() };
/// let commit = Commit { revision: session.revision, append: vec![hello], ..Commit::default() };
/// assert_eq!(store.commit("s", commit.clone()).await?.head, 1);
/// assert_eq!(store.load("s").await?.messages[0].body, b"hello");
///
/// // Whoever did not see that has to look again.
/// assert!(matches!(store.commit("s", commit).await, Err(StoreError::Stale { found: 1, .. })));
/// # Ok::<(), StoreError>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    let doing = "cannot open the store";
    match StoreAddress::read(url)? {
        StoreAddress::Postgres(server) => Ok(Arc::new(Postgres::open(*server).await?)),
        StoreAddress::File(path) => {
            let opening = spawn_blocking(move || Sqlite::open(&path));
            Ok(Arc::new(opening.await.map_err(StoreError::database(doing))??))
        }
        StoreAddress::Memory => {
            let opening = spawn_blocking(Sqlite::open_memory);
            Ok(Arc::new(opening.await.map_err(StoreError::database(doing))??))
        }
    }
}

/// Where sessions are kept.
#[async_trait]
pub trait Store: Send + Sync {
    /// Creates a session at revision 0 with no messages. An id that is taken is refused with
    /// [`StoreError::SessionExists`].
    async fn create(&self, session: NewSession) -> Result<SessionRow, StoreError>;

    /// One session; [`StoreError::NoSession`] if there is none of that id.
    async fn session(&self, id: &str) -> Result<SessionRow, StoreError>;

    /// All sessions, the one changed last first, at most `limit` of them.
    async fn sessions(&self, limit: usize) -> Result<Vec<SessionRow>, StoreError>;

    /// The sessions that come behind a place in the list of [all sessions](Self::sessions), at most `limit` of them. A
    /// session that is changed meanwhile moves to the front of the list, so whoever goes through it page by page may
    /// miss one.
    async fn sessions_after(
        &self,
        place: &SessionCursor,
        limit: usize,
    ) -> Result<Vec<SessionRow>, StoreError>;

    /// Where messages with these ids were appended, in whichever sessions: those of the session changed last first, at
    /// most 1,000. Sessions changed at the same time come in the order of their ids, messages of one session in that
    /// of their numbers. Messages that are hidden or no longer alive count, too; those that an operation made do not.
    ///
    /// Messages are looked up in an index. The cost is that of all which have one of these ids, also of those beyond
    /// the first 1,000.
    async fn find(&self, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError>;

    /// The same in one session, however many others have these messages. Nothing is found in a session that is not there.
    async fn find_in(&self, session: &str, ids: &[String]) -> Result<Vec<FoundMessage>, StoreError>;

    /// The session with everything that is alive: messages from `live_from` on and pinned ones before it, in the
    /// order of their numbers, without hidden ones, each with the body that is shown.
    async fn load(&self, id: &str) -> Result<Loaded, StoreError>;

    /// Carries out a commit, in one transaction, or changes nothing. If the caller stops waiting, it is kept as a
    /// whole or not at all.
    ///
    /// It is refused, in this order, if the revision is not the session's ([`StoreError::Stale`]), if the lease that
    /// it names is not the current one ([`StoreError::LeaseLost`]; a lease that ran out is good until somebody else
    /// takes it), if it names messages or operations that are not there ([`StoreError::NoMessage`],
    /// [`StoreError::NoOperation`]), if one of its messages was appended before ([`StoreError::Known`]), or if it
    /// shows an original again that was forgotten ([`StoreError::OriginalForgotten`]).
    async fn commit(&self, id: &str, commit: Commit) -> Result<Committed, StoreError>;

    /// Branches off: creates a session that is a copy of `from` up to and including message `at`. The copy has what was
    /// done to those messages, all operations, the messages that operations made wherever they lie, and the session's
    /// other values, `head` and `live_from` as they are; so messages that are appended to either get the same numbers,
    /// and numbers between `at` and the head may name no message of the copy. It has no events, no lease and revision
    /// 0. From then on the two know nothing of each other, except that they share bodies: what one
    /// [forgets](Self::forget), the other still has.
    ///
    /// It is refused, in this order, if `from` is not there ([`StoreError::NoSession`]) or has changed since
    /// ([`StoreError::Stale`]), if `at` is above its head ([`StoreError::NoMessage`]), or if the id is taken
    /// ([`StoreError::SessionExists`]).
    async fn fork(&self, from: &str, fork: Fork) -> Result<SessionRow, StoreError>;

    /// The original bodies of these messages, in the order asked for; none where there is no such message or its
    /// original was forgotten.
    async fn originals(&self, id: &str, seqs: &[u64]) -> Result<Vec<Option<Vec<u8>>>, StoreError>;

    /// What was taken out of contexts under this handle, in whichever sessions: of the session changed last first, of
    /// one session the newest message first, at most 1,000.
    async fn clippings(&self, handle: &str) -> Result<Vec<Clipping>, StoreError>;

    /// What was taken out of contexts and has all of these words, the newest message first. A word is a run of letters,
    /// digits and underscores, in whatever case; parts of identifiers such as `big` in `big_file` count as words, too.
    /// Nothing else in a question has a meaning, and one without a word finds nothing. What several messages have under
    /// one handle is found once, in the session changed last. [`StoreError::NoSession`] if the session that is named is not there.
    ///
    /// What is shown again because a cut was undone is found as before; what was forgotten is not.
    async fn search(&self, search: ClippingSearch) -> Result<Vec<Clipping>, StoreError>;

    /// The messages of a session after number `after`, oldest first, also those that are no longer alive or hidden.
    /// PackedBodies are not read: they come out empty.
    async fn facts(&self, id: &str, after: u64, limit: usize) -> Result<Vec<MessageRow>, StoreError>;

    /// Rows of messages by number, `from..to`, also of those that are no longer alive or hidden, with the body that
    /// is shown (empty if it was forgotten).
    async fn messages(&self, id: &str, from: u64, to: u64) -> Result<Vec<MessageRow>, StoreError>;

    /// The operations of a session after number `after`, oldest first.
    async fn operations(&self, id: &str, after: u64, limit: usize) -> Result<Vec<OperationRow>, StoreError>;

    /// The events of a session after number `after`, oldest first.
    async fn events(&self, id: &str, after: u64, limit: usize) -> Result<Vec<EventRow>, StoreError>;

    /// Takes the lease of a session for `ttl_ms` milliseconds if nobody holds it or the holder's time is over; renews
    /// it if `owner` holds it. Time is the store's own, so that all machines agree on it. None if somebody else holds
    /// it. Each new holder gets a higher token, also one that gave the lease back before; whoever renews keeps his.
    async fn lease(&self, id: &str, owner: &str, ttl_ms: u64) -> Result<Option<Lease>, StoreError>;

    /// Gives the lease back, if `owner` still holds it; otherwise there is nothing to do.
    async fn release(&self, id: &str, owner: &str) -> Result<(), StoreError>;

    /// Deletes originals: those named are gone, or replaced by what is shown. Refused like a commit if the session
    /// has changed since, and with [`StoreError::Alive`] if a message that is to be gone would still be loaded. The
    /// session's revision grows, because whoever loaded it before may count on an original that is gone.
    async fn forget(&self, id: &str, forget: Forget) -> Result<Forgotten, StoreError>;

    /// Gives space that was freed back to the file system.
    async fn shrink(&self) -> Result<(), StoreError>;
}
