//! Many concurrent writers, of one store and of several.

use std::sync::Arc;
use std::time::Duration;

use secateur_store::{Commit, Forget, MessageChange, Store, StoreError};

use crate::rows::{message, new_session, says};
use secateur_testing::{Backend, StoreHome, on_each_home, on_each_store};

on_each_store!(writers_of_one_store_lose_nothing, a_load_sees_commits_whole);
on_each_home!(
    writers_of_two_stores_lose_nothing,
    sessions_that_share_bodies_do_not_get_in_each_others_way,
    what_one_store_keeps_the_other_sees,
    an_abandoned_operation_is_not_done_later,
);

const WRITERS: usize = 6;
const EACH: usize = 15;

/// Appends a message like a correct writer: if it is stale, it loads again.
async fn append(store: &Arc<dyn Store>, id: &str, name: &str) {
    loop {
        let revision = store.session(id).await.unwrap().revision;
        let events = vec![name.to_owned()];
        match store
            .commit(id, Commit { events, ..says(revision, vec![message(name, name.as_bytes())]) })
            .await
        {
            Err(StoreError::Stale { .. }) => {}
            result => {
                result.unwrap();
                return;
            }
        }
    }
}

async fn write_together(stores: &[Arc<dyn Store>]) {
    stores[0].create(new_session("s")).await.unwrap();
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&stores[writer % stores.len()]);
        writers.push(tokio::spawn(async move {
            for n in 0..EACH {
                append(&store, "s", &format!("{writer}-{n}")).await;
            }
        }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    let all = WRITERS * EACH;
    for store in stores {
        let loaded = store.load("s").await.unwrap();
        assert_eq!((loaded.session.revision, loaded.session.head), (all as u64, all as u64));
        assert!(loaded.messages.iter().map(|row| row.seq).eq(1..=all as u64));
        let events = store.events("s", 0, usize::MAX).await.unwrap();
        assert!(events.iter().map(|row| row.number).eq(1..=all as u64));
        assert!(events.iter().map(|row| &row.data).eq(loaded.messages.iter().map(|row| &row.id)));
        for writer in 0..WRITERS {
            let own = loaded.messages.iter().filter(|row| row.id.starts_with(&format!("{writer}-")));
            assert!(own.map(|row| row.id.clone()).eq((0..EACH).map(|n| format!("{writer}-{n}"))));
        }
        assert!(loaded.messages.iter().all(|row| row.body == row.id.as_bytes()));
    }
}

async fn writers_of_one_store_lose_nothing(store: Arc<dyn Store>) {
    write_together(&[store]).await;
}

async fn writers_of_two_stores_lose_nothing(home: StoreHome) {
    write_together(&[home.open().await, home.open().await]).await;
}

async fn a_load_sees_commits_whole(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let writer = tokio::spawn({
        let store = Arc::clone(&store);
        async move {
            for n in 0..30 {
                // Each commit appends two messages and moves `live_from` to the first of them.
                let append = vec![message(&format!("a{n}"), b"a"), message(&format!("b{n}"), b"b")];
                let live_from = Some(2 * n + 1);
                store.commit("s", Commit { live_from, ..says(n, append) }).await.unwrap();
            }
        }
    });
    while !writer.is_finished() {
        let loaded = store.load("s").await.unwrap();
        let last = loaded.session.head;
        assert_eq!(last, 2 * loaded.session.revision);
        let seqs: Vec<u64> = loaded.messages.iter().map(|row| row.seq).collect();
        assert_eq!(seqs, (loaded.session.live_from..=last).collect::<Vec<_>>());
    }
    writer.await.unwrap();
}

async fn what_one_store_keeps_the_other_sees(home: StoreHome) {
    let (one, other) = (home.open().await, home.open().await);
    one.create(new_session("s")).await.unwrap();
    for n in 0..10 {
        let (writer, reader) = if n % 2 == 0 { (&one, &other) } else { (&other, &one) };
        append(writer, "s", &n.to_string()).await;
        assert_eq!(reader.load("s").await.unwrap().messages.len(), n + 1);
    }
}

/// Sessions that all append the same few messages, cut them, show them again and forget them: bodies appear and
/// disappear concurrently.
async fn sessions_that_share_bodies_do_not_get_in_each_others_way(home: StoreHome) {
    let stores = [home.open().await, home.open().await];
    let mut writers = Vec::new();
    for writer in 0..WRITERS {
        let store = Arc::clone(&stores[writer % 2]);
        writers.push(tokio::spawn(async move { churn(&store, &format!("s{writer}")).await }));
    }
    for writer in writers {
        writer.await.unwrap();
    }
    stores[0].shrink().await.unwrap();
    let kept = home.query_number("SELECT COUNT(*) FROM bodies").await;
    let named = "SELECT COUNT(*) FROM (SELECT body AS d FROM messages WHERE body IS NOT NULL \
                 UNION SELECT shown FROM messages WHERE shown IS NOT NULL) AS named";
    assert_eq!(kept, home.query_number(named).await);
}

async fn churn(store: &Arc<dyn Store>, id: &str) {
    store.create(new_session(id)).await.unwrap();
    let mut revision = 0;
    for n in 1..=EACH as u64 {
        let body = format!("said by all, {}", n % 4);
        let cut = format!("cut by all, {}", n % 3);
        let append = vec![message(&format!("m{n}"), body.as_bytes())];
        revision = store.commit(id, says(revision, append)).await.unwrap().revision;
        let change = vec![MessageChange {
            seq: n,
            shown: Some(Some(cut.clone().into_bytes())),
            ..MessageChange::default()
        }];
        let live_from = Some(n);
        revision =
            store.commit(id, Commit { change, live_from, ..says(revision, vec![]) }).await.unwrap().revision;
        let gone = if n > 1 { vec![n - 1] } else { vec![] };
        let cut_only = if n % 2 == 0 { vec![n] } else { vec![] };
        let forget = Forget { revision, gone, cut: cut_only, ..Forget::default() };
        revision = store.forget(id, forget).await.unwrap().revision;
        let loaded = store.load(id).await.unwrap();
        assert_eq!(loaded.messages.len(), 1);
        assert_eq!(loaded.messages[0].body, cut.as_bytes());
        let original = store.originals(id, &[n]).await.unwrap().remove(0);
        assert_eq!(original, (n % 2 != 0).then(|| body.into_bytes()));
    }
}

/// A writer that stopped waiting has no result, and may try the same again. A locked file must not accumulate such
/// tasks.
async fn an_abandoned_operation_is_not_done_later(home: StoreHome) {
    if home.backend != Backend::File {
        return;
    }
    let store = home.open().await;
    store.create(new_session("s")).await.unwrap();
    let other = rusqlite::Connection::open(&home.url).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let commit = |name: &str| says(0, vec![message(name, b"text")]);
    for number in 0..20 {
        let waiting = store.commit("s", commit(&format!("m{number}")));
        assert!(tokio::time::timeout(Duration::from_millis(20), waiting).await.is_err());
    }
    other.execute_batch("ROLLBACK").unwrap();
    let committed = store.commit("s", commit("last")).await.unwrap();
    assert_eq!((committed.revision, committed.head), (1, 1));
    assert_eq!(store.load("s").await.unwrap().messages[0].id, "last");
}
