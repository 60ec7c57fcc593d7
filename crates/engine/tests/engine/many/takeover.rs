//! A process that dies while it compacts, and the one that takes over.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tokio::task::spawn_blocking;

use super::model::Slow;
use super::script::{ID, count, create, engine, engine_with, is_completed, is_started, target, turns_of};
use secateur_testing::connection::within;
use secateur_testing::{StoreHome, on_each_home};

/// The store, for the process that dies.
const TASK: &str = "SECATEUR_HOLDER";

on_each_home!(
    a_holder_that_dies_is_replaced_after_its_lease,
    a_holder_that_never_ends_is_not_waited_for_without_end,
);

async fn a_holder_that_dies_is_replaced_after_its_lease(home: StoreHome) {
    let url = home.url.clone();
    let mut session = create(&engine(&url).await).await;
    session.append(turns_of("a", 20)).await.unwrap();
    let task = url.clone();
    let mut holder = spawn_blocking(move || start(&task)).await.unwrap();
    let store = secateur_store::open(&url).await.unwrap();
    assert_eq!(store.lease(ID, "another process", 1).await.unwrap(), None);
    holder.kill().unwrap();
    holder.wait().unwrap();
    let request = session.context(&target(3_000)).await.unwrap();
    assert!(request.tokens <= request.usable.unwrap());
    assert_eq!((count(&session, is_started).await, count(&session, is_completed).await), (2, 1));
}

/// The other process may be alive and do nothing, or the clock may have been set back.
async fn a_holder_that_never_ends_is_not_waited_for_without_end(home: StoreHome) {
    let model = Slow::new();
    let engine = engine_with(&home.url, &model).await.with_longest_wait(Duration::from_millis(300));
    let mut session = create(&engine).await;
    session.append(turns_of("a", 20)).await.unwrap();
    let store = home.open().await;
    assert!(store.lease(ID, "another process", u64::MAX).await.unwrap().is_some());
    let request = within(session.context(&target(3_000))).await.unwrap();
    assert!(request.tokens <= request.usable.unwrap());
    assert_eq!((model.questions(), count(&session, is_completed).await), (0, 1), "a digest");
    assert_eq!(store.lease(ID, "a third one", 1).await.unwrap(), None, "the holder still has it");
}

/// Starts a process and waits until it compacts.
fn start(url: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many::takeover::a_holder_to_be_killed", "--ignored", "--nocapture"])
        .env(TASK, url)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    assert!(lines.into_iter().any(|line| line == "asked"), "the holder never compacted");
    child
}

#[test]
#[ignore = "is started by the test that kills it"]
fn a_holder_to_be_killed() {
    let Ok(url) = std::env::var(TASK) else {
        return;
    };
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let model = Slow::new();
        let mut session = engine_with(&url, &model).await.open(ID).await.unwrap();
        tokio::spawn(async move { session.context(&target(3_000)).await.map(drop) });
        model.asked(1).await;
        println!("asked");
        // If it was not killed by then, the test that started it is gone.
        tokio::time::sleep(Duration::from_secs(60)).await;
    });
}
