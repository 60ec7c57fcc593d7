//! Replays recorded behaviour of the founding systems against the profiles.
//!
//! A file of cases holds one JSON object a line: an input, and what the real system made of it. Each case is run
//! through the product's own functions, and what comes out is compared with the recording, member by member. Cases of
//! functions that no profile reproduces are skipped and counted; of the recordings that there are, none is. One thing is
//! not compared: the wording of OpenCode's prompts for a summary and of its note about media, of which only the length
//! is ([`opencode`]).
//!
//! One module per system. Beside the harness each holds what the product does not do yet: how that system renders
//! messages for a model, writes its own marks or shortens a summary. These modules depend on nothing
//! here, so that they can move into the product when it does the same.

mod case;
pub mod openagentic;
pub mod openclaw;
pub mod opencode;
pub mod qwery;
mod value;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use secateur::Profile;
use secateur_formats::{Format, ReadError, Transcript, read_as};
use serde::Serialize;
use serde_json::Value;

use case::{Case, agrees};

/// The time at which the recordings were made.
const NOW: i64 = 1_700_000_000_000;

/// The result of one file.
#[derive(Debug, Serialize)]
pub struct FileResult {
    /// The file's name without its extension.
    pub file: String,
    /// How many cases came out as recorded.
    pub passed: u64,
    /// How many came out differently.
    pub failed: u64,
    /// How many belong to functions that no profile reproduces.
    pub skipped: u64,
    /// The cases that failed.
    pub failures: Vec<FailedCase>,
}

/// A case that came out differently.
#[derive(Debug, Serialize)]
pub struct FailedCase {
    /// The case's id.
    pub id: String,
    /// What was recorded.
    pub expected: Value,
    /// What came out.
    pub actual: Value,
}

/// Runs the cases of a file, or of all files (`*.jsonl`) of a folder in the order of their names.
///
/// It is an error if there are no such files, or if a line is not a case.
pub fn run(path: &Path) -> Result<Vec<FileResult>> {
    let files = case_files(path)?;
    if files.is_empty() {
        bail!("{} holds no files of cases (*.jsonl)", path.display());
    }
    files.iter().map(|file| run_file(file)).collect()
}

fn case_files(path: &Path) -> Result<Vec<PathBuf>> {
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

fn run_file(path: &Path) -> Result<FileResult> {
    let name = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut result = FileResult { file: name, passed: 0, failed: 0, skipped: 0, failures: Vec::new() };
    for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let at = || format!("{}, line {}", path.display(), index + 1);
        let case = Case::parse(line).with_context(at)?;
        match run_case(&case).with_context(at)? {
            None => result.skipped += 1,
            Some(actual) if agrees(&case.output, &actual) => result.passed += 1,
            Some(actual) => {
                result.failed += 1;
                result.failures.push(FailedCase { id: case.id, expected: case.output, actual });
            }
        }
    }
    Ok(result)
}

/// What comes out of a case here; `None` if its function is not reproduced.
fn run_case(case: &Case) -> Result<Option<Value>> {
    match case.system.split('_').next() {
        Some("opencode") => opencode::run(case),
        Some("openclaw") => openclaw::run(case),
        Some("openagentic") => openagentic::run(case),
        Some("qwery") => qwery::run(case),
        _ => Ok(None),
    }
}

/// The integer at a JSON pointer.
fn number(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// Reads a session with the measures of a profile.
fn transcript<'a>(text: &'a str, format: Format, profile: &Profile) -> Result<Transcript<'a>, ReadError> {
    read_as(text.as_bytes(), format, &profile.policy.measures())
}
