//! Clocks that jump.

use secateur_engine::Clock;

use crate::setup::{Setup, engine};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::client::assert_same;

const HOUR: i64 = 3_600_000;
const NOW: i64 = 1_800_000_000_000;

/// Hours and years forth and back, before 1970 and to the end of all numbers.
const JUMPS: [i64; 11] = [
    NOW,
    NOW + HOUR,
    NOW - 5 * HOUR,
    NOW + 30 * 366 * 24 * HOUR,
    NOW,
    0,
    -HOUR,
    i64::MAX,
    i64::MIN,
    NOW + 1,
    NOW - 24 * HOUR,
];

#[tokio::test]
async fn a_clock_that_jumps_rejects_nothing_and_loses_nothing() {
    for wire in Wire::ALL {
        let clock = Clock::at(NOW);
        let engine = engine("sqlite::memory:").await.with_clock(clock.clone());
        let setup = Setup::with_engine(12_000, engine).await;
        let mut agent = Agent::new(wire, "SCENARIO:long steps=33 bytes=6000");
        for jump in JUMPS.into_iter().cycle() {
            clock.set(jump);
            let (answer, text) = agent.step(setup.address()).await;
            assert_eq!(answer.reason(), "", "{wire:?} at {jump}: {}", answer.head);
            if text.is_some() {
                break;
            }
        }
        let stats = setup.model.stats();
        assert_eq!((&stats["violations"], &stats["malformed"]), (&0.into(), &0.into()), "{wire:?}");
        // At one and the same time the same is said.
        setup.relay.take();
        agent.ask(setup.address()).await;
        let first = setup.relay.last_body();
        let answer = agent.ask(setup.address()).await;
        // Unless the first answer told that there is hardly any room left.
        if !answer.is_flush() {
            assert_same(&first, &setup.relay.last_body(), &answer.head);
        }
    }
}
