//! What every store guarantees, tested on each: SQLite in a file, SQLite in memory, PostgreSQL.
//!
//! PostgreSQL needs a server, named by `SECATEUR_POSTGRES`; `crates/store/tests/postgres/run cargo test …` starts
//! one. Without it those tests say so and pass.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "store/address.rs"]
mod address;
#[path = "store/clipping.rs"]
mod clipping;
#[path = "store/commit.rs"]
mod commit;
#[path = "store/content.rs"]
mod content;
#[path = "store/crash.rs"]
mod crash;
#[path = "store/find.rs"]
mod find;
#[path = "store/forget.rs"]
mod forget;
#[path = "store/fork.rs"]
mod fork;
#[path = "store/home.rs"]
mod home;
#[path = "store/lease.rs"]
mod lease;
#[path = "store/load.rs"]
mod load;
#[path = "store/migration.rs"]
mod migration;
#[path = "store/model.rs"]
mod model;
#[path = "store/properties.rs"]
mod properties;
#[path = "store/rows.rs"]
mod rows;
#[path = "store/session.rs"]
mod session;
#[path = "store/tls.rs"]
mod tls;
#[path = "store/writers.rs"]
mod writers;
