//! The request that a model would get: of every log, on every wire, and valid for its provider.

use std::fs;

use serde_json::Value;

use super::samples::{self, WIRES};
use super::{TestFolder, broken_rules, bytes, secateur};

/// The texts of a request body, wherever they stand in it.
fn texts(body: &str) -> String {
    fn gather(value: &Value, texts: &mut String) {
        match value {
            Value::String(text) => {
                texts.push_str(text);
                texts.push('\n');
            }
            Value::Array(values) => values.iter().for_each(|value| gather(value, texts)),
            Value::Object(members) => members.values().for_each(|value| gather(value, texts)),
            _ => {}
        }
    }
    let mut found = String::new();
    gather(&serde_json::from_str(body).expect("a body is JSON"), &mut found);
    found
}

/// The body that a command printed.
fn body(arguments: &[&str]) -> String {
    let run = secateur(arguments);
    assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
    run.out
}

#[test]
fn every_session_is_a_valid_request_of_every_wire() {
    let desk = TestFolder::new();
    let out = desk.path("body.json");
    let out = out.to_str().unwrap();
    for sample in samples::all() {
        let file = sample.lay(desk.folder.path());
        for wire in WIRES {
            let run = secateur(&["context", &file, "--to", wire, "--out", out, "--json"]);
            assert_eq!(run.code, 0, "{} as {wire}: {}{}", sample.name, run.err, run.out);
            let report = run.json();
            assert_eq!(report["findings"].as_array().unwrap().len(), 0);
            assert_eq!(report["wire"], wire);
            assert_eq!(report["body"], Value::Null, "the body went to the file");
            // Without calls and instructions a body may be of either of two wires.
            let named: &[&str] = if sample.format == "aider" { &["--as", wire] } else { &[] };
            let lint = secateur(&[&["lint", out, "--json"], named].concat());
            assert_eq!(broken_rules(out, wire), [] as [&str; 0], "{} as {wire}: {}", sample.name, lint.out);
            assert_eq!(lint.json()["wire"], wire, "{}", sample.name);
            let said = texts(&fs::read_to_string(out).unwrap());
            let last = if sample.wire().is_some() || sample.format == "aider" { "And now?" } else { "soil" };
            assert!(said.contains(last) || sample.format == "codex", "{} as {wire}: {said}", sample.name);
        }
    }
}

#[test]
fn what_a_compaction_took_away_is_not_sent_and_its_summary_is() {
    let desk = TestFolder::new();
    for format in ["claude", "codex", "opencode", "pi"] {
        let file = samples::of(format).lay(desk.folder.path());
        for wire in WIRES {
            let said = texts(&body(&["context", &file, "--to", wire]));
            assert!(said.contains("They looked.") && said.contains("And now?"), "{format} as {wire}: {said}");
            assert!(!said.contains("dry soil") && !said.contains("I look."), "{format} as {wire}: {said}");
        }
    }
}

#[test]
fn a_call_without_a_result_gets_one() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    let said = body(&["context", &file, "--to", "anthropic"]);
    assert_eq!(said.matches("\"tool_use\"").count(), 2);
    assert_eq!(said.matches("\"tool_result\"").count(), 2);
}

#[test]
fn at_names_the_request_that_a_message_answered() {
    let desk = TestFolder::new();
    let file = samples::of("opencode").lay(desk.folder.path());
    for at in ["msg_3", "2"] {
        let said = texts(&body(&["context", &file, "--to", "openai-chat", "--at", at]));
        assert!(said.contains("Water the ferns.") && said.contains("dry soil"), "{at}: {said}");
        assert!(!said.contains("Done.") && !said.contains("They looked."), "{at}: {said}");
    }
    let first = texts(&body(&["context", &file, "--to", "openai-chat", "--at", "msg_2"]));
    assert!(first.contains("Water the ferns.") && !first.contains("I look."), "{first}");
    let run = secateur(&["context", &file, "--to", "openai-chat", "--at", "msg_99"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no message \"msg_99\"; messages are numbered 0 to 6"), "{}", run.err);
}

#[test]
fn a_message_has_one_number_everywhere() {
    let desk = TestFolder::new();
    // Its first messages were compacted away.
    let file = samples::of("claude").lay(desk.folder.path());
    let moments = secateur(&["inspect", &file, "--json"]).json()["timeline"].clone();
    let last = &moments.as_array().unwrap().last().unwrap()["message"];
    let parts = secateur(&["explain", &file, "--json"]).json();
    let parts = parts.as_array().unwrap();
    let said = parts.iter().filter(|part| part["message"] == *last && part["kind"] == "text");
    let said: Vec<&Value> = said.collect();
    assert!(!said.is_empty() && said.iter().all(|part| part["role"] == "assistant"), "{parts:#?}");
    let numbers: std::collections::BTreeSet<u64> =
        parts.iter().filter_map(|part| part["message"].as_u64()).collect();
    assert!(numbers.len() as u64 <= last.as_u64().unwrap(), "some have left the context: {numbers:?}");
    let one = secateur(&["explain", &file, &said[0]["part"].to_string()]);
    assert!(one.out.contains(&format!("message     {last} (Assistant)")), "{}", one.out);
    assert_eq!(secateur(&["context", &file, "--to", "gemini", "--at", &last.to_string()]).code, 0);
}

