//! The proxy as a whole, over real sockets.
//!
//! `http` drives a client and a provider byte by byte. `proxy` has a scripted model behind the proxy, agents of all wires in front
//! of it, and providers, stores, clocks and processes that fail. `api` asks the proxy about its sessions.
//! `tenants` has several people share it.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on must stop")]

mod api;
mod http;
mod process_log;
mod proxy;
mod setup;
mod tenants;
