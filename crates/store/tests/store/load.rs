//! Which messages are loaded.

use std::sync::Arc;

use secateur_store::{Commit, MessageChange, Store};

use crate::rows::{loaded_texts, says, session_of, texts};
use secateur_testing::on_each_store;

on_each_store!(
    a_load_begins_where_the_living_part_does,
    pinned_messages_are_loaded_wherever_they_lie,
    hidden_messages_are_not_loaded,
    all_messages_can_be_read_whatever_became_of_them,
    facts_are_read_page_by_page_and_without_bodies,
);

fn change(seq: u64) -> MessageChange {
    MessageChange { seq, ..MessageChange::default() }
}

async fn apply(store: &Arc<dyn Store>, live_from: Option<u64>, change: Vec<MessageChange>) {
    let revision = store.session("s").await.unwrap().revision;
    store.commit("s", Commit { live_from, change, ..says(revision, vec![]) }).await.unwrap();
}

async fn a_load_begins_where_the_living_part_does(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    for (live_from, expected) in
        [(3, &["c"][..]), (4, &[]), (2, &["b", "c"]), (1, &["a", "b", "c"]), (0, &["a", "b", "c"])]
    {
        apply(&store, Some(live_from), vec![]).await;
        assert_eq!(loaded_texts(&store, "s").await, expected);
        assert_eq!(store.load("s").await.unwrap().session.live_from, live_from);
    }
}

async fn pinned_messages_are_loaded_wherever_they_lie(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c", "d"]).await;
    let pin = |seq, pinned| MessageChange { pinned: Some(pinned), ..change(seq) };
    apply(&store, Some(4), vec![pin(1, true), pin(3, true), pin(4, true)]).await;
    assert_eq!(loaded_texts(&store, "s").await, ["a", "c", "d"]);
    apply(&store, None, vec![pin(1, false), pin(4, false)]).await;
    assert_eq!(loaded_texts(&store, "s").await, ["c", "d"]);
}

async fn hidden_messages_are_not_loaded(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c", "d"]).await;
    let hide = |seq, hidden| MessageChange { hidden: Some(hidden), pinned: Some(true), ..change(seq) };
    apply(&store, Some(3), vec![hide(1, true), hide(2, false), hide(4, true)]).await;
    assert_eq!(loaded_texts(&store, "s").await, ["b", "c"]);
    apply(&store, None, vec![hide(1, false), hide(4, false)]).await;
    assert_eq!(loaded_texts(&store, "s").await, ["a", "b", "c", "d"]);
}

async fn all_messages_can_be_read_whatever_became_of_them(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    let cut = MessageChange { shown: Some(Some(b"B".to_vec())), ..change(2) };
    apply(&store, Some(4), vec![MessageChange { hidden: Some(true), ..change(1) }, cut]).await;
    let all = store.messages("s", 1, 4).await.unwrap();
    assert_eq!(texts(&all), ["a", "B", "c"]);
    assert_eq!(all.iter().map(|row| row.hidden).collect::<Vec<_>>(), [true, false, false]);
    let originals = store.originals("s", &[1, 2]).await.unwrap();
    assert_eq!(originals, [Some(b"a".to_vec()), Some(b"b".to_vec())]);
}

async fn facts_are_read_page_by_page_and_without_bodies(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b", "c"]).await;
    let cut = MessageChange { cuts: Some("[1]".to_owned()), shown: Some(Some(b"B".to_vec())), ..change(2) };
    apply(&store, Some(3), vec![MessageChange { hidden: Some(true), ..change(1) }, cut]).await;
    let mut all = store.messages("s", 1, 4).await.unwrap();
    all.iter_mut().for_each(|message| message.body.clear());
    assert_eq!(store.facts("s", 0, 9).await.unwrap(), all);
    assert_eq!(store.facts("s", 1, 1).await.unwrap(), all[1..2]);
    assert!(store.facts("s", 3, 9).await.unwrap().is_empty());
    assert!(store.facts("s", u64::MAX, 9).await.unwrap().is_empty());
    assert!(store.facts("s", 0, 0).await.unwrap().is_empty());
}
