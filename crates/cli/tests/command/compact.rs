//! Compacting a log: in memory, with the file left alone.

use super::samples::{self, WIRES};
use super::{TestFolder, broken_rules, bytes, masked, secateur};

#[test]
fn a_long_session_is_made_short() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let before = bytes(&file);
    let run = secateur(&["compact", &file]);
    assert_eq!(run.code, 0, "{}", run.err);
    insta::assert_snapshot!(masked(&run.err), @r"
    compacted N messages into a digest: about N → N tokens
    before: N messages, about N tokens
    after:  N messages, about N tokens
    ");
    assert!(run.out.len() < before.len() / 4);
    let body = desk.put("body.json", &run.out);
    assert_eq!(broken_rules(&body, "openai-chat"), [] as [&str; 0], "the provider takes it");
    assert_eq!(bytes(&file), before, "the file is only read");
}

#[test]
fn the_summary_can_be_had_alone() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let summary = secateur(&["compact", &file, "--summary"]).out;
    assert!(summary.contains("> Uploads over 1 GB fail. Find out why."), "{summary}");
    let out = desk.path("summary.txt");
    let run = secateur(&["compact", &file, "--summary", "-o", out.to_str().unwrap()]);
    assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
    assert_eq!(bytes(&out), summary.trim_end().as_bytes());
    let report = secateur(&["compact", &file, "--json"]).json();
    assert_eq!(report["summary"].as_str(), Some(summary.trim_end()));
    assert!(report["after"]["tokens"].as_i64() < report["before"]["tokens"].as_i64());
}

#[test]
fn a_smaller_window_leaves_less() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let after = |window: &str| {
        secateur(&["compact", &file, "--window", window, "--json"]).json()["after"]["tokens"]
            .as_i64()
            .unwrap()
    };
    assert!(after("40000") < after("200000"));
}

#[test]
fn every_wire_takes_what_comes_out() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let out = desk.path("body.json");
    let out = out.to_str().unwrap();
    for wire in WIRES {
        let run = secateur(&["compact", &file, "--as", wire, "-o", out, "--profile", "opencode"]);
        assert_eq!(run.code, 0, "{wire}: {}", run.err);
        assert_eq!(broken_rules(out, wire), [] as [&str; 0], "{wire}");
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let reported = secateur(&["compact", &file, "-o", &file]);
    assert_eq!(reported.code, 2);
    assert!(reported.err.contains("is the input; name another file"), "{}", reported.err);
    let reported = secateur(&["compact", &file, "--set", "compaction.fern=1"]);
    assert_eq!(reported.code, 2);
    assert!(reported.err.contains("fern"), "{}", reported.err);
    let short = desk.put("short.json", r#"{"model":"m","messages":[{"role":"user","content":"Hello."}]}"#);
    let reported = secateur(&["compact", &short]);
    assert_eq!(reported.code, 2);
    insta::assert_snapshot!(reported.err.replace(&short, "FILE"), @"error: FILE: not compacted: there is nothing to summarise");
    let several = samples::of("tau-bench").lay(desk.folder.path());
    let reported = secateur(&["compact", &several, "--session", "9"]);
    assert!(reported.err.contains("no session \"9\""), "{}", reported.err);
}

/// The log of a sample with a summary of its own, then so much that a summary is worth while, and one more turn.
fn long_log(format: &str) -> String {
    let sample = samples::of(format);
    let more = match format {
        "claude" => {
            r#"{"parentUuid":"a7","isSidechain":false,"sessionId":"s1","type":"user","uuid":"u9","message":{"role":"user","content":"More?"}}"#
        }
        "codex" => {
            r#"{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"More?"}]}}"#
        }
        _ => {
            r#"{"type":"message","id":"e99","parentId":"eb","message":{"role":"user","content":[{"type":"text","text":"More?"}]}}"#
        }
    };
    // The call without a result would make one message of its result and the next question.
    let lines = sample.text().unwrap().lines().filter(|line| !line.contains("toolu_4"));
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    format!("{}{more}\n", text.replace("Wet.", &"The soil is wet. ".repeat(600)))
}

#[test]
fn summaries_of_the_agents_own_are_kept() {
    let desk = TestFolder::new();
    for format in ["claude", "codex", "pi"] {
        let file = desk.put(format, long_log(format));
        let run = secateur(&["compact", &file, "--summary"]);
        assert_eq!(run.code, 0, "{format}: {}", run.err);
        let (before, behind) = run.out.split_once("## Earlier summaries\n").expect(&run.out);
        let (earlier, behind) = behind.split_once("\n## ").unwrap_or((behind, ""));
        assert!(earlier.contains("> They looked."), "{format}: {}", run.out);
        assert!(
            !before.contains("They looked.") && !behind.contains("They looked."),
            "{format}: {}",
            run.out
        );
    }
}

#[test]
fn a_continuation_of_claude_code_is_kept_in_every_wire() {
    let desk = TestFolder::new();
    let text =
        "This session is being continued from a previous conversation that ran out of context. It was dry.";
    let file = desk.put("claude.jsonl", long_log("claude").replace("They looked.", text));
    for wire in WIRES {
        let run = secateur(&["compact", &file, "--as", wire, "--summary"]);
        let (_, earlier) = run.out.split_once("## Earlier summaries\n").expect(&run.out);
        assert!(earlier.contains("It was dry."), "{wire}: {}", run.out);
    }
}
