//! Deleting originals.

use std::sync::Arc;

use secateur_store::{Commit, Forget, Forgotten, MessageChange, Store, StoreError};

use crate::rows::{everything, loaded_texts, message, new_session, says, session_of, texts};
use secateur_testing::{Backend, StoreHome, on_each_home, on_each_store};

on_each_store!(
    messages_that_are_gone_lose_their_bodies,
    messages_that_are_cut_lose_their_originals_only,
    what_is_alive_is_not_forgotten,
    a_forgotten_original_is_not_shown_again,
    forgetting_is_refused_like_a_commit,
);
on_each_home!(
    a_body_stays_as_long_as_a_message_refers_to_it,
    what_is_no_longer_shown_is_deleted,
    a_store_that_forgot_and_shrank_is_smaller,
);

fn cut(seq: u64, shown: &[u8]) -> MessageChange {
    MessageChange { seq, shown: Some(Some(shown.to_vec())), ..MessageChange::default() }
}

async fn messages_that_are_gone_lose_their_bodies(store: Arc<dyn Store>) {
    session_of(&store, "s", &["one", "two", "three", "four"]).await;
    let hidden = MessageChange { seq: 4, hidden: Some(true), ..MessageChange::default() };
    let change = vec![cut(2, b"2"), hidden];
    store.commit("s", Commit { change, live_from: Some(3), ..says(1, vec![]) }).await.unwrap();
    let forget =
        Forget { revision: 2, time: 9_000, gone: vec![4, 2, 1, 2], cut: vec![2], ..Forget::default() };
    let forgotten = store.forget("s", forget).await.unwrap();
    assert_eq!(forgotten, Forgotten { messages: 3, bytes: 10, revision: 3 });
    let session = store.session("s").await.unwrap();
    assert_eq!((session.revision, session.updated, session.head), (3, 9_000, 4));
    assert_eq!(texts(&store.messages("s", 1, 9).await.unwrap()), ["", "", "three", ""]);
    assert_eq!(
        store.originals("s", &[1, 2, 3, 4]).await.unwrap(),
        [None, None, Some(b"three".to_vec()), None]
    );
    // The second time there is nothing left.
    let forgotten =
        store.forget("s", Forget { revision: 3, gone: vec![1], ..Forget::default() }).await.unwrap();
    assert_eq!(forgotten, Forgotten { messages: 0, bytes: 0, revision: 4 });
}

async fn messages_that_are_cut_lose_their_originals_only(store: Arc<dyn Store>) {
    session_of(&store, "s", &["one", "two", "three"]).await;
    let change = vec![cut(1, b"1"), cut(3, b"three")];
    store.commit("s", Commit { change, ..says(1, vec![]) }).await.unwrap();
    let forget = Forget { revision: 2, cut: vec![1, 2, 3], ..Forget::default() };
    let forgotten = store.forget("s", forget.clone()).await.unwrap();
    // The second was never cut, and the third shows its original.
    assert_eq!(forgotten, Forgotten { messages: 1, bytes: 3, revision: 3 });
    assert_eq!(loaded_texts(&store, "s").await, ["1", "two", "three"]);
    let originals = store.originals("s", &[1, 2, 3]).await.unwrap();
    assert_eq!(originals, [None, Some(b"two".to_vec()), Some(b"three".to_vec())]);
    let again = store.forget("s", Forget { revision: 3, ..forget }).await.unwrap();
    assert_eq!((again.messages, again.bytes), (0, 0));
}

async fn what_is_alive_is_not_forgotten(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    let pinned = MessageChange { seq: 1, pinned: Some(true), ..MessageChange::default() };
    store.commit("s", Commit { change: vec![pinned], live_from: Some(3), ..says(1, vec![]) }).await.unwrap();
    let before = everything(&store, "s").await;
    for seq in [1, 3] {
        let refused =
            store.forget("s", Forget { revision: 2, gone: vec![2, seq], ..Forget::default() }).await;
        assert!(matches!(refused, Err(StoreError::Alive { seq: named, .. }) if named == seq));
    }
    assert_eq!(everything(&store, "s").await, before);
}

async fn a_forgotten_original_is_not_shown_again(store: Arc<dyn Store>) {
    session_of(&store, "s", &["one", "two"]).await;
    store.commit("s", Commit { change: vec![cut(1, b"1")], ..says(1, vec![]) }).await.unwrap();
    store.forget("s", Forget { revision: 2, cut: vec![1], ..Forget::default() }).await.unwrap();
    let before = everything(&store, "s").await;
    let back = MessageChange { seq: 1, shown: Some(None), ..MessageChange::default() };
    let refused = store.commit("s", Commit { change: vec![cut(2, b"2"), back], ..says(3, vec![]) }).await;
    assert!(matches!(refused, Err(StoreError::OriginalForgotten { seq: 1, .. })), "{refused:?}");
    assert_eq!(everything(&store, "s").await, before);
    // Another body may be shown, even if it happens to equal the original.
    store.commit("s", Commit { change: vec![cut(1, b"one")], ..says(3, vec![]) }).await.unwrap();
    assert_eq!(loaded_texts(&store, "s").await, ["one", "two"]);
}

