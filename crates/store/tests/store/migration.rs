//! Databases of other versions, and of other programs.

use std::time::Duration;

use secateur_store::{ClippingSearch, Commit, NewClipping, StoreError, open};

use crate::rows::{loaded_texts, new_session, says, session_of};
use secateur_testing::store_home::run;
use secateur_testing::{Backend, StoreHome, on_each_home};

on_each_home!(
    a_database_of_schema_1_is_brought_up_to_date,
    a_database_of_schema_2_is_brought_up_to_date,
    a_database_of_schema_3_is_brought_up_to_date,
    a_database_of_schema_4_is_brought_up_to_date,
    a_step_that_fails_changes_nothing,
    a_newer_database_is_refused,
    many_may_open_a_new_store_at_once,
);

/// The schema of this version.
const NEWEST: i64 = 7;

const SQLITE_1: &str = include_str!("../../src/sqlite/schema/1.sql");
const SQLITE_2: &str = include_str!("../../src/sqlite/schema/2.sql");
const SQLITE_3: &str = include_str!("../../src/sqlite/schema/3.sql");
const SQLITE_4: &str = include_str!("../../src/sqlite/schema/4.sql");
const POSTGRES_1: &str = include_str!("../../src/postgres/schema/1.sql");
const POSTGRES_2: &str = include_str!("../../src/postgres/schema/2.sql");
const POSTGRES_3: &str = include_str!("../../src/postgres/schema/3.sql");
const POSTGRES_4: &str = include_str!("../../src/postgres/schema/4.sql");

/// The digest of `hello`.
const HELLO: &str = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824";

/// Creates the database of schema 1, with a session of one message.
async fn make_schema_1(home: &StoreHome) {
    let columns = "id, dialect, profile, frame, state, revision, head, live_from, last_operation, last_event, \
                   created, updated";
    let rows = |digest: &str, no: &str| {
        format!(
            "INSERT INTO sessions ({columns}) VALUES ('s', 'd', 'p', '{{}}', '{{}}', 1, 1, 1, 0, 0, 5, 6);
             INSERT INTO bodies VALUES ({digest}, 0, 5, {text});
             INSERT INTO messages VALUES (1, 1, 'a', NULL, {no}, {no}, 7, {digest}, NULL, '{{}}', '');",
            text = if no == "0" { "x'68656c6c6f'" } else { "'hello'" },
        )
    };
    let sql = match home.backend {
        Backend::Postgres => format!(
            "{POSTGRES_1} CREATE TABLE secateur_schema (version integer NOT NULL);
             INSERT INTO secateur_schema VALUES (1); {}",
            rows(&format!("'\\x{HELLO}'"), "FALSE")
        ),
        _ => format!(
            "PRAGMA application_id = 0x73656353; PRAGMA journal_mode = WAL; {SQLITE_1} PRAGMA user_version = 1; {}",
            rows(&format!("x'{HELLO}'"), "0")
        ),
    };
    home.run_sql(&sql).await;
}

/// Creates the database of schema 2, whose session is leased.
async fn make_schema_2(home: &StoreHome) {
    make_schema_1(home).await;
    let step = if home.backend == Backend::Postgres { POSTGRES_2 } else { SQLITE_2 };
    let far = i64::MAX / 2;
    home.run_sql(&format!("{step} INSERT INTO leases VALUES (1, 'me', 7, {far})")).await;
    set_schema(home, 2).await;
}

/// Creates the database of schema 3.
async fn make_schema_3(home: &StoreHome) {
    make_schema_2(home).await;
    home.run_sql(if home.backend == Backend::Postgres { POSTGRES_3 } else { SQLITE_3 }).await;
    set_schema(home, 3).await;
}

/// Creates the database of schema 4, in which the message was cut.
async fn make_schema_4(home: &StoreHome) {
    make_schema_3(home).await;
    home.run_sql(if home.backend == Backend::Postgres { POSTGRES_4 } else { SQLITE_4 }).await;
    let clipping = "SELECT body, 0, 'kbqzwmta', '{}'";
    home.run_sql(&match home.backend {
        Backend::Postgres => format!(
            "INSERT INTO clippings (body, part, handle, facts, words) {clipping}, 'hello' FROM messages"
        ),
        _ => format!("INSERT INTO clippings (body, part, handle, facts) {clipping} FROM messages"),
    })
    .await;
    set_schema(home, 4).await;
}

