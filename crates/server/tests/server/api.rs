//! What the proxy reports about its sessions, asked while agents work.

mod events;
mod problems;
pub(crate) mod requests;
mod responses;
mod undo;
