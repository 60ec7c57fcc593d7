//! Forking sessions.

use std::sync::Arc;

use secateur_store::{Commit, Forget, Fork, MessageChange, NewStoredMessage, SessionRow, Store, StoreError};

use crate::rows::{everything, loaded_texts, message, new_session, operation, says, session_of, texts};
use secateur_testing::{StoreHome, on_each_home, on_each_store};

on_each_store!(
    a_branch_has_what_was_there_up_to_a_message,
    a_branch_and_its_origin_go_on_apart,
    what_was_left_behind_may_be_said_again,
    numbers_that_were_left_behind_name_nothing,
    a_branch_may_begin_anywhere,
    a_branch_is_refused_where_it_cannot_be,
);
on_each_home!(
    what_one_forgets_the_other_still_has,
    a_branch_is_of_one_revision_while_others_write,
    bodies_that_come_and_go_stay_with_the_branches,
);

fn cut(seq: u64, shown: &[u8]) -> MessageChange {
    MessageChange { seq, shown: Some(Some(shown.to_vec())), ..MessageChange::default() }
}

fn branch(revision: u64, at: u64) -> Fork {
    Fork { revision, at, id: "t".to_owned(), title: Some("Another way".to_owned()), time: 7_000 }
}

/// A session of six messages, the last but one made by an operation, with a bit of everything. It is at revision 2.
async fn make_origin(store: &Arc<dyn Store>) -> SessionRow {
    store.create(new_session("s")).await.unwrap();
    let summary = NewStoredMessage { operation: Some(2), pinned: true, ..message("summary", b"in short") };
    let append = vec![
        message("a", b"a"),
        message("b", b"long"),
        message("c", b"c"),
        message("d", b"d"),
        summary,
        message("e", b"e"),
    ];
    let operations = vec![operation("prune"), operation("compact")];
    let events = vec!["{}".to_owned()];
    store.commit("s", Commit { operations, events, ..says(0, append) }).await.unwrap();
    let commit = Commit {
        change: vec![
            MessageChange { cuts: Some("[1]".to_owned()), ..cut(2, b"short") },
            MessageChange { seq: 3, hidden: Some(true), ..MessageChange::default() },
            MessageChange { seq: 1, pinned: Some(true), ..MessageChange::default() },
        ],
        undone: vec![(1, true)],
        state: Some("state".to_owned()),
        envelope: Some("envelope".to_owned()),
        live_from: Some(2),
        ..says(1, vec![])
    };
    store.commit("s", commit).await.unwrap();
    store.session("s").await.unwrap()
}

async fn a_branch_has_what_was_there_up_to_a_message(store: Arc<dyn Store>) {
    let origin = make_origin(&store).await;
    let before = everything(&store, "s").await;
    store.lease("s", "me", 100_000).await.unwrap();
    let made = store.fork("s", branch(2, 3)).await.unwrap();
    let expected = SessionRow {
        id: "t".to_owned(),
        title: Some("Another way".to_owned()),
        revision: 0,
        last_event: 0,
        created: 7_000,
        updated: 7_000,
        ..origin
    };
    assert_eq!(made, expected);
    assert_eq!(store.session("t").await.unwrap(), expected);
    let mut messages = store.messages("s", 0, 9).await.unwrap();
    messages.retain(|row| [1, 2, 3, 5].contains(&row.seq));
    assert_eq!(store.messages("t", 0, 9).await.unwrap(), messages);
    assert_eq!(loaded_texts(&store, "t").await, ["a", "short", "in short"]);
    let mut originals = store.originals("s", &[1, 2, 3, 4, 5, 6]).await.unwrap();
    (originals[3], originals[5]) = (None, None);
    assert_eq!(store.originals("t", &[1, 2, 3, 4, 5, 6]).await.unwrap(), originals);
    let operations = store.operations("s", 0, 9).await.unwrap();
    assert_eq!(store.operations("t", 0, 9).await.unwrap(), operations);
    assert_eq!(store.events("t", 0, 9).await.unwrap(), []);
    // The copy's lease is free, and the original is unchanged.
    assert!(store.lease("t", "you", 1_000).await.unwrap().is_some());
    assert_eq!(everything(&store, "s").await, before);
}

