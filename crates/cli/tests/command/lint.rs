//! Linting a request: what its provider rejects, by rule and place, and the repaired body.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::samples::{self, WIRES};
use super::{Run, TestFolder, bytes, secateur};

/// An Anthropic request of these messages.
fn anthropic(messages: &[&str]) -> String {
    format!(r#"{{"model": "m", "max_tokens": 9, "messages": [{}]}}"#, messages.join(", "))
}

fn chat(messages: &[&str]) -> String {
    format!(r#"{{"model": "m", "messages": [{}]}}"#, messages.join(", "))
}

fn responses(items: &[&str]) -> String {
    format!(r#"{{"model": "m", "input": [{}]}}"#, items.join(", "))
}

fn gemini(contents: &[&str]) -> String {
    format!(r#"{{"contents": [{}]}}"#, contents.join(", "))
}

const ASK: &str = r#"{"role":"user","content":"go"}"#;
const CALLS: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"tool_use","id":"b","name":"f","input":{}}]}"#;
const A: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ra"}]}"#;
const B: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"b","content":"rb"}]}"#;
const BOTH: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"ra"},{"type":"tool_result","tool_use_id":"b","content":"rb"}]}"#;
const CHAT_CALLS: &str = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]}"#;
const CHAT_RESULT: &str = r#"{"role":"tool","tool_call_id":"a","content":"ra"}"#;
const ITEM_CALL: &str = r#"{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}"#;
const ITEM_RESULT: &str = r#"{"type":"function_call_output","call_id":"a","output":"ra"}"#;
const GEMINI_ASK: &str = r#"{"role":"user","parts":[{"text":"go"}]}"#;
const GEMINI_CALL: &str = r#"{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}"#;
const GEMINI_RESULT: &str =
    r#"{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"r"}}}]}"#;

