//! `secateur-conformance PATH [--json]`: runs the recorded cases in a file, or in all files of a folder.
//!
//! Prints for each file how many cases passed, failed and were skipped, then every failure with what was expected and
//! what came out; with `--json`, one object a file. Exits with 1 if a case failed, and with 2 if the cases cannot be
//! read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use secateur_conformance::run;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Output {
    Lines,
    Json,
}

fn main() -> ExitCode {
    let (options, paths): (Vec<_>, Vec<_>) = std::env::args_os().skip(1).partition(|arg| arg == "--json");
    let output = if options.is_empty() { Output::Lines } else { Output::Json };
    let path = paths.first().map(PathBuf::from).context("usage: secateur-conformance PATH [--json]");
    path.and_then(|path| report(&path, output)).unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(2)
    })
}

fn report(path: &Path, output: Output) -> Result<ExitCode> {
    let results = run(path)?;
    let mut out = io::stdout().lock();
    for result in &results {
        match output {
            Output::Json => writeln!(out, "{}", serde_json::to_string(result)?)?,
            Output::Lines => {
                writeln!(out, "{} {} {} {}", result.file, result.passed, result.failed, result.skipped)?;
            }
        }
    }
    if output == Output::Lines {
        for failure in results.iter().flat_map(|result| &result.failures) {
            let (expected, actual) = (&failure.expected, &failure.actual);
            writeln!(out, "\n{}\n  expected {expected}\n  actual   {actual}", failure.id)?;
        }
    }
    let has_failed = results.iter().any(|result| result.failed > 0);
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
