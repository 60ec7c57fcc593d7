//! The lab on sessions of a few lines: how a log becomes a trace, what its actions need, and what holds for every
//! replay.

#[path = "lab/invariants.rs"]
mod invariants;
#[path = "lab/needs.rs"]
mod needs;
#[path = "lab/reference.rs"]
mod reference;
#[path = "lab/support.rs"]
mod support;
#[path = "lab/traces.rs"]
mod traces;
