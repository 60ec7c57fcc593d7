//! `secateur conform`: runs recorded behaviour of the founding systems against the profiles.
//!
//! A file of vectors holds one case a line: an input, and what the real system made of it. Functions that no
//! profile reproduces are skipped, and counted. What is compared is behaviour; the wording of OpenCode's own question
//! for a summary is not, only its length (`conform/opencode/process.rs`).

mod case;
mod openagentic;
mod openclaw;
mod opencode;
mod qwery;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use secateur::Profile;
use secateur_formats::{Format, ReadError, Transcript, read_as};
use serde::Serialize;
use serde_json::Value;

use case::{Case, agrees};

/// The time that the recordings were made at.
const NOW: i64 = 1_700_000_000_000;

/// Run recorded behaviour of the founding systems against the profiles.
///
/// Prints for each file how many cases passed, failed and were skipped. Functions that no profile reproduces are
/// skipped. Not compared are what a system alone needs (OpenClaw's own way of persisting) and the wording of OpenCode's
/// own question for a summary: only its length is, with what plugins add. A plugin's question is compared.
#[derive(Debug, Args)]
pub(crate) struct Conform {
    /// A folder with files of vectors (*.jsonl), or one such file.
    path: PathBuf,
    /// Print one JSON object a file instead of lines.
    #[arg(long)]
    json: bool,
}

/// The result of one file.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Vec<Failure>,
}

/// A case that came out otherwise.
#[derive(Debug, Serialize)]
struct Failure {
    id: String,
    expected: Value,
    actual: Value,
}

impl Conform {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<ExitCode> {
        let files = vector_files(&self.path)?;
        if files.is_empty() {
            bail!("{} holds no files of vectors (*.jsonl)", self.path.display());
        }
        let mut reports = Vec::new();
        for file in files {
            let report = run_file(&file)?;
            if self.json {
                writeln!(out, "{}", serde_json::to_string(&report)?)?;
            } else {
                writeln!(out, "{} {} {} {}", report.file, report.passed, report.failed, report.skipped)?;
            }
            reports.push(report);
        }
        if !self.json {
            for failure in reports.iter().flat_map(|report| &report.failures) {
                writeln!(
                    out,
                    "\n{}\n  expected {}\n  actual   {}",
                    failure.id, failure.expected, failure.actual
                )?;
            }
        }
        let failed = reports.iter().any(|report| report.failed > 0);
        Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
    }
}

/// The files of vectors at a path, in order of their names.
fn vector_files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let entries = fs::read_dir(path).with_context(|| format!("cannot list {}", path.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let file = entry?.path();
        if file.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

fn run_file(path: &Path) -> Result<Report> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut report = Report { file: name, passed: 0, failed: 0, skipped: 0, failures: Vec::new() };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{}, line {}", path.display(), index + 1);
        let case = Case::parse(line).with_context(at)?;
        match run_case(&case).with_context(at)? {
            None => report.skipped += 1,
            Some(actual) if agrees(&case.output, &actual) => report.passed += 1,
            Some(actual) => {
                report.failed += 1;
                report.failures.push(Failure { id: case.id, expected: case.output, actual });
            }
        }
    }
    Ok(report)
}

/// What comes out of a case here; none if the function is not known.
fn run_case(case: &Case) -> Result<Option<Value>> {
    match case.system.split('_').next() {
        Some("opencode") => opencode::run(case),
        Some("openclaw") => openclaw::run(case),
        Some("openagentic") => openagentic::run(case),
        Some("qwery") => qwery::run(case),
        _ => Ok(None),
    }
}

/// A whole number at a JSON pointer.
fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// Reads a session for a profile.
fn transcript<'a>(text: &'a str, format: Format, profile: &Profile) -> Result<Transcript<'a>, ReadError> {
    read_as(text.as_bytes(), format, &profile.policy.measures())
}
