//! Sessions whose process, or whose database, is killed at any moment.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "crash/check.rs"]
mod check;
#[path = "crash/kills.rs"]
mod kills;
#[path = "crash/outages.rs"]
mod outages;
mod place;
#[path = "crash/script.rs"]
mod script;
#[path = "crash/server.rs"]
mod server;
#[path = "crash/writer.rs"]
mod writer;
