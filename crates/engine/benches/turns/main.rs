//! What one more turn costs in a session of a thousand messages and in one of a million.
//!
//! `cargo bench -p secateur-engine --bench turns`. For PostgreSQL, run it by `crates/store/tests/postgres/run` or name
//! a server in `SECATEUR_POSTGRES`. `SECATEUR_BENCH_MESSAGES` is the largest session to look at, a million if it is
//! not set.
//!
//! All sessions have the same living part: what differs is only what lies behind it. So the figures of a column should
//! be the same, whatever the number of messages. Each case has a process of its own, so that the peak of its memory is
//! its own, too.

mod case;
mod fill;
mod measure;

use std::env;
use std::error::Error;
use std::process::Command;

use case::Case;
use measure::Figures;

/// What can go wrong is printed, nothing else.
type Outcome<T> = Result<T, Box<dyn Error>>;

/// The case and what to do with it, for a process of its own.
const TASK: &str = "SECATEUR_TURNS";

/// How often each case is measured; the best counts.
const ROUNDS: u32 = 7;

const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];

fn main() -> Outcome<()> {
    if let Ok(task) = env::var(TASK) {
        return work(&task);
    }
    let largest = env::var("SECATEUR_BENCH_MESSAGES").map_or(Ok(u64::MAX), |largest| largest.parse())?;
    let runtime = tokio::runtime::Runtime::new()?;
    for server in [None, env::var("SECATEUR_POSTGRES").ok().filter(|server| !server.is_empty())] {
        let is_file = server.is_none();
        println!("{}", if is_file { "SQLite" } else { "PostgreSQL" });
        println!("{}", Figures::HEADING);
        let sizes = SIZES.into_iter().filter(|&size| size <= largest);
        let cases = sizes.map(|messages| runtime.block_on(Case::new(server.as_deref(), messages)));
        let cases: Vec<Case> = cases.collect::<Outcome<_>>()?;
        let table = compare(&cases);
        for case in cases {
            runtime.block_on(case.remove())?;
        }
        println!("{}", table?);
        if is_file && env::var("SECATEUR_POSTGRES").is_err() {
            println!("PostgreSQL: skipped, SECATEUR_POSTGRES names no server");
            break;
        }
    }
    Ok(())
}

/// Measures all cases in turn, again and again, so that whatever else the machine does falls on all of them.
fn compare(cases: &[Case]) -> Outcome<String> {
    for case in cases {
        start("fill", &case.task())?;
    }
    let mut best = vec![Figures::WORST; cases.len()];
    for _ in 0..ROUNDS {
        for (case, best) in cases.iter().zip(&mut best) {
            *best = best.better(start("measure", &case.task())?.parse()?);
        }
    }
    let smallest = best.first().copied().unwrap_or(Figures::WORST);
    let lines = cases.iter().zip(best).map(|(case, figures)| figures.line(case.messages, &smallest));
    Ok(lines.collect::<Vec<_>>().join("\n"))
}

/// Does something with a case in a process of its own; gives what that prints.
fn start(what: &str, case: &str) -> Outcome<String> {
    let output = Command::new(env::current_exe()?).env(TASK, format!("{what} {case}")).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn work(task: &str) -> Outcome<()> {
    let mut words = task.splitn(3, ' ');
    let (Some(what), Some(messages), Some(url)) = (words.next(), words.next(), words.next()) else {
        return Err("expected what to do, how many messages, and where".into());
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match what {
        "fill" => runtime.block_on(fill::fill(url, messages.parse()?)),
        _ => runtime.block_on(measure::measure(url)),
    }
}
