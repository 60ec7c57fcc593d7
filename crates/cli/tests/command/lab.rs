//! The lab as a user runs it: a table, JSON, a page, every miss with its cut, and clear words where there is nothing.

use std::fs;

use serde_json::{Value, json};

use super::{TestFolder, secateur};

/// A session of Claude Code in which a name from an early output is needed late.
fn session(calls: usize) -> String {
    let mut lines = Vec::new();
    let mut say = |kind: &str, message: &Value, number: usize| {
        let parent = number.checked_sub(1).map(|last| format!("u{last}"));
        let (minute, second) = (number / 60, number % 60);
        let line = json!({ "type": kind, "uuid": format!("u{number}"), "parentUuid": parent, "sessionId": "s",
            "cwd": "/src/garden", "version": "2.1", "timestamp": format!("2030-01-01T10:{minute:02}:{second:02}Z"),
            "message": message });
        lines.push(line.to_string() + "\n");
    };
    say("user", &json!({ "role": "user", "content": "Please mend the build." }), 0);
    let mut context = 10_000;
    for call in 0..calls {
        let is_last = call + 1 == calls;
        let command =
            if is_last { "grep quixotic_marmalade src".to_owned() } else { format!("make step{call}") };
        let content = json!([{ "type": "tool_use", "id": format!("t{call}"), "name": "Bash",
            "input": { "command": command } }]);
        let usage = json!({ "input_tokens": 10, "output_tokens": 20, "cache_read_input_tokens": context - 3_000,
            "cache_creation_input_tokens": 3_000 });
        let answer =
            json!({ "id": format!("m{call}"), "model": "claude-x", "content": content, "usage": usage });
        say("assistant", &answer, 2 * call + 1);
        let mut output = format!("line of step {call}\n").repeat(600);
        if call == 0 {
            output.push_str("error in quixotic_marmalade\n");
        }
        context += 3_000;
        let result = json!([{ "type": "tool_result", "tool_use_id": format!("t{call}"), "content": output }]);
        say("user", &json!({ "content": result }), 2 * call + 2);
    }
    lines.concat()
}

#[test]
fn policies_are_compared_in_a_table_and_in_json() {
    let desk = TestFolder::new();
    let log = desk.put("a.jsonl", session(60));
    let run = secateur(&["lab", &log]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("claude: 1 session, 60 calls"), "{}", run.out);
    for words in ["balanced", "rolling-10", "over best", "no pruning", "what was billed"] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let rows = secateur(&["lab", &log, "--json", "--profile", "none", "--profile", "balanced"]).json();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for key in [
        "agent",
        "policy",
        "cost_pct",
        "tokens_pct",
        "miss100",
        "breaks100",
        "unseen100",
        "compactions",
        "pct_over_optimum",
    ] {
        assert!(rows.iter().all(|row| row.get(key).is_some()), "{key}: {rows:?}");
    }
    let cost = |row: &Value| row["cost_pct"].as_f64().unwrap();
    assert!((cost(&rows[0]) - 100.0).abs() < 0.01 && cost(&rows[1]) < 90.0, "{rows:?}");
}

#[test]
fn windows_and_sheets_are_terms() {
    let desk = TestFolder::new();
    let log = desk.put("a.jsonl", session(60));
    let of = |words: &[&str]| {
        let words = [&["lab", &log, "--json", "--profile", "none"], words].concat();
        secateur(&words).json()[0].clone()
    };
    assert_eq!(of(&[])["compactions"], 0);
    assert!(of(&["--window", "100000"])["compactions"].as_u64().unwrap() > 0);
    let rows = secateur(&["lab", &log, "--json", "--profile", "balanced", "--sheet", "none"]).json();
    assert!(rows[0]["cost_pct"].as_f64().unwrap() < 50.0, "without a cache cutting pays at once: {rows}");
    let own = desk.put("own.toml", "[[sheet]]\nname = \"own\"\nabout = \"mine\"\noutput = 4.0\ncache = { read = 0.5, write = 1.0, ttl_ms = 300000 }\n");
    assert!(of(&["--sheet", &own])["cost_pct"].is_number());
}

#[test]
fn why_names_the_action_the_text_and_the_cut() {
    let desk = TestFolder::new();
    let log = desk.put("a.jsonl", session(60));
    let run = secateur(&["lab", "why", &log]);
    assert_eq!(run.code, 0, "{}", run.err);
    for words in [
        "grep quixotic_marmalade src",
        "names  quixotic_marmalade",
        "make step0",
        "because",
        "1 miss in 60 calls",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
    let reported = secateur(&["lab", "why", &log, "--json"]).json();
    assert_eq!((&reported[0]["call"], &reported[0]["needed"]), (&json!(59), &json!("quixotic_marmalade")));
    let run = secateur(&["lab", "why", &log, "--profile", "none"]);
    assert!(run.out.contains("0 misses in 60 calls under none"), "{}", run.out);
}

#[test]
fn a_page_is_written_and_never_over_a_session() {
    let desk = TestFolder::new();
    let log = desk.put("a.jsonl", session(20));
    let page = desk.path("lab.html").to_str().unwrap().to_owned();
    let run = secateur(&["lab", &log, "--html", &page]);
    assert_eq!(run.code, 0, "{}", run.err);
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!") && text.contains("balanced"), "{}", text.len());
    let before = fs::read_to_string(&log).unwrap();
    let run = secateur(&["lab", &log, "--html", &log]);
    assert_eq!((run.code, fs::read_to_string(&log).unwrap()), (2, before));
}

#[test]
fn what_cannot_be_is_said() {
    let desk = TestFolder::new();
    let short = desk.put("short.jsonl", session(5));
    let log = desk.put("a.jsonl", session(12));
    for (words, reported) in [
        (vec!["lab", &short], "no session of 10 calls or more"),
        (vec!["lab", &log, "--sheet", "free"], "no price sheet `free`"),
        (vec!["lab", &log, "--profile", "nobody"], "nobody"),
        (vec!["lab", "why", "missing.jsonl"], "missing.jsonl"),
    ] {
        let run = secateur(&words);
        assert_eq!(run.code, 2, "{words:?}: {}", run.out);
        assert!(run.err.contains(reported), "{words:?}: {}", run.err);
    }
}

#[test]
fn tuning_writes_a_profile_that_says_what_was_measured() {
    let desk = TestFolder::new();
    let folder = desk.path("logs");
    fs::create_dir(&folder).unwrap();
    for number in 0..12 {
        let log = session(24 + number).replace("/src/garden", &format!("/src/garden{number}"));
        fs::write(folder.join(format!("{number}.jsonl")), log).unwrap();
    }
    let (folder, out) = (folder.to_str().unwrap(), desk.path("my.toml"));
    let page = out.to_str().unwrap();
    let run = secateur(&["lab", "tune", folder, "-o", page]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("left for the verdict: "), "{}", run.out);
    let text = fs::read_to_string(&out).unwrap();
    assert!(text.contains("extends = \"balanced\"") && text.starts_with('#'), "{text}");
    // It can be used at once.
    let row = secateur(&["lab", folder, "--json", "--profile", page]).json();
    assert_eq!(row[0]["policy"], "tuned");
    let few = desk.put("few.jsonl", session(12));
    let run = secateur(&["lab", "tune", &few, "-o", page]);
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("session"), "{}", run.err);
}
