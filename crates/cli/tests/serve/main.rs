//! `secateur serve` as a process: killed at any moment, and watched.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

mod degraded;
mod hostile;
mod kills;
mod log;
mod process;
mod random;
mod rolling;
mod sent_texts;
mod soak;
mod status;
mod stops;
mod takeovers;
mod wires;
