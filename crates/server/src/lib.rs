//! A transparent proxy in front of model providers that keeps every conversation inside its model's window.
//!
//! ```text
//!   client ──request──▶ Route ──▶ Conversations ──plan──▶ spliced body ──▶ provider
//!          ◀─────────────────── response, frame by frame, as it comes ◀────
//! ```
//!
//! An agent sends its whole history with each request. The proxy recognises the conversation, applies its earlier cuts
//! byte for byte, and makes new ones when they are needed; every other byte passes through unchanged. What the proxy does
//! not understand is passed through. Under `/api` it answers questions about its sessions.
//!
//! `http` and `conversation` do not know each other; they meet in `proxy`.

mod api;
mod conversation;
mod http;
mod late_store;
mod metrics;
mod outcome;
mod proxy;
mod quota;
mod retention;
mod route;
mod server;
mod settings;
mod tenants;

pub use late_store::LateStore;
pub use metrics::Snapshot;
pub use metrics::savings::Savings;
pub use route::{Provider, RequestKind, Route};
pub use server::{BindError, Counters, Server};
pub use settings::token::{AccessToken, BadToken, TenantToken};
pub use settings::{BadUpstream, Settings, Upstream};
