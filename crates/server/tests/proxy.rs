//! The whole proxy with everything that can go wrong around it: a scripted model behind it, agents of all four languages
//! before it, and in between providers, stores, clocks and processes that fail.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[expect(dead_code, reason = "the tests end by themselves")]
#[path = "model/mod.rs"]
mod model;

#[expect(dead_code, reason = "only its lines are used here")]
#[path = "http/play.rs"]
mod play;

#[path = "proxy/agent.rs"]
mod agent;
#[path = "proxy/client.rs"]
mod client;
#[cfg(unix)]
#[path = "../../engine/tests/crash/server.rs"]
mod database;
#[path = "proxy/flaky.rs"]
mod flaky;
#[path = "proxy/look.rs"]
mod look;
#[path = "proxy/place.rs"]
mod place;
#[path = "proxy/said.rs"]
mod said;
#[path = "proxy/stage.rs"]
mod stage;
#[expect(dead_code, reason = "whoever kills processes needs more of it")]
#[path = "proxy/tap.rs"]
mod tap;

#[path = "proxy/branches.rs"]
mod branches;
#[path = "proxy/bytes.rs"]
mod bytes;
#[path = "proxy/canary.rs"]
mod canary;
#[path = "proxy/clocks.rs"]
mod clocks;
#[path = "proxy/faults.rs"]
mod faults;
#[path = "proxy/many.rs"]
mod many;
#[path = "proxy/metrics.rs"]
mod metrics;
#[cfg(unix)]
#[path = "proxy/outages.rs"]
mod outages;
#[path = "proxy/pairs.rs"]
mod pairs;
#[path = "proxy/recall.rs"]
mod recall;
#[path = "proxy/stores.rs"]
mod stores;
#[path = "proxy/tasks.rs"]
mod tasks;
