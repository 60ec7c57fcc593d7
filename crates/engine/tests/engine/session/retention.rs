//! Retention step by step, on a clock that is set.

use std::collections::BTreeSet;
use std::time::Duration;

use secateur_engine::{
    Clock, Engine, LEAST_AGE, NewMessage, Retention, RetentionLimits, RetentionStep, SessionOptions,
};
use secateur_formats::Wire;
use secateur_store::{TenantScope, open as open_store};
use secateur_testing::{StoreHome, on_each_home};

use super::messages::{assistant, turn, user};
use super::setup::open;

on_each_home!(
    sessions_go_by_age_and_those_in_use_stay,
    the_least_recently_used_go_until_the_store_is_small_enough,
    one_process_applies_retention,
    a_session_is_used_at_most_once_an_hour,
    nothing_of_a_deleted_session_is_left,
    a_tenant_that_has_too_much_loses_its_own_sessions_only,
);

const NOW: i64 = 1_700_000_000_000;
const HOUR: i64 = 3_600_000;
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn engine_at(home: &StoreHome) -> (Engine, Clock) {
    let clock = Clock::at(NOW);
    (Engine::new(open_store(&home.url).await.unwrap()).with_clock(clock.clone()), clock)
}

/// A session of this many turns; returns its id.
async fn session(engine: &Engine, turns: usize) -> String {
    let mut session = open(engine, "balanced", Wire::OpenAiChat).await;
    for number in 0..turns {
        session.append(turn(Wire::OpenAiChat, number, 500)).await.unwrap();
    }
    session.id().to_owned()
}

async fn ids(engine: &Engine) -> BTreeSet<String> {
    engine.sessions(99).await.unwrap().into_iter().map(|row| row.id).collect()
}

/// Steps until there is nothing to do. Returns how many sessions and bytes were removed.
async fn apply(engine: &Engine, limits: RetentionLimits, in_use: &[&String]) -> (u64, u64) {
    let mut retention = Retention::new(engine, limits);
    let release = |id: &str| !in_use.iter().any(|used| *used == id);
    let (mut sessions, mut bytes) = (0, 0);
    while let RetentionStep::Worked(swept) = retention.step(&release).await.unwrap() {
        sessions += swept.sessions;
        bytes += swept.bytes;
    }
    (sessions, bytes)
}

/// Whatever is claimed is free again.
async fn free(home: &StoreHome) {
    home.run_sql("DELETE FROM retention").await;
}

async fn sessions_go_by_age_and_those_in_use_stay(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    let (one, two) = (session(&engine, 3).await, session(&engine, 3).await);
    clock.set(NOW + 20 * HOUR);
    let three = session(&engine, 3).await;
    clock.set(NOW + 30 * HOUR);
    let limits = RetentionLimits { age: Some(DAY), size: None, ..RetentionLimits::default() };
    assert_eq!(apply(&engine, limits, &[&two]).await.0, 1);
    assert_eq!(ids(&engine).await, BTreeSet::from([two.clone(), three.clone()]));
    free(&home).await;
    assert_eq!(apply(&engine, limits, &[]).await.0, 1);
    assert_eq!(ids(&engine).await, BTreeSet::from([three]));
    assert!(engine.open(&one).await.is_err());
    // However short the age is, what was used a moment ago stays.
    free(&home).await;
    clock.set(NOW + 20 * HOUR + i64::try_from(LEAST_AGE.as_millis()).unwrap());
    let none = RetentionLimits { age: Some(Duration::ZERO), size: Some(1), ..RetentionLimits::default() };
    assert_eq!(apply(&engine, none, &[]).await.0, 0);
}

async fn the_least_recently_used_go_until_the_store_is_small_enough(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    let mut made = Vec::new();
    for hours in 0..6 {
        clock.set(NOW + hours * HOUR);
        let mut session = open(&engine, "balanced", Wire::OpenAiChat).await;
        let number =
            |n: u64| format!("{:x}", n.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(hours as u32 * 9 + 5));
        let noise: String = (0..40_000).map(number).collect();
        session.append([user(Wire::OpenAiChat, &noise), assistant(Wire::OpenAiChat, "Fine.")]).await.unwrap();
        made.push(session.id().to_owned());
    }
    clock.set(NOW + 20 * HOUR);
    let size = engine.store().retention().unwrap().size().await.unwrap();
    let limits = RetentionLimits { age: None, size: Some(size / 2), ..RetentionLimits::default() };
    let (sessions, bytes) = apply(&engine, limits, &[]).await;
    assert!((2..=4).contains(&sessions), "{sessions} sessions, {bytes} of {size} bytes");
    let left: BTreeSet<String> = made[sessions as usize..].iter().cloned().collect();
    assert_eq!(ids(&engine).await, left, "the oldest went first");
    let now = engine.store().retention().unwrap().size().await.unwrap();
    assert!(now <= size / 2 && size - now == bytes, "{size} became {now}, freed {bytes}");
}

