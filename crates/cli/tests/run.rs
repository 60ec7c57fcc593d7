//! `secateur run` as a user runs it: real programs in front of it, a provider behind it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "run/agents.rs"]
mod agents;
#[path = "run/proxies.rs"]
mod proxies;
#[path = "run/stage.rs"]
mod stage;
#[path = "run/terminal.rs"]
mod terminal;
#[path = "run/upstream.rs"]
mod upstream;
