//! Leases: who may compact a session.

use std::sync::Arc;
use std::time::Duration;

use secateur_store::{Commit, Lease, Store, StoreError};

use crate::rows::{everything, message, says, session_of};
use secateur_testing::{StoreHome, on_each_home, on_each_store};

on_each_store!(
    one_holds_the_lease_until_it_is_given_back,
    a_holder_renews_and_keeps_the_token,
    a_lease_that_ran_out_goes_to_the_next_with_a_higher_token,
    a_commit_with_a_lost_lease_changes_nothing,
    a_commit_with_an_expired_lease_is_kept_if_no_other_took_it,
    only_the_holder_gives_a_lease_back,
    leases_of_sessions_are_independent,
    a_lease_for_ever_is_taken,
);
on_each_home!(of_many_that_want_a_lease_one_gets_it, a_lease_from_before_the_clock_was_set_back_has_expired,);

const HOUR: u64 = 3_600_000;

async fn take(store: &Arc<dyn Store>, owner: &str, ttl_ms: u64) -> Option<u64> {
    let lease = store.lease("s", owner, ttl_ms).await.unwrap();
    lease.map(|Lease { owner: holder, token }| {
        assert_eq!(holder, owner);
        token
    })
}

/// Waits until a lease of one millisecond has expired.
async fn outlive() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

fn fenced(revision: u64, token: u64) -> Commit {
    Commit { lease: Some(token), ..says(revision, vec![message(&format!("m{revision}"), b"x")]) }
}

async fn one_holds_the_lease_until_it_is_given_back(store: Arc<dyn Store>) {
    session_of(&store, "s", &[]).await;
    let first = take(&store, "me", HOUR).await.unwrap();
    assert_eq!(take(&store, "you", HOUR).await, None);
    store.release("s", "me").await.unwrap();
    let second = take(&store, "you", HOUR).await.unwrap();
    assert!(second > first);
    assert_eq!(take(&store, "me", HOUR).await, None);
    store.release("s", "you").await.unwrap();
    assert!(take(&store, "you", HOUR).await.unwrap() > second);
}

async fn a_holder_renews_and_keeps_the_token(store: Arc<dyn Store>) {
    session_of(&store, "s", &[]).await;
    let token = take(&store, "me", 1).await;
    assert_eq!(take(&store, "me", HOUR).await, token);
    outlive().await;
    assert_eq!(take(&store, "you", HOUR).await, None);
    // A shorter time counts as well.
    assert_eq!(take(&store, "me", 0).await, token);
    assert!(take(&store, "you", HOUR).await > token);
}

async fn a_lease_that_ran_out_goes_to_the_next_with_a_higher_token(store: Arc<dyn Store>) {
    session_of(&store, "s", &[]).await;
    let mut last = None;
    for owner in ["a", "b", "a", "c"] {
        let token = take(&store, owner, 1).await;
        assert!(token > last);
        last = token;
        outlive().await;
    }
}

async fn a_commit_with_a_lost_lease_changes_nothing(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let lost =
        |result: Result<_, StoreError>| matches!(result, Err(StoreError::LeaseLost { id }) if id == "s");
    assert!(lost(store.commit("s", fenced(1, 1)).await));
    let mine = take(&store, "me", 1).await.unwrap();
    outlive().await;
    let yours = take(&store, "you", HOUR).await.unwrap();
    let before = everything(&store, "s").await;
    for token in [mine, yours + 1, 0, u64::MAX] {
        assert!(lost(store.commit("s", fenced(1, token)).await));
    }
    assert_eq!(everything(&store, "s").await, before);
    store.commit("s", fenced(1, yours)).await.unwrap();
    // A commit without a lease is not checked for one.
    store.commit("s", says(2, vec![message("b", b"b")])).await.unwrap();
    store.release("s", "you").await.unwrap();
    assert!(lost(store.commit("s", fenced(3, yours)).await));
    // Staleness is reported first.
    assert!(matches!(store.commit("s", fenced(1, mine)).await, Err(StoreError::Stale { .. })));
}

async fn a_commit_with_an_expired_lease_is_kept_if_no_other_took_it(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let mine = take(&store, "me", 1).await.unwrap();
    outlive().await;
    store.commit("s", fenced(1, mine)).await.unwrap();
}

async fn only_the_holder_gives_a_lease_back(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    store.release("s", "me").await.unwrap();
    let mine = take(&store, "me", HOUR).await.unwrap();
    store.release("s", "you").await.unwrap();
    store.release("s", "m\0e").await.unwrap();
    assert_eq!(take(&store, "you", HOUR).await, None);
    store.commit("s", fenced(1, mine)).await.unwrap();
}

async fn leases_of_sessions_are_independent(store: Arc<dyn Store>) {
    session_of(&store, "s", &[]).await;
    session_of(&store, "t", &[]).await;
    take(&store, "me", HOUR).await.unwrap();
    assert!(store.lease("t", "you", HOUR).await.unwrap().is_some());
}

async fn a_lease_for_ever_is_taken(store: Arc<dyn Store>) {
    session_of(&store, "s", &[]).await;
    take(&store, "me", u64::MAX).await.unwrap();
    outlive().await;
    assert_eq!(take(&store, "you", u64::MAX).await, None);
}

async fn of_many_that_want_a_lease_one_gets_it(home: StoreHome) {
    let stores = [home.open().await, home.open().await];
    session_of(&stores[0], "s", &[]).await;
    for round in 0..5 {
        let mut tasks = Vec::new();
        for n in 0..8 {
            let store = Arc::clone(&stores[n % 2]);
            tasks.push(tokio::spawn(
                async move { take(&store, &format!("owner {n}"), HOUR).await.map(|_| n) },
            ));
        }
        let mut holders = Vec::new();
        for task in tasks {
            holders.extend(task.await.unwrap());
        }
        assert_eq!(holders.len(), 1, "round {round}");
        stores[0].release("s", &format!("owner {}", holders[0])).await.unwrap();
    }
}

async fn a_lease_from_before_the_clock_was_set_back_has_expired(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &[]).await;
    let before = take(&store, "killed", HOUR).await.unwrap();
    assert_eq!(take(&store, "me", HOUR).await, None);
    // As if it had been taken an hour later, and the clock set back since.
    home.run_sql("UPDATE leases SET expires = expires + 3600000").await;
    let mine = take(&store, "me", HOUR).await.unwrap();
    assert!(mine > before);
    assert_eq!(take(&store, "killed", HOUR).await, None);
    home.run_sql("UPDATE leases SET expires = 9223372036854775807").await;
    assert!(take(&store, "killed", HOUR).await.unwrap() > mine);
}
