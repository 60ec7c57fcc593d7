//! What every store guarantees, tested on each: SQLite in a file, SQLite in memory, PostgreSQL, and the store that
//! simulations use.
//!
//! PostgreSQL needs a server, named by `SECATEUR_POSTGRES`; `crates/store/tests/postgres/run cargo test …` starts
//! one. Without it those tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod address;
mod check;
mod clipping;
mod commit;
mod content;
mod crash;
mod damage;
mod find;
mod forget;
mod fork;
mod lease;
mod load;
mod malformed;
mod migration;
mod model;
mod power_loss;
mod properties;
mod retention;
mod rows;
mod session;
mod tenants;
mod tls;
mod writers;
