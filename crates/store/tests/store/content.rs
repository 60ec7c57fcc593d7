//! Unusual content.

use std::sync::Arc;

use secateur_store::{Commit, MessageChange, NewSession, NewStoredMessage, Store, StoreError};

use crate::rows::{everything, message, new_session, operation, says};
use secateur_testing::{StoreHome, on_each_home, on_each_store};

on_each_store!(
    bodies_of_any_bytes_come_back_as_they_were,
    texts_come_back_byte_for_byte,
    a_nul_character_is_refused_in_every_text,
    ids_that_no_index_takes_are_refused,
    times_of_any_size_are_kept,
);
on_each_home!(equal_bodies_are_kept_once_and_compressed, a_damaged_body_is_an_error_that_quotes_nothing);

const TEXTS: [&str; 7] = [
    "",
    "'; DROP TABLE messages; --",
    "\"quoted\" `ticks` $1 ?1 :name @name \\x00 \\",
    "{\"a\": 1.0e400, \"a\":  \"\\u0000\", \"b\" :null}",
    "日本語 👩‍🚀 e\u{301} \u{202e}\u{feff}\u{10ffff}",
    " \t\r\n\u{b}\u{1}\u{7f}\u{85}\u{2028} ",
    "not JSON at all",
];

async fn bodies_of_any_bytes_come_back_as_they_were(store: Arc<dyn Store>) {
    store.create(new_session("s")).await.unwrap();
    let all: Vec<u8> = (0..=255).collect();
    let bodies = [
        vec![],
        vec![0],
        b"a\0b\0".to_vec(),
        vec![0xff, 0xfe, 0xc3, 0x28, 0xf0, 0x80],
        all.repeat(40),
        b"'\"\\;--".to_vec(),
        vec![b'x'; 5 << 20],
        all.iter().rev().copied().collect(),
    ];
    let append = (0..).zip(&bodies).map(|(n, body)| message(&format!("m{n}"), body)).collect();
    store.commit("s", says(0, append)).await.unwrap();
    let loaded = store.load("s").await.unwrap().messages;
    assert!(loaded.iter().map(|row| &row.body).eq(&bodies));
    let seqs: Vec<u64> = (1..=bodies.len() as u64).collect();
    let originals = store.originals("s", &seqs).await.unwrap();
    assert!(originals.iter().eq(&bodies.clone().map(Some)));
    // As shown bodies too: each message shows the body of its neighbour.
    let change = (1..).zip(bodies.iter().rev());
    let change = change.map(|(seq, body)| MessageChange {
        seq,
        shown: Some(Some(body.clone())),
        ..MessageChange::default()
    });
    store.commit("s", Commit { change: change.collect(), ..says(1, vec![]) }).await.unwrap();
    let loaded = store.load("s").await.unwrap().messages;
    assert!(loaded.iter().map(|row| &row.body).eq(bodies.iter().rev()));
}

async fn texts_come_back_byte_for_byte(store: Arc<dyn Store>) {
    for (n, text) in TEXTS.into_iter().enumerate() {
        let text = || text.to_owned();
        let (id, title) = (format!("s{n}{}", text()), Some(text()));
        let new = NewSession {
            id: id.clone(),
            wire: text(),
            profile: text(),
            title,
            envelope: text(),
            state: text(),
            time: 0,
        };
        let row = store.create(new).await.unwrap();
        assert_eq!([&row.wire, &row.profile, &row.envelope, &row.state], [&text(); 4]);
        assert_eq!((&row.id, row.title), (&id, Some(text())));
        let said = NewStoredMessage { facts: text(), cuts: text(), ..message(&text(), b"") };
        let mut done = operation(&text());
        done.data = text();
        let commit = Commit { operations: vec![done], events: vec![text()], ..says(0, vec![said]) };
        store.commit(&id, commit).await.unwrap();
        let (state, envelope) = (Some(format!("{} ", text())), Some(format!(" {}", text())));
        let change = vec![MessageChange { seq: 1, cuts: Some(text()), ..MessageChange::default() }];
        store.commit(&id, Commit { state, envelope, change, ..says(1, vec![]) }).await.unwrap();
        let loaded = store.load(&id).await.unwrap();
        let found = &loaded.messages[0];
        assert_eq!([&found.id, &found.facts, &found.cuts], [&text(); 3]);
        assert_eq!((loaded.session.state, loaded.session.envelope), (text() + " ", " ".to_owned() + &text()));
        let done = &store.operations(&id, 0, 1).await.unwrap()[0];
        assert_eq!([&done.kind, &done.data], [&text(); 2]);
        assert_eq!(store.events(&id, 0, 1).await.unwrap()[0].data, text());
    }
}

