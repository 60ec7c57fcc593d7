//! `secateur doctor` on machines where something is wrong: every fault is planted for real.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "doctor/agents.rs"]
mod agents;
#[path = "doctor/machine.rs"]
mod machine;
#[path = "doctor/patient.rs"]
mod patient;
#[expect(dead_code, reason = "other tests need more of it")]
#[path = "../../server/tests/proxy/place.rs"]
mod place;
#[path = "doctor/providers.rs"]
mod providers;
#[path = "doctor/servers.rs"]
mod servers;
#[expect(dead_code, reason = "nothing is run here")]
#[path = "run/stage.rs"]
mod stage;
#[path = "run/upstream.rs"]
mod upstream;
