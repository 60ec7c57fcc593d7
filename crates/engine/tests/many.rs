//! Several processes and tasks that work on one session at the same time.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "many/background.rs"]
mod background;
#[path = "many/compactions.rs"]
mod compactions;
#[path = "many/model.rs"]
mod model;
mod place;
#[path = "many/script.rs"]
mod script;
#[path = "many/takeover.rs"]
mod takeover;
#[path = "many/writers.rs"]
mod writers;