async fn schema(home: &StoreHome) -> i64 {
    match home.backend {
        Backend::Postgres => home.query_number("SELECT version::bigint FROM secateur_schema").await,
        _ => home.query_number("PRAGMA user_version").await,
    }
}

async fn set_schema(home: &StoreHome, version: u32) {
    match home.backend {
        Backend::Postgres => home.run_sql(&format!("UPDATE secateur_schema SET version = {version}")).await,
        _ => home.run_sql(&format!("PRAGMA user_version = {version}")).await,
    }
}

async fn a_database_of_schema_1_is_brought_up_to_date(home: StoreHome) {
    make_schema_1(&home).await;
    assert_eq!(schema(&home).await, 1);
    let store = home.open().await;
    assert_eq!(schema(&home).await, NEWEST);
    assert_eq!(loaded_texts(&store, "s").await, ["hello"]);
    // Schema 2: leases.
    let lease = store.lease("s", "me", 1_000).await.unwrap().unwrap();
    store.commit("s", Commit { lease: Some(lease.token), ..says(1, vec![]) }).await.unwrap();
    // Opening it again changes nothing.
    assert_eq!(loaded_texts(&home.open().await, "s").await, ["hello"]);
    assert_eq!(schema(&home).await, NEWEST);
}

async fn a_database_of_schema_2_is_brought_up_to_date(home: StoreHome) {
    make_schema_2(&home).await;
    assert_eq!(schema(&home).await, 2);
    let store = home.open().await;
    assert_eq!(schema(&home).await, NEWEST);
    assert_eq!(loaded_texts(&store, "s").await, ["hello"]);
    assert_eq!(store.lease("s", "me", 1_000).await.unwrap().unwrap().token, 7);
    // Schema 3: earlier messages are found too.
    let found = store.find(&["a".to_owned()]).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].session.as_str(), found[0].seq, found[0].updated), ("s", 1, 6));
}

async fn a_database_of_schema_3_is_brought_up_to_date(home: StoreHome) {
    make_schema_3(&home).await;
    let store = home.open().await;
    assert_eq!(schema(&home).await, NEWEST);
    assert_eq!(loaded_texts(&store, "s").await, ["hello"]);
    // Schema 4: clippings, also of earlier messages.
    let clipping =
        NewClipping { seq: 1, handle: "h".to_owned(), text: "hello".to_owned(), ..NewClipping::default() };
    store.commit("s", Commit { clippings: vec![clipping], ..says(1, vec![]) }).await.unwrap();
    assert_eq!(store.clippings("h").await.unwrap()[0].seq, 1);
    let search = ClippingSearch { words: "hello".to_owned(), session: None, limit: 9 };
    assert_eq!(store.search(search).await.unwrap()[0].handle, "h");
}

async fn a_database_of_schema_4_is_brought_up_to_date(home: StoreHome) {
    make_schema_4(&home).await;
    let store = home.open().await;
    assert_eq!(schema(&home).await, NEWEST);
    assert_eq!(loaded_texts(&store, "s").await, ["hello"]);
    let key = store.handle_key().unwrap();
    assert_eq!(home.open().await.handle_key(), Some(key), "every process has the same key");
    // Schema 5: handles of earlier versions are found, and the same part may get a handle of this version.
    assert_eq!(store.clippings("kbqzwmta").await.unwrap()[0].seq, 1);
    let letters = "abcdefghijklmnopqrstuvwx";
    let clipping = NewClipping {
        seq: 1,
        handle: letters[..12].to_owned(),
        letters: Some(letters.to_owned()),
        text: "hello".to_owned(),
        ..NewClipping::default()
    };
    store.commit("s", Commit { clippings: vec![clipping], ..says(1, vec![]) }).await.unwrap();
    for handle in ["kbqzwmta", &letters[..12], &letters[..16]] {
        assert_eq!(store.clippings(handle).await.unwrap().len(), 1, "{handle}");
    }
    assert!(store.clippings(&letters[..8]).await.unwrap().is_empty());
}