fn said(blocks: &str) -> String {
    format!(r#"{{"role":"assistant","content":[{blocks}]}}"#)
}

/// An answer with this id.
fn item(id: &str) -> String {
    let content = r#"[{"type":"output_text","text":"x","annotations":[]}]"#;
    format!(r#"{{"type":"message","id":"{id}","role":"assistant","content":{content}}}"#)
}

/// Bodies, each with the rules that it breaks.
fn broken() -> Vec<(&'static str, String, Vec<&'static str>)> {
    let unsigned = said(r#"{"type":"thinking","thinking":"Hm.","signature":""},{"type":"text","text":"x"}"#);
    let detached = said(r#"{"type":"text","text":"x"},{"type":"thinking","thinking":"Hm.","signature":"s"}"#);
    let marked =
        r#"{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}"#;
    let empty = r#"{"role":"user","content":[{"type":"text","text":""},{"type":"text","text":"x"}]}"#;
    vec![
        ("anthropic", anthropic(&[ASK, A]), vec!["orphaned-result"]),
        ("anthropic", anthropic(&[ASK, CALLS, ASK]), vec!["call-without-result"; 2]),
        ("anthropic", anthropic(&[ASK, CALLS, BOTH, A]), vec!["duplicate-result"]),
        ("anthropic", anthropic(&[ASK, CALLS, BOTH, CALLS, BOTH]), vec!["duplicate-call"; 2]),
        ("anthropic", anthropic(&[ASK, CALLS, A, ASK, B]), vec!["misplaced-result"]),
        ("anthropic", anthropic(&[ASK, CALLS, ASK, BOTH]), vec!["misplaced-result"; 2]),
        ("anthropic", anthropic(&[empty]), vec!["empty-content"]),
        ("anthropic", anthropic(&[ASK, &unsigned, ASK]), vec!["unsigned-thinking"]),
        ("anthropic", anthropic(&[ASK, &detached, ASK]), vec!["detached-thinking"]),
        ("anthropic", anthropic(&[marked; 6]), vec!["cache-mark"; 2]),
        ("openai-chat", chat(&[ASK, CHAT_RESULT]), vec!["orphaned-result"]),
        ("openai-chat", chat(&[ASK, CHAT_CALLS, ASK]), vec!["call-without-result"]),
        ("openai-chat", chat(&[ASK, CHAT_CALLS, CHAT_RESULT, CHAT_RESULT]), vec!["duplicate-result"]),
        ("openai-chat", chat(&[ASK, CHAT_CALLS, ASK, CHAT_RESULT]), vec!["misplaced-result"]),
        ("openai-responses", responses(&[ASK, ITEM_RESULT]), vec!["orphaned-result"]),
        ("openai-responses", responses(&[ASK, ITEM_CALL, ASK]), vec!["call-without-result"]),
        ("openai-responses", responses(&[ASK, &item("msg_1"), &item("msg_1")]), vec!["duplicate-item"]),
        ("gemini", gemini(&[GEMINI_ASK, GEMINI_RESULT]), vec!["orphaned-result"]),
        ("gemini", gemini(&[GEMINI_ASK, GEMINI_CALL, GEMINI_ASK]), vec!["call-without-result"]),
        (
            "gemini",
            gemini(&[GEMINI_ASK, r#"{"role":"model","parts":[]}"#, GEMINI_ASK]),
            vec!["empty-content"],
        ),
    ]
}

/// Runs the command with this on its standard input.
fn fed(arguments: &[&str], input: &[u8]) -> Run {
    let mut child = Command::new(env!("CARGO_BIN_EXE_secateur"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn every_fault_is_found_named_and_repaired() {
    let desk = TestFolder::new();
    for (wire, body, rules) in broken() {
        let file = desk.put("body.json", &body);
        let run = secateur(&["lint", &file, "--as", wire, "--json"]);
        assert_eq!(run.code, 1, "{body}: {}{}", run.out, run.err);
        let report = run.json();
        assert_eq!((&report["wire"], &report["valid"]), (&wire.into(), &false.into()));
        let findings = report["findings"].as_array().unwrap();
        let found: Vec<&str> = findings.iter().map(|finding| finding["rule"].as_str().unwrap()).collect();
        assert_eq!(found, rules, "{body}");
        for finding in findings {
            for word in ["path", "message", "repair"] {
                assert!(!finding[word].as_str().unwrap().is_empty(), "{word} in {finding}");
            }
            assert!(finding["path"].as_str().unwrap().starts_with('$'));
            assert_eq!(finding["fixable"], true, "{finding}");
        }
        assert_eq!(bytes(&file), body.as_bytes(), "linting changes nothing");

        let fixed = secateur(&["lint", &file, "--as", wire, "--fix"]);
        assert_eq!(fixed.code, 0, "{body}: {}{}", fixed.out, fixed.err);
        assert_eq!(fixed.err.matches("repaired: ").count(), rules.len(), "{}", fixed.err);
        let again = desk.put("fixed.json", &fixed.out);
        assert_eq!(secateur(&["lint", &again, "--as", wire]).code, 0, "{}", fixed.out);
        assert_eq!(
            secateur(&["lint", &again, "--as", wire, "--fix"]).out,
            fixed.out,
            "repairing twice is once"
        );
    }
}

#[test]
fn a_clean_body_comes_back_byte_for_byte() {
    let desk = TestFolder::new();
    for wire in WIRES {
        let sample = samples::of(&format!("{wire}-request"));
        let file = sample.lay(desk.folder.path());
        let run = secateur(&["lint", &file]);
        assert_eq!(run.code, 0, "{}", run.out);
        assert!(run.out.starts_with(&format!("{file}: ")), "{}", run.out);
        assert!(run.out.ends_with(" request, no findings\n"), "{}", run.out);
        let fixed = secateur(&["lint", &file, "--fix"]);
        assert_eq!((fixed.code, fixed.err.as_str()), (0, ""));
        assert_eq!(fixed.out, sample.text().unwrap(), "{wire}");
        let out = desk.path("out.json");
        let run = secateur(&["lint", &file, "--fix", "--out", out.to_str().unwrap()]);
        assert_eq!((run.code, run.out.as_str()), (0, ""));
        assert_eq!(bytes(&out), bytes(&file));
    }
}

#[test]
fn a_finding_says_where_what_and_what_to_do() {
    let desk = TestFolder::new();
    let file = desk.put("body.json", anthropic(&[ASK, CALLS, A, ASK]));
    let run = secateur(&["lint", &file]);
    let reported = run.out.replace(&file, "body.json");
    insta::assert_snapshot!(reported, @r"
    body.json: Anthropic Messages request, 1 finding

    $.messages[1].content[1] [call-without-result] the call b has no result in the next message
        --fix: a result that says so is put in
    ");
}

#[test]
fn what_cannot_be_repaired_is_left_and_said() {
    let desk = TestFolder::new();
    let file = desk.put("body.json", r#"{"model":"m","max_tokens":9,"messages":[]}"#);
    let run = secateur(&["lint", &file, "--as", "anthropic", "--fix"]);
    assert_eq!(run.code, 1);
    assert!(run.err.starts_with("not repaired: $.messages [missing-field]"), "{}", run.err);
    assert_eq!(run.out.as_bytes(), bytes(&file));
    let json = secateur(&["lint", &file, "--as", "anthropic", "--fix", "--json"]).json();
    assert_eq!((&json["valid"], &json["repaired"]), (&false.into(), &json!([])));
}

#[test]
fn what_is_no_request_is_an_error() {
    let desk = TestFolder::new();
    let folder = desk.folder.path().to_str().unwrap().to_owned();
    let hint = "name one with --as: anthropic, openai-chat, openai-responses or gemini";
    for (file, why) in [
        (desk.put("empty.json", ""), hint),
        (desk.put("other.json", r#"{"a":1}"#), hint),
        (desk.put("text.json", "no JSON"), hint),
        (desk.put("list.json", "[1]"), hint),
        (
            desk.put("binary.json", [0u8, 159, 146, 150]),
            "is not UTF-8 (at byte 1); expected a JSON request body",
        ),
        (folder, "is a folder; expected the file of a request body"),
        ("/no/such/body.json".to_owned(), "cannot read /no/such/body.json: No such file"),
    ] {
        let run = secateur(&["lint", &file]);
        assert_eq!(run.code, 2, "{file}");
        assert!(run.err.starts_with("error: ") && run.err.contains(why), "{file}: {}", run.err);
        assert!(run.err.contains(&file), "{file}: {}", run.err);
    }
    let run =
        secateur(&["lint", &desk.put("torn.json", r#"{"model":"m","messages":[{"#), "--as", "openai-chat"]);
    assert_eq!(run.code, 1, "a body that was said to be a request breaks a rule");
    assert!(run.out.contains("$ [not-json] the body is not valid JSON"), "{}", run.out);
}

#[test]
fn a_recorded_request_is_looked_into() {
    let desk = TestFolder::new();
    for wire in WIRES {
        let sample = samples::of(&format!("{wire}-request"));
        let recorded = json!({ "method": "POST", "path": "/v1/x", "headers": { "accept": "*/*" },
                               "body": sample.text().unwrap() });
        let file = desk.put("recorded.json", recorded.to_string());
        let run = secateur(&["lint", &file, "--json"]);
        assert_eq!((run.code, &run.json()["wire"]), (0, &wire.into()));
        assert_eq!(secateur(&["lint", &file, "--fix"]).out, sample.text().unwrap());
        // The other commands look into it too.
        assert_eq!(secateur(&["inspect", &file, "--json"]).json()["format"], sample.format);
        assert_eq!(
            secateur(&["context", &file, "--to", wire]).out,
            format!("{}\n", sample.text().unwrap()),
            "{wire}"
        );
    }
}

#[test]
fn standard_input_is_read_like_a_file() {
    let clean = samples::of("openai-chat-request");
    let run = fed(&["lint", "-"], clean.text().unwrap().as_bytes());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with("standard input: "), "{}", run.out);
    let broken = anthropic(&[ASK, A]);
    assert_eq!(fed(&["lint", "-"], broken.as_bytes()).code, 1);
    let fixed = fed(&["lint", "-", "--fix"], broken.as_bytes());
    assert_eq!(fixed.code, 0, "{}", fixed.err);
    assert!(serde_json::from_str::<Value>(&fixed.out).is_ok());
    let nothing = fed(&["lint", "-"], b"");
    assert_eq!(nothing.code, 2);
    assert!(nothing.err.starts_with("error: standard input is not a request"), "{}", nothing.err);
}

#[test]
fn a_repaired_body_is_not_written_over_the_request() {
    let desk = TestFolder::new();
    let body = anthropic(&[ASK, A]);
    let file = desk.put("body.json", &body);
    let run = secateur(&["lint", &file, "--fix", "--out", &file]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("is the input; name another file"), "{}", run.err);
    assert_eq!(bytes(&file), body.as_bytes());
    let run = secateur(&["lint", &file, "--out", &file]);
    assert_eq!(run.code, 2, "--out needs --fix");
    assert!(run.err.contains("--fix"), "{}", run.err);
}
