//! The command as a user runs it: the real binary, real files, exit codes and all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

mod bad_input;
mod bad_logs;
mod compact;
mod config;
mod context;
mod convert;
mod demo;
#[cfg(unix)]
mod doctor;
#[cfg(unix)]
mod fixed_provider;
mod help;
mod inspect;
mod lab;
mod lint;
#[cfg(unix)]
mod machine;
mod overflow;
mod prune;
mod recall;
mod report;
#[cfg(unix)]
mod run;
mod samples;
mod scan;
mod session;
mod session_delete;
mod session_forget;
mod session_new;
mod show;
mod store;
mod summariser;
mod tokens;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// What a run of the command left behind.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Run {
    /// The standard output as JSON.
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}{}", self.out, self.err))
    }
}

/// Runs the command with a clean environment.
fn secateur(arguments: &[&str]) -> Run {
    secateur_with(arguments, &[])
}

/// The rules that a body on this wire breaks. That it ends with a message of the model is no fault: most sessions do.
fn broken_rules(body: &str, wire: &str) -> Vec<String> {
    let run = secateur(&["lint", body, "--as", wire, "--json"]);
    let report = run.json();
    let rules = report["findings"].as_array().expect("it lists what it found").iter();
    let rules = rules.map(|finding| finding["rule"].as_str().expect("a rule has a name").to_owned());
    rules.filter(|rule| rule != "nothing-to-answer").collect()
}

/// Runs the command with these variables in its environment.
fn secateur_with(arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    secateur_given(arguments, variables, "")
}

/// Runs the command with these variables and this on its standard input.
fn secateur_given(arguments: &[&str], variables: &[(&str, &str)], input: &str) -> Run {
    let mut child = command(arguments, variables).spawn().expect("the command runs");
    // A command that does not read its input is free to end before it was written.
    child.stdin.take().expect("it has an input").write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().expect("the command ends");
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("the output is text"),
        err: String::from_utf8(output.stderr).expect("the output is text"),
    }
}

/// The command with a clean environment, ready to be run.
fn command(arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    for name in ["OPENCODE_DISABLE_PRUNE", "OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX"] {
        command.env_remove(name);
    }
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SECATEUR_")) {
        command.env_remove(name);
    }
    command.args(arguments).env("COLUMNS", "100").env("TZ", "UTC").envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The text with every number of several digits, and so every moment and every count of tokens, as `N`.
fn masked(text: &str) -> String {
    let mut masked = String::new();
    let mut run = String::new();
    for point in text.chars().chain(['\0']) {
        if point.is_ascii_digit() || (!run.is_empty() && ",:-".contains(point)) {
            run.push(point);
            continue;
        }
        let number = run.trim_end_matches([',', ':', '-']);
        let is_long = number.chars().filter(char::is_ascii_digit).count() > 1;
        masked.push_str(if is_long { "N" } else { number });
        masked.push_str(&run[number.len()..]);
        run.clear();
        masked.push(point);
    }
    masked.trim_end_matches('\0').to_owned()
}

/// A folder that goes away with the test, and a file in it.
struct TestFolder {
    folder: tempfile::TempDir,
}

impl TestFolder {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a temporary folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        std::fs::write(&path, content).expect("the file can be written");
        path.to_str().expect("the path is text").to_owned()
    }

    /// The session of the demo.
    fn demo(&self) -> String {
        let path = self.path("session.json").to_str().expect("the path is text").to_owned();
        assert_eq!(secateur(&["demo", "--save", &path]).code, 0);
        path
    }
}

fn bytes(path: impl AsRef<Path>) -> Vec<u8> {
    std::fs::read(path).expect("the file can be read")
}
