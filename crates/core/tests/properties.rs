//! Properties of the kernel over random outlines, policies and situations.
//!
//! Unit tests show that a rule does what it says on the cases that somebody thought of. These tests
//! state what holds on every case: that the incremental plan is the plain plan, that a plan never
//! contradicts itself or touches what is protected, that a cut once made stays made, and that nothing
//! panics. Inputs are small on purpose, with ids and tool names from small pools, so that the rare
//! coincidences (a reused id, a summary inside the active turns, a cut made twice) are common.
//!
//! A test runs proptest's default number of cases; `PROPTEST_CASES=5000` hunts longer.

use proptest::test_runner::Config;

#[path = "properties/lasting.rs"]
mod lasting;
#[path = "properties/openclaw.rs"]
mod openclaw;
#[path = "properties/oracle.rs"]
mod oracle;
#[path = "properties/outlines.rs"]
mod outlines;
#[path = "properties/pivot_and_limits.rs"]
mod pivot_and_limits;
#[path = "properties/plans.rs"]
mod plans;
#[path = "properties/policies.rs"]
mod policies;
#[path = "properties/rent.rs"]
mod rent;
#[path = "properties/scene.rs"]
mod scene;
#[path = "properties/tally.rs"]
mod tally;

/// The configuration of every test here: a failure prints its smallest case and writes no file.
fn config() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}
