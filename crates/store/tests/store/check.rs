//! Checking a whole store, and bringing out what can be read of a damaged one.

use std::fs;
use std::time::Duration;

use secateur_store::{Commit, MessageChange, NewClipping, StoreReport, check, open, recover};
use secateur_testing::store_home::run;
use secateur_testing::{Backend, StoreHome, on_each_home};

use crate::rows::{message, new_session, operation, says};

on_each_home!(a_check_finds_every_damage, a_check_ends_with_its_time);

/// A store with sessions of ten messages each, one of which was cut.
async fn fill(home: &StoreHome, sessions: usize) {
    let store = home.open().await;
    for session in 0..sessions {
        let id = format!("s{session}");
        store.create(new_session(&id)).await.unwrap();
        let text = |n: usize| format!("{id} says {n}: {}", "words of many kinds ".repeat(1 + n * 30));
        let mut append: Vec<_> = (1..=10).map(|n| message(&format!("m{n}"), text(n).as_bytes())).collect();
        append.iter_mut().for_each(|message| message.facts = r#"{"parts":[{}]}"#.to_owned());
        let change = vec![MessageChange {
            seq: 3,
            cuts: Some("[]".to_owned()),
            shown: Some(Some(format!("{id} cut").into_bytes())),
            ..MessageChange::default()
        }];
        let letters = format!("{:a<48}", format!("handle{}", char::from(b'a' + (session % 26) as u8)));
        let clippings = vec![NewClipping {
            seq: 3,
            handle: format!("{}{session}", &letters[..12]),
            facts: "{}".to_owned(),
            text: text(3),
            ..NewClipping::default()
        }];
        let operations = vec![operation("prune")];
        let commit =
            Commit { change, clippings, operations, events: vec!["{}".to_owned()], ..says(0, append) };
        store.commit(&id, commit).await.unwrap();
    }
}

async fn checked(home: &StoreHome) -> StoreReport {
    check(&home.url, None).await.unwrap()
}

async fn a_check_finds_every_damage(home: StoreHome) {
    fill(&home, 3).await;
    let report = checked(&home).await;
    assert_eq!(report.damages, []);
    assert_eq!((report.sessions, report.messages, report.bodies, report.clippings), (3, 30, 33, 3));
    assert!(report.is_complete && report.bytes > 30_000);
    let body = "digest = (SELECT body FROM messages WHERE seq = 5 ORDER BY session LIMIT 1)";
    for (damage, undo, what) in [
        (
            format!("UPDATE bodies SET size = size + 1 WHERE {body}"),
            "UPDATE bodies SET size = size - 1 WHERE ",
            "size",
        ),
        ("UPDATE messages SET facts = '[]' WHERE seq = 7".to_owned(), "", "row was changed"),
        ("UPDATE sessions SET state = '{' WHERE id = 's1'".to_owned(), "", "state is no JSON"),
        ("UPDATE operations SET data = '{'".to_owned(), "", "operation 1 is no JSON"),
        ("UPDATE events SET data = '{'".to_owned(), "", "event 1 is no JSON"),
        ("UPDATE clippings SET part = 7".to_owned(), "", "names a part that is not there"),
    ] {
        home.run_sql(&damage).await;
        let report = checked(&home).await;
        assert!(report.damages.iter().any(|found| found.what.contains(what)), "{what}: {:?}", report.damages);
        assert_eq!(report.damage_count, report.damages.len() as u64);
        if !undo.is_empty() {
            let found = &report.damages[0];
            assert_eq!((found.session.as_deref(), found.message), (Some("s0"), Some(5)), "{found:?}");
            home.run_sql(&format!("{undo}{body}")).await;
        }
    }
}

async fn a_check_ends_with_its_time(home: StoreHome) {
    fill(&home, 1).await;
    let report = check(&home.url, Some(Duration::ZERO)).await.unwrap();
    assert!(!report.is_complete);
}

/// Damages a copy of a file of 30 sessions, and recovers it.
fn with_damage(
    test: impl FnOnce(&mut Vec<u8>) + Send + 'static,
    is_enough: impl FnOnce(u64, u64) -> bool + Send + 'static,
) {
    run(Backend::File, |home| async move {
        fill(&home, 30).await;
        home.run_sql("PRAGMA wal_checkpoint(TRUNCATE)").await;
        let mut bytes = fs::read(&home.url).unwrap();
        test(&mut bytes);
        let damaged = home.folder().join("damaged.db");
        fs::write(&damaged, &bytes).unwrap();
        let new = home.folder().join("new.db");
        let recovering = {
            let (damaged, new) = (damaged.clone(), new.clone());
            tokio::task::spawn_blocking(move || recover(&damaged, &new)).await.unwrap()
        };
        assert!(fs::read(&damaged).unwrap() == bytes, "the damaged file was changed");
        let left: Vec<_> =
            fs::read_dir(home.folder()).unwrap().map(|file| file.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| !name.to_str().unwrap().contains("copy")), "{left:?}");
        let report = match recovering {
            Ok(report) => report,
            Err(error) => {
                assert!(is_enough(0, 0), "{error}");
                return;
            }
        };
        assert!(is_enough(report.sessions, report.messages), "{report:?}");
        // What was recovered is whole, and a store that can be used.
        let url = new.to_str().unwrap();
        let check = check(url, None).await.unwrap();
        assert_eq!(check.damages, [], "{report:?}");
        assert_eq!((check.sessions, check.messages), (report.sessions, report.messages));
        let store = open(url).await.unwrap();
        for session in store.sessions(99).await.unwrap() {
            let loaded = store.load(&session.id).await.unwrap();
            for message in &loaded.messages {
                let text = String::from_utf8(message.body.clone()).unwrap();
                let is_its_own = text.starts_with(&format!("{} says {}:", session.id, message.seq))
                    || text == format!("{} cut", session.id);
                assert!(is_its_own, "{text}");
            }
            let revision = session.revision;
            store.commit(&session.id, says(revision, vec![message("new", b"more")])).await.unwrap();
        }
    });
}

#[test]
fn a_whole_file_is_recovered_whole() {
    with_damage(|_| {}, |sessions, messages| (sessions, messages) == (30, 300));
}

#[test]
fn a_truncated_file_gives_what_it_has() {
    with_damage(
        |bytes| bytes.truncate(bytes.len() * 2 / 3 + 100),
        |sessions, messages| sessions == 30 && messages > 50,
    );
}

#[test]
fn an_overwritten_header_is_replaced() {
    with_damage(|bytes| bytes[..100].fill(0x5a), |sessions, messages| (sessions, messages) == (30, 300));
}

#[test]
fn a_lost_first_page_is_replaced() {
    with_damage(|bytes| bytes[..4096].fill(0), |sessions, messages| (sessions, messages) == (30, 300));
}

#[test]
fn what_is_no_store_is_refused() {
    with_damage(|bytes| bytes.fill(7), |sessions, _| sessions == 0);
}

/// Zeroed and overwritten pages at places that differ from run to run of the loop, and are the same in every run.
#[test]
fn pages_that_are_lost_cost_what_was_on_them() {
    for seed in 1..=6_usize {
        let damage = move |bytes: &mut Vec<u8>| {
            let pages = bytes.len() / 4096;
            for step in 0..4 {
                // The root pages of tables are at the beginning; without them nothing is left of a table.
                let page = 40 + (seed * 7919 + step * 104_729) % (pages - 40);
                let value = if step % 2 == 0 { 0 } else { seed as u8 };
                bytes[page * 4096..(page + 1) * 4096].fill(value);
            }
        };
        with_damage(damage, |sessions, messages| sessions >= 25 && messages > 150);
    }
}
