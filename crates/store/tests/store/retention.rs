//! Deleting whole sessions.

use std::sync::Arc;

use secateur_store::{Commit, MessageChange, SessionCursor, Store, StoreError, Swept, TenantScope};

use crate::rows::{loaded_texts, message, new_session, operation, says, session_of};
use secateur_testing::{Backend, StoreHome, on_each_database, on_each_home};

on_each_database!(
    a_deleted_session_is_gone_at_once_and_its_name_is_free,
    a_session_that_was_used_since_is_not_deleted,
    sessions_are_listed_least_recently_used_first,
    one_owner_at_a_time_applies_retention,
    use_is_noted_without_a_new_revision,
);
on_each_home!(
    a_deleted_session_leaves_no_rows_whatever_the_size_of_a_step,
    a_body_that_another_session_refers_to_stays,
    what_a_dead_process_left_is_removed_by_another,
    a_writer_of_a_deleted_session_is_told_that_it_is_gone,
    freed_space_is_returned_in_steps,
    a_fork_that_is_made_while_its_parent_is_deleted_is_whole,
    sessions_of_tenants_are_deleted_apart,
);

/// A session with a row in every table.
async fn full_session(store: &Arc<dyn Store>, id: &str, word: &str) {
    store.create(new_session(id)).await.unwrap();
    let texts: Vec<String> = (0..7).map(|number| format!("{word} {number} of {id}")).collect();
    let append = texts.iter().map(|text| message(text, text.as_bytes())).collect();
    let clipping = secateur_store::NewClipping {
        seq: 1,
        handle: format!("h{id}"),
        text: format!("{word} clipped"),
        ..secateur_store::NewClipping::default()
    };
    let commit = Commit {
        operations: vec![operation("prune"), operation("compact")],
        events: vec!["{}".to_owned(), "[]".to_owned(), "1".to_owned()],
        change: vec![MessageChange {
            seq: 2,
            shown: Some(Some(b"short".to_vec())),
            ..MessageChange::default()
        }],
        clippings: vec![clipping],
        ..says(0, append)
    };
    store.commit(id, commit).await.unwrap();
    store.lease(id, "me", 60_000).await.unwrap().unwrap();
}

/// Removes all rows of deleted sessions, a number at once.
async fn sweep(store: &Arc<dyn Store>, rows: usize) -> Swept {
    let mut sum = Swept::default();
    while !sum.is_done {
        let swept = store.retention().unwrap().sweep(rows).await.unwrap();
        sum.sessions += swept.sessions;
        sum.bytes += swept.bytes;
        sum.is_done = swept.is_done;
    }
    sum
}

const TABLES: [&str; 7] = ["sessions", "messages", "bodies", "operations", "events", "leases", "clippings"];

async fn rows(home: &StoreHome) -> Vec<i64> {
    let mut counts = Vec::new();
    for table in TABLES {
        counts.push(home.query_number(&format!("SELECT COUNT(*) FROM {table}")).await);
    }
    counts
}

async fn a_deleted_session_is_gone_at_once_and_its_name_is_free(store: Arc<dyn Store>) {
    full_session(&store, "s", "xylophone").await;
    full_session(&store, "t", "zither").await;
    assert!(store.retention().unwrap().delete("s", i64::MAX).await.unwrap());
    assert!(matches!(store.load("s").await, Err(StoreError::NoSession { .. })));
    let again = store.retention().unwrap().delete("s", i64::MAX).await;
    assert!(matches!(again, Err(StoreError::NoSession { .. })), "{again:?}");
    let ids = |rows: Vec<secateur_store::SessionRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(store.sessions(9).await.unwrap()), ["t"]);
    let first = SessionCursor { updated: i64::MAX, id: String::new() };
    assert_eq!(ids(store.sessions_after(&first, 9).await.unwrap()), ["t"]);
    assert_eq!(store.find(&["xylophone 0 of s".to_owned()]).await.unwrap(), []);
    assert_eq!(store.clippings("hs").await.unwrap(), []);
    let words =
        |words: &str| secateur_store::ClippingSearch { words: words.to_owned(), session: None, limit: 9 };
    assert_eq!(store.search(words("xylophone")).await.unwrap(), []);
    assert_eq!(store.search(words("zither")).await.unwrap().len(), 1);
    // The rows are still there, and the name can be used.
    session_of(&store, "s", &["new"]).await;
    assert_eq!(sweep(&store, 3).await.sessions, 1);
    assert_eq!(loaded_texts(&store, "s").await, ["new"]);
}

