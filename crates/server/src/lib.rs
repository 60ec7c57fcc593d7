//! A transparent proxy in front of model providers that keeps every conversation inside its model's window.
//!
//! ```text
//!   agent ──request──▶ Route ──▶ Conversations ──plan──▶ spliced body ──▶ provider
//!         ◀──────────────────── answer, frame by frame, as it comes ◀────
//! ```
//!
//! An agent sends its whole history with each request. The proxy recognises the conversation, remembers what it has
//! cut of it, and replays those cuts byte for byte; every other byte passes through as it was. Whatever the proxy does
//! not understand goes upstream unchanged. Under `/api` it answers questions about the sessions that it keeps.

mod api;
mod conversation;
mod http;
mod metrics;
mod proxy;
mod route;
mod server;
mod settings;
mod usage;

pub use metrics::Snapshot;
pub use metrics::savings::Savings;
pub use route::{Kind, Provider, Route};
pub use server::{BindError, Counters, Server};
pub use settings::token::{BadToken, Token};
pub use settings::{BadUpstream, Settings, Upstream};
