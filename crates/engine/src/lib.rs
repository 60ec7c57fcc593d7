//! Carries out what the session machine decides: stores, summarises, redacts, asks hooks.
//!
//! ```text
//!  application ──▶ Session ──────┐ (two kinds over one core)
//!                                ├──inputs──▶ secateur::session (pure) ──effects──▶ store, summariser, hooks
//!  proxy ──▶ FollowedSession ────┘                    ▲                                       │
//!                                                     └──────────────── inputs ◀──────────────┘
//! ```
//!
//! An application appends messages to a [`Session`], asks it for the request to send, and reports how that ended. A
//! proxy hands the messages of its client's requests to a [`FollowedSession`]. Either way the context stays inside the
//! model's window: old tool results are cut, older history is summarised, and all of it can be undone, because
//! originals are kept.

mod clock;
pub mod config;
mod engine;
mod error;
mod events;
pub mod hooks;
pub mod ledger;
pub mod provider;
mod recall;
pub mod redact;
mod retention;
mod search;
mod session;
mod session_wire;
mod stored;
pub mod summary;
mod text_names;

pub use clock::{Clock, SetClock};
pub use engine::{DEFAULT_PROFILE, Engine, SessionOptions, Target};
pub use error::{EngineError, RecallCandidate};
pub use events::EngineEvent;
pub use recall::Recalled;
pub use retention::{LEAST_AGE, Retention, RetentionLimits, RetentionStep};
pub use search::SearchHit;
pub use session::{
    ContextRequest, FittedContext, FollowedSession, NewMessage, ProvisionalEnds, RecordedEvent,
    RequestBodies, Session, SessionBeginning, Settlement, ShownMessage, SplitRequest,
};
pub use session_wire::{LARGEST_MESSAGE, cut_message, cut_parts};
