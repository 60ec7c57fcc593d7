//! Stores that cannot be opened when the proxy starts, or turn out to be malformed while it runs.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use secateur_engine::Engine;
use secateur_formats::Wire;
use secateur_server::LateStore;
use secateur_store::{NewSession, Store};
use secateur_testing::Agent;
use secateur_testing::client::exchange;
use secateur_testing::connection::within;
use secateur_testing::postgres::create_schema;
use secateur_testing::postgres_server::{PostgresServer, ServerEnd};

use super::own_paths::{counter, get};
use crate::setup::{Setup, with_steady_profile};

const WINDOW: u64 = 8_000;

/// Longer than ten windows.
const TASK: &str = "SCENARIO:long steps=60 bytes=6000";

async fn setup(url: &str) -> (Arc<LateStore>, Setup) {
    let store = LateStore::open(url).await.unwrap();
    let setup = Setup::with_engine(WINDOW, with_steady_profile(Engine::new(store.clone()))).await;
    (store, setup)
}

/// The status of the readiness check, and what it says.
async fn readiness(setup: &Setup) -> (u16, String) {
    let request = "GET /readyz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n".to_owned();
    let response = exchange(setup.address(), request).await;
    (response.status(), response.body)
}

/// Waits until the store is used and has all that was decided without it.
async fn all_is_stored(setup: &Setup) {
    within(async {
        while readiness(setup).await.0 != 200
            || counter(&get(setup.address(), "/metrics").await, "secateur_provisional_decisions") != 0
        {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
}

/// Works without a store, then with it.
async fn outgrow(setup: &Setup, store: &LateStore, appear: impl FnOnce()) {
    let (status, said) = readiness(setup).await;
    assert!(status == 503 && said.contains("the store is not open"), "{said}");
    let metrics = get(setup.address(), "/metrics").await;
    assert_eq!(counter(&metrics, "secateur_store_ready"), 0);
    let mut agent = Agent::new(Wire::Anthropic, TASK);
    let answers = agent.work_for(30, setup.address()).await;
    assert!(answers.iter().all(|answer| answer.status() == 200));
    assert_eq!(answers.last().unwrap().reason(), "store");
    let decided = answers.iter().filter(|answer| answer.is_flush()).count();
    assert!(decided > 1, "{decided} decisions");
    appear();
    all_is_stored(setup).await;
    assert_eq!(counter(&get(setup.address(), "/metrics").await, "secateur_store_ready"), 1);
    let answer = agent.ask(setup.address()).await;
    assert_eq!(answer.reason(), "", "{}", answer.head);
    let stored = store.operations(answer.header("x-secateur-session"), 0, 9_999).await.unwrap().len();
    assert!(stored >= decided, "{stored} of {decided}");
    let (text, _) = agent.work(setup.address()).await;
    assert_eq!(text, "Finished long after 60 steps.");
    assert_eq!(setup.model.stats()["violations"], 0);
    assert_eq!(setup.model.stats()["malformed"], 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_begins_to_listen_gets_what_was_decided_without_it() {
    let Some(database) = PostgresServer::start().await else { return };
    let url = create_schema(&database.url, "late").await;
    database.stop(ServerEnd::Stopped);
    let (store, setup) = setup(&url).await;
    outgrow(&setup, &store, || database.restart()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_whose_folder_appears_late_gets_what_was_decided_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let blocked = folder.path().join("folder");
    fs::write(&blocked, "in the way").unwrap();
    let (store, setup) = setup(blocked.join("sessions.db").to_str().unwrap()).await;
    outgrow(&setup, &store, || fs::remove_file(&blocked).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_turns_out_to_be_malformed_is_unready_and_set_aside_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("store.db");
    let url = file.to_str().unwrap().to_owned();
    // More than the caches of the connections hold, in the file itself and not in the log.
    let filled = secateur_store::open(&url).await.unwrap();
    for number in 0..400 {
        let session =
            NewSession { id: format!("s{number}"), envelope: "x".repeat(20_000), ..NewSession::default() };
        filled.create(session).await.unwrap();
    }
    drop(filled);
    let log = folder.path().join("store.db-wal");
    while fs::metadata(&log).is_ok_and(|log| log.len() > 0) {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    }
    let (store, setup) = setup(&url).await;
    assert_eq!(readiness(&setup).await.0, 200);
    let length = fs::metadata(&file).unwrap().len();
    let damaged: Vec<u8> = fs::read(&file).unwrap().into_iter().take(4096 * 16).collect();
    fs::write(&file, [damaged, vec![0xA5; usize::try_from(length).unwrap() - 4096 * 16]].concat()).unwrap();
    assert!(store.sessions(1_000).await.is_err_and(|error| error.is_malformed()));

    within(async {
        while readiness(&setup).await.0 == 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let said = readiness(&setup).await.1;
    assert!(said.contains("malformed"), "{said}");
    let mut agent = Agent::new(Wire::OpenAiChat, TASK);
    let answers = agent.work_for(30, setup.address()).await;
    assert!(answers.iter().all(|answer| answer.status() == 200));
    assert_eq!(setup.model.stats()["violations"], 0);

    drop((store, setup));
    let (_, setup) = self::setup(&url).await;
    assert_eq!(readiness(&setup).await.0, 200);
    assert_eq!(secateur_store::set_aside_files(&file).len(), 1);
    let answers = agent.work_for(10, setup.address()).await;
    assert!(answers.iter().all(|answer| answer.status() == 200 && answer.reason().is_empty()));
    assert_eq!(setup.model.stats()["violations"], 0);
}
