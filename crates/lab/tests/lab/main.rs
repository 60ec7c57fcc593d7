//! The lab on sessions of a few lines: how a log becomes a trace, what its actions need, and what holds for every
//! replay, a study or a search for better parameters.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod invariants;
mod needs;
mod optimum;
mod reference;
mod study_data;
mod support;
mod traces;
mod tune;