async fn a_session_that_was_used_since_is_not_deleted(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let used = store.session("s").await.unwrap().updated;
    assert!(!store.retention().unwrap().delete("s", used).await.unwrap());
    assert_eq!(loaded_texts(&store, "s").await, ["a"]);
    assert!(store.retention().unwrap().delete("s", used + 1).await.unwrap());
}

async fn sessions_are_listed_least_recently_used_first(store: Arc<dyn Store>) {
    for (id, time) in [("c", 30), ("a", 10), ("b", 20), ("d", 10)] {
        store.create(secateur_store::NewSession { time, ..new_session(id) }).await.unwrap();
    }
    let ids = async |before, after: Option<&SessionCursor>, limit| {
        let found = store.retention().unwrap().unused(before, after, limit).await.unwrap();
        found.into_iter().map(|place| place.id).collect::<Vec<_>>()
    };
    assert_eq!(ids(30, None, 9).await, ["a", "d", "b"]);
    assert_eq!(ids(99, None, 2).await, ["a", "d"]);
    let after = SessionCursor { updated: 10, id: "d".to_owned() };
    assert_eq!(ids(99, Some(&after), 9).await, ["b", "c"]);
    store.retention().unwrap().delete("b", i64::MAX).await.unwrap();
    assert_eq!(ids(99, Some(&after), 9).await, ["c"]);
}

async fn one_owner_at_a_time_applies_retention(store: Arc<dyn Store>) {
    let retention = store.retention().unwrap();
    assert!(retention.claim("one", 60_000).await.unwrap());
    assert!(!retention.claim("two", 60_000).await.unwrap());
    assert!(retention.claim("one", 0).await.unwrap());
    assert!(retention.claim("two", 60_000).await.unwrap());
    assert!(!retention.claim("one", 60_000).await.unwrap());
}

async fn use_is_noted_without_a_new_revision(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let before = store.session("s").await.unwrap();
    store.touch("s", before.updated + 5).await.unwrap();
    store.touch("s", before.updated + 1).await.unwrap();
    store.touch("nobody", 1).await.unwrap();
    let after = store.session("s").await.unwrap();
    assert_eq!((after.updated, after.revision), (before.updated + 5, before.revision));
}

async fn a_deleted_session_leaves_no_rows_whatever_the_size_of_a_step(home: StoreHome) {
    let store = home.open().await;
    full_session(&store, "t", "zither").await;
    let without = rows(&home).await;
    for step in [1, 2, 3, 5, 8, 1_000] {
        full_session(&store, "s", "xylophone").await;
        assert_ne!(rows(&home).await, without);
        store.retention().unwrap().delete("s", i64::MAX).await.unwrap();
        assert_eq!(sweep(&store, step).await.sessions, 1, "{step}");
        assert_eq!(rows(&home).await, without, "{step}");
        store.shrink().await.unwrap();
        let raw = String::from_utf8_lossy(&home.raw_bytes().await).into_owned();
        assert!(!raw.contains("xylophone") && raw.contains("zither"), "{step}");
    }
}

async fn a_body_that_another_session_refers_to_stays(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["same", "x"]).await;
    session_of(&store, "t", &["same", "y"]).await;
    store.retention().unwrap().delete("s", i64::MAX).await.unwrap();
    sweep(&store, 1).await;
    assert_eq!(loaded_texts(&store, "t").await, ["same", "y"]);
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
}

async fn what_a_dead_process_left_is_removed_by_another(home: StoreHome) {
    let store = home.open().await;
    full_session(&store, "s", "xylophone").await;
    store.retention().unwrap().delete("s", i64::MAX).await.unwrap();
    assert!(!store.retention().unwrap().sweep(2).await.unwrap().is_done);
    drop(store);
    let store = home.open().await;
    assert_eq!(sweep(&store, 4).await.sessions, 1);
    assert_eq!(rows(&home).await, [0; 7]);
}

async fn a_writer_of_a_deleted_session_is_told_that_it_is_gone(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["a"]).await;
    home.open().await.retention().unwrap().delete("s", i64::MAX).await.unwrap();
    let late = store.commit("s", says(1, vec![message("b", b"b")])).await;
    assert!(matches!(late, Err(StoreError::NoSession { .. })), "{late:?}");
    let late = store.lease("s", "me", 1_000).await;
    assert!(matches!(late, Err(StoreError::NoSession { .. })), "{late:?}");
}

