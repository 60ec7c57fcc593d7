//! The proxy's conversations in a world where everything goes wrong.
//!
//! Clients talk, two processes of the proxy decide, a store stores, a provider answers and a model summarises, all in
//! memory and in virtual time. All of them fail at random: calls of the store fail before or after they are done, hang, or
//! lose their answers; processes die; power goes off; disks are full; clocks jump; stored values are damaged; requests come
//! twice, at once, to both processes; clients fork, go back and go on. Whatever happens:
//!
//! * no request fails that the provider would have accepted, or that could be made to fit: it enforces its window exactly;
//! * every byte that is sent is the client's own, in its order, or a placeholder that names exactly what it stands for, or
//!   a summary of nothing but this client's history;
//! * every handle that was sent while the store worked recalls exactly its text, whatever was killed since;
//! * between two decisions what was sent before is sent again byte for byte, by every process;
//! * two tenants never share a session.
//!
//! `SECATEUR_SIMULATIONS=1000000` plays more schedules, `SECATEUR_SIMULATIONS=7..8` one. What happened in one that fails is
//! printed.

mod client;
mod client_message;
mod exchange;
mod process;
mod provider;
mod repertoire;
mod sent_request;
mod stability;
mod summariser;
mod world;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use repertoire::{ALL, Repertoire};
use world::World;

/// How many schedules are played. Without optimisations each takes ten times as long.
const SCHEDULES: u64 = if cfg!(debug_assertions) { 2_000 } else { 100_000 };

thread_local! {
    /// Panics of this thread. Those in background tasks would go unnoticed.
    static PANICS: Cell<u64> = const { Cell::new(0) };
}

/// What came of a schedule.
struct PlayedSchedule {
    has_failed: bool,
    trace: String,
    seen: BTreeSet<&'static str>,
}

/// Plays one schedule.
fn play(seed: u64, repertoire: Repertoire, is_traced: bool) -> PlayedSchedule {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            PANICS.set(PANICS.get() + 1);
            usual(panic);
        }));
    });
    let before = PANICS.get();
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let mut world = runtime.block_on(async { World::new(seed, repertoire, is_traced) });
    let played = catch_unwind(AssertUnwindSafe(|| runtime.block_on(world.run())));
    let has_failed = played.is_err() || PANICS.get() != before;
    PlayedSchedule { has_failed, trace: world.trace().to_owned(), seen: world.seen }
}

/// The schedules that the environment asks for: a number of them, or a range such as `500..1000`.
fn seeds() -> Range<u64> {
    const NAME: &str = "SECATEUR_SIMULATIONS";
    let Ok(text) = std::env::var(NAME) else { return 0..SCHEDULES };
    let number =
        |text: &str| text.parse().unwrap_or_else(|_| panic!("{NAME}={text}: expected 1000 or 500..1000"));
    match text.split_once("..") {
        Some((first, end)) => number(first)..number(end),
        None => 0..number(&text),
    }
}

/// Plays schedules on all cores until one fails. Returns what was seen, or the seed that failed.
fn play_all(seeds: Range<u64>, repertoire: Repertoire) -> Result<BTreeSet<&'static str>, u64> {
    let workers = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let has_ended = AtomicBool::new(false);
    let (seeds, has_ended) = (&seeds, &has_ended);
    let play_share = move |worker: u64| {
        let mut seen = BTreeSet::new();
        for seed in seeds.clone().filter(|seed| seed % workers == worker) {
            if has_ended.load(Ordering::Relaxed) {
                break;
            }
            let played = play(seed, repertoire, false);
            if played.has_failed {
                has_ended.store(true, Ordering::Relaxed);
                return Err(seed);
            }
            seen.extend(played.seen);
        }
        Ok(seen)
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|worker| scope.spawn(move || play_share(worker))).collect();
        let shares = workers.into_iter().map(|worker| worker.join().unwrap());
        let mut seen = BTreeSet::new();
        for share in shares {
            seen.extend(share?);
        }
        Ok(seen)
    })
}

/// What must have happened somewhere, or the schedules prove little.
const SIGHTS: [&str; 8] = [
    "a compaction",
    "a crash",
    "a decision without the store",
    "a provisional decision",
    "a prune",
    "a recall",
    "a replay",
    "a request after a refusal",
];

#[test]
fn whatever_fails_no_request_does_and_no_byte_is_wrong() {
    const NAME: &str = "whatever_fails_no_request_does_and_no_byte_is_wrong";
    let (seeds, repertoire) = (seeds(), ALL.with_environment());
    match play_all(seeds.clone(), repertoire) {
        Err(seed) => {
            // Once more, with what the proxy logs.
            let log = tracing_subscriber::fmt()
                .with_max_level(tracing::Level::DEBUG)
                .without_time()
                .with_test_writer();
            let trace =
                tracing::subscriber::with_default(log.finish(), || play(seed, repertoire, true).trace);
            println!("{trace}");
            let one = format!("{seed}..{}", seed + 1);
            panic!(
                "schedule {seed} failed; again: SECATEUR_SIMULATIONS={one} cargo test -p secateur-server --lib {NAME}"
            );
        }
        Ok(seen) if seeds.end - seeds.start >= SCHEDULES => {
            let missing: Vec<_> = SIGHTS.iter().filter(|sight| !seen.contains(*sight)).collect();
            assert!(missing.is_empty(), "never happened: {missing:?}");
        }
        Ok(_) => {}
    }
}

#[test]
fn a_schedule_is_played_the_same_way_twice() {
    for seed in 0..50 {
        let (once, again) = (play(seed, ALL, true), play(seed, ALL, true));
        assert!(once.trace.len() > 200, "{}", once.trace);
        assert_eq!(once.trace, again.trace, "schedule {seed}");
    }
}
