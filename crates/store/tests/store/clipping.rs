//! Finding clippings by handle and by words.

use std::sync::Arc;

use secateur_store::{
    Clipping, ClippingSearch, Commit, Forget, Fork, MessageChange, NewClipping, Store, StoreError,
};

use crate::rows::{everything, message, new_session, says, session_of};
use secateur_testing::{Backend, StoreHome, on_each_home, on_each_store};

on_each_store!(
    what_was_cut_is_found_by_its_handle,
    all_words_must_occur_in_whatever_case,
    identifiers_and_paths_are_found_whole_and_in_part,
    nothing_that_is_typed_is_an_error,
    the_newest_is_found_first_and_each_once,
    one_session_is_searched_or_all,
    a_branch_finds_what_it_shares_and_forgets_alone,
    a_message_of_the_same_commit_may_be_cut,
    what_is_refused_is_not_found,
    a_text_of_any_size_is_taken,
);
on_each_home!(what_is_forgotten_leaves_no_word_behind);

fn clipping(seq: u64, part: u32, text: &str) -> NewClipping {
    let handle = format!("h{seq}{part}");
    let facts = r#"{"tool":"read"}"#.to_owned();
    NewClipping { seq, part, handle, letters: None, facts, text: text.to_owned() }
}

/// A session with one message per text, all of which were cut. It is at revision 2.
async fn clipped(store: &Arc<dyn Store>, id: &str, texts: &[&str]) {
    session_of(store, id, texts).await;
    let clippings = (1..).zip(texts).map(|(seq, text)| clipping(seq, 0, text)).collect();
    store.commit(id, Commit { clippings, ..says(1, vec![]) }).await.unwrap();
}

async fn search(store: &Arc<dyn Store>, words: &str) -> Vec<Clipping> {
    store.search(ClippingSearch { words: words.to_owned(), session: None, limit: 100 }).await.unwrap()
}

async fn seqs(store: &Arc<dyn Store>, words: &str) -> Vec<u64> {
    let mut seqs: Vec<u64> = search(store, words).await.iter().map(|found| found.seq).collect();
    seqs.sort_unstable();
    seqs
}

async fn what_was_cut_is_found_by_its_handle(store: Arc<dyn Store>) {
    clipped(&store, "s", &["one", "two"]).await;
    let expected = Clipping {
        session: "s".to_owned(),
        seq: 2,
        part: 0,
        handle: "h20".to_owned(),
        letters: None,
        body: store.clippings("h20").await.unwrap()[0].body.clone(),
        facts: r#"{"tool":"read"}"#.to_owned(),
        time: 1_500,
    };
    assert_eq!(store.clippings("h20").await.unwrap(), [expected]);
    for handle in ["", "h2", "H20", "h20 ", "\0", "'"] {
        assert_eq!(store.clippings(handle).await.unwrap(), [], "{handle:?}");
    }
    // The most recently changed session comes first, then the newest message.
    clipped(&store, "t", &["zero", "two", "x"]).await;
    store.commit("t", says(2, vec![message("again", b"two")])).await.unwrap();
    store.commit("t", Commit { time: 9_000, ..says(3, vec![]) }).await.unwrap();
    let found = store.clippings("h20").await.unwrap();
    let found: Vec<_> = found.iter().map(|found| (found.session.as_str(), found.seq)).collect();
    assert_eq!(found, [("t", 4), ("t", 2), ("s", 2)]);
}

async fn all_words_must_occur_in_whatever_case(store: Arc<dyn Store>) {
    let texts = ["The pump broke down", "the HOUSE of the pump", "Größe und Ärger", "修剪枝条"];
    clipped(&store, "s", &texts).await;
    for (words, expected) in [
        ("pump", vec![1, 2]),
        ("PUMP the", vec![1, 2]),
        ("house, pump!", vec![2]),
        ("pump pump pump", vec![1, 2]),
        ("pum", vec![]),
        ("pump valve", vec![]),
        ("ÄRGER größe", vec![3]),
        ("Grosse", vec![]),
        ("枝剪", vec![4]),
    ] {
        assert_eq!(seqs(&store, words).await, expected, "{words}");
    }
}

async fn identifiers_and_paths_are_found_whole_and_in_part(store: Arc<dyn Store>) {
    let texts = [
        "error in crates/store/src/lib.rs:42: foo_bar",
        "crates/engine/src/lib.rs and readAll()",
        "std::fs::read to_string foo",
        "id 7f3a9c foo-bar",
    ];
    clipped(&store, "s", &texts).await;
    for (words, expected) in [
        ("crates/store/src/lib.rs", vec![1]),
        ("src/lib.rs", vec![1, 2]),
        ("foo_bar", vec![1]),
        ("FOO_BAR", vec![1]),
        ("foo", vec![1, 3, 4]),
        ("foo bar", vec![1, 4]),
        ("foo-bar", vec![1, 4]),
        ("readall", vec![2]),
        ("read", vec![2, 3]),
        ("std::fs::read", vec![3]),
        ("7f3a9c", vec![4]),
        ("lib.rs:42", vec![1]),
    ] {
        assert_eq!(seqs(&store, words).await, expected, "{words}");
    }
}

