//! Sessions whose process, or whose database, is killed at any moment.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

mod check;
mod kills;
mod outages;
mod script;
mod writer;
