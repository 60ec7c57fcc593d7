//! Sessions: the engine carries out what the pure session machine decides.
//!
//! ```text
//!  kept (Session)      followed (FollowedSession)      what callers use
//!        └──────┬────────────┘
//!   append, request, import, fork, undo, forget         what is done with a session
//!               │                          └── remainder  what is left of forgotten messages
//!               │
//!             sync         in step with other processes: refresh, retry, settle, store_state
//!               │
//!             drive        carries out effects until the machine has no more
//!               ├── change_set ── clipping  stores a decision in one commit
//!               ├── consult                 asks hooks, takes the lease
//!               └── summary_sources         gathers what a summary is made of
//!               │
//!   remote_changes, bodies   what other processes did; the bytes of messages
//!               │
//!             core         the state in memory: machine, row
//!               ├── history                 who keeps the messages
//!               ├── lease                   the right to compact
//!               └── compaction ── background ── summary_job
//! ```
//!
//! Files use only what is listed below them. A kept session and a followed one differ in [`history`](self::history): who
//! keeps the messages, and what is only in memory.

/// Repeats a step until it does not collide with another process: `retry!(core, step)`, where the step is a future of
/// `Result<Option<T>, EngineError>`. A step that ends with none is repeated at once. After too many attempts the
/// function around it fails with [`EngineError::Busy`](crate::EngineError::Busy).
///
/// This is a macro, because the compiler cannot prove that the future of an async closure over `&mut SessionCore` is
/// `Send`.
macro_rules! retry {
    ($core:expr, $step:expr) => {{
        let mut attempt = 0;
        loop {
            let outcome: Result<Option<_>, EngineError> = $step.await;
            if let Some(done) = $core.after_attempt(outcome, attempt).await? {
                break done;
            }
            attempt += 1;
        }
    }};
}

mod append;
mod background;
mod bodies;
mod change_set;
mod clipping;
mod compaction;
mod consult;
mod core;
mod drive;
mod followed;
mod forget;
mod fork;
mod history;
mod import;
mod json;
mod kept;
mod lease;
mod message;
mod provisional;
mod remainder;
mod remote_changes;
mod request;
mod settlement;
mod shown;
mod summary_job;
mod summary_sources;
mod sync;
mod undo;

pub use followed::{FittedContext, FollowedSession};
pub use history::RequestBodies;
pub use import::{SessionBeginning, SplitRequest};
pub use kept::{RecordedEvent, Session};
pub use message::NewMessage;
pub use provisional::ProvisionalEnds;
pub use request::ContextRequest;
pub use settlement::Settlement;
pub use shown::ShownMessage;