async fn a_step_that_fails_changes_nothing(home: StoreHome) {
    make_schema_1(&home).await;
    home.run_sql("CREATE TABLE leases (something_else integer)").await;
    let error = open(&home.url).await.err().unwrap();
    assert!(matches!(error, StoreError::Database { .. }), "{error}");
    assert_eq!(schema(&home).await, 1);
    home.run_sql("DROP TABLE leases").await;
    assert_eq!(loaded_texts(&home.open().await, "s").await, ["hello"]);
}

async fn a_newer_database_is_refused(home: StoreHome) {
    session_of(&home.open().await, "s", &["a"]).await;
    set_schema(&home, 8).await;
    let refused = open(&home.url).await.err().unwrap();
    assert!(matches!(refused, StoreError::Newer { found: 8, known: 7 }), "{refused}");
    assert_eq!(schema(&home).await, 8);
    set_schema(&home, 7).await;
    assert_eq!(loaded_texts(&home.open().await, "s").await, ["a"]);
}

async fn many_may_open_a_new_store_at_once(home: StoreHome) {
    let mut tasks = Vec::new();
    for n in 0..8 {
        let home = home.clone();
        tasks.push(tokio::spawn(async move {
            home.open().await.create(new_session(&n.to_string())).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(home.open().await.sessions(9).await.unwrap().len(), 8);
    assert_eq!(schema(&home).await, NEWEST);
}

/// Processes of an older version keep using the tables during a migration, so everything that they use must stay, and
/// a new column must not be required.
#[test]
fn steps_only_add() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let steps = (2..=NEWEST).flat_map(|number| ["postgres", "sqlite"].map(|backend| (backend, number)));
    for (backend, number) in steps {
        let step = folder.join(format!("{backend}/schema/{number}.sql"));
        let sql = std::fs::read_to_string(&step).unwrap();
        let lines: Vec<&str> = sql.lines().filter(|line| !line.starts_with("--")).collect();
        let sql = lines.join("\n");
        let words = sql.split_whitespace().collect::<Vec<_>>().join(" ").to_uppercase();
        for taken in
            ["DROP ", "RENAME ", "TRUNCATE ", " TYPE ", "SET NOT NULL", "ADD CONSTRAINT", "UNIQUE INDEX"]
        {
            assert!(!words.contains(taken), "{taken:?} in {}", step.display());
        }
        for column in words.split("ADD COLUMN").skip(1) {
            let column = column.split([';', ',']).next().unwrap();
            let is_filled = !column.contains("NOT NULL") || column.contains("DEFAULT");
            assert!(is_filled, "{column} in {}", step.display());
        }
    }
}

/// A process of the second version uses the tables that two steps change: it holds one lock and waits for the other,
/// and so does the migration.
#[test]
fn a_schema_step_waits_for_open_transactions() {
    run(Backend::Postgres, |home| async move {
        make_schema_2(&home).await;
        let old = home.connect().await;
        old.batch_execute("BEGIN; INSERT INTO bodies VALUES (sha256('x'), 0, 1, 'x')").await.unwrap();
        let url = format!("{}&application_name=steps", home.url);
        let opening = tokio::spawn(async move { open(&url).await });
        // Now it holds its lock on the messages and waits for the one on the bodies.
        let waiting = "SELECT count(*) FROM pg_stat_activity \
                       WHERE application_name = 'steps' AND wait_event_type = 'Lock'";
        while home.query_number(waiting).await == 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let values = "1, 2, 'b', NULL, FALSE, FALSE, 7, sha256('x'), NULL, '{}', ''";
        let written = old.batch_execute(&format!("INSERT INTO messages VALUES ({values})")).await;
        // The server has ended either of the two.
        old.batch_execute(if written.is_ok() { "COMMIT" } else { "ROLLBACK" }).await.unwrap();
        let store = opening.await.unwrap().unwrap();
        assert_eq!(schema(&home).await, NEWEST);
        assert_eq!(store.messages("s", 0, 9).await.unwrap().len(), 1 + usize::from(written.is_ok()));
    });
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    run(Backend::File, |home| async move {
        home.run_sql("CREATE TABLE part (id TEXT); PRAGMA user_version = 40").await;
        let before = std::fs::read(&home.url).unwrap();
        let refused = open(&home.url).await.err().unwrap();
        assert!(refused.to_string().contains("another program"), "{refused}");
        assert_eq!(std::fs::read(&home.url).unwrap(), before);
    });
}
