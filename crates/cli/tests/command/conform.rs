//! Recorded behaviour of the founding systems.

use super::{Desk, secateur};

const VECTORS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/vectors");

#[test]
fn every_recorded_case_comes_out_as_recorded() {
    let run = secateur(&["conform", VECTORS]);
    assert_eq!(run.code, 0, "{}", run.out);
    let lines: Vec<Vec<&str>> = run.out.lines().map(|line| line.split(' ').collect()).collect();
    assert_eq!(lines.len(), 26);
    for line in lines {
        let [file, passed, failed, skipped] = line.as_slice() else { panic!("{line:?}") };
        assert!(passed.parse::<u64>().unwrap() >= 20, "{file} has few cases");
        assert_eq!(*failed, "0", "{file}");
        // OpenClaw's own way of persisting is not compared.
        let may_skip = *file == "openclaw-v4.prune";
        assert!(*skipped == "0" || may_skip, "{file} skipped {skipped}");
    }
}

#[test]
fn a_case_that_comes_out_otherwise_is_shown_and_fails_the_run() {
    let desk = Desk::new();
    let cases = [
        r#"{"id":"wrong.1","system":"openclaw_chars","fn":"estimate","input":{"text":"ab"},"output":{"v4":3}}"#,
        r#"{"id":"right.1","system":"openclaw_chars","fn":"estimate","input":{"text":{"repeat":"x","n":5}},"output":{"v4":5}}"#,
        r#"{"id":"unknown.1","system":"openclaw_chars","fn":"guess","input":{},"output":{}}"#,
        r#"{"id":"unknown.2","system":"someone_else","fn":"prune","input":{},"output":{}}"#,
    ];
    let file = desk.put("cases.jsonl", cases.join("\n"));
    let run = secateur(&["conform", &file]);
    assert_eq!(run.code, 1);
    assert!(run.out.starts_with("cases 1 1 2\n"), "{}", run.out);
    assert!(run.out.contains("wrong.1\n  expected {\"v4\":3}\n  actual   {\"v4\":2}"), "{}", run.out);

    let json = secateur(&["conform", &file, "--json"]).json();
    assert_eq!(json["failures"][0]["id"], "wrong.1");
    assert_eq!(json["skipped"], 2);
}

#[test]
fn what_holds_no_cases_is_an_error() {
    let desk = Desk::new();
    let run = secateur(&["conform", desk.folder.path().to_str().unwrap()]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("holds no files of vectors"), "{}", run.err);
    let broken = desk.put("broken.jsonl", "{\"id\":1");
    let run = secateur(&["conform", &broken]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("broken.jsonl, line 1"), "{}", run.err);
}
