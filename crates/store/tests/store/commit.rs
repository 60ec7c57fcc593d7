//! What a commit does and what it refuses.

use std::sync::Arc;

use secateur_store::{
    Commit, Committed, EventRow, MessageChange, NewStoredMessage, OperationRow, Store, StoreError,
    StoredMessage,
};

use crate::rows::{everything, loaded_texts, message, new_session, operation, says, session_of};
use secateur_testing::on_each_store;

on_each_store!(
    messages_get_consecutive_numbers_and_come_back_whole,
    a_commit_changes_everything_that_it_names,
    what_a_commit_does_not_name_stays,
    a_stale_writer_is_refused,
    a_message_is_said_once,
    the_first_known_message_is_named,
    the_same_id_may_stand_in_two_sessions,
    a_commit_that_names_what_is_not_there_changes_nothing,
    a_commit_may_name_what_it_makes_itself,
    several_changes_of_a_message_become_one,
    operations_and_events_are_followed_from_any_point,
    a_thousand_messages_are_one_commit,
);

async fn messages_get_consecutive_numbers_and_come_back_whole(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let second = NewStoredMessage {
        pinned: true,
        cuts: r#"["b"]"#.to_owned(),
        shown: Some(b"short".to_vec()),
        ..message("b", b"long")
    };
    let committed = store.commit("s", says(0, vec![message("a", b"first"), second])).await.unwrap();
    assert_eq!(committed, Committed { revision: 1, head: 2, last_operation: 0, last_event: 0 });
    let committed = store.commit("s", says(1, vec![message("c", b"third")])).await.unwrap();
    assert_eq!(committed, Committed { revision: 2, head: 3, last_operation: 0, last_event: 0 });
    let row = |seq, id: &str, body: &[u8]| StoredMessage {
        seq,
        id: id.to_owned(),
        time: 1_500,
        facts: format!(r#"{{"about":"{id}"}}"#),
        body: body.to_vec(),
        ..StoredMessage::default()
    };
    let second = StoredMessage { pinned: true, cuts: r#"["b"]"#.to_owned(), ..row(2, "b", b"short") };
    let expected = [row(1, "a", b"first"), second, row(3, "c", b"third")];
    assert_eq!(store.load("s").await.unwrap().messages, expected);
    assert_eq!(store.messages("s", 0, u64::MAX).await.unwrap(), expected);
    assert_eq!(store.messages("s", 2, 3).await.unwrap(), expected[1..2]);
    assert!(store.messages("s", 3, 2).await.unwrap().is_empty());
    let originals = store.originals("s", &[2, 9, 1, 2, 0, u64::MAX]).await.unwrap();
    let [long, first] = [b"long".to_vec(), b"first".to_vec()].map(Some);
    assert_eq!(originals, [long.clone(), None, first, long, None, None]);
}

async fn a_commit_changes_everything_that_it_names(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    let commit = Commit {
        revision: 1,
        time: 3_000,
        append: vec![message("c", b"c")],
        change: vec![MessageChange {
            seq: 1,
            cuts: Some("[1]".to_owned()),
            shown: Some(Some(b"cut".to_vec())),
            hidden: Some(false),
            pinned: Some(true),
        }],
        operations: vec![operation("prune"), operation("compact")],
        undone: vec![(1, true)],
        events: vec!["{}".to_owned(), "[]".to_owned()],
        state: Some("state".to_owned()),
        live_from: Some(2),
        envelope: Some("envelope".to_owned()),
        ..Commit::default()
    };
    let committed = store.commit("s", commit).await.unwrap();
    assert_eq!(committed, Committed { revision: 2, head: 3, last_operation: 2, last_event: 2 });
    let loaded = store.load("s").await.unwrap();
    let session = &loaded.session;
    assert_eq!((session.revision, session.head, session.live_from), (2, 3, 2));
    assert_eq!((session.last_operation, session.last_event, session.updated), (2, 2, 3_000));
    assert_eq!(
        (session.state.as_str(), session.envelope.as_str(), session.created),
        ("state", "envelope", 1_000)
    );
    assert_eq!(loaded_texts(&store, "s").await, ["cut", "b", "c"]);
    assert_eq!((loaded.messages[0].cuts.as_str(), loaded.messages[0].pinned), ("[1]", true));
    let undone: Vec<bool> =
        store.operations("s", 0, 9).await.unwrap().iter().map(|operation| operation.undone).collect();
    assert_eq!(undone, [true, false]);
}

async fn what_a_commit_does_not_name_stays(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    let change = MessageChange { seq: 1, shown: Some(Some(b"cut".to_vec())), ..MessageChange::default() };
    let commit =
        Commit { revision: 1, change: vec![change], operations: vec![operation("prune")], ..says(1, vec![]) };
    store.commit("s", commit).await.unwrap();
    let before = everything(&store, "s").await;
    store
        .commit(
            "s",
            Commit { change: vec![MessageChange { seq: 1, ..MessageChange::default() }], ..says(2, vec![]) },
        )
        .await
        .unwrap();
    let after = everything(&store, "s").await;
    assert_eq!(before.replace("revision: 2", "revision: 3"), after);
    // The original is shown again.
    let change = MessageChange { seq: 1, shown: Some(None), ..MessageChange::default() };
    store.commit("s", Commit { change: vec![change], ..says(3, vec![]) }).await.unwrap();
    assert_eq!(loaded_texts(&store, "s").await, ["a", "b"]);
}

async fn a_stale_writer_is_refused(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let before = everything(&store, "s").await;
    for revision in [0, 2, u64::MAX] {
        let refused = store.commit("s", says(revision, vec![message("b", b"b")])).await;
        let Err(StoreError::Stale { id, expected, found }) = refused else { panic!("{refused:?}") };
        assert_eq!((id.as_str(), expected, found), ("s", revision, 1));
    }
    assert_eq!(everything(&store, "s").await, before);
    store.commit("s", says(1, vec![message("b", b"b")])).await.unwrap();
}

async fn a_message_is_said_once(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let before = everything(&store, "s").await;
    for append in [
        vec![message("a", b"a")],
        vec![message("b", b"b"), message("a", b"other")],
        vec![message("b", b"b"), message("b", b"b")],
    ] {
        let twice = append.last().unwrap().id.clone();
        let events = vec!["{}".to_owned()];
        let refused = store.commit("s", Commit { events, ..says(1, append) }).await;
        let Err(StoreError::Known { id, message }) = refused else { panic!("{refused:?}") };
        assert_eq!((id.as_str(), message), ("s", twice));
    }
    assert_eq!(everything(&store, "s").await, before);
}

async fn the_first_known_message_is_named(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    let append = ["x", "c", "a", "b"].map(|id| message(id, b"")).to_vec();
    let refused = store.commit("s", says(1, append)).await;
    assert!(matches!(refused, Err(StoreError::Known { message, .. }) if message == "c"));
}

async fn the_same_id_may_stand_in_two_sessions(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    session_of(&store, "t", &["a"]).await;
    assert_eq!(loaded_texts(&store, "t").await, ["a"]);
}

async fn a_commit_that_names_what_is_not_there_changes_nothing(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    let before = everything(&store, "s").await;
    let new = || says(1, vec![message("c", b"c")]);
    for seq in [0, 4, u64::MAX] {
        let change = vec![MessageChange { seq, hidden: Some(true), ..MessageChange::default() }];
        let refused = store.commit("s", Commit { change, ..new() }).await;
        assert!(
            matches!(refused, Err(StoreError::NoMessage { seq: named, .. }) if named == seq),
            "{refused:?}"
        );
    }
    for seq in [5, u64::MAX] {
        let refused = store.commit("s", Commit { live_from: Some(seq), ..new() }).await;
        assert!(
            matches!(refused, Err(StoreError::NoMessage { seq: named, .. }) if named == seq),
            "{refused:?}"
        );
    }
    for number in [0, 1, u64::MAX] {
        let refused = store.commit("s", Commit { undone: vec![(number, true)], ..new() }).await;
        assert!(matches!(refused, Err(StoreError::NoOperation { number: named, .. }) if named == number));
        let append = vec![NewStoredMessage { operation: Some(number), ..message("c", b"c") }];
        let refused = store.commit("s", says(1, append)).await;
        assert!(matches!(refused, Err(StoreError::NoOperation { number: named, .. }) if named == number));
    }
    assert_eq!(everything(&store, "s").await, before);
}

async fn a_commit_may_name_what_it_makes_itself(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a"]).await;
    let commit = Commit {
        append: vec![NewStoredMessage { operation: Some(1), ..message("b", b"b") }],
        change: vec![MessageChange { seq: 2, shown: Some(Some(b"B".to_vec())), ..MessageChange::default() }],
        operations: vec![operation("compact")],
        undone: vec![(1, true), (1, false)],
        live_from: Some(3),
        ..says(1, vec![])
    };
    store.commit("s", commit).await.unwrap();
    let row = store.messages("s", 2, 3).await.unwrap().remove(0);
    assert_eq!((row.operation, row.body), (Some(1), b"B".to_vec()));
    assert!(!store.operations("s", 0, 1).await.unwrap()[0].undone);
    assert!(store.load("s").await.unwrap().messages.is_empty());
}

async fn several_changes_of_a_message_become_one(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    let change = |cuts: Option<&str>, shown: Option<Option<&[u8]>>| MessageChange {
        seq: 1,
        cuts: cuts.map(str::to_owned),
        shown: shown.map(|shown| shown.map(<[u8]>::to_vec)),
        ..MessageChange::default()
    };
    let first = MessageChange { pinned: Some(true), ..change(Some("one"), Some(Some(b"1"))) };
    let changes = vec![first, change(None, Some(Some(b"2"))), change(Some("three"), None)];
    store.commit("s", Commit { change: changes, ..says(1, vec![]) }).await.unwrap();
    let row = store.messages("s", 1, 2).await.unwrap().remove(0);
    assert_eq!((row.cuts.as_str(), &row.body[..], row.pinned), ("three", &b"2"[..], true));
    let changes = vec![change(None, Some(Some(b"4"))), change(None, Some(None))];
    store.commit("s", Commit { change: changes, ..says(2, vec![]) }).await.unwrap();
    assert_eq!(loaded_texts(&store, "s").await, ["a", "b"]);
}

async fn operations_and_events_are_followed_from_any_point(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    store.create(new_session("t")).await.unwrap();
    for revision in 0..3 {
        let operations = vec![operation(&format!("o{revision}")), operation("same")];
        let events = vec![format!("e{revision}")];
        store.commit("s", Commit { operations, events, ..says(revision, vec![]) }).await.unwrap();
        store
            .commit("t", Commit { events: vec!["other".to_owned()], ..says(revision, vec![]) })
            .await
            .unwrap();
    }
    let rows = store.operations("s", 3, 2).await.unwrap();
    let row = |number, kind: &str| {
        let new = operation(kind);
        OperationRow { number, kind: new.kind, time: new.time, undone: false, data: new.data }
    };
    assert_eq!(rows, [row(4, "same"), row(5, "o2")]);
    let event = |number, data: &str| EventRow { number, time: 2_000, data: data.to_owned() };
    assert_eq!(store.events("s", 0, 2).await.unwrap(), [event(1, "e0"), event(2, "e1")]);
    assert_eq!(store.events("s", 2, usize::MAX).await.unwrap(), [event(3, "e2")]);
    for after in [3, u64::MAX] {
        assert!(store.events("s", after, 9).await.unwrap().is_empty());
    }
    assert!(store.events("s", 0, 0).await.unwrap().is_empty());
    assert!(store.operations("t", 0, 9).await.unwrap().is_empty());
}

async fn a_thousand_messages_are_one_commit(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let append =
        (1..=2_500).map(|n| message(&format!("m{n}"), format!("body {}", n % 700).as_bytes())).collect();
    let committed = store.commit("s", says(0, append)).await.unwrap();
    assert_eq!((committed.revision, committed.head), (1, 2_500));
    let loaded = store.load("s").await.unwrap().messages;
    assert_eq!(loaded.len(), 2_500);
    for (n, row) in (1..).zip(&loaded) {
        assert_eq!((row.seq, row.id.as_str()), (n, format!("m{n}").as_str()));
        assert_eq!(row.body, format!("body {}", n % 700).as_bytes());
    }
    let refused = store.commit("s", says(1, vec![message("m2400", b"")])).await;
    assert!(matches!(refused, Err(StoreError::Known { message, .. }) if message == "m2400"));
}
