//! Bad input: a clear word, an exit code, nothing lost.

use super::{TestFolder, bytes, secateur};

#[test]
fn what_cannot_be_a_session_is_refused_with_the_reason() {
    let desk = TestFolder::new();
    let folder = desk.folder.path().to_str().unwrap().to_owned();
    let cases = [
        (desk.put("empty.json", ""), "the input is empty"),
        (desk.put("blank.json", " \n\n"), "the input is empty"),
        (desk.put("binary", [0u8, 159, 146, 150, 1, 2]), "no JSON object at the beginning"),
        (desk.put("notes.txt", "just notes"), "unknown session format"),
        (desk.put("other.json", r#"{"a":1}"#), "the first record has the keys a"),
        (desk.put("list.json", "[]"), "an empty list; name the format"),
        (folder, "holds 4 sessions; choose one with --session"),
        ("/no/such/file".to_owned(), "cannot read /no/such/file"),
    ];
    for (file, reason) in cases {
        for command in ["prune", "explain"] {
            let run = secateur(&[command, &file]);
            assert_eq!(run.code, 2, "{file}");
            assert!(run.err.starts_with("error: ") && run.err.contains(reason), "{file}: {}", run.err);
            assert!(run.out.is_empty());
        }
    }
}

#[test]
fn a_file_that_breaks_off_is_read_as_far_as_it_goes_and_can_still_be_marked() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let whole = bytes(&file);
    let broken = &whole[..whole.len() - 200];
    std::fs::write(&file, broken).unwrap();
    let run = secateur(&["prune", &file, "--write", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.contains("warning: ") && run.err.contains("line 1: the text breaks off"), "{}", run.err);
    let report = run.json();
    assert_eq!(report["messages"], 19, "the last message is not whole");
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
    let after = bytes(&file);
    assert_eq!(&after[after.len() - 100..], &broken[broken.len() - 100..], "the broken end stays as it is");
    assert_eq!(bytes(report["backup"].as_str().unwrap()), broken);
}

#[test]
fn broken_lines_are_left_alone() {
    let desk = TestFolder::new();
    let text = "{\"type\":\"user.message\",\"text\":\"a\"}\n{oops\n\n{\"type\":\"user.message\",\"text\":\"b\"}\n{\"type\":\"tool.re";
    let file = desk.put("events.jsonl", text);
    let run = secateur(&["prune", &file, "--json"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["messages"], 2);
    assert!(run.err.contains("line 2: ") && run.err.contains("line 5: "), "{}", run.err);
}

#[test]
fn deep_nesting_duplicate_keys_and_wrong_types_do_no_harm() {
    let desk = TestFolder::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        r#"[{{"info":{{"id":1,"id":"m1","role":"user","role":"assistant","summary":{{}}}},"parts":[{{"type":"tool","tool":7,"state":"odd"}},{{"type":"tool","tool":"x","callID":null,"state":{{"status":"completed","input":{deep},"output":{{"a":1}},"time":5}}}},null,3]}},"what",{{"parts":{{}}}}]"#
    );
    let file = desk.put("odd.json", text);
    for profile in ["opencode", "openclaw", "openagentic", "qwery", "anthropic"] {
        let run = secateur(&["prune", &file, "--json", "--profile", profile]);
        assert_eq!(run.code, 0, "{profile}: {}", run.err);
        assert_eq!(run.json()["messages"], 3);
    }
}

#[test]
fn wrong_arguments_say_what_is_allowed() {
    let desk = TestFolder::new();
    let file = desk.demo();
    for (arguments, words) in [
        (vec!["prune", &file, "--profile", "nobody"], vec!["unknown profile; known are", "opencode@2026-01"]),
        (vec!["prune", &file, "--format", "word"], vec!["known formats: claude, codex, opencode"]),
        (
            vec!["prune", &file, "--profile", "openclaw", "--model", "nomodel"],
            vec!["\"nomodel\" is not in the catalogue"],
        ),
        (vec!["explain", &file, "prt_none"], vec!["has no part \"prt_none\"", "explain FILE --json"]),
        (vec!["overflow"], vec!["--window", "--model"]),
        (vec!["profiles", "missing.toml"], vec!["cannot read the profile missing.toml"]),
    ] {
        let run = secateur(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        for word in words {
            assert!(run.err.contains(word), "{arguments:?}: {}", run.err);
        }
    }
}

#[test]
fn names_from_a_session_give_the_terminal_no_orders() {
    let desk = TestFolder::new();
    let text =
        r#"[{"role":"toolResult","toolName":"\u001b]0;owned\u0007","content":[{"type":"text","text":"x"}]}]"#;
    let file = desk.put("names.json", text);
    for arguments in [vec!["explain", &file], vec!["explain", &file, "0"], vec!["prune", &file]] {
        let run = secateur(&arguments);
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains('\u{1b}') && !run.err.contains('\u{1b}'), "{arguments:?}");
    }
    let unknown = desk.put("unknown.json", r#"{"\u001b]0;owned\u0007":1}"#);
    assert!(!secateur(&["prune", &unknown]).err.contains('\u{1b}'));
}

#[test]
fn many_broken_messages_cost_no_more_than_their_number() {
    let desk = TestFolder::new();
    let broken = "{\"info\":{\"id\":\"\\q\"}},\n".repeat(40_000);
    let file = desk.put("broken.json", format!("[{{\"info\":{{}},\"parts\":[]}},\n{broken}{{}}]"));
    let run = secateur(&["prune", &file, "--json"]);
    assert_eq!(run.code, 0, "{}", run.err.lines().next().unwrap_or_default());
}
