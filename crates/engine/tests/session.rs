//! Sessions from their first message to the hundredth compaction, as an application sees them.

#[path = "session/cycle.rs"]
mod cycle;
