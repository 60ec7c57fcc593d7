//! Conversations without a network: what is made of the requests of a client whose history grows.

mod agent;
mod bound_thinking;
mod branches;
mod bytes;
mod captures;
mod memory;
mod properties;
mod rooms;
mod simulation;
