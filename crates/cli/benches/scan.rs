//! Reading large logs side by side: `secateur scan` and a Python script that counts the same, in one run.
//!
//! `cargo bench -p secateur-cli --bench scan`. Both read the same log, round by round, on one core; the counts must
//! agree before anything is timed. The log is made here, 256 MB of a Claude Code session, unless
//! `SECATEUR_BENCH_LOG` names one. How fast memory can be read and parsed depends on the machine, so the rate is
//! given beside what the machine needs to copy the file through a buffer without looking at it.

#[path = "baseline/clock.rs"]
mod clock;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use clock::{clock, command, median, peak_memory};
use serde_json::Value;

const ROUNDS: usize = 7;
const PYTHON_ROUNDS: usize = 3;
const FILES: u32 = 4;
const SECATEUR: &str = env!("CARGO_BIN_EXE_secateur");
const BASELINE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/baseline/count.py");

fn main() {
    // `cargo test --benches` runs this too; there it only has to exist.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let desk = tempfile::tempdir().expect("a temporary folder");
    let log = match std::env::var_os("SECATEUR_BENCH_LOG") {
        Some(path) => PathBuf::from(path),
        None => {
            let path = desk.path().join("log.jsonl");
            fs::write(&path, make_log(256 << 20)).expect("the log can be written");
            path
        }
    };
    let size = fs::metadata(&log).expect("the log can be read").len();
    println!("log: {:.1} MB, one core, medians", size as f64 / 1e6);

    let ours = || {
        let words = ["scan", "--threads", "1", "--json"].map(Path::new);
        command(SECATEUR, &[words[0], &log, words[1], words[2], words[3]])
    };
    let times = (0..ROUNDS).map(|_| clock(ours())).collect();
    let copies = (0..ROUNDS).map(|_| copy(&log)).collect();
    let (time, copied) = (median(times), median(copies));
    let rate = |time: Duration| size as f64 / 1e9 / time.as_secs_f64();
    println!("  secateur scan {time:>8.1?}  {:.2} GB/s (reading alone {:.2} GB/s)", rate(time), rate(copied));
    if let Some(peak) = peak_memory(&ours()) {
        println!("  peak memory {:.1} MB, {:.3} of the file", peak as f64 / 1e6, peak as f64 / size as f64);
    }

    if Command::new("python3").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: there is no `python3` to compare with");
        return;
    }
    if std::env::var_os("SECATEUR_BENCH_LOG").is_none() {
        compare_counts(&log);
    }
    let python =
        median((0..PYTHON_ROUNDS).map(|_| clock(command("python3", &[Path::new(BASELINE), &log]))).collect());
    println!(
        "  python3 count {python:>8.1?}  {:.2} GB/s; secateur is {:.1} times as fast",
        rate(python),
        python.as_secs_f64() / time.as_secs_f64()
    );

    // Python counts one file after the other; the scan takes as many at once as there are cores.
    let folder = desk.path().join("many");
    fs::create_dir(&folder).expect("a folder can be made");
    for number in 0..FILES {
        fs::hard_link(&log, folder.join(format!("{number}.jsonl")))
            .or_else(|_| fs::copy(&log, folder.join(format!("{number}.jsonl"))).map(|_| ()))
            .expect("the log can be copied");
    }
    let all = || command(SECATEUR, &[Path::new("scan"), &folder, Path::new("--json")]);
    let time = median((0..ROUNDS).map(|_| clock(all())).collect()) / FILES;
    println!(
        "  secateur scan of {FILES} such logs on all cores: {time:>8.1?} each, {:.2} GB/s; {:.1} times as fast as Python",
        rate(time),
        python.as_secs_f64() / time.as_secs_f64()
    );
}

/// Reads a file through a buffer and forgets it: what a scan cannot be faster than.
fn copy(path: &Path) -> Duration {
    let start = Instant::now();
    let mut file = File::open(path).expect("the log can be read");
    let mut buffer = vec![0; 1 << 18];
    while file.read(&mut buffer).expect("the log can be read") > 0 {}
    start.elapsed()
}

/// Both must have counted the same, or the comparison means nothing.
fn compare_counts(log: &Path) {
    let output = |command: &mut Command| -> Value {
        let output = command.output().expect("the command runs");
        serde_json::from_slice(&output.stdout).expect("the command prints JSON")
    };
    let ours = output(Command::new(SECATEUR).arg("inspect").arg(log).arg("--json"));
    let theirs = output(Command::new("python3").arg(BASELINE).arg(log));
    for (name, count) in theirs.as_object().expect("counts") {
        assert_eq!(&ours[name], count, "the two disagree about {name}");
    }
}

/// A Claude Code log of about this size: prompts, answers in several lines, tool results of a few kilobytes with the
/// UI's copy beside them, and progress lines.
fn make_log(size: usize) -> String {
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
    let mut seed = 1u32;
    let mut output = |length: usize| {
        let mut text = String::with_capacity(length + 16);
        while text.len() < length {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.push_str(WORDS[(seed >> 8) as usize % WORDS.len()]);
            text.push_str(if (seed >> 3).is_multiple_of(11) { "\\n" } else { " " });
        }
        text
    };
    let mut log = String::with_capacity(size + (64 << 10));
    let mut step = 0;
    while log.len() < size {
        let common = |kind: &str, id: &str, parent: &str| {
            format!(
                r#"{{"parentUuid":"{parent}","isSidechain":false,"cwd":"/home/me/garden","sessionId":"s1","version":"2.1.0","type":"{kind}","uuid":"{id}","timestamp":"2026-01-01T00:00:00.000Z""#
            )
        };
        let usage = format!(
            r#""usage":{{"input_tokens":10,"cache_creation_input_tokens":{},"cache_read_input_tokens":{},"output_tokens":{}}}"#,
            500 + step % 700,
            10_000 + step % 90_000,
            20 + step % 400
        );
        let message = format!(r#""id":"msg_{step}","model":"claude-sonnet-4-5","role":"assistant""#);
        let thought = output(600);
        let result = output(2_000 + (step * 7_919) % 9_000);
        _ = write!(
            log,
            concat!(
                "{},\"message\":{{{},\"content\":[{{\"type\":\"thinking\",\"thinking\":\"{}\",\"signature\":\"c2ln\"}}],{}}}}}\n",
                "{},\"message\":{{{},\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/home/me/garden/src/file_{}.rs\"}}}}],{}}}}}\n",
                "{},\"data\":{{\"type\":\"bash_progress\",\"output\":\"{}\"}}}}\n",
                "{},\"message\":{{\"role\":\"user\",\"content\":[{{\"tool_use_id\":\"toolu_{}\",\"type\":\"tool_result\",\"content\":\"{}\"}}]}},\"toolUseResult\":{{\"type\":\"text\",\"file\":{{\"content\":\"{}\"}}}}}}\n",
            ),
            common("assistant", &format!("a{step}"), &format!("r{}", step.max(1) - 1)),
            message,
            thought,
            usage,
            common("assistant", &format!("b{step}"), &format!("a{step}")),
            message,
            step,
            step % 90,
            usage,
            common("progress", &format!("p{step}"), &format!("b{step}")),
            thought,
            common("user", &format!("r{step}"), &format!("b{step}")),
            step,
            result,
            result,
        );
        step += 1;
    }
    log
}
