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

mod answer;
mod api;
mod collect;
mod conversation;
mod door;
mod ear;
mod entrance;
mod exchange;
mod figures;
mod gate;
mod guard;
mod hop;
mod listen;
mod note;
mod outgoing;
mod own;
mod pace;
mod packed;
mod prelude;
mod recent;
mod refusal;
mod room;
mod route;
mod savings;
mod settings;
mod socket;
mod strict;
mod tally;
mod token;
mod tunnel;
mod upstream;
mod usage;
mod visit;

pub use listen::{BindError, Counters, Server};
pub use route::{Kind, Provider, Route};
pub use savings::Savings;
pub use settings::{BadUpstream, Settings, Upstream};
pub use tally::Snapshot;
pub use token::{BadToken, Token};