async fn nothing_that_is_typed_is_an_error(store: Arc<dyn Store>) {
    clipped(&store, "s", &["one two"]).await;
    let long = "one ".repeat(100_000);
    for words in ["one AND two", "one NOT three", "NEAR(one two)", "one OR two", "words:one"] {
        assert_eq!(seqs(&store, words).await, [0; 0], "{words}: no word means anything else");
    }
    for words in
        ["one*", "\"one", "one'", "one)", "^one", "(one", "one & two", "!one", "one:*", "-one", "$1 one ?1"]
    {
        let found = seqs(&store, words).await;
        assert_eq!(found, if words.contains("$1") { vec![] } else { vec![1] }, "{words}");
    }
    for words in ["", " ", "\0", "\"", "''", "*", "___", "\u{0301}", "()", "\\"] {
        assert_eq!(seqs(&store, words).await, [0; 0], "{words:?}");
    }
    assert_eq!(seqs(&store, &long).await, [1]);
    assert_eq!(seqs(&store, "one\0two").await, [1]);
}

async fn the_newest_is_found_first_and_each_once(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let timed = |id: &str, time| secateur_store::NewStoredMessage { time, ..message(id, id.as_bytes()) };
    let append = vec![timed("word a", 10), timed("word b", 30), timed("word c", 20), timed("word d", 30)];
    let clippings = vec![
        clipping(3, 0, "word c"),
        clipping(1, 0, "word a"),
        clipping(4, 1, "word d"),
        clipping(4, 0, "word d"),
        clipping(2, 0, "word b"),
        // A repeated clipping changes nothing.
        clipping(2, 0, "other"),
    ];
    store.commit("s", Commit { clippings, ..says(0, append) }).await.unwrap();
    let found = search(&store, "word").await;
    let found: Vec<_> = found.iter().map(|found| (found.seq, found.part)).collect();
    assert_eq!(found, [(4, 0), (4, 1), (2, 0), (3, 0), (1, 0)]);
    assert_eq!(search(&store, "other").await, []);
    let three =
        store.search(ClippingSearch { words: "word".to_owned(), session: None, limit: 3 }).await.unwrap();
    assert_eq!(three.iter().map(|found| found.seq).collect::<Vec<_>>(), [4, 4, 2]);
    // A body that is appended again is found in its latest message.
    store.commit("s", says(1, vec![timed("word a again", 90)])).await.unwrap();
    let again = secateur_store::NewStoredMessage { body: b"word a"[..].into(), ..timed("a2", 95) };
    store.commit("s", says(2, vec![again])).await.unwrap();
    let found = search(&store, "word").await;
    assert_eq!((found[0].seq, found.len()), (6, 5));
    // So is the same text in another body, because it has the same handle.
    let other = secateur_store::NewStoredMessage { body: b"[word b]"[..].into(), ..timed("b2", 99) };
    let clippings = vec![NewClipping { handle: "h20".to_owned(), ..clipping(7, 1, "word b") }];
    store.commit("s", Commit { clippings, ..says(3, vec![other]) }).await.unwrap();
    let found = search(&store, "word").await;
    assert_eq!((found[0].seq, found[0].part, found.len()), (7, 1, 5));
}

async fn one_session_is_searched_or_all(store: Arc<dyn Store>) {
    clipped(&store, "s", &["shared", "own of s"]).await;
    clipped(&store, "t", &["own of t", "shared"]).await;
    store.commit("s", Commit { time: 9_000, ..says(2, vec![]) }).await.unwrap();
    let within = |session: Option<&str>, words: &str| {
        let search =
            ClippingSearch { words: words.to_owned(), session: session.map(str::to_owned), limit: 9 };
        let store = Arc::clone(&store);
        async move {
            let found = store.search(search).await.unwrap();
            found.into_iter().map(|found| (found.session, found.seq)).collect::<Vec<_>>()
        }
    };
    assert_eq!(within(Some("t"), "shared").await, [("t".to_owned(), 2)]);
    assert_eq!(within(None, "shared").await, [("s".to_owned(), 1)], "the session changed last");
    assert_eq!(within(Some("s"), "own").await, [("s".to_owned(), 2)]);
    assert_eq!(within(None, "own").await.len(), 2);
    for words in ["own", ""] {
        let nowhere = ClippingSearch { words: words.to_owned(), session: Some("x".to_owned()), limit: 9 };
        assert!(matches!(store.search(nowhere).await, Err(StoreError::NoSession { .. })));
    }
}

