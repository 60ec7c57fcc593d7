//! Rows whose bytes were changed, lost or exchanged below the store.

use std::sync::Arc;

use secateur_store::{Commit, Forget, MessageChange, NewClipping, Store, StoreError};

use crate::rows::{loaded_texts, message, new_session, says, session_of};
use secateur_testing::{StoreHome, on_each_home, on_each_store};

on_each_home!(
    every_read_checks_the_digest,
    a_body_that_is_lost_is_noticed,
    the_right_bytes_mend_a_body,
    exchanged_rows_are_noticed,
    a_damaged_row_is_not_changed,
    rows_that_an_earlier_version_changed_are_as_good_as_before,
);
on_each_store!(a_handle_names_one_text, the_rows_of_a_fork_are_checked_too);

fn is_damage<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Damaged { .. }))
}

/// Whether each way to read this session notices damage: of what is shown, of originals, of facts.
async fn notices(store: &Arc<dyn Store>, id: &str) -> [bool; 4] {
    [
        is_damage(&store.load(id).await),
        is_damage(&store.messages(id, 0, 99).await),
        is_damage(&store.originals(id, &[1, 2]).await),
        is_damage(&store.facts(id, 0, 99).await),
    ]
}

/// Exchanges a column of the two rows of a table, both of which are in it.
async fn exchange(home: &StoreHome, table: &str, key: &str, column: &str) {
    home.run_sql(&format!(
        "CREATE TABLE spare AS SELECT * FROM {table};
         UPDATE {table} SET {column} = (SELECT spare.{column} FROM spare WHERE spare.{key} <> {table}.{key});
         DROP TABLE spare;"
    ))
    .await;
}

async fn every_read_checks_the_digest(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["aaaa", "bbbb"]).await;
    assert_eq!(notices(&store, "s").await, [false; 4]);
    exchange(&home, "bodies", "digest", "bytes").await;
    assert_eq!(notices(&store, "s").await, [true, true, true, false]);
    // They are of the same size, and so are their rows: only the digest tells.
    exchange(&home, "bodies", "digest", "bytes").await;
    assert_eq!(loaded_texts(&store, "s").await, ["aaaa", "bbbb"]);
}

async fn a_body_that_is_lost_is_noticed(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["aaaa", "bbbb"]).await;
    let delete = "DELETE FROM bodies WHERE digest = (SELECT body FROM messages WHERE seq = 2)";
    let sql = match home.backend {
        secateur_testing::Backend::Postgres => {
            format!("ALTER TABLE messages DROP CONSTRAINT messages_body_fkey; {delete}")
        }
        _ => format!("PRAGMA foreign_keys = off; {delete}"),
    };
    home.run_sql(&sql).await;
    assert_eq!(notices(&store, "s").await, [true, true, true, false]);
}

async fn the_right_bytes_mend_a_body(home: StoreHome) {
    let store = home.open().await;
    let long = "a long body, which is compressed; ".repeat(99);
    session_of(&store, "s", &[&long[..900], "bbbb"]).await;
    for damage in ["size = size + 1", "encoding = 1 - encoding", "bytes = digest"] {
        home.run_sql(&format!("UPDATE bodies SET {damage}")).await;
        assert!(is_damage(&store.load("s").await), "{damage}");
        // The same message in another session, which a client begins.
        store.create(new_session(damage)).await.unwrap();
        let append = vec![message("m", &long.as_bytes()[..900]), message("n", b"bbbb")];
        store.commit(damage, says(0, append)).await.unwrap();
        assert_eq!(loaded_texts(&store, "s").await, [&long[..900], "bbbb"], "{damage}");
    }
}

async fn exchanged_rows_are_noticed(home: StoreHome) {
    for column in ["body", "shown", "facts", "cuts", "time", "pinned", "operation"] {
        let store = home.open().await;
        session_of(&store, column, &["aaaa", "bbbb"]).await;
        let cut = |seq: u64| MessageChange {
            seq,
            cuts: Some(format!("[{seq}]")),
            shown: Some(Some(format!("shown {column} {seq}").into_bytes())),
            pinned: Some(seq == 1),
            ..MessageChange::default()
        };
        let change = vec![cut(1), cut(2)];
        store.commit(column, Commit { change, ..says(1, vec![]) }).await.unwrap();
        assert_eq!(notices(&store, column).await, [false; 4], "{column}");
        match column {
            "time" => home.run_sql("UPDATE messages SET time = time + 1 WHERE seq = 2").await,
            "operation" => {
                let operations = vec![crate::rows::operation("prune")];
                store.commit(column, Commit { operations, ..says(2, vec![]) }).await.unwrap();
                home.run_sql("UPDATE messages SET operation = 1 WHERE seq = 2").await;
            }
            column => exchange(&home, "messages", "seq", column).await,
        }
        assert_eq!(notices(&store, column).await, [true; 4], "{column}");
        home.run_sql("DELETE FROM messages; DELETE FROM operations").await;
    }
}

