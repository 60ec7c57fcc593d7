//! Creating and finding sessions.

use std::sync::Arc;

use secateur_store::{Commit, Forget, Fork, NewSession, SessionCursor, SessionRow, Store, StoreError};

use crate::rows::{message, new_session, says, session_of};
use secateur_testing::{StoreHome, on_each_home, on_each_store};

on_each_store!(
    a_new_session_is_empty_and_at_revision_0,
    an_id_that_is_taken_is_refused,
    a_session_that_is_not_there_is_refused_everywhere,
    sessions_come_in_the_order_of_their_last_change,
    pages_of_sessions_go_on_where_the_last_one_ended,
    ids_are_told_apart_byte_by_byte,
);
on_each_home!(a_session_is_there_when_the_store_is_opened_again);

async fn a_new_session_is_empty_and_at_revision_0(store: Arc<dyn Store>) {
    let row = store.create(new_session("s")).await.unwrap();
    let NewSession { id, wire, profile, title, envelope, state, time } = new_session("s");
    let (created, updated) = (time, time);
    let expected = SessionRow {
        id,
        wire,
        profile,
        title,
        envelope,
        state,
        live_from: 1,
        created,
        updated,
        ..SessionRow::default()
    };
    assert_eq!(row, expected);
    assert_eq!(store.session("s").await.unwrap(), expected);
    let loaded = store.load("s").await.unwrap();
    assert_eq!((loaded.session, loaded.messages), (expected, vec![]));
    let untitled = store.create(NewSession { title: None, ..new_session("t") }).await.unwrap();
    assert_eq!(untitled.title, None);
}

async fn an_id_that_is_taken_is_refused(store: Arc<dyn Store>) {
    let row = session_of(&store, "s", &["a"]).await;
    let again = store.create(NewSession { profile: "other".to_owned(), ..new_session("s") }).await;
    assert!(matches!(again, Err(StoreError::SessionExists { id }) if id == "s"));
    assert_eq!(store.session("s").await.unwrap(), row);
}

async fn a_session_that_is_not_there_is_refused_everywhere(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    for id in ["none", "", "a\0b", "S"] {
        let refusals = [
            store.session(id).await.err(),
            store.load(id).await.err(),
            store.commit(id, Commit::default()).await.err(),
            store.originals(id, &[1]).await.err(),
            store.messages(id, 0, 9).await.err(),
            store.facts(id, 0, 9).await.err(),
            store.operations(id, 0, 9).await.err(),
            store.events(id, 0, 9).await.err(),
            store.lease(id, "me", 1000).await.err(),
            store.forget(id, Forget::default()).await.err(),
            store.fork(id, Fork::default()).await.err(),
        ];
        for (at, refusal) in refusals.into_iter().enumerate() {
            assert!(
                matches!(refusal, Some(StoreError::NoSession { id: named }) if named == id),
                "{id:?} {at}"
            );
        }
        store.release(id, "me").await.unwrap();
    }
}

async fn sessions_come_in_the_order_of_their_last_change(store: Arc<dyn Store>) {
    for (id, time) in [("a", 10), ("b", 20), ("c", 30), ("d", 30)] {
        store.create(NewSession { time, ..new_session(id) }).await.unwrap();
    }
    store.commit("a", Commit { time: 25, ..Commit::default() }).await.unwrap();
    let ids = |rows: Vec<SessionRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    assert_eq!(ids(store.sessions(usize::MAX).await.unwrap()), ["d", "c", "a", "b"]);
    assert_eq!(ids(store.sessions(2).await.unwrap()), ["d", "c"]);
    assert!(store.sessions(0).await.unwrap().is_empty());
    assert_eq!(store.sessions(3).await.unwrap().last(), Some(&store.session("a").await.unwrap()));
}

async fn pages_of_sessions_go_on_where_the_last_one_ended(store: Arc<dyn Store>) {
    // Several were changed at the same time, some before 1970; ids are compared byte by byte.
    for (id, time) in [("a", 10), ("B", 10), ("\u{e9}", 10), ("z", 10), ("old", -5), ("new", 99), ("ab", 10)]
    {
        store.create(NewSession { time, ..new_session(id) }).await.unwrap();
    }
    let all = store.sessions(usize::MAX).await.unwrap();
    for limit in 1..=all.len() {
        let mut seen = store.sessions(limit).await.unwrap();
        while let Some(SessionRow { id, updated, .. }) = seen.last().cloned() {
            let page = store.sessions_after(&SessionCursor { updated, id }, limit).await.unwrap();
            assert!(page.len() <= limit);
            if page.is_empty() {
                break;
            }
            seen.extend(page);
        }
        assert_eq!(seen, all, "in pages of {limit}");
    }
    // A cursor need not belong to a session, nor have an id that a session could have.
    let ids = |rows: Vec<SessionRow>| rows.into_iter().map(|row| row.id).collect::<Vec<_>>();
    let after = async |updated, id: &str| {
        let place = SessionCursor { updated, id: id.to_owned() };
        ids(store.sessions_after(&place, usize::MAX).await.unwrap())
    };
    assert_eq!(after(10, "aa").await, ["a", "B", "old"]);
    assert_eq!(after(10, "a\0b").await, ["a", "B", "old"]);
    assert_eq!(after(10, "").await, ["old"]);
    assert_eq!(after(i64::MAX, "\u{10ffff}").await.len(), all.len());
    assert!(after(i64::MIN, "").await.is_empty());
}

async fn ids_are_told_apart_byte_by_byte(store: Arc<dyn Store>) {
    // Composed and decomposed, with a space, in another case, with wildcards.
    for id in ["\u{e9}", "e\u{301}", "x", "x ", "X", "%", "_", "'; --"] {
        store.create(NewSession { title: Some(id.to_owned()), ..new_session(id) }).await.unwrap();
        store.commit(id, says(0, vec![message(id, id.as_bytes())])).await.unwrap();
    }
    for id in ["\u{e9}", "e\u{301}", "x", "x ", "X", "%", "_", "'; --"] {
        assert_eq!(store.session(id).await.unwrap().title.as_deref(), Some(id));
        assert_eq!(store.load(id).await.unwrap().messages[0].body, id.as_bytes());
    }
}

async fn a_session_is_there_when_the_store_is_opened_again(home: StoreHome) {
    let row = session_of(&home.open().await, "s", &["a", "b"]).await;
    let store = home.open().await;
    assert_eq!(store.load("s").await.unwrap().session, row);
    assert_eq!(store.load("s").await.unwrap().messages.len(), 2);
}