#[test]
fn the_requests_of_a_timeline_can_be_asked_for_by_their_numbers() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    let report = secateur(&["inspect", &file, "--json"]).json();
    let moments = report["timeline"].as_array().unwrap();
    let asked = |moment: &Value| {
        texts(&body(&["context", &file, "--to", "gemini", "--at", &moment["message"].to_string()]))
    };
    let requests: Vec<String> = moments.iter().map(asked).collect();
    assert_eq!(requests.len(), 4);
    assert!(!requests[0].contains("I look."), "{}", requests[0]);
    assert!(requests[1].contains("dry soil") && !requests[1].contains("Done."), "{}", requests[1]);
    assert!(requests[2].contains("They looked.") && !requests[2].contains("Done."), "{}", requests[2]);
    assert!(requests[3].contains("wet soil") && !requests[3].contains("Wet."), "{}", requests[3]);
}

#[test]
fn a_request_of_the_same_wire_stays_as_it_is_byte_for_byte() {
    let desk = TestFolder::new();
    let out = desk.path("body.json");
    for wire in WIRES {
        let sample = samples::of(&format!("{wire}-request"));
        let file = sample.lay(desk.folder.path());
        for command in ["context", "convert"] {
            let run = secateur(&[command, &file, "--to", wire, "--out", out.to_str().unwrap()]);
            assert_eq!(run.code, 0, "{}", run.err);
            assert_eq!(bytes(&out), bytes(&file), "{command} {wire}");
            assert_eq!(
                secateur(&[command, &file, "--to", wire]).out,
                format!("{}\n", sample.text().unwrap())
            );
        }
    }
}

#[test]
fn what_a_profile_cuts_is_a_placeholder_in_the_request() {
    let desk = TestFolder::new();
    let file = desk.demo();
    for wire in WIRES {
        let run = secateur(&["context", &file, "--to", wire, "--json", "--profile", "opencode"]);
        assert_eq!(run.code, 0, "{}", run.err);
        let report = run.json();
        let cuts = report["cuts"].as_u64().unwrap();
        assert!(cuts > 20);
        let placeholders =
            report["body"].as_str().unwrap().matches("[Old tool result content cleared]").count();
        assert_eq!(placeholders as u64, cuts, "{wire}");
        assert!(run.err.is_empty(), "{}", run.err);
    }
    let reported = secateur(&["context", &file, "--to", "gemini"]);
    assert!(reported.err.contains(" cuts by profile balanced"), "{}", reported.err);
    let cut = reported.out.matches("[cut: ").count();
    assert!(cut > 20 && reported.out.contains(" characters; recall "), "{cut}");
}

