//! What remains after a failure in the middle of a commit.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use secateur_store::{Commit, Committed, Store, StoreError, open};
use tokio::task::JoinHandle;
use tokio_postgres::Client;

use crate::rows::{everything, message, new_session, operation, says, session_of};
use secateur_testing::store_home::run;
use secateur_testing::{Backend, StoreHome, on_each_home};

on_each_home!(a_commit_that_fails_halfway_changes_nothing);

/// A commit with everything. Its event is written after the rows of its messages.
fn everything_at_once(revision: u64) -> Commit {
    let (operations, events) = (vec![operation("prune")], vec!["fail".to_owned()]);
    let state = Some("changed".to_owned());
    Commit { operations, events, state, ..says(revision, vec![message("b", b"secret"), message("c", b"c")]) }
}

async fn a_commit_that_fails_halfway_changes_nothing(home: StoreHome) {
    let store = home.open().await;
    session_of(&store, "s", &["a"]).await;
    let before = everything(&store, "s").await;
    let (obstacle, removal) = match home.backend {
        Backend::Postgres => (
            "CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql \
             AS $$ BEGIN RAISE EXCEPTION 'an obstacle' USING DETAIL = 'secret'; END $$; \
             CREATE TRIGGER fail BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION fail()",
            "DROP TRIGGER fail ON events",
        ),
        _ => (
            "CREATE TRIGGER fail BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'an obstacle'); END",
            "DROP TRIGGER fail",
        ),
    };
    home.run_sql(obstacle).await;
    let error = store.commit("s", everything_at_once(1)).await.unwrap_err();
    assert!(error.to_string().starts_with("cannot commit to a session: an obstacle"), "{error}");
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    assert_eq!(everything(&store, "s").await, before);
    assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 1);
    home.run_sql(removal).await;
    store.commit("s", everything_at_once(1)).await.unwrap();
}

type Writer = JoinHandle<Result<Committed, StoreError>>;

/// Begins a commit that blocks in the middle because the table of events is locked. Returns the blocked process.
async fn stop_halfway(store: &Arc<dyn Store>, locker: &Client) -> (Writer, i32) {
    locker.batch_execute("BEGIN; LOCK TABLE events").await.unwrap();
    let store = Arc::clone(store);
    let writer = tokio::spawn(async move { store.commit("s", everything_at_once(1)).await });
    let waiting = "SELECT pid FROM pg_stat_activity WHERE pg_backend_pid() = ANY(pg_blocking_pids(pid))";
    loop {
        match locker.query_opt(waiting, &[]).await.unwrap() {
            Some(row) => return (writer, row.get(0)),
            None => tokio::time::sleep(Duration::from_millis(5)).await,
        }
    }
}

#[test]
fn a_commit_whose_connection_breaks_halfway_changes_nothing() {
    run(Backend::Postgres, |home| async move {
        let store = home.open().await;
        session_of(&store, "s", &["a"]).await;
        let before = everything(&store, "s").await;
        let locker = home.connect().await;
        let (writer, pid) = stop_halfway(&store, &locker).await;
        locker.query("SELECT pg_terminate_backend($1)", &[&pid]).await.unwrap();
        assert!(matches!(writer.await.unwrap(), Err(StoreError::Database { .. })));
        locker.batch_execute("ROLLBACK").await.unwrap();
        assert_eq!(everything(&store, "s").await, before);
        assert_eq!(home.query_number("SELECT COUNT(*) FROM bodies").await, 1);
        store.commit("s", everything_at_once(1)).await.unwrap();
    });
}

#[test]
fn an_abandoned_commit_is_whole_or_not_there() {
    run(Backend::Postgres, |home| async move {
        let store = home.open().await;
        session_of(&store, "s", &["a"]).await;
        let before = everything(&store, "s").await;
        let locker = home.connect().await;
        let (writer, _) = stop_halfway(&store, &locker).await;
        writer.abort();
        assert!(writer.await.unwrap_err().is_cancelled());
        locker.batch_execute("ROLLBACK").await.unwrap();
        // The session is locked until the server has noticed.
        let refused = store.commit("s", says(9, vec![])).await;
        assert!(matches!(refused, Err(StoreError::Stale { found: 1, .. })), "{refused:?}");
        assert_eq!(everything(&store, "s").await, before);
        store.commit("s", everything_at_once(1)).await.unwrap();
    });
}

#[test]
fn a_writer_that_is_killed_has_kept_what_it_said_it_had() {
    run(Backend::File, |home| async move {
        home.open().await.create(new_session("s")).await.unwrap();
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crash::a_writer_to_be_killed", "--ignored", "--nocapture"])
            .env("SECATEUR_KILLED", &home.url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut said = lines.filter_map(|line| line.strip_prefix("kept ")?.parse::<u64>().ok());
        let reached = said.by_ref().find(|&kept| kept == 20);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(reached, Some(20));
        let last = said.last().unwrap_or(20);
        let store = home.open().await;
        let loaded = store.load("s").await.unwrap();
        assert!(loaded.session.revision >= last, "{} < {last}", loaded.session.revision);
        assert_eq!(loaded.messages.len() as u64, 2 * loaded.session.revision);
        assert!(loaded.messages.iter().map(|row| row.seq).eq(1..=loaded.session.head));
        assert!(loaded.messages.iter().all(|row| row.body == body_of(&row.id)));
        store.commit("s", says(loaded.session.revision, vec![message("after", b"")])).await.unwrap();
        assert_eq!(
            home.query_number("SELECT COUNT(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'")
                .await,
            0
        );
        assert_eq!(home.query_number("SELECT COUNT(*) FROM pragma_foreign_key_check").await, 0);
    });
}

fn body_of(id: &str) -> Vec<u8> {
    id.as_bytes().repeat(1_000)
}

#[test]
#[ignore = "is started by the test that kills it"]
fn a_writer_to_be_killed() {
    let Ok(url) = std::env::var("SECATEUR_KILLED") else {
        return;
    };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let store = open(&url).await.unwrap();
        for revision in 0..100_000 {
            let append =
                ["a", "b"].map(|name| format!("{name}{revision}")).map(|id| message(&id, &body_of(&id)));
            let committed = store.commit("s", says(revision, append.to_vec())).await.unwrap();
            println!("kept {}", committed.revision);
        }
    });
}
