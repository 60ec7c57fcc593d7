//! `secateur serve` as a process: killed at any moment, and watched.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[expect(dead_code, reason = "the tests end by themselves")]
#[path = "../../server/tests/model/mod.rs"]
mod model;

#[expect(dead_code, reason = "only its lines are used here")]
#[path = "../../server/tests/http/play.rs"]
mod play;

#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../../server/tests/proxy/agent.rs"]
mod agent;
#[path = "../../server/tests/proxy/client.rs"]
mod client;
#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../../server/tests/proxy/place.rs"]
mod place;
#[path = "../../server/tests/proxy/said.rs"]
mod said;
#[expect(dead_code, reason = "here the proxy is a process")]
#[path = "../../server/tests/proxy/stage.rs"]
mod stage;
#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../../server/tests/proxy/tap.rs"]
mod tap;

#[path = "serve/dice.rs"]
mod dice;
#[path = "serve/heirs.rs"]
mod heirs;
#[path = "serve/hostile.rs"]
mod hostile;
#[path = "serve/kills.rs"]
mod kills;
#[path = "serve/ledger.rs"]
mod ledger;
#[path = "serve/log.rs"]
mod log;
#[path = "serve/process.rs"]
mod process;
#[path = "serve/rolling.rs"]
mod rolling;
#[path = "serve/soak.rs"]
mod soak;
#[path = "serve/status.rs"]
mod status;
#[path = "serve/stops.rs"]
mod stops;
#[path = "serve/wires.rs"]
mod wires;
