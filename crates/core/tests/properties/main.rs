//! Properties of the kernel over random outlines, policies and situations.
//!
//! Unit tests show that a rule does what it says on the cases that its author thought of. These tests
//! state what holds on every case: that the incremental plan is the plain plan, that a plan never
//! contradicts itself or touches what is protected, that a cut once made stays made, and that nothing
//! panics. Inputs are small on purpose, with ids and tool names from small pools, so that the rare
//! coincidences (a reused id, a summary inside the active turns, a cut made twice) are common.
//!
//! A test runs proptest's default number of cases; `PROPTEST_CASES=5000` hunts longer.

use proptest::test_runner::Config;

mod lasting;
mod openclaw;
mod oracle;
mod outlines;
mod pivot_and_limits;
mod plans;
mod policies;
mod rent;
mod scene;
mod tally;

/// The configuration of every test here: a failure prints its smallest case and writes no file.
fn config() -> Config {
    Config { failure_persistence: None, ..Config::default() }
}
