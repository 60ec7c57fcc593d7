//! Running whole processes and comparing them, for all benches.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A command whose output goes nowhere.
pub(crate) fn command(program: &str, arguments: &[&Path]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// How long a command takes.
pub(crate) fn clock(mut command: Command) -> Duration {
    let start = Instant::now();
    let status = command.status().expect("the command runs");
    let time = start.elapsed();
    assert!(status.success(), "{command:?} failed");
    time
}

/// The middle of some times.
pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The most memory that a command had at once, in bytes.
pub(crate) fn peak_memory(command: &Command) -> Option<u64> {
    let output = Command::new("/usr/bin/time")
        .args(["-f", "%M"])
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stderr).ok()?;
    text.lines().last()?.trim().parse::<u64>().ok().map(|kilobytes| kilobytes * 1024)
}
