//! Addresses of stores, and the errors for invalid ones.

use std::fs;

use secateur_store::{StoreError, open};

use crate::rows::{loaded_texts, session_of};
use secateur_testing::Backend;
use secateur_testing::store_home::run;

async fn refusal(url: &str) -> String {
    match open(url).await {
        Ok(_) => panic!("{url} was opened"),
        Err(error) => format!("{error} {error:?}"),
    }
}

#[test]
fn a_new_file_is_made_with_its_folder_for_its_owner_only() {
    run(Backend::File, |home| async move {
        let path = home.folder().join("deep/down/sessions.db");
        let store = open(&format!("sqlite:{}", path.display())).await.unwrap();
        session_of(&store, "s", &["a"]).await;
        #[cfg(unix)]
        for file in fs::read_dir(path.parent().unwrap()).unwrap() {
            use std::os::unix::fs::PermissionsExt as _;
            let file = file.unwrap();
            assert_eq!(
                file.metadata().unwrap().permissions().mode() & 0o777,
                0o600,
                "{:?}",
                file.file_name()
            );
        }
        // Every spelling names the same store.
        for url in [path.display().to_string(), format!("sqlite://{}", path.display())] {
            assert_eq!(loaded_texts(&open(&url).await.unwrap(), "s").await, ["a"]);
        }
    });
}

#[test]
fn a_path_is_a_path_whatever_is_in_it() {
    run(Backend::File, |home| async move {
        for name in ["file:a?mode=memory", "a b%20c", "me:word@host", "ünïcode"] {
            let path = home.folder().join(name);
            let store = open(path.to_str().unwrap()).await.unwrap();
            session_of(&store, "s", &["a"]).await;
            assert!(path.is_file(), "{name}");
        }
    });
}

#[test]
fn stores_in_memory_know_nothing_of_each_other() {
    run(Backend::Memory, |home| async move {
        let (one, other) = (home.open().await, home.open().await);
        session_of(&one, "s", &["a"]).await;
        assert!(matches!(other.session("s").await, Err(StoreError::NoSession { .. })));
    });
}

#[test]
fn what_cannot_be_opened_says_why() {
    run(Backend::File, |home| async move {
        let folder = home.folder().to_str().unwrap().to_owned();
        assert!(refusal(&folder).await.contains("cannot open the store"));
        let text = home.folder().join("notes.txt");
        fs::write(&text, "this is no database, ".repeat(100)).unwrap();
        assert!(refusal(text.to_str().unwrap()).await.contains("not a database"));
        assert!(refusal(&format!("{folder}/notes.txt/s.db")).await.contains("cannot create the file"));
        assert!(refusal("mysql://me:secret@host/db").await.contains("names no store"));
    });
}

#[test]
fn no_password_is_in_any_error() {
    run(Backend::Memory, |_| async move {
        // Nothing listens on port 1.
        for url in [
            "postgres://me:secret@127.0.0.1:1/db",
            "postgres://me:secret@127.0.0.1:1/db?sslmode=require",
            "postgres://me:secret@127.0.0.1:1/db?sslmode=verify-full",
            "postgres://me:secret@127.0.0.1:99999/db",
            "postgres://127.0.0.1:1/db?user=me&password=secret&secret=1",
            "postgresql://me:secret@/db?host=/nowhere/secret-free",
            "redis://me:secret@127.0.0.1:1",
            "postgres:me:secret@127.0.0.1:1/db",
        ] {
            let refusal = refusal(url).await.replace("secret-free", "");
            assert!(!refusal.contains("secret"), "{refusal}");
        }
    });
}

#[test]
fn a_wrong_password_is_in_no_error() {
    run(Backend::Postgres, |home| async move {
        let Some((_, rest)) = home.url.split_once('@') else {
            return;
        };
        let refusal = refusal(&format!("postgres://nobody-known:secret@{rest}")).await;
        assert!(refusal.contains("cannot connect to the store"), "{refusal}");
        assert!(!refusal.contains("secret"), "{refusal}");
    });
}