async fn a_branch_and_its_origin_go_on_apart(store: Arc<dyn Store>) {
    make_origin(&store).await;
    store.fork("s", branch(2, 4)).await.unwrap();
    let (origin, copy) = (everything(&store, "s").await, everything(&store, "t").await);
    let back = MessageChange { seq: 2, shown: Some(None), ..MessageChange::default() };
    let commit = Commit {
        change: vec![back, cut(4, b"D")],
        operations: vec![operation("undo")],
        undone: vec![(1, false), (2, true)],
        events: vec!["{}".to_owned()],
        live_from: Some(1),
        state: Some("other".to_owned()),
        ..says(0, vec![message("f", b"f")])
    };
    let committed = store.commit("t", commit.clone()).await.unwrap();
    assert_eq!((committed.head, committed.last_operation, committed.last_event), (7, 3, 1));
    assert_eq!(loaded_texts(&store, "t").await, ["a", "long", "D", "in short", "f"]);
    assert_eq!(everything(&store, "s").await, origin);
    // And the other way round, from where the fork began.
    store.fork("s", Fork { id: "u".to_owned(), ..branch(2, 4) }).await.unwrap();
    store.commit("s", Commit { revision: 2, ..commit }).await.unwrap();
    assert_eq!(loaded_texts(&store, "s").await, ["a", "long", "D", "in short", "e", "f"]);
    assert_eq!(everything(&store, "u").await, copy.replace(r#"id: "t""#, r#"id: "u""#));
}

async fn what_was_left_behind_may_be_said_again(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    store.fork("s", branch(1, 1)).await.unwrap();
    let known = store.commit("t", says(0, vec![message("a", b"a")])).await;
    assert!(matches!(known, Err(StoreError::Known { message, .. }) if message == "a"));
    store.commit("t", says(0, vec![message("b", b"B"), message("d", b"d")])).await.unwrap();
    assert_eq!(loaded_texts(&store, "t").await, ["a", "B", "d"]);
    let seqs: Vec<u64> = store.load("t").await.unwrap().messages.iter().map(|row| row.seq).collect();
    assert_eq!(seqs, [1, 4, 5]);
    let found = store.find(&["b".to_owned()]).await.unwrap();
    let found: Vec<_> = found.iter().map(|found| (found.session.as_str(), found.seq)).collect();
    assert_eq!(found, [("s", 2), ("t", 4)]);
}

async fn numbers_that_were_left_behind_name_nothing(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c", "d"]).await;
    store.fork("s", branch(1, 2)).await.unwrap();
    let before = everything(&store, "t").await;
    let change = vec![cut(1, b"A"), MessageChange { seq: 3, hidden: Some(true), ..MessageChange::default() }];
    // Also if another check would fail later.
    let refused = store.commit("t", Commit { change, ..says(0, vec![message("a", b"")]) }).await;
    assert!(matches!(refused, Err(StoreError::NoMessage { seq: 3, .. })), "{refused:?}");
    for (gone, cut) in [(vec![4], vec![]), (vec![], vec![1, 4])] {
        let refused = store.forget("t", Forget { gone, cut, ..Forget::default() }).await;
        assert!(matches!(refused, Err(StoreError::NoMessage { seq: 4, .. })), "{refused:?}");
    }
    assert_eq!(everything(&store, "t").await, before);
    assert_eq!(texts(&store.messages("t", 2, 5).await.unwrap()), ["b"]);
    // `live_from` may be a number that the copy lacks.
    store.commit("t", Commit { live_from: Some(4), ..says(0, vec![message("e", b"e")]) }).await.unwrap();
    assert_eq!(loaded_texts(&store, "t").await, ["e"]);
}

async fn a_branch_may_begin_anywhere(store: Arc<dyn Store>) {
    make_origin(&store).await;
    for (at, expected) in
        [(0, vec![5]), (1, vec![1, 5]), (5, vec![1, 2, 3, 4, 5]), (6, vec![1, 2, 3, 4, 5, 6])]
    {
        let id = format!("at {at}");
        let made = store.fork("s", Fork { id: id.clone(), title: None, ..branch(2, at) }).await.unwrap();
        assert_eq!((made.head, made.live_from, made.title), (6, 2, None));
        let messages = store.messages(&id, 0, 9).await.unwrap();
        assert_eq!(messages.iter().map(|row| row.seq).collect::<Vec<_>>(), expected, "{at}");
    }
    // A fork of a fork, at a number that it lacks.
    store.commit("at 1", says(0, vec![message("z", b"z")])).await.unwrap();
    store.fork("at 1", branch(1, 4)).await.unwrap();
    assert_eq!(texts(&store.messages("t", 0, 9).await.unwrap()), ["a", "in short"]);
}

async fn a_branch_is_refused_where_it_cannot_be(store: Arc<dyn Store>) {
    make_origin(&store).await;
    session_of(&store, "taken", &["x"]).await;
    let before = [everything(&store, "s").await, everything(&store, "taken").await];
    let named = |id: &str| Fork { id: id.to_owned(), ..branch(2, 3) };
    let none = store.fork("none", branch(2, 3)).await;
    assert!(matches!(none, Err(StoreError::NoSession { id }) if id == "none"));
    let none = store.fork("a\0b", branch(2, 3)).await;
    assert!(matches!(none, Err(StoreError::NoSession { .. })));
    for revision in [0, 1, 3, u64::MAX] {
        let stale = store.fork("s", Fork { revision, ..named("taken") }).await;
        assert!(matches!(stale, Err(StoreError::Stale { found: 2, expected, .. }) if expected == revision));
    }
    for at in [7, u64::MAX] {
        let refused = store.fork("s", branch(2, at)).await;
        assert!(matches!(refused, Err(StoreError::NoMessage { seq, .. }) if seq == at), "{refused:?}");
    }
    for id in ["taken", "s"] {
        let taken = store.fork("s", named(id)).await;
        assert!(matches!(taken, Err(StoreError::SessionExists { id: named }) if named == id));
    }
    for fork in
        [named("a\0b"), named(&"x".repeat(2_000)), Fork { title: Some("\0".to_owned()), ..named("t") }]
    {
        assert!(matches!(store.fork("s", fork).await, Err(StoreError::Unfit { .. })));
    }
    assert_eq!([everything(&store, "s").await, everything(&store, "taken").await], before);
    assert!(matches!(store.session("t").await, Err(StoreError::NoSession { .. })));
}

async fn what_one_forgets_the_other_still_has(home: StoreHome) {
    let store = home.open().await;
    for (forgets, keeps) in [("s1", "t1"), ("t2", "s2")] {
        let (origin, copy) = if forgets == "s1" { ("s1", "t1") } else { ("s2", "t2") };
        session_of(&store, origin, &["one", "two", "three"]).await;
        let commit = Commit { change: vec![cut(1, b"1"), cut(2, b"2")], ..says(1, vec![]) };
        store.commit(origin, commit).await.unwrap();
        store.fork(origin, Fork { id: copy.to_owned(), ..branch(2, 2) }).await.unwrap();
        let revision = store.session(forgets).await.unwrap().revision;
        let commit = Commit { live_from: Some(2), ..says(revision, vec![]) };
        store.commit(forgets, commit).await.unwrap();
        let before = everything(&store, keeps).await;
        let forget = Forget { revision: revision + 1, gone: vec![1], cut: vec![2], ..Forget::default() };
        assert_eq!(store.forget(forgets, forget).await.unwrap().messages, 2);
        store.shrink().await.unwrap();
        assert_eq!(everything(&store, keeps).await, before);
        assert_eq!(store.originals(forgets, &[1, 2]).await.unwrap(), [None, None]);
        // The other session can still show everything again.
        let revision = store.session(keeps).await.unwrap().revision;
        let back = |seq| MessageChange { seq, shown: Some(None), ..MessageChange::default() };
        let commit = Commit { change: vec![back(1), back(2)], ..says(revision, vec![]) };
        store.commit(keeps, commit).await.unwrap();
        assert_eq!(loaded_texts(&store, keeps).await[..2], ["one", "two"]);
    }
    // Bodies are only deleted with their last reference.
    for (id, live_from) in [("s1", 3), ("t1", 3), ("s2", 3), ("t2", 3)] {
        let revision = store.session(id).await.unwrap().revision;
        let commit = Commit { live_from: Some(live_from), ..says(revision, vec![]) };
        store.commit(id, commit).await.unwrap();
        let forget = Forget { revision: revision + 1, gone: vec![1, 2], ..Forget::default() };
        store.forget(id, forget).await.unwrap();
    }
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 1);
}

/// One task appends while another forks again and again: each fork has all or nothing of each commit.
async fn a_branch_is_of_one_revision_while_others_write(home: StoreHome) {
    let (one, other) = (home.open().await, home.open().await);
    one.create(new_session("s")).await.unwrap();
    let writer = tokio::spawn(async move {
        for n in 0..40_u64 {
            let append = vec![message(&format!("a{n}"), b"a"), message(&format!("b{n}"), b"b")];
            let operations = vec![operation("prune")];
            let commit = Commit { operations, state: Some(n.to_string()), ..says(n, append) };
            one.commit("s", commit).await.unwrap();
        }
    });
    let mut made = 0;
    while !writer.is_finished() || made == 0 {
        let now = other.session("s").await.unwrap();
        let id = format!("t{made}");
        let fork = Fork { id: id.clone(), at: now.head, ..branch(now.revision, 0) };
        match other.fork("s", fork).await {
            Err(StoreError::Stale { expected, .. }) => assert_eq!(expected, now.revision),
            result => {
                let copy = result.unwrap();
                assert_eq!((copy.head, copy.state, copy.last_operation), (now.head, now.state, now.revision));
                assert_eq!(other.messages(&id, 0, 999).await.unwrap().len() as u64, 2 * now.revision);
                made += 1;
            }
        }
    }
    writer.await.unwrap();
    assert_eq!(other.session("s").await.unwrap().revision, 40);
}

/// Forks share bodies, and all of them cut and forget at once.
async fn bodies_that_come_and_go_stay_with_the_branches(home: StoreHome) {
    let stores = [home.open().await, home.open().await];
    let names: Vec<String> = (0..8).map(|n| format!("said {n}")).collect();
    session_of(&stores[0], "s", &names.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let mut writers = Vec::new();
    for n in 0..6 {
        let store = Arc::clone(&stores[n % 2]);
        writers.push(tokio::spawn(async move {
            let id = format!("t{n}");
            store.fork("s", Fork { id: id.clone(), ..branch(1, 8) }).await.unwrap();
            let mut revision = 0;
            for seq in 1..=7 {
                let change = vec![cut(seq, format!("cut {}", seq % 3).as_bytes())];
                let commit = Commit { change, live_from: Some(seq + 1), ..says(revision, vec![]) };
                revision = store.commit(&id, commit).await.unwrap().revision;
                let next = format!("{id}.{seq}");
                store.fork(&id, Fork { id: next.clone(), ..branch(revision, 8) }).await.unwrap();
                let forget = Forget { revision, gone: vec![seq], ..Forget::default() };
                revision = store.forget(&id, forget).await.unwrap().revision;
                let kept = store.originals(&next, &[seq]).await.unwrap();
                assert_eq!(kept, [Some(format!("said {}", seq - 1).into_bytes())]);
                let shown = texts(&store.messages(&next, seq, seq + 1).await.unwrap());
                assert_eq!(shown, [format!("cut {}", seq % 3)]);
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(loaded_texts(&stores[0], "s").await, names);
}
