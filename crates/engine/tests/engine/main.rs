//! The engine as an application sees it: sessions, models over HTTP, hooks, redaction, and several processes on one store.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod example;
#[cfg(unix)]
mod hooks;
mod many;
mod provider;
mod redaction;
mod session;
