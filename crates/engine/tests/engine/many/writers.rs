//! Many who append to one session, in tasks and in processes of their own.

use std::collections::HashMap;
use std::process::{Command, Stdio};

use secateur_engine::{Engine, Session};
use tokio::task::{JoinSet, spawn_blocking};

use super::script::{ID, ask, create, engine, target};
use secateur_testing::{StoreHome, on_each_home};

/// The name of a writer and its store, for a process of its own.
const TASK: &str = "SECATEUR_WRITER";

const MESSAGES: u32 = 30;

on_each_home!(nothing_that_many_append_is_lost_and_all_agree_in_the_end);

async fn nothing_that_many_append_is_lost_and_all_agree_in_the_end(home: StoreHome) {
    let url = home.url.clone();
    create(&engine(&url).await).await;
    let mut running = JoinSet::new();
    for task in 0..3 {
        let url = url.clone();
        running.spawn(async move { speak(&url, &format!("task{task}")).await });
    }
    for process in 0..2 {
        let job = format!("process{process} {url}");
        running.spawn(async move { spawn_blocking(move || start(&job)).await.unwrap() });
    }
    running.join_all().await;
    let engine = engine(&url).await;
    let said = said(&engine).await;
    assert_eq!(said.len(), 5);
    for (writer, numbers) in said {
        assert!(numbers.into_iter().eq(0..MESSAGES), "{writer}");
    }
    agree(&url).await;
}

/// What each writer said, in the order in which it is there.
async fn said(engine: &Engine) -> HashMap<String, Vec<u32>> {
    let head = engine.session_row(ID).await.unwrap().head;
    let rows = engine.store().messages(ID, 1, head + 1).await.unwrap();
    assert!(rows.iter().map(|row| row.seq).eq(1..=head), "there are gaps");
    let mut said: HashMap<String, Vec<u32>> = HashMap::new();
    for row in rows.iter().filter(|row| row.operation.is_none()) {
        let (writer, number) = row.id.split_once('-').unwrap();
        said.entry(writer.to_owned()).or_default().push(number.parse().unwrap());
    }
    said
}

/// Every process that opens the session gets the same bytes.
async fn agree(url: &str) {
    let mut sessions: Vec<Session> = Vec::new();
    for _ in 0..3 {
        sessions.push(engine(url).await.open(ID).await.unwrap());
    }
    let expected = sessions[0].context(&target(3_000)).await.unwrap().body;
    for session in &mut sessions {
        assert_eq!(session.context(&target(3_000)).await.unwrap().body, expected);
    }
}

/// Appends one message after another, and asks for requests that do not fit without a compaction.
async fn speak(url: &str, name: &str) {
    let mut session = engine(url).await.open(ID).await.unwrap();
    for number in 0..MESSAGES {
        session.append([ask(&format!("{name}-{number}"))]).await.unwrap();
        if number % 5 == 4 {
            session.context(&target(3_000)).await.unwrap();
        }
    }
}

fn start(task: &str) {
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "many::writers::a_writer_of_its_own", "--ignored", "--nocapture"])
        .env(TASK, task)
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "{status}");
}

#[test]
#[ignore = "is started by the test that wants many"]
fn a_writer_of_its_own() {
    let Ok(task) = std::env::var(TASK) else {
        return;
    };
    let (name, url) = task.split_once(' ').unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(speak(url, name));
}
