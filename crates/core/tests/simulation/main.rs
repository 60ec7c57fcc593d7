//! The session machine in a world where everything goes wrong.
//!
//! An application talks, a store stores, a model summarises, hooks object, and all of them fail at random: effects
//! and answers get lost or come twice, the process dies at any moment and starts again from what was stored, the
//! clock jumps, another writer was faster. Whatever happens, these hold after every step:
//!
//! * every message that was acknowledged is stored, once, in order;
//! * what the machine believes is what a new process would read from the store (so there is no half of a pivot);
//! * no request is let through that does not fit by the meter in use, and none that tears an exchange apart;
//! * every request is answered after a bounded number of steps.
//!
//! `SECATEUR_SCHEDULES=1000000` plays more of them; `SECATEUR_SEED=7` plays one.

mod random;
mod world;

use std::collections::BTreeSet;

use random::Random;
use world::World;

fn play(seed: u64) -> BTreeSet<&'static str> {
    let mut world = World::new(Random::new(seed));
    for _ in 0..world.length() {
        world.step();
        world.check();
    }
    world.seen
}

/// What must have happened somewhere, or the schedules prove little.
const SIGHTS: [&str; 16] = [
    "a closed breaker",
    "a compaction",
    "a digest",
    "a last resort",
    "a prune",
    "a rejected request",
    "a replay",
    "a result capped",
    "a resume",
    "a resume without a summary",
    "a second compaction",
    "a veto",
    "an open breaker",
    "no progress",
    "work in the background",
    "a marker ahead of its summary",
];

#[test]
#[expect(clippy::disallowed_methods, reason = "the kernel reads no environment, but its test does")]
fn whatever_goes_wrong_nothing_is_lost_and_every_request_fits() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    if let Some(seed) = number("SECATEUR_SEED") {
        play(seed);
        return;
    }
    let schedules = number("SECATEUR_SCHEDULES").unwrap_or(100_000);
    let workers = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let play_share = |worker: u64| {
        let mut seen = BTreeSet::new();
        for seed in (0..schedules).filter(|seed| seed % workers == worker) {
            match std::panic::catch_unwind(|| play(seed)) {
                Ok(sights) => seen.extend(sights),
                Err(_) => panic!("schedule {seed} failed: play it alone with SECATEUR_SEED={seed}"),
            }
        }
        seen
    };
    let mut seen = BTreeSet::new();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|worker| scope.spawn(move || play_share(worker))).collect();
        for worker in workers {
            seen.extend(worker.join().unwrap());
        }
    });
    let missing: Vec<_> = SIGHTS.iter().filter(|sight| !seen.contains(*sight)).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}");
}