/// Bytes that cannot be compressed.
fn noise(mut seed: u64) -> Vec<u8> {
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    (0..100_000).map(|_| next()).collect()
}

async fn freed_space_is_returned_in_steps(home: StoreHome) {
    let store = home.open().await;
    for id in ["s", "t"] {
        store.create(new_session(id)).await.unwrap();
        let first = if id == "s" { 1 } else { 100 };
        let append = (first..first + 20).map(|n| message(&format!("m{n}"), &noise(n))).collect();
        store.commit(id, says(0, append)).await.unwrap();
    }
    let before = store.retention().unwrap().size().await.unwrap();
    assert!(before >= 4_000_000, "{before}");
    store.retention().unwrap().delete("s", i64::MAX).await.unwrap();
    let swept = sweep(&store, 5).await;
    let after = store.retention().unwrap().size().await.unwrap();
    assert_eq!(before - after, swept.bytes);
    assert!(after < before * 6 / 10, "{before} became {after}");
    let mut steps = 0;
    while !store.retention().unwrap().give_back().await.unwrap() {
        steps += 1;
    }
    if home.backend != Backend::Postgres {
        assert!(steps > 2, "{steps}");
        let files = std::fs::read_dir(home.folder()).unwrap();
        let size: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        assert!(size < before * 6 / 10, "{before} became {size}");
    }
    assert_eq!(store.load("t").await.unwrap().messages[0].body, noise(100));
}

async fn a_fork_that_is_made_while_its_parent_is_deleted_is_whole(home: StoreHome) {
    let store = home.open().await;
    for round in 0..20 {
        let (parent, child) = (format!("p{round}"), format!("c{round}"));
        let texts: Vec<String> = (0..10).map(|n| format!("{round} {n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        session_of(&store, &parent, &texts).await;
        let other = home.open().await;
        let name = parent.clone();
        let deleting = tokio::spawn(async move {
            other.retention().unwrap().delete(&name, i64::MAX).await.unwrap();
            sweep(&other, 3).await;
        });
        let fork = secateur_store::Fork { revision: 1, at: 10, id: child.clone(), ..Default::default() };
        match store.fork(&parent, fork).await {
            Ok(_) => assert_eq!(loaded_texts(&store, &child).await, texts),
            Err(error) => assert!(matches!(error, StoreError::NoSession { .. }), "{error}"),
        }
        deleting.await.unwrap();
        if store.session(&child).await.is_ok() {
            assert_eq!(loaded_texts(&store, &child).await, texts, "after the parent is gone");
        }
    }
}

async fn sessions_of_tenants_are_deleted_apart(home: StoreHome) {
    let store = home.open().await;
    let anna = store.scoped(TenantScope::One("anna".to_owned()));
    let all = store.scoped(TenantScope::All);
    session_of(&store, "mine", &["same", "x"]).await;
    session_of(&anna, "hers", &["same", "longer than the others"]).await;
    let sizes = all.retention().unwrap().tenant_sizes().await.unwrap();
    let names: Vec<&str> = sizes.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["", "anna"]);
    assert!(sizes[0].1 > 0 && sizes[1].1 > sizes[0].1, "{sizes:?}");
    // A tenant neither sees nor deletes the sessions of others.
    let unused = async |store: &Arc<dyn Store>| {
        let found = store.retention().unwrap().unused(i64::MAX, None, 9).await.unwrap();
        found.into_iter().map(|place| place.id).collect::<Vec<_>>()
    };
    assert_eq!(unused(&anna).await, ["hers"]);
    assert_eq!(unused(&store).await, ["mine"]);
    assert_eq!(unused(&all).await, ["hers", "mine"]);
    let foreign = store.retention().unwrap().delete("hers", i64::MAX).await;
    assert!(matches!(foreign, Err(StoreError::NoSession { .. })), "{foreign:?}");
    store.touch("hers", i64::MAX).await.unwrap();
    assert!(anna.session("hers").await.unwrap().updated < i64::MAX);
    // The operator does.
    assert!(all.retention().unwrap().delete("hers", i64::MAX).await.unwrap());
    sweep(&store, 1).await;
    assert_eq!(unused(&all).await, ["mine"]);
    assert_eq!(loaded_texts(&store, "mine").await, ["same", "x"]);
    assert_eq!(home.query_all_tenants("SELECT COUNT(*) FROM bodies").await, 2);
}
