//! Carries out what the session machine decides: stores, summarises, redacts, asks hooks.
//!
//! ```text
//!  application ──▶ Session ──inputs──▶ secateur::session (pure) ──effects──▶ store, summariser, hooks
//!                  (bytes)                                                        │
//!                     ▲───────────────────────── answers ──────────────────────────┘
//! ```
//!
//! An application appends messages to a [`Session`], asks it for the request to send, and says how that went. The
//! session stays inside the model's window for ever: old tool results are cut, older history is summarised, and all
//! of it can be undone, because the originals are kept.

mod background;
mod clipping;
mod clock;
pub mod config;
mod dialect;
mod drive;
mod engine;
mod error;
mod follow;
mod following;
mod fork;
mod handle;
pub mod hooks;
mod import;
pub mod ledger;
mod live;
mod message;
mod news;
mod prepare;
pub mod provider;
mod recall;
mod record;
pub mod redact;
mod request;
mod search;
mod session;
pub mod summary;
mod turn;

pub use clock::Clock;
pub use dialect::{LARGEST_MESSAGE, cut_message, cut_parts};
pub use engine::{DEFAULT_PROFILE, Engine, Opening, Target};
pub use error::EngineError;
pub use follow::{Fit, Shown};
pub use import::Split;
pub use live::Live;
pub use message::NewMessage;
pub use recall::{Recalled, Told};
pub use request::Request;
pub use search::Hit;
pub use session::{Session, Settlement};
