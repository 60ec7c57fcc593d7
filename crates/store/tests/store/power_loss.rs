//! Power that goes off at any moment, on the SQLite file.
//!
//! When a commit is acknowledged, the log beside the file has been flushed to disk. Of what was written after that,
//! each sector may be on disk or not, in any order, or torn. While the log is copied into the file, each of the file's
//! pages may be written, torn or not written, and the log is still there. Whatever is left then has to open with every
//! acknowledged commit in it, and with all or nothing of the next one.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use secateur_store::{Commit, Loaded, MessageChange, SessionRow, open};
use tempfile::TempDir;

use crate::rows::{message, new_session, operation};

/// How often the power goes off.
const CRASHES: u64 = 1_000;

const COMMITS: u64 = 40;
const SECTOR: usize = 512;
const PAGE: usize = 4_096;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// Numbers that are the same each time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.next() as u8).collect()
    }
}

/// What was on disk, and what the store had said, while a session grew.
struct Recording {
    file: Vec<u8>,
    log: Vec<u8>,
    /// After each acknowledged commit: the length of the log, and the session.
    acknowledged: Vec<(usize, Loaded)>,
}

fn log_of(path: &Path) -> PathBuf {
    path.with_extension("db-wal")
}

/// A commit with messages, cuts, operations and events.
fn commit(session: &SessionRow, random: &mut Random) -> Commit {
    let body = |random: &mut Random| {
        let count = 1 + random.below(9_000);
        random.bytes(count)
    };
    let append = (0..1 + random.below(3)).map(|at| {
        let id = format!("{}-{at}", session.revision);
        message(&id, &body(random))
    });
    let append = append.collect();
    let cut = 1 + random.below(session.head.max(1) as usize) as u64;
    let change = MessageChange { seq: cut, shown: Some(Some(body(random))), ..MessageChange::default() };
    Commit {
        revision: session.revision,
        append,
        change: if session.head > 0 { vec![change] } else { Vec::new() },
        operations: vec![operation("prune")],
        events: vec![format!("{{\"number\":{}}}", session.revision)],
        state: Some(format!("{{\"revision\":{}}}", session.revision)),
        ..Commit::default()
    }
}

async fn record(random: &mut Random) -> Recording {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sessions.db");
    // The tables are in the file, the session's rows in the log.
    drop(open(path.to_str().unwrap()).await.unwrap());
    Connection::open(&path).unwrap().execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    let store = open(path.to_str().unwrap()).await.unwrap();
    store.create(new_session("s")).await.unwrap();
    let length = || fs::metadata(log_of(&path)).unwrap().len() as usize;
    let mut acknowledged = vec![(length(), store.load("s").await.unwrap())];
    for _ in 0..COMMITS {
        let session = store.session("s").await.unwrap();
        store.commit("s", commit(&session, random)).await.unwrap();
        acknowledged.push((length(), store.load("s").await.unwrap()));
    }
    let (file, log) = (fs::read(&path).unwrap(), fs::read(log_of(&path)).unwrap());
    assert_eq!(log.len(), acknowledged.last().unwrap().0, "nothing was copied into the file meanwhile");
    Recording { file, log, acknowledged }
}

/// Whether each sector of this range reached the disk, in any order.
fn tear(bytes: &mut [u8], range: Range<usize>, random: &mut Random) {
    let Some(range) = bytes.get_mut(range) else { return };
    for sector in range.chunks_mut(SECTOR) {
        match random.below(4) {
            0 => sector.fill(0),
            1 => {
                let noise = random.bytes(sector.len());
                sector.copy_from_slice(&noise);
            }
            _ => {}
        }
    }
}

/// Writes pages of the log into the file, as far as the power lasts.
fn copy_pages(file: &mut Vec<u8>, log: &[u8], random: &mut Random) {
    for frame in log[LOG_HEADER..].chunks_exact(FRAME_HEADER + PAGE) {
        let number = u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize;
        let page = (number - 1) * PAGE..number * PAGE;
        if file.len() < page.end {
            file.resize(page.end, 0);
        }
        match random.below(3) {
            0 => {}
            1 => file[page].copy_from_slice(&frame[FRAME_HEADER..]),
            _ => {
                let written = page.start..page.start + SECTOR * random.below(PAGE / SECTOR + 1);
                let length = written.len();
                file[written].copy_from_slice(&frame[FRAME_HEADER..FRAME_HEADER + length]);
            }
        }
    }
}

/// What the power leaves behind, in a folder of its own; and the number of the last acknowledged commit.
fn crash(recording: &Recording, random: &mut Random) -> (TempDir, usize) {
    let last = random.below(recording.acknowledged.len());
    let flushed = recording.acknowledged[last].0;
    // Of the next commit a part was written, or all of it without a flush.
    let next = recording.acknowledged.get(last + 1).map_or(flushed, |(next, _)| *next);
    let is_whole = random.below(4) == 0;
    let written = if is_whole { next } else { flushed + random.below(next - flushed + 1) };
    let (mut file, mut log) = (recording.file.clone(), recording.log[..written].to_vec());
    if random.below(2) == 0 {
        copy_pages(&mut file, &log[..flushed], random);
    } else if !is_whole {
        tear(&mut log, flushed..written, random);
    }
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sessions.db");
    fs::write(&path, file).unwrap();
    fs::write(log_of(&path), log).unwrap();
    (folder, last)
}

#[tokio::test]
async fn what_was_acknowledged_survives_any_loss_of_power() {
    let mut random = Random(7);
    let recording = record(&mut random).await;
    let mut ahead = 0;
    for number in 0..CRASHES {
        let (folder, last) = crash(&recording, &mut random);
        let path = folder.path().join("sessions.db");
        let store = open(path.to_str().unwrap()).await.unwrap();
        let found = store.load("s").await.unwrap();
        let place = if found == recording.acknowledged[last].1 { last } else { last + 1 };
        let expected = recording.acknowledged.get(place).map(|(_, expected)| expected);
        assert_eq!(Some(&found.session), expected.map(|expected| &expected.session), "crash {number}");
        assert!(
            Some(&found) == expected,
            "crash {number}: other messages at revision {}",
            found.session.revision
        );
        ahead += usize::from(place > last);
        let check = Connection::open(&path).unwrap();
        let sound: String = check.query_row("PRAGMA quick_check", [], |row| row.get(0)).unwrap();
        assert_eq!(sound, "ok", "crash {number}");
        // It can be written again.
        store.commit("s", commit(&found.session, &mut random)).await.unwrap();
    }
    // Some commits were whole on disk although their flush had not been confirmed.
    assert!(ahead > 0 && ahead < CRASHES as usize / 2, "{ahead} of {CRASHES}");
}
