//! The command as a user runs it: the real binary, real files, exit codes and all.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

#[path = "command/bad_input.rs"]
mod bad_input;
#[path = "command/bad_logs.rs"]
mod bad_logs;
#[path = "command/config.rs"]
mod config;
#[path = "command/conform.rs"]
mod conform;
#[path = "command/context.rs"]
mod context;
#[path = "command/convert.rs"]
mod convert;
#[path = "command/help.rs"]
mod help;
#[path = "command/inspect.rs"]
mod inspect;
#[path = "command/lint.rs"]
mod lint;
#[path = "command/prune.rs"]
mod prune;
#[path = "command/report.rs"]
mod report;
#[path = "command/samples.rs"]
mod samples;
#[path = "command/scan.rs"]
mod scan;
#[path = "command/show.rs"]
mod show;

use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Runs the command with these variables in its environment.
fn secateur_with(arguments: &[&str], variables: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_secateur"))
        .args(arguments)
        .env_remove("OPENCODE_DISABLE_PRUNE")
        .env_remove("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX")
        .env_remove("SECATEUR_MODELS")
        .env("COLUMNS", "100")
        .envs(variables.iter().copied())
        .output()
        .expect("the command runs");
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).expect("the output is text"),
        err: String::from_utf8(output.stderr).expect("the output is text"),
    }
}

/// A folder that goes away with the test, and a file in it.
struct Desk {
    folder: tempfile::TempDir,
}

impl Desk {
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
