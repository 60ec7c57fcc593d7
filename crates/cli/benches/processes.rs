//! Whole processes side by side: `secateur prune` and a Node script that does the same, in one run.
//!
//! `cargo bench -p secateur-cli`. Times on a shared machine mean little, so what counts is their ratio: both
//! are run in turn, round by round, on the same file, and the medians are compared. Peak memory is given as
//! a multiple of the file. The session is made here, 104 MB of it, unless `SECATEUR_BENCH_SESSION` names one.

#[path = "baseline/clock.rs"]
mod clock;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clock::{clock, command, median, peak_memory};

const ROUNDS: usize = 9;
const SECATEUR: &str = env!("CARGO_BIN_EXE_secateur");
const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/baseline/prune.mjs");

fn main() {
    // `cargo test --benches` runs this too; there it only has to exist.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let session = match std::env::var_os("SECATEUR_BENCH_SESSION") {
        Some(path) => PathBuf::from(path),
        None => {
            let path = desk.path().join("session.json");
            fs::write(&path, make_session()).expect("the session can be written");
            path
        }
    };
    let size = fs::metadata(&session).expect("the session can be read").len();
    println!("session: {:.1} MB, {ROUNDS} rounds, medians", size as f64 / 1e6);
    let bench = Bench { session, desk: desk.path().to_owned(), size };
    if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: there is no `node` to compare with");
        return;
    }
    bench.plan();
    bench.write();
}

struct Bench {
    session: PathBuf,
    desk: PathBuf,
    size: u64,
}

impl Bench {
    /// Planning only: read, find what to cut, print it.
    fn plan(&self) {
        let ours = || command(SECATEUR, &[Path::new("prune"), &self.session, Path::new("--json")]);
        let theirs = || command("node", &[Path::new(BASELINE), &self.session]);
        self.compare("prune --json against read + JSON.parse + prune", ours, theirs, || ());
    }

    /// Marking: the same, and the file is written. Ours needs a fresh copy each time, made off the clock.
    fn write(&self) {
        let copy = self.desk.join("copy.json");
        let output = self.desk.join("output.json");
        let fresh = || {
            let _ = fs::remove_file(self.desk.join("copy.json.bak"));
            fs::copy(&self.session, &copy).expect("the session can be copied");
            let _ = fs::remove_file(&output);
        };
        let ours =
            || command(SECATEUR, &[Path::new("prune"), &copy, Path::new("--write"), Path::new("--json")]);
        let theirs = || command("node", &[Path::new(BASELINE), &self.session, &output]);
        let what = "prune --write against read + JSON.parse + prune + JSON.stringify + write";
        self.compare(what, ours, theirs, fresh);
    }

    fn compare(
        &self,
        what: &str,
        ours: impl Fn() -> Command,
        theirs: impl Fn() -> Command,
        prepare: impl Fn(),
    ) {
        let (mut our_times, mut their_times) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            prepare();
            our_times.push(clock(ours()));
            their_times.push(clock(theirs()));
        }
        let (ours_median, theirs_median) = (median(our_times), median(their_times));
        println!("\n{what}");
        println!(
            "  secateur {ours_median:>8.1?}   node {theirs_median:>8.1?}   {:.1} times as fast",
            theirs_median.as_secs_f64() / ours_median.as_secs_f64()
        );
        prepare();
        match (peak_memory(&ours()), peak_memory(&theirs())) {
            (Some(own), Some(other)) => println!(
                "  peak memory {:.2} times the file, node {:.2} times",
                own as f64 / self.size as f64,
                other as f64 / self.size as f64
            ),
            _ => println!("  peak memory not measured: there is no GNU `time`"),
        }
    }
}

/// An OpenCode session of 2,000 messages with 4,000 tool results of 25,000 characters each.
fn make_session() -> String {
    const WORDS: [&str; 12] = [
        "fn",
        "main",
        "error:",
        "let",
        "src/lib.rs",
        "expected",
        "found",
        "return",
        "{",
        "}",
        "warning",
        "->",
    ];
    const TOOLS: [&str; 5] = ["bash", "read", "grep", "glob", "edit"];
    let mut seed = 1u32;
    let mut text = String::from("[\n");
    let mut call = 0;
    for turn in 0..400 {
        text.push_str(&format!(
            r#"{{"info":{{"id":"u{turn}","role":"user","time":{{"created":{turn}}}}},"parts":[{{"id":"pu{turn}","type":"text","text":"request {turn}"}}]}},"#
        ));
        for step in 0..4 {
            text.push_str(&format!(
                "\n{{\"info\":{{\"id\":\"a{turn}.{step}\",\"role\":\"assistant\",\"parentID\":\"u{turn}\",\"finish\":\"stop\",\"tokens\":{{\"input\":1000,\"output\":100,\"reasoning\":0,\"cache\":{{\"read\":0,\"write\":0}}}}}},\"parts\":["
            ));
            for index in 0..2 + step % 2 {
                let tool = if call % 50 == 49 { "skill" } else { TOOLS[call % 5] };
                let comma = if index == 0 { "" } else { "," };
                text.push_str(&format!(
                    r#"{comma}{{"id":"pt{call}","type":"tool","callID":"call_{call}","tool":"{tool}","state":{{"status":"completed","input":{{"path":"/repo/src/file_{call}.rs","n":{call}}},"output":""#
                ));
                let start = text.len();
                while text.len() - start < 25_000 {
                    seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    text.push_str(WORDS[(seed >> 8) as usize % WORDS.len()]);
                    text.push_str(if (seed >> 3).is_multiple_of(11) { "\\n" } else { " " });
                }
                text.push_str(&format!(
                    r#"","title":"{tool}","metadata":{{}},"time":{{"start":{turn},"end":{turn}}}}}}}"#
                ));
                call += 1;
            }
            text.push_str("]},\n");
        }
    }
    text.truncate(text.trim_end().trim_end_matches(',').len());
    text.push_str("\n]\n");
    text
}