async fn a_nul_character_is_refused_in_every_text(store: Arc<dyn Store>) {
    let nul = || "secret\0".to_owned();
    let unfit = |result: Result<(), StoreError>| {
        let Err(error @ StoreError::Unfit { .. }) = result else { panic!("{result:?}") };
        assert!(error.to_string().contains("NUL"), "{error}");
        assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    };
    for new in [
        NewSession { id: nul(), ..new_session("t") },
        NewSession { wire: nul(), ..new_session("t") },
        NewSession { profile: nul(), ..new_session("t") },
        NewSession { title: Some(nul()), ..new_session("t") },
        NewSession { envelope: nul(), ..new_session("t") },
        NewSession { state: nul(), ..new_session("t") },
    ] {
        unfit(store.create(new).await.map(drop));
    }
    store.create(new_session("s")).await.unwrap();
    let before = everything(&store, "s").await;
    let base = || says(0, vec![message("a", b"a")]);
    let say = |said| says(0, vec![message("b", b"b"), said]);
    let mut kind = operation("prune");
    kind.kind = nul();
    let mut data = operation("prune");
    data.data = nul();
    for commit in [
        say(message(&nul(), b"")),
        say(NewStoredMessage { facts: nul(), ..message("a", b"") }),
        say(NewStoredMessage { cuts: nul(), ..message("a", b"") }),
        Commit {
            change: vec![MessageChange { seq: 1, cuts: Some(nul()), ..MessageChange::default() }],
            ..base()
        },
        Commit { operations: vec![kind], ..base() },
        Commit { operations: vec![data], ..base() },
        Commit { events: vec![nul()], ..base() },
        Commit { state: Some(nul()), ..base() },
        Commit { envelope: Some(nul()), ..base() },
    ] {
        unfit(store.commit("s", commit).await.map(drop));
    }
    unfit(store.lease("s", &nul(), 1).await.map(drop));
    assert_eq!(everything(&store, "s").await, before);
}

async fn ids_that_no_index_takes_are_refused(store: Arc<dyn Store>) {
    let long = "x".repeat(1_024);
    store.create(new_session(&long)).await.unwrap();
    store.commit(&long, says(0, vec![message(&long, b"a")])).await.unwrap();
    assert_eq!(store.load(&long).await.unwrap().messages[0].id, long);
    let longer = long.clone() + "x";
    assert!(matches!(store.create(new_session(&longer)).await, Err(StoreError::Unfit { .. })));
    let refused = store.commit(&long, says(1, vec![message(&longer, b"a")])).await;
    assert!(matches!(refused, Err(StoreError::Unfit { what: "the id of a message", .. })));
}

async fn times_of_any_size_are_kept(store: Arc<dyn Store>) {
    for (id, time) in [("min", i64::MIN), ("max", i64::MAX)] {
        store.create(NewSession { time, ..new_session(id) }).await.unwrap();
        let append = vec![NewStoredMessage { time, ..message("a", b"") }];
        let events = vec![String::new()];
        store.commit(id, Commit { time, append, events, ..Commit::default() }).await.unwrap();
        let loaded = store.load(id).await.unwrap();
        assert_eq!((loaded.session.created, loaded.session.updated), (time, time));
        assert_eq!(loaded.messages[0].time, time);
        assert_eq!(store.events(id, 0, 1).await.unwrap()[0].time, time);
    }
}

async fn equal_bodies_are_kept_once_and_compressed(home: StoreHome) {
    let store = home.open().await;
    let body = b"0123456789".repeat(10_000);
    for id in ["s", "t"] {
        store.create(new_session(id)).await.unwrap();
        let shown = NewStoredMessage { shown: Some(body.clone()), ..message("b", b"b") };
        store.commit(id, says(0, vec![message("a", &body), shown, message("c", &body)])).await.unwrap();
    }
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 2);
    assert_eq!(home.query_number("SELECT size FROM bodies WHERE encoding = 1").await, 100_000);
    let kept = home.query_number("SELECT CAST(LENGTH(bytes) AS bigint) FROM bodies WHERE encoding = 1").await;
    assert!(kept < 1_000, "{kept}");
}

async fn a_damaged_body_is_an_error_that_quotes_nothing(home: StoreHome) {
    let store = home.open().await;
    store.create(new_session("s")).await.unwrap();
    store.commit("s", says(0, vec![message("a", &b"secret".repeat(100))])).await.unwrap();
    home.run_sql("UPDATE bodies SET size = 5").await;
    for error in [store.load("s").await.err(), store.originals("s", &[1]).await.err()] {
        let error = error.unwrap();
        assert!(error.to_string().contains("damaged"), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
}