async fn a_damaged_row_is_not_changed(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["aaaa", "bbbb"]).await;
    exchange(&home, "messages", "seq", "facts").await;
    let change = vec![MessageChange { seq: 1, pinned: Some(true), ..MessageChange::default() }];
    assert!(is_damage(&store.commit("s", Commit { change, ..says(1, vec![]) }).await));
    let forget = Forget { revision: 1, cut: vec![1], time: 3_000, ..Forget::default() };
    // A message without cuts has nothing to forget, so its row is not read.
    store.forget("s", forget).await.unwrap();
    assert!(is_damage(&store.load("s").await), "a seal was renewed although its row is damaged");
}

/// Processes of the version before do not know seals. What they change is not damaged.
async fn rows_that_an_earlier_version_changed_are_as_good_as_before(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["aaaa", "bbbb"]).await;
    home.run_sql(
        "UPDATE messages SET cuts = '[7]' WHERE seq = 1; UPDATE sessions SET revision = revision + 1",
    )
    .await;
    assert_eq!(notices(&store, "s").await, [false; 4]);
    let fork = secateur_store::Fork { revision: 2, at: 2, id: "fork".to_owned(), ..Default::default() };
    store.fork("s", fork).await.unwrap();
    assert_eq!(notices(&store, "fork").await, [false; 4]);
    store.commit("s", says(2, vec![message("c", b"cccc")])).await.unwrap();
    assert_eq!(notices(&store, "s").await, [false; 4]);
    assert_eq!(store.load("s").await.unwrap().messages[0].cuts, "[7]");
    // What this version wrote is checked.
    home.run_sql("UPDATE messages SET facts = '{}' WHERE seq = 3").await;
    assert!(is_damage(&store.load("s").await));
}

async fn the_rows_of_a_fork_are_checked_too(store: Arc<dyn Store>) {
    session_of(&store, "s", &["aaaa", "bbbb"]).await;
    let fork = secateur_store::Fork { revision: 1, at: 2, id: "fork".to_owned(), ..Default::default() };
    store.fork("s", fork).await.unwrap();
    assert_eq!(notices(&store, "fork").await, [false; 4]);
    assert_eq!(loaded_texts(&store, "fork").await, ["aaaa", "bbbb"]);
}

async fn a_handle_names_one_text(store: Arc<dyn Store>) {
    session_of(&store, "s", &["aaaa", "bbbb", "cccc"]).await;
    let clip = |seq: u64, handle: &str, letters: &str| NewClipping {
        seq,
        handle: handle.to_owned(),
        letters: Some(letters.to_owned()),
        ..NewClipping::default()
    };
    let commit = |revision, clippings| Commit { clippings, ..says(revision, vec![]) };
    let (one, other) = ("abcdefghijklmnopqrst", "abcdefghijklzzzzzzzz");
    let both = vec![clip(1, &one[..12], one), clip(2, &other[..12], other)];
    let taken = store.commit("s", commit(1, both)).await.unwrap_err();
    assert!(matches!(&taken, StoreError::HandleTaken { handle } if handle == "abcdefghijkl"), "{taken}");
    store.commit("s", commit(1, vec![clip(1, &one[..12], one)])).await.unwrap();
    let taken = store.commit("s", commit(2, vec![clip(2, &other[..12], other)])).await.unwrap_err();
    assert!(matches!(taken, StoreError::HandleTaken { .. }), "{taken}");
    store.commit("s", commit(2, vec![clip(2, &other[..16], other)])).await.unwrap();
    // The same text in another message is no other text.
    store.commit("s", commit(3, vec![clip(3, &one[..16], one)])).await.unwrap();
    let found = async |handle| {
        let found = store.clippings(handle).await.unwrap();
        found.iter().map(|clipping| clipping.seq).collect::<Vec<_>>()
    };
    assert_eq!(found(&one[..12]).await, [1]);
    assert_eq!(found(&other[..16]).await, [2]);
    assert_eq!(found(&one[..16]).await, [3]);
    assert_eq!(found("abcdefgh").await, [0; 0]);
}
