//! What tests of several crates share. It is never published, and nothing that ships depends on it.
//!
//! | module | what it stands for |
//! |---|---|
//! | [`scripted_model`] | a provider whose model follows a script, on all wires |
//! | [`thinking_binding`] | how a provider binds thinking to everything before it |
//! | [`scripted_provider`] | a provider that sends exact bytes, one script for each request |
//! | [`agent`] | an agent that works with the scripted model |
//! | [`client`] | a client that sends one request and takes whatever comes back |
//! | [`relay`] | stands between a proxy and its provider; records requests and makes some fail |
//! | [`connection`] | one end of a TCP connection, read and written byte by byte |
//! | [`simulated_store`] | a store in memory that fails as a simulation wants it to |
//! | [`seeded_random`] | random numbers that repeat themselves |
//! | [`store_home`] | a file or schema for the store of one test |
//! | [`postgres`] | the PostgreSQL server that tests share |
//! | `postgres_server` | a PostgreSQL server that a single test may kill |
//! | [`configuration`] | the profile and the model catalogue of these tests |
//!
//! Use it from `tests/`. Unit tests can use only what takes and gives no types of their own crate: a crate under unit test is compiled
//! a second time, and its types differ from those that this crate was built with.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

pub mod agent;
pub mod client;
pub mod configuration;
pub mod connection;
pub mod postgres;
#[cfg(unix)]
pub mod postgres_server;
pub mod relay;
pub mod scripted_model;
pub mod scripted_provider;
pub mod seeded_random;
pub mod simulated_store;
pub mod store_home;
pub mod thinking_binding;

pub use agent::Agent;
pub use connection::{Connection, within};
pub use relay::{Action, Relay};
pub use scripted_model::{ModelSettings, ScriptedModel};
pub use scripted_provider::{Script, ScriptedProvider};
pub use seeded_random::SeededRandom;
pub use simulated_store::{SimulatedConnection, SimulatedStore, StoreCondition};
pub use store_home::{Backend, StoreHome};
