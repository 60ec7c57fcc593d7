//! Sessions from their first message to the hundredth compaction, as an application sees them. Each test is a promise.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "session/background.rs"]
mod background;
#[path = "session/bytes.rs"]
mod bytes;
#[path = "session/cycle.rs"]
mod cycle;
#[path = "session/following.rs"]
mod following;
#[path = "session/founders.rs"]
mod founders;
#[path = "session/history.rs"]
mod history;
#[path = "session/hooks.rs"]
mod hooks;
#[path = "session/loops.rs"]
mod loops;
#[path = "session/pairs.rs"]
mod pairs;
#[path = "session/recall.rs"]
mod recall;
#[path = "session/resumption.rs"]
mod resumption;
#[expect(dead_code, unused_imports, reason = "other tests play the other scripts")]
mod scripted;
#[path = "session/secrets.rs"]
mod secrets;
#[path = "session/sizes.rs"]
mod sizes;
#[path = "session/speech.rs"]
mod speech;
#[path = "session/stage.rs"]
mod stage;
#[path = "session/summariser.rs"]
mod summariser;
#[path = "session/turns.rs"]
mod turns;
#[path = "session/views.rs"]
mod views;
