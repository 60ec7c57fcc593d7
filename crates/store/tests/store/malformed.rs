//! Files that SQLite cannot read, and whether a store can be written.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use secateur_store::{NewSession, Store, open, open_or_set_aside, set_aside_files};
use secateur_testing::{Backend, StoreHome, on_each_home, on_each_store};

on_each_store!(a_store_that_works_can_be_written);

async fn a_store_that_works_can_be_written(store: Arc<dyn Store>) {
    for _ in 0..3 {
        store.check_writable().await.unwrap();
    }
    assert_eq!(store.sessions(1).await.unwrap(), []);
}

on_each_home!(the_check_really_writes);

async fn the_check_really_writes(home: StoreHome) {
    let store = home.open().await;
    store.check_writable().await.unwrap();
    let position = async || match home.backend {
        Backend::Postgres => home.query_number("SELECT xmin::text::bigint FROM secateur_schema").await,
        _ => home.query_number("PRAGMA data_version").await + log_length(&home),
    };
    let before = position().await;
    store.check_writable().await.unwrap();
    assert_ne!(position().await, before);
}

fn log_length(home: &StoreHome) -> i64 {
    fs::metadata(format!("{}-wal", home.url)).unwrap().len().try_into().unwrap()
}

/// A closed store with a session, whose file is in a folder of its own.
async fn closed(path: &Path) {
    let store = open(path.to_str().unwrap()).await.unwrap();
    store.create(NewSession { id: "before".to_owned(), ..NewSession::default() }).await.unwrap();
    drop(store);
    is_closed(path).await;
}

/// Has everything in the file itself, and nothing in the log.
async fn is_closed(path: &Path) {
    while fs::metadata(path.with_extension("db-wal")).is_ok_and(|log| log.len() > 0) {
        tokio::time::sleep(Duration::from_millis(5)).await;
        let connection = rusqlite::Connection::open(path).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    }
}

#[tokio::test]
async fn a_malformed_file_with_our_header_is_set_aside_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("any.db");
    closed(&path).await;
    let mut bytes = fs::read(&path).unwrap();
    // The list of tables, behind the header.
    bytes[100..400].fill(0xFF);
    fs::write(&path, &bytes).unwrap();
    assert!(open(path.to_str().unwrap()).await.is_err_and(|error| error.is_malformed()));
    assert_eq!(fs::read(&path).unwrap(), bytes, "`open` changes nothing");

    let (store, moved) = open_or_set_aside(path.to_str().unwrap()).await.unwrap();
    let moved = moved.unwrap();
    let name = moved.file_name().unwrap().to_str().unwrap();
    assert!(
        name.starts_with("any.db.malformed-20") && name.len() == "any.db.malformed-2026-11-18T15-04-05".len()
    );
    assert_eq!(fs::read(&moved).unwrap(), bytes);
    assert_eq!(set_aside_files(&path), [moved]);
    assert_eq!(store.sessions(9).await.unwrap(), []);
    store.check_writable().await.unwrap();
    // Once more, in the same second or not: the first one stays.
    drop(store);
    is_closed(&path).await;
    fs::write(&path, &bytes).unwrap();
    let (_, again) = open_or_set_aside(path.to_str().unwrap()).await.unwrap();
    assert!(again.is_some());
    assert_eq!(set_aside_files(&path).len(), 2);
}

#[tokio::test]
async fn a_sound_file_is_opened_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secateur/sessions.db");
    closed(&path).await;
    secateur_store::mark_malformed(path.to_str().unwrap()).await.unwrap();
    for _ in 0..2 {
        let (store, moved) = open_or_set_aside(path.to_str().unwrap()).await.unwrap();
        assert_eq!((moved, store.sessions(9).await.unwrap().len()), (None, 1));
    }
    assert!(!folder.path().join("secateur/sessions.db.suspect").exists());
}
