//! Finding messages by id, in all sessions.

use std::sync::Arc;

use secateur_store::{Commit, FoundMessage, MessageChange, NewStoredMessage, Store};

use crate::rows::{message, new_session, operation, says, session_of};
use secateur_testing::on_each_store;

on_each_store!(
    messages_are_found_in_every_session_that_has_them,
    messages_that_are_hidden_or_not_alive_are_found,
    messages_that_an_operation_made_are_not_found,
    ids_that_cannot_be_there_are_not_found,
    the_newest_thousand_are_found,
    one_session_is_found_behind_any_number_of_others,
);

async fn find(store: &Arc<dyn Store>, ids: &[&str]) -> Vec<(String, u64)> {
    let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
    let found = store.find(&ids).await.unwrap();
    found.into_iter().map(|found| (format!("{} in {}", found.id, found.session), found.seq)).collect()
}

async fn messages_are_found_in_every_session_that_has_them(store: Arc<dyn Store>) {
    for (id, messages, time) in [
        ("old", ["a", "b", "c"], 10),
        ("b2", ["b", "x", "a"], 30),
        ("b1", ["y", "a", "b"], 30),
        ("other", ["x", "y", "z"], 40),
    ] {
        session_of(&store, id, &messages).await;
        store.commit(id, Commit { revision: 1, time, ..Commit::default() }).await.unwrap();
    }
    // Ordered by the sessions' last change, whatever the order of the ids, and each once.
    let expected = [
        ("a in b1".to_owned(), 2),
        ("b in b1".to_owned(), 3),
        ("b in b2".to_owned(), 1),
        ("a in b2".to_owned(), 3),
        ("a in old".to_owned(), 1),
        ("b in old".to_owned(), 2),
    ];
    assert_eq!(find(&store, &["a", "b"]).await, expected);
    assert_eq!(find(&store, &["b", "nothing", "a", "b"]).await, expected);
    assert_eq!(find(&store, &[]).await, []);
    let found = store.find(&["c".to_owned()]).await.unwrap();
    let expected =
        FoundMessage { id: "c".to_owned(), session: "old".to_owned(), seq: 3, head: 3, updated: 10 };
    assert_eq!(found, [expected]);
}

async fn messages_that_are_hidden_or_not_alive_are_found(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    let hidden = MessageChange { seq: 3, hidden: Some(true), ..MessageChange::default() };
    store.commit("s", Commit { change: vec![hidden], live_from: Some(3), ..says(1, vec![]) }).await.unwrap();
    let expected = [("a in s".to_owned(), 1), ("c in s".to_owned(), 3)];
    assert_eq!(find(&store, &["a", "c"]).await, expected);
}

async fn messages_that_an_operation_made_are_not_found(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let summary = NewStoredMessage { operation: Some(1), ..message("summary", b"short") };
    let append = vec![message("a", b"a"), summary];
    let operations = vec![operation("compact")];
    store.commit("s", Commit { operations, ..says(0, append) }).await.unwrap();
    assert_eq!(find(&store, &["a", "summary"]).await, [("a in s".to_owned(), 1)]);
}

async fn ids_that_cannot_be_there_are_not_found(store: Arc<dyn Store>) {
    let strange = ["", "\u{e9}", "\"", "\\", "%", "1", "x "];
    session_of(&store, "s", &strange).await;
    for id in strange {
        assert_eq!(find(&store, &[id]).await.len(), 1, "{id:?}");
    }
    let long = "x".repeat(2_000);
    assert_eq!(find(&store, &["a\0b", "x", "e\u{301}", "1.0", "\0", &long]).await, []);
    assert_eq!(find(&store, &["a\0b", "\u{e9}"]).await.len(), 1);
}

async fn the_newest_thousand_are_found(store: Arc<dyn Store>) {
    let ids: Vec<String> = (0..400).map(|n| format!("m{n}")).collect();
    for (id, time) in [("s1", 1), ("s2", 2), ("s3", 3)] {
        store.create(new_session(id)).await.unwrap();
        let append = ids.iter().map(|id| message(id, b"same")).collect();
        store.commit(id, Commit { time, ..says(0, append) }).await.unwrap();
    }
    let found = store.find(&ids).await.unwrap();
    assert_eq!(found.len(), 1000);
    for (session, part) in ["s3", "s2", "s1"].into_iter().zip(found.chunks(400)) {
        assert!(part.iter().all(|found| found.session == session));
        assert!(part.iter().map(|found| found.seq).eq(1..=part.len() as u64));
    }
}

async fn one_session_is_found_behind_any_number_of_others(store: Arc<dyn Store>) {
    let ids: Vec<String> = (0..400).map(|n| format!("m{n}")).collect();
    for (id, time) in [("ours", 1), ("s2", 2), ("s3", 3), ("s4", 4)] {
        store.create(new_session(id)).await.unwrap();
        let summary = NewStoredMessage { operation: Some(1), ..message("summary", b"short") };
        let append = ids.iter().map(|id| message(id, b"same")).chain([summary]).collect();
        let operations = vec![operation("compact")];
        store.commit(id, Commit { time, operations, ..says(0, append) }).await.unwrap();
    }
    assert!(store.find(&ids).await.unwrap().iter().all(|found| found.session != "ours"));
    let asked = ["m399", "nothing", "a\0b", "m7", "summary", "m7"].map(str::to_owned);
    let found = store.find_in("ours", &asked).await.unwrap();
    let place = |id: &str, seq| FoundMessage {
        id: id.to_owned(),
        session: "ours".to_owned(),
        seq,
        head: 401,
        updated: 1,
    };
    assert_eq!(found, [place("m7", 8), place("m399", 400)]);
    for session in ["nobody", "", "ours\0"] {
        assert_eq!(store.find_in(session, &asked).await.unwrap(), [], "{session:?}");
    }
}