async fn a_branch_finds_what_it_shares_and_forgets_alone(store: Arc<dyn Store>) {
    clipped(&store, "s", &["first word", "second word"]).await;
    let fork = Fork { revision: 2, at: 1, id: "t".to_owned(), title: None, time: 9_000 };
    store.fork("s", fork).await.unwrap();
    let found = search(&store, "word").await;
    let found: Vec<_> = found.iter().map(|found| (found.session.as_str(), found.seq)).collect();
    assert_eq!(found, [("s", 2), ("t", 1)]);
    assert_eq!(store.clippings("h10").await.unwrap().len(), 2);
    let commit = Commit { live_from: Some(2), time: 10_000, ..says(0, vec![]) };
    store.commit("t", commit).await.unwrap();
    store
        .forget("t", Forget { revision: 1, gone: vec![1], time: 11_000, ..Forget::default() })
        .await
        .unwrap();
    let found = search(&store, "first").await;
    assert_eq!((found[0].session.as_str(), found.len()), ("s", 1), "the other still has it");
    let within = ClippingSearch { words: "first".to_owned(), session: Some("t".to_owned()), limit: 9 };
    assert_eq!(store.search(within).await.unwrap(), []);
}

async fn a_message_of_the_same_commit_may_be_cut(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let clippings = vec![clipping(1, 0, "new")];
    let append = vec![message("a", b"new")];
    store.commit("s", Commit { clippings, ..says(0, append) }).await.unwrap();
    assert_eq!(seqs(&store, "new").await, [1]);
    // Undone cuts are found as before.
    let change = vec![MessageChange { seq: 1, shown: Some(None), ..MessageChange::default() }];
    store.commit("s", Commit { change, ..says(1, vec![]) }).await.unwrap();
    assert_eq!(seqs(&store, "new").await, [1]);
}

async fn what_is_refused_is_not_found(store: Arc<dyn Store>) {
    session_of(&store, "s", &["one", "two"]).await;
    let before = everything(&store, "s").await;
    let try_it = |revision, clippings| store.commit("s", Commit { clippings, ..says(revision, vec![]) });
    let stale = try_it(0, vec![clipping(1, 0, "word")]).await;
    assert!(matches!(stale, Err(StoreError::Stale { .. })));
    for seq in [0, 3, u64::MAX] {
        let refused = try_it(1, vec![clipping(1, 0, "word"), clipping(seq, 0, "word")]).await;
        assert!(matches!(refused, Err(StoreError::NoMessage { seq: named, .. }) if named == seq));
    }
    let unfit = try_it(1, vec![NewClipping { handle: "\0".to_owned(), ..clipping(1, 0, "word") }]).await;
    assert!(matches!(unfit, Err(StoreError::Unfit { .. })));
    assert_eq!(everything(&store, "s").await, before);
    assert_eq!(search(&store, "word").await, []);
    // A forgotten original has no clippings.
    store.commit("s", Commit { live_from: Some(2), ..says(1, vec![]) }).await.unwrap();
    store.forget("s", Forget { revision: 2, gone: vec![1], ..Forget::default() }).await.unwrap();
    try_it(3, vec![clipping(1, 0, "word")]).await.unwrap();
    assert_eq!(search(&store, "word").await, []);
}

async fn a_text_of_any_size_is_taken(store: Arc<dyn Store>) {
    session_of(&store, "s", &["a", "b"]).await;
    let mut many: String = (0..300_000).map(|n| format!("word{n} ")).collect();
    many.push_str(&"x".repeat(1 << 20));
    let clippings = vec![clipping(1, 0, &many), clipping(2, 0, "")];
    store.commit("s", Commit { clippings, ..says(1, vec![]) }).await.unwrap();
    assert_eq!(seqs(&store, "word1 word20000").await, [1]);
    assert_eq!(store.clippings("h20").await.unwrap().len(), 1);
}

async fn what_is_forgotten_leaves_no_word_behind(home: StoreHome) {
    let store = home.open().await;
    for (id, first, second) in [("s", "xylophone secret", "harmless"), ("t", "xylophone", "other")] {
        store.create(new_session(id)).await.unwrap();
        let append = vec![message("a", first.as_bytes()), message("b", second.as_bytes())];
        let clippings = vec![clipping(1, 0, first), clipping(2, 0, second)];
        store.commit(id, Commit { clippings, live_from: Some(2), ..says(0, append) }).await.unwrap();
    }
    store.forget("s", Forget { revision: 1, gone: vec![1], ..Forget::default() }).await.unwrap();
    assert_eq!(search(&store, "secret").await, []);
    assert_eq!(search(&store, "xylophone").await.len(), 1);
    assert_eq!(search(&store, "harmless").await.len(), 1);
    assert_eq!(home.query_number("SELECT COUNT(*) FROM clippings").await, 3);
    if home.backend != Backend::Postgres {
        assert_eq!(home.query_number("SELECT COUNT(*) FROM clippings_words").await, 3);
        store.shrink().await.unwrap();
        drop(store);
        let bytes = std::fs::read(&home.url).unwrap();
        let has = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
        assert!(has("armless") && !has("secret"), "a word is still in the file");
    } else {
        store.shrink().await.unwrap();
    }
}
