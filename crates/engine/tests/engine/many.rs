//! Several processes and tasks that work on one session at the same time.

mod background;
mod compactions;
mod model;
mod script;
mod takeover;
mod writers;
