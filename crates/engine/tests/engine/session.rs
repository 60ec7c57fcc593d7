//! Sessions from their first message to the hundredth compaction, as an application sees them. Each test is a promise.

mod background;
mod bytes;
mod cycle;
mod following;
mod forgetting;
mod founding_systems;
mod history;
mod hooks;
mod loops;
mod messages;
mod pairs;
mod recall;
mod resumption;
mod retention;
mod secrets;
mod setup;
mod sizes;
mod summariser;
mod turns;
mod views;
