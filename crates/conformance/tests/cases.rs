//! The recorded cases come out as recorded, and the harness says so when they do not.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const CASES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/cases");

/// Runs the program.
fn conformance(args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } =
        Command::new(env!("CARGO_BIN_EXE_secateur-conformance")).args(args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn every_recorded_case_comes_out_as_recorded() {
    let results = secateur_conformance::run(Path::new(CASES)).unwrap();
    assert_eq!(results.len(), 36);
    for result in results {
        assert!(result.passed >= 20, "{} has few cases", result.file);
        assert_eq!(result.failed, 0, "{}: {:?}", result.file, result.failures);
        assert_eq!(result.skipped, 0, "{}", result.file);
    }
}

#[test]
fn a_case_that_comes_out_differently_is_shown_and_fails_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        r#"{"id":"wrong.1","system":"openclaw_chars","fn":"estimate","input":{"text":"ab"},"output":{"utf16_len":2,"v3":2,"v4":3,"v4_min2":4}}"#,
        r#"{"id":"right.1","system":"openclaw_chars","fn":"estimate","input":{"text":{"repeat":"x","n":5}},"output":{"utf16_len":5,"v3":5,"v4":5,"v4_min2":10}}"#,
        r#"{"id":"unknown.1","system":"openclaw_chars","fn":"guess","input":{},"output":{}}"#,
        r#"{"id":"unknown.2","system":"someone_else","fn":"prune","input":{},"output":{}}"#,
    ];
    let file = folder.path().join("cases.jsonl");
    std::fs::write(&file, cases.join("\n")).unwrap();
    let file = file.to_str().unwrap();
    let (code, out, _) = conformance(&[file]);
    assert_eq!(code, 1);
    assert!(out.starts_with("cases 1 1 2\n"), "{out}");
    assert!(out.contains("wrong.1\n  expected {\"utf16_len\":2,\"v3\":2,\"v4\":3,"), "{out}");

    let json: Value = serde_json::from_str(&conformance(&[file, "--json"]).1).unwrap();
    assert_eq!(json["failures"][0]["id"], "wrong.1");
    assert_eq!(json["skipped"], 2);
}

#[test]
fn a_path_without_cases_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = conformance(&[folder.path().to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(err.contains("holds no files of cases"), "{err}");
    let broken = folder.path().join("broken.jsonl");
    std::fs::write(&broken, "{\"id\":1").unwrap();
    let (code, _, err) = conformance(&[broken.to_str().unwrap()]);
    assert_eq!(code, 2);
    assert!(err.contains("broken.jsonl, line 1"), "{err}");
}