async fn one_process_applies_retention(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    session(&engine, 3).await;
    session(&engine, 3).await;
    clock.set(NOW + 48 * HOUR);
    let limits = RetentionLimits { age: Some(DAY), size: None, ..RetentionLimits::default() };
    let (mut one, mut two) = (Retention::new(&engine, limits), Retention::new(&engine, limits));
    assert!(matches!(one.step(&|_| true).await.unwrap(), RetentionStep::Worked(_)));
    assert_eq!(two.step(&|_| true).await.unwrap(), RetentionStep::Rested);
    while one.step(&|_| true).await.unwrap() != RetentionStep::Rested {}
    assert_eq!(two.step(&|_| true).await.unwrap(), RetentionStep::Rested);
    assert!(ids(&engine).await.is_empty());
}

async fn a_session_is_used_at_most_once_an_hour(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    let mut session = engine.follow_new(SessionOptions::default()).unwrap();
    session.note_use().await.unwrap();
    assert!(engine.session_row(session.id()).await.is_err(), "it is not stored by that");
    session.take([NewMessage::json(r#"{"role":"user","content":"Hello."}"#)]).await.unwrap();
    session.store_confirmed().await.unwrap();
    let id = session.id().to_owned();
    let revision = engine.session_row(&id).await.unwrap().revision;
    for (minutes, noted) in [(59, 0), (61, 61), (100, 61), (121, 121)] {
        clock.set(NOW + minutes * 60_000);
        session.note_use().await.unwrap();
        let row = engine.session_row(&id).await.unwrap();
        assert_eq!((row.updated - NOW, row.revision), (noted * 60_000, revision), "{minutes}");
    }
}

async fn nothing_of_a_deleted_session_is_left(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    let mut session = open(&engine, "balanced", Wire::OpenAiChat).await;
    for number in 0..30 {
        session.append(turn(Wire::OpenAiChat, number, 3_000)).await.unwrap();
        session.append([user(Wire::OpenAiChat, &format!("xylophone{number}"))]).await.unwrap();
        session.context(&super::setup::target(14_000)).await.unwrap();
    }
    session.compact(None).await.unwrap();
    drop(session);
    clock.set(NOW + 48 * HOUR);
    let mut other = open(&engine, "balanced", Wire::OpenAiChat).await;
    other.append([user(Wire::OpenAiChat, "zither")]).await.unwrap();
    apply(&engine, RetentionLimits { age: Some(DAY), size: None, ..RetentionLimits::default() }, &[]).await;
    engine.shrink_store().await.unwrap();
    let raw = String::from_utf8_lossy(&home.raw_bytes().await).into_owned();
    for word in ["xylophone", "src/7.rs", "call-7"] {
        assert!(!raw.contains(word), "{word}");
    }
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
    assert_eq!(engine.search("xylophone3", None, 9).await.unwrap(), []);
}

async fn a_tenant_that_has_too_much_loses_its_own_sessions_only(home: StoreHome) {
    let (engine, clock) = engine_at(&home).await;
    let anna = engine.scoped(TenantScope::One("anna".to_owned()));
    let mine = session(&engine, 3).await;
    let mut hers = Vec::new();
    for hours in 0..4 {
        clock.set(NOW + hours * HOUR);
        let mut session = open(&anna, "balanced", Wire::OpenAiChat).await;
        let words: String = (0..3_000u64)
            .map(|n| format!("{:x} ", (n + hours as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)))
            .collect();
        session.append([user(Wire::OpenAiChat, &words)]).await.unwrap();
        hers.push(session.id().to_owned());
    }
    clock.set(NOW + 48 * HOUR);
    let sizes = engine.store().retention().unwrap().tenant_sizes().await.unwrap();
    let size = sizes.iter().find(|(name, _)| name == "anna").unwrap().1;
    // Enough for two of the four, whose sizes differ a little.
    let limits = RetentionLimits { tenant_size: Some(size * 6 / 10), ..RetentionLimits::default() };
    let (sessions, _) = apply(&engine.scoped(TenantScope::All), limits, &[]).await;
    assert_eq!(sessions, 2, "{sizes:?}");
    assert_eq!(ids(&anna).await, hers[2..].iter().cloned().collect());
    assert_eq!(ids(&engine).await, BTreeSet::from([mine]));
}
