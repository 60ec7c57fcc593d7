//! Processes that are killed in the middle of what they do to a session.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use secateur_engine::SessionOptions;
use tokio::task::{JoinSet, spawn_blocking};

use crate::check::check;
use crate::script::{Random, engine};
use crate::writer::TASK;
use secateur_testing::{StoreHome, on_each_home};

/// How many processes are killed per session. With more of them a session gets long, and checks take longer than kills.
const SESSIONS: u64 = 15;
const LIVES: u64 = 14;

/// How many sessions are tested at a time.
const ABREAST: u64 = 5;

on_each_home!(a_process_that_is_killed_at_any_moment_has_stored_what_it_acknowledged);

async fn a_process_that_is_killed_at_any_moment_has_stored_what_it_acknowledged(home: StoreHome) {
    let url = home.url.clone();
    let mut running = JoinSet::new();
    for worker in 0..ABREAST {
        let url = url.clone();
        running.spawn(async move {
            let mut interrupted = BTreeMap::new();
            for session in (worker..SESSIONS).step_by(usize::try_from(ABREAST).unwrap()) {
                for (what, times) in kill_again_and_again(&url, session).await {
                    *interrupted.entry(what).or_insert(0) += times;
                }
            }
            interrupted
        });
    }
    let mut interrupted: BTreeMap<String, u32> = BTreeMap::new();
    for part in running.join_all().await {
        for (what, times) in part {
            *interrupted.entry(what).or_insert(0) += times;
        }
    }
    println!("killed in the middle of {interrupted:?}");
    assert_eq!(interrupted.values().sum::<u32>(), u32::try_from(SESSIONS * LIVES).unwrap());
}

/// Lets one writer after another live and die. Says what they were doing then, and how often.
async fn kill_again_and_again(url: &str, number: u64) -> BTreeMap<String, u32> {
    let id = format!("s{number}");
    let opening = SessionOptions { id: Some(id.clone()), ..SessionOptions::default() };
    engine(url).await.create(opening).await.unwrap();
    let mut kept = Vec::new();
    let mut interrupted = BTreeMap::new();
    for life in (0..LIVES).map(|life| number * LIVES + life) {
        let task = format!("{id} {life} {url}");
        let said = spawn_blocking(move || live_and_die(&task, Random::new(life + 1_000))).await.unwrap();
        let acknowledged = said.iter().filter_map(|line| line.strip_prefix("kept "));
        kept.extend(acknowledged.flat_map(|ids| ids.split(' ')).map(str::to_owned));
        let doing = said.iter().rev().find_map(|line| line.strip_prefix("begin "));
        *interrupted.entry(doing.unwrap_or("start").to_owned()).or_insert(0) += 1;
        // No other process has the store open, so what the killed one left behind is removed now.
        check(&engine(url).await, &id, &mut kept, &format!("after{life}")).await;
    }
    interrupted
}

/// Starts a writer and kills it: some before they have done anything, most a moment after they began something.
/// Gives what it said.
fn live_and_die(task: &str, mut random: Random) -> Vec<String> {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer::a_writer_to_be_killed", "--ignored", "--nocapture"])
        .env(TASK, task)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = listen(&mut child);
    let mut said = Vec::new();
    let steps = if random.below(8) == 0 { 0 } else { 1 + random.below(14) };
    while (said.iter().filter(|line: &&String| line.starts_with("begin ")).count() as u64) < steps {
        said.push(lines.recv().expect("the writer ended by itself"));
    }
    let moment = if random.below(4) == 0 { random.below(30_000) } else { random.below(4_000) };
    std::thread::sleep(Duration::from_micros(moment));
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), None, "the writer ended by itself: {said:?}");
    said.extend(lines);
    said
}

/// The whole lines that a process prints.
fn listen(child: &mut Child) -> Receiver<String> {
    let (sender, lines) = channel();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let mut line = String::new();
        while output.read_line(&mut line).is_ok_and(|bytes| bytes > 0) && line.ends_with('\n') {
            if sender.send(line.trim_end().to_owned()).is_err() {
                return;
            }
            line.clear();
        }
    });
    lines
}
