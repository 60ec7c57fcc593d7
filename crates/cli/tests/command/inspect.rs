//! Inspecting a session: the right numbers for every format, as JSON and in words.

use serde_json::{Value, json};

use super::samples::{self, Sample};
use super::{TestFolder, secateur, secateur_with};

/// What is counted besides characters.
const COUNTS: [&str; 14] = [
    "messages",
    "tool_calls",
    "tool_results",
    "unpaired_results",
    "unanswered_calls",
    "errors",
    "images",
    "compactions",
    "api_calls_with_usage",
    "peak_context_tokens",
    "sum_input_tokens",
    "sum_output_tokens",
    "sum_cache_read",
    "sum_cache_write",
];

/// Where a report differs from what is in the session.
fn differences(sample: &Sample, report: &Value, expected: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut compare = |name: &str, expected: &Value| {
        if report[name] != *expected {
            wrong.push(format!("{} {name}: {} instead of {expected}", sample.name, report[name]));
        }
    };
    compare("format", &json!(sample.format));
    for name in COUNTS {
        compare(name, expected.get(name).unwrap_or(&json!(0)));
    }
    compare("chars", &expected["chars"]);
    wrong
}

#[test]
fn every_format_is_counted_right() {
    let desk = TestFolder::new();
    let mut wrong = Vec::new();
    for sample in samples::all() {
        let file = sample.lay(desk.folder.path());
        let run = secateur(&["inspect", &file, "--json"]);
        if run.code != 0 || !run.err.is_empty() {
            wrong.push(format!("{}: exit code {}, {}", sample.name, run.code, run.err));
            continue;
        }
        match (&sample.counts, run.json()) {
            (Value::Array(all), Value::Array(reports)) => {
                assert_eq!(all.len(), reports.len(), "{}", sample.name);
                for (expected, report) in all.iter().zip(&reports) {
                    wrong.extend(differences(&sample, report, expected));
                }
            }
            (expected, report) => wrong.extend(differences(&sample, &report, expected)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_file_of_many_sessions_and_a_folder_are_arrays() {
    let desk = TestFolder::new();
    let file = samples::of("tau-bench").lay(desk.folder.path());
    assert_eq!(secateur(&["inspect", &file, "--json"]).json().as_array().unwrap().len(), 2);
    samples::of("pi").lay(desk.folder.path());
    let all = secateur(&["inspect", desk.folder.path().to_str().unwrap(), "--json"]).json();
    let formats: Vec<_> = all.as_array().unwrap().iter().map(|report| report["format"].clone()).collect();
    assert_eq!(formats, ["pi", "tau-bench", "tau-bench"]);
    let reported = secateur(&["inspect", &file]);
    assert_eq!(reported.out.matches("tau-bench session").count(), 2, "{}", reported.out);
}

#[test]
fn inspect_says_what_a_session_consists_of() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    let run = secateur(&["inspect", &file]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    let reported = run.out.replace(&file, "claude-code.jsonl");
    insta::assert_snapshot!(reported, @r"
    claude-code.jsonl: Claude Code session 2.1.0, claude-sonnet-4-5
    title    Ferns
    project  /src/garden
    session  s1
    9 messages, 4 tool calls (1 failed), 1 image, 1 compaction
    1 call without a result, 0 results without a call
    4 requests: peak 142 tokens; 427 tokens in (70.3 % from the cache), 27 out

     category     parts  characters   share  in the context
     user             2          24  14.0 %               8
     assistant        3          16   9.3 %               4
     reasoning        1           3   1.7 %               0
     tool_call        4          90  52.3 %              45
     tool_result      3          27  15.7 %               8
     summary          1          12   7.0 %              12

     tool  class   calls  failed  input  output   share
     Read  read        2       0     48      16  59.3 %
     Bash  search      2       1     42      11  40.7 %

    Context at each of 4 requests (recorded tokens)
      ▇█▄▅
      first 130, peak 142 at request 2, last 85; next about 92
      1 request with a cold cache: at 3
      compacted before request 3: 142 to 70 tokens

    Biggest tool results in the context
     part  tool  about                 characters  requests since
        4  Read  /src/garden/fern.txt           8               1

    Stalest tool results in the context (size times requests since)
     part  tool  about                 characters  requests since
        4  Read  /src/garden/fern.txt           8               1
    ");
}

#[test]
fn nothing_is_coloured_when_it_is_piped() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    for arguments in [vec!["inspect", &file], vec!["scan", &file], vec!["convert", &file, "--to", "gemini"]] {
        let run = secateur_with(&arguments, &[("TERM", "xterm-256color"), ("COLORTERM", "truecolor")]);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn the_lists_are_as_long_as_asked_for() {
    let desk = TestFolder::new();
    let file = desk.demo();
    for top in [0, 3] {
        let report = secateur(&["inspect", &file, "--json", "--top", &top.to_string()]).json();
        assert_eq!(report["biggest"].as_array().unwrap().len(), top);
        assert_eq!(report["stalest"].as_array().unwrap().len(), top);
    }
}

#[test]
fn a_format_can_be_named() {
    let desk = TestFolder::new();
    let file = desk.put("empty-list.json", "[]");
    assert_eq!(secateur(&["inspect", &file]).code, 2);
    let report = secateur(&["inspect", &file, "--json", "--format", "ui-messages"]).json();
    assert_eq!((&report["format"], &report["messages"]), (&"ui-messages".into(), &0.into()));
    let wrong = secateur(&["inspect", &file, "--format", "word"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("known formats: claude, codex, opencode, pi"), "{}", wrong.err);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_secateur"))
        .args(["context", &file, "--to", "anthropic", "--json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn parts_have_the_numbers_of_explain_after_a_compaction() {
    let desk = TestFolder::new();
    let log = samples::of("claude").lay(desk.folder.path());
    let biggest = secateur(&["inspect", &log, "--json"]).json()["biggest"].clone();
    let rows = biggest.as_array().unwrap();
    assert!(!rows.is_empty());
    for row in rows {
        let number = row["part"].to_string();
        let part = secateur(&["explain", &log, &number, "--json"]).json();
        assert_eq!((&part["kind"], &part["units"]), (&"result".into(), &row["chars"]), "{row} {part}");
    }
}
