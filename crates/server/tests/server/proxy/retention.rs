//! Sessions that are not used any more are deleted while the proxy runs, and their conversations go on.

use std::collections::BTreeSet;
use std::time::Duration;

use secateur_engine::{Clock, Engine, RetentionLimits};
use secateur_formats::Wire;
use secateur_server::Settings;
use secateur_testing::connection::within;
use secateur_testing::{Agent, StoreHome, on_each_home};

use super::own_paths::{counter, get};
use crate::setup::{Proxy, Setup, catalogue, engine, use_steady_profile};

on_each_home!(
    an_unused_session_is_deleted_and_its_conversation_goes_on,
    a_store_that_is_too_large_loses_the_least_recently_used_sessions,
);

const WINDOW: u64 = 8_000;
const TASK: &str = "SCENARIO:long steps=36 bytes=4000";
const NOW: i64 = 1_700_000_000_000;
const HOUR: i64 = 3_600_000;

/// A proxy whose clock stands still, and an agent with a history of its own that has worked through it until something
/// was compacted. What the proxy stores a moment later has the same time.
async fn worked(home: &StoreHome, time: i64) -> (Setup, Agent) {
    worked_by(home, &Clock::at(time), time).await
}

/// The same with a clock that the test sets.
async fn worked_by(home: &StoreHome, clock: &Clock, time: i64) -> (Setup, Agent) {
    let engine = engine(&home.url).await.with_clock(clock.clone());
    let setup = Setup::with_engine(WINDOW, engine).await;
    let mut agent = Agent::new(Wire::Anthropic, &format!("{TASK} run=r{time}"));
    while agent.step(setup.address()).await.0.outcome() != "compacted" {}
    (setup, agent)
}

async fn engine_at(home: &StoreHome, time: i64) -> Engine {
    engine(&home.url).await.with_clock(Clock::at(time))
}

async fn start(setup: &Setup, engine: &Engine, retention: RetentionLimits) -> Proxy {
    let change = |settings: &mut Settings| {
        use_steady_profile(settings);
        settings.retention = retention;
    };
    Proxy::start(&setup.relay.url(), engine.clone(), catalogue(WINDOW), change).await
}

async fn ids(engine: &Engine) -> Vec<String> {
    engine.sessions(99).await.unwrap().into_iter().map(|row| row.id).collect()
}

/// Waits until a proxy has deleted this many sessions.
async fn has_deleted(proxy: &Proxy, sessions: u64) {
    within(async {
        while counter(&get(proxy.address, "/metrics").await, "secateur_deleted_sessions_total") < sessions {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

async fn an_unused_session_is_deleted_and_its_conversation_goes_on(home: StoreHome) {
    let clock = Clock::at(NOW);
    let (setup, mut old) = worked_by(&home, &clock, NOW).await;
    let engine = engine_at(&home, NOW + 40 * HOUR).await;
    let before = ids(&engine).await;
    let (_later, mut new) = worked(&home, NOW + 40 * HOUR).await;
    let used = ids(&engine).await.into_iter().find(|id| !before.contains(id)).unwrap();
    let age = Some(Duration::from_secs(24 * 3600));
    let proxy = start(&setup, &engine, RetentionLimits { age, ..RetentionLimits::default() }).await;
    has_deleted(&proxy, before.len() as u64).await;
    assert_eq!(ids(&engine).await, [used], "the session that is used stays");
    let bytes = counter(&get(proxy.address, "/metrics").await, "secateur_deleted_bytes_total");
    assert!(bytes > 1_000, "{bytes}");
    // Or else what the first proxy stores from now on would be forty hours old, and be deleted at once.
    clock.set(NOW + 40 * HOUR);
    // The first proxy has the deleted session in memory, the second has not.
    for address in [setup.address(), proxy.address, setup.address()] {
        for agent in [&mut old, &mut new] {
            let (answer, _) = agent.step(address).await;
            assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
            assert_ne!(answer.outcome(), "passed-through", "{}", answer.head);
        }
    }
    assert_eq!(setup.model.stats()["violations"], 0);
}

async fn a_store_that_is_too_large_loses_the_least_recently_used_sessions(home: StoreHome) {
    let engine = engine_at(&home, NOW + 5 * HOUR).await;
    let empty = engine.store().retention().unwrap().size().await.unwrap();
    let mut agents = Vec::new();
    for hours in 1..=4 {
        agents.push(worked(&home, NOW + hours * HOUR).await);
    }
    let sessions = engine.sessions(99).await.unwrap();
    let newest: BTreeSet<&String> =
        sessions.iter().filter(|row| row.updated >= NOW + 3 * HOUR).map(|row| &row.id).collect();
    assert!(!newest.is_empty() && newest.len() < sessions.len());
    // No session that was used in the last two hours is deleted, however large the store is.
    let limits = RetentionLimits { size: Some(1), ..RetentionLimits::default() };
    let proxy = start(&agents[0].0, &engine, limits).await;
    has_deleted(&proxy, (sessions.len() - newest.len()) as u64).await;
    let left = ids(&engine).await;
    assert_eq!(left.iter().collect::<BTreeSet<_>>(), newest);
    drop(proxy);
    assert!(engine.store().retention().unwrap().size().await.unwrap() > empty);
    for (setup, agent) in &mut agents {
        let (answer, _) = agent.step(setup.address()).await;
        assert_eq!(answer.status(), 200, "{}{}", answer.head, answer.body);
        assert_eq!(setup.model.stats()["violations"], 0);
    }
}
