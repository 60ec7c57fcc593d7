//! `secateur run` as a user runs it: real programs in front of it, a provider behind it.

mod agents;
mod proxies;
mod terminal;