async fn forgetting_is_refused_like_a_commit(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    store.commit("s", Commit { live_from: Some(2), ..says(1, vec![]) }).await.unwrap();
    let before = everything(&store, "s").await;
    let stale = store.forget("s", Forget { revision: 1, gone: vec![1], ..Forget::default() }).await;
    assert!(matches!(stale, Err(StoreError::Stale { expected: 1, found: 2, .. })));
    for seq in [0, 3, u64::MAX] {
        for (gone, cut) in [(vec![1, seq], vec![]), (vec![1], vec![seq])] {
            let refused = store.forget("s", Forget { revision: 2, gone, cut, ..Forget::default() }).await;
            assert!(matches!(refused, Err(StoreError::NoMessage { seq: named, .. }) if named == seq));
        }
    }
    assert_eq!(everything(&store, "s").await, before);
    store.forget("s", Forget { revision: 2, gone: vec![1], ..Forget::default() }).await.unwrap();
    // A writer that loaded before does not know that an original is gone.
    let late = store.commit("s", says(2, vec![message("c", b"c")])).await;
    assert!(matches!(late, Err(StoreError::Stale { expected: 2, found: 3, .. })));
}

async fn a_body_stays_as_long_as_a_message_refers_to_it(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["same", "x"]).await;
    session_of(&store, "t", &["same", "y"]).await;
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 3);
    for id in ["s", "t"] {
        store.commit(id, Commit { live_from: Some(2), ..says(1, vec![]) }).await.unwrap();
    }
    let gone = Forget { revision: 2, gone: vec![1], ..Forget::default() };
    assert_eq!(store.forget("s", gone.clone()).await.unwrap().bytes, 4);
    assert_eq!(store.originals("t", &[1]).await.unwrap(), [Some(b"same".to_vec())]);
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 3);
    store.forget("t", gone).await.unwrap();
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
}

async fn what_is_no_longer_shown_is_deleted(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["a", "b"]).await;
    for (revision, shown, bodies) in [(1, "A", 3), (2, "AA", 3), (3, "b", 2), (4, "a", 2), (5, "A", 3)] {
        let change = vec![cut(1, shown.as_bytes())];
        store.commit("s", Commit { change, ..says(revision, vec![]) }).await.unwrap();
        assert_eq!(loaded_texts(&store, "s").await, [shown, "b"]);
        assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, bodies, "{shown}");
    }
    let change = vec![MessageChange { seq: 1, shown: Some(None), ..MessageChange::default() }];
    store.commit("s", Commit { change, ..says(6, vec![]) }).await.unwrap();
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
    // The bodies of a refused commit are not stored.
    let refused = store.commit("s", says(0, vec![message("c", b"c")])).await;
    assert!(matches!(refused, Err(StoreError::Stale { .. })));
    let known = store.commit("s", says(7, vec![message("d", b"d"), message("a", b"e")])).await;
    assert!(matches!(known, Err(StoreError::Known { .. })));
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
}

async fn a_store_that_forgot_and_shrank_is_smaller(home: StoreHome) {
    let store = home.open().await;
    store.create(new_session("s")).await.unwrap();
    // Incompressible bodies, from a simple generator.
    let noise = |mut seed: u64| {
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (seed >> 56) as u8
        };
        (0..100_000).map(|_| next()).collect::<Vec<u8>>()
    };
    let append = (1..=30).map(|n| message(&format!("m{n}"), &noise(n))).collect();
    store.commit("s", Commit { live_from: Some(30), ..says(0, append) }).await.unwrap();
    store.shrink().await.unwrap();
    let before = size(&home).await;
    assert!(before > 3_000_000, "{before}");
    let forget = Forget { revision: 1, gone: (1..=29).collect(), ..Forget::default() };
    assert_eq!(store.forget("s", forget).await.unwrap().bytes, 2_900_000);
    store.shrink().await.unwrap();
    let after = size(&home).await;
    assert!(after < before / 5, "{before} became {after}");
    assert_eq!(store.load("s").await.unwrap().messages[0].body, noise(30));
}

async fn size(home: &StoreHome) -> i64 {
    if home.backend == Backend::Postgres {
        return home.query_number("SELECT pg_total_relation_size('bodies')").await;
    }
    let files = std::fs::read_dir(home.folder()).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len() as i64).sum()
}