#[test]
fn a_cut_in_a_request_changes_nothing_else_in_it() {
    let desk = TestFolder::new();
    let long = "x".repeat(400_000);
    let turn = |number: u64, text: &str| {
        format!(
            r#"{{"role":"user","content":"{number}"}}, {{"role":"assistant","content":[{{"type":"tool_use","id":"t{number}","name":"read","input":{{ }}}}]}},
  {{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t{number}","content":"{text}"}}]}}, {{"role":"assistant","content":"ok"}}"#
        )
    };
    let request = |first: &str| {
        let turns = [turn(1, first), turn(2, "x"), turn(3, "x"), turn(4, "x")].join(",\n");
        format!(
            r#"{{"model": "m", "max_tokens": 1e1, "messages": [{turns}, {{"role":"user","content":"go"}}]}}"#
        )
    };
    let file = desk.put("request.json", request(&long));
    let said = body(&[
        "context",
        &file,
        "--to",
        "anthropic",
        "--profile",
        "opencode",
        "--set",
        "watermark.protect=0",
    ]);
    assert_eq!(said, format!("{}\n", request("[Old tool result content cleared]")));
}

#[test]
fn the_limit_on_the_answer_and_the_model_can_be_named() {
    let desk = TestFolder::new();
    let file = samples::of("codex").lay(desk.folder.path());
    let sent: Value = serde_json::from_str(&body(&["context", &file, "--to", "anthropic"])).unwrap();
    assert_eq!(sent["model"], "gpt-5-codex", "the session's own");
    let arguments = ["context", &file, "--to", "anthropic", "--max-tokens", "77", "--model", "some-model"];
    let sent: Value = serde_json::from_str(&body(&arguments)).unwrap();
    assert_eq!((&sent["model"], &sent["max_tokens"]), (&"some-model".into(), &77.into()));
    let run = secateur(&["context", &file, "--to", "telegraph"]);
    assert_eq!(run.code, 2);
    for wire in WIRES {
        assert!(run.err.contains(wire), "{}", run.err);
    }
}

#[test]
fn of_a_file_with_several_sessions_one_can_be_named() {
    let desk = TestFolder::new();
    let file = samples::of("tau-bench").lay(desk.folder.path());
    let first = secateur(&["context", &file, "--to", "openai-chat"]);
    assert!(
        first.err.contains("holds 2 sessions; this is the first (choose another with --session)"),
        "{}",
        first.err
    );
    assert!(first.out.contains("Water the ferns."));
    for name in ["2", "1/0"] {
        let second = body(&["context", &file, "--to", "openai-chat", "--session", name]);
        assert!(second.contains("And now?") && !second.contains("ferns"), "{second}");
    }
    let run = secateur(&["context", &file, "--to", "openai-chat", "--session", "9"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("no session \"9\"; the file holds sessions 1 to 2"), "{}", run.err);
}

#[test]
fn what_stands_for_a_cut_says_what_it_was_on_every_wire() {
    let desk = TestFolder::new();
    let file = desk.demo();
    for wire in WIRES {
        let said = texts(&body(&["context", &file, "--to", wire]));
        let (_, rest) = said.split_once("[cut: edit CHANGELOG.md, 11323 characters; recall ").unwrap();
        let (handle, rest) = rest.split_once(" brings it back]").unwrap();
        assert!(handle.len() == 12 && rest.starts_with("\nlet "), "{wire}: {handle}");
        assert!(!said.contains("{tool}") && !said.contains("{excerpt}"), "{wire}");
    }
}

/// A log of openagentic-sdk with a compaction.
const OPENAGENTIC: &str = r#"{"type":"user.message","text":"Water the ferns."}
{"type":"assistant.message","text":"Done."}
{"type":"user.compaction","auto":true}
{"type":"assistant.message","text":"They looked.","is_summary":true}
{"type":"user.message","text":"And now?"}
"#;

/// A session of Qwery with a compaction.
const QWERY: &str = r#"[
{"id":"m1","role":"user","content":{"parts":[{"type":"text","text":"Water the ferns."}]}},
{"id":"m2","role":"assistant","content":{"parts":[{"type":"text","text":"Done."}]},"metadata":{"finish":"stop"}},
{"id":"m3","role":"user","content":{"parts":[{"type":"compaction"}]}},
{"id":"m4","role":"assistant","content":{"parts":[{"type":"text","text":"They looked."}]},
 "metadata":{"summary":true,"finish":"stop","parentId":"m3"}},
{"id":"m5","role":"user","content":{"parts":[{"type":"text","text":"And now?"}]}}]"#;

#[test]
fn a_log_is_sent_from_its_pivot_on_and_its_marker_is_spoken() {
    let desk = TestFolder::new();
    let logs = [("openagentic", desk.put("a.jsonl", OPENAGENTIC)), ("qwery", desk.put("q.json", QWERY))];
    let texts = |body: &str| -> Vec<String> {
        let body: Value = serde_json::from_str(body).unwrap();
        let texts = body["messages"].as_array().unwrap().iter().map(|message| &message["content"]);
        texts.map(|text| text.as_str().map_or_else(|| text.to_string(), str::to_owned)).collect()
    };
    let sent = ["What did we do so far?", "They looked.", "And now?"];
    for (format, file) in &logs {
        for arguments in [
            vec!["context", file, "--to", "openai-chat"],
            vec!["context", file, "--to", "openai-chat", "--profile", format],
            vec!["convert", file, "--to", "openai-chat"],
        ] {
            let run = secateur(&arguments);
            assert_eq!(texts(&run.out), sent, "{arguments:?}: {}", run.err);
        }
        let run = secateur(&["context", file, "--to", "openai-chat", "--set", "compaction.marker=\"Well?\""]);
        assert_eq!(texts(&run.out).first().map(String::as_str), Some("Well?"), "{}", run.err);
        let store = format!("sqlite:{}", desk.path(&format!("{format}.db")).display());
        let run = secateur(&["session", "new", "--from", file, "--store", &store, "--json"]);
        assert_eq!(run.json()["messages"], 3, "{format}: {}{}", run.out, run.err);
        // Before the compaction everything is there.
        let run = secateur(&["context", file, "--to", "openai-chat", "--at", "2"]);
        assert_eq!(texts(&run.out).len(), 2, "{}", run.out);
    }
}

#[test]
fn bound_thinking_of_a_log_is_left_out_and_said() {
    let desk = TestFolder::new();
    let text = samples::of("claude").text().unwrap().replace("compact_boundary", "turn_duration");
    let text = text.replace("\"isCompactSummary\":true", "\"isCompactSummary\":false");
    let log = desk.put("claude.jsonl", &text);
    for command in ["context", "convert"] {
        for (model, is_kept) in [("claude-sonnet-4-5", true), ("claude-opus-5-5", false)] {
            let run = secateur(&[command, &log, "--to", "anthropic", "--model", model, "--json"]);
            let report = run.json();
            let body = report["body"].as_str().unwrap();
            assert_eq!(body.contains("c2ln"), is_kept, "{command} {model}: {body}");
            let lost = report["losses"].to_string();
            assert_eq!(lost.contains("behind the very request"), !is_kept, "{command} {model}: {lost}");
        }
    }
}
