//! Pruning files: dry by default, marks on request, nothing lost.

use serde_json::{Value, json};

use super::{TestFolder, bytes, secateur, secateur_with};

/// The result parts that a session holds marks for, by the command's own reading.
fn cut_before(file: &str, profile: &str) -> Vec<Value> {
    let parts = secateur(&["explain", file, "--json", "--profile", profile]).json();
    let parts = parts.as_array().cloned().unwrap_or_default();
    let cut = |part: &Value| part["verdict"]["kept"] == "already-cut";
    parts.into_iter().filter(cut).map(|part| part["id"].clone()).collect()
}

#[test]
fn a_dry_run_changes_nothing_and_says_what_would_go() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let before = bytes(&file);
    let run = secateur(&["prune", &file]);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.contains("Would cut"), "{}", run.out);
    assert!(run.out.contains("marks these results in the file; their text stays."), "{}", run.out);
    let json = secateur(&["prune", &file, "--json"]).json();
    assert_eq!(json["format"], "opencode");
    assert_eq!(json["profile"], "balanced");
    assert_eq!(json["written"], false);
    assert!(json["cuts"].as_array().unwrap().len() > 20);
    assert_eq!(bytes(&file), before);
    assert_eq!(std::fs::read_dir(desk.folder.path()).unwrap().count(), 1, "no other file was made");
}

#[test]
fn writing_marks_the_results_and_keeps_everything_else_and_a_backup() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let before = bytes(&file);
    let planned = secateur(&["prune", &file, "--json"]).json();
    let run = secateur(&["prune", &file, "--write", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let report = run.json();
    assert_eq!(report["written"], true);
    assert_eq!(bytes(report["backup"].as_str().unwrap()), before, "the backup is the file as it was");

    // Without the marks the new file is the old one, byte for byte.
    let after = String::from_utf8(bytes(&file)).unwrap();
    let mark = ",\"compacted\":";
    let mut stripped = String::new();
    for (index, piece) in after.split(mark).enumerate() {
        let rest = if index == 0 { piece } else { piece.trim_start_matches(|c: char| c.is_ascii_digit()) };
        stripped.push_str(rest);
    }
    assert_eq!(stripped.as_bytes(), before);
    assert_eq!(after.matches(mark).count(), planned["cuts"].as_array().unwrap().len());

    let ids: Vec<Value> = planned["cuts"].as_array().unwrap().iter().map(|cut| cut["id"].clone()).collect();
    for profile in ["balanced", "opencode"] {
        assert_eq!(cut_before(&file, profile), ids, "exactly the planned results are marked");
    }
}

#[test]
fn writing_twice_is_writing_once() {
    let desk = TestFolder::new();
    let file = desk.demo();
    secateur(&["prune", &file, "--write"]);
    let once = bytes(&file);
    let again = secateur(&["prune", &file, "--write", "--json"]).json();
    assert_eq!(again["written"], false);
    assert_eq!(again["cuts"], json!([]));
    assert_eq!(again["backup"], Value::Null);
    assert_eq!(bytes(&file), once);
}

#[test]
fn backups_never_overwrite_each_other() {
    let desk = TestFolder::new();
    let file = desk.demo();
    desk.put("session.json.bak", "precious");
    let report = secateur(&["prune", &file, "--write", "--json"]).json();
    assert!(report["backup"].as_str().unwrap().ends_with("session.json.bak.1"));
    assert_eq!(bytes(desk.path("session.json.bak")), b"precious");
}

#[cfg(unix)]
#[test]
fn through_a_link_the_file_behind_it_is_marked() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let before = bytes(&file);
    let link = desk.path("link.json");
    std::os::unix::fs::symlink(&file, &link).unwrap();
    let report = secateur(&["prune", link.to_str().unwrap(), "--write", "--json"]).json();
    assert!(link.is_symlink());
    assert_ne!(bytes(&file), before);
    let backup = report["backup"].as_str().unwrap();
    assert!(backup.ends_with("session.json.bak"), "{backup}");
    assert_eq!(bytes(backup), before);
}

#[test]
fn profiles_that_work_per_request_refuse_to_write_and_say_why() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let before = bytes(&file);
    for (profile, why) in [
        ("openclaw@2026-01", "decides again for every request"),
        ("openclaw", "remembers the cuts elsewhere"),
        ("anthropic", "remembers the cuts elsewhere"),
    ] {
        let run = secateur(&["prune", &file, "--write", "--profile", profile]);
        assert_eq!(run.code, 2, "{profile}");
        assert!(run.err.contains(why) && run.err.contains("never changes the file"), "{}", run.err);
    }
    let messages = desk.put("claw.json", r#"[{"role":"user","content":"hi"}]"#);
    let run = secateur(&["prune", &messages, "--write", "--profile", "opencode"]);
    assert!(run.err.contains("cannot mark a cut"), "{}", run.err);
    assert_eq!(bytes(&file), before);
}

/// Events of two old results and two later turns.
fn events() -> String {
    let big = "x".repeat(170_000);
    let mut lines = vec![json!({ "type": "user.message", "text": "one", "extra": [1.50, null] })];
    for id in ["t1", "t2", "t3"] {
        lines.push(json!({ "type": "tool.use", "tool_use_id": id, "name": "Read", "input": {} }));
        lines.push(json!({ "type": "tool.result", "tool_use_id": id, "output": big }));
    }
    lines.push(json!({ "type": "user.message", "text": "two" }));
    lines.push(json!({ "type": "user.message", "text": "three" }));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn events_are_marked_by_appending() {
    let desk = TestFolder::new();
    let events = events();
    let file = desk.put("events.jsonl", &events);
    let run = secateur(&["prune", &file, "--write", "--json", "--profile", "openagentic"]);
    assert_eq!(run.json()["marked"], 3, "{}", run.err);
    let after = String::from_utf8(bytes(&file)).unwrap();
    let appended = after.strip_prefix(&events).expect("what was written is untouched");
    let ids: Vec<Value> = appended
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["tool_use_id"].clone())
        .collect();
    assert_eq!(ids, ["t3", "t2", "t1"], "newest first, as the system does");
    let again = secateur(&["prune", &file, "--json", "--profile", "openagentic"]);
    assert_eq!(again.json()["cuts"], json!([]));
}

/// Two big results in one message of Qwery, one in another, one that is protected.
fn qwery() -> String {
    let part = |call: &str| json!({ "type": "tool-query", "toolCallId": call, "state": "output-available", "input": {}, "output": "y".repeat(180_000) });
    json!([
        { "id": "u1", "role": "user", "content": { "parts": [{ "type": "text", "text": "q" }] } },
        { "id": "a1", "role": "assistant", "content": { "parts": [part("c1"), part("c2")] } },
        { "id": "a2", "role": "assistant", "content": { "parts": [part("c3")] } },
        { "id": "u2", "role": "user", "content": { "parts": [] } },
    ])
    .to_string()
}

#[test]
fn qwery_overwrites_the_output_and_its_shipped_versions_lose_marks() {
    let desk = TestFolder::new();
    for (profile, marked) in [("qwery", vec!["c1", "c2"]), ("qwery@2026-02", vec!["c1"])] {
        let file = desk.put("qwery.json", qwery());
        let report = secateur(&["prune", &file, "--write", "--json", "--profile", profile]).json();
        assert_eq!(report["cuts"].as_array().unwrap().len(), 2);
        assert_eq!(report["marked"], marked.len());
        assert_eq!(cut_before(&file, profile), marked, "{profile}");
        let after: Value = serde_json::from_slice(&bytes(&file)).unwrap();
        assert_eq!(after[1]["content"]["parts"][0]["output"], "[Old tool result content cleared]");
        assert_eq!(
            bytes(report["backup"].as_str().unwrap()),
            qwery().as_bytes(),
            "the backup keeps the text"
        );
    }
}

#[test]
fn opencodes_variables_are_heard() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let run =
        secateur_with(&["prune", &file, "--profile", "opencode"], &[("OPENCODE_DISABLE_PRUNE", "true")]);
    assert!(run.out.contains("Nothing to cut: pruning is off"), "{}", run.out);
    let variables = [("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "1000")];
    let run =
        secateur_with(&["overflow", "--window", "200000", "--json", "--profile", "opencode"], &variables);
    assert_eq!(run.json()["usable"], 199_000);
    let run = secateur_with(
        &["prune", &file, "--profile", "opencode"],
        &[("OPENCODE_EXPERIMENTAL_OUTPUT_TOKEN_MAX", "lots")],
    );
    assert_eq!((run.code, run.err.as_str()), (0, ""), "OpenCode ignores it");
}

#[test]
fn commands_on_files_obey_the_configuration() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let text = "profile = \"opencode\"\nmodels = \"models.toml\"\nwindows.mine = 5000\n[overflow]\noutput_cap = 1000\n";
    let config = desk.put("config.toml", text);
    desk.put("models.toml", "[[model]]\nid = \"own\"\nprovider = \"p\"\ncontext = 9000\n");
    let variables = [("SECATEUR_CONFIG", config.as_str())];
    let run = secateur_with(&["prune", &file, "--json"], &variables);
    assert_eq!(run.json()["profile"], "opencode", "{}", run.out);
    let run = secateur_with(&["explain", &file], &variables);
    assert!(run.out.contains("opencode") && !run.out.contains("balanced"), "{}", run.out);
    let run = secateur_with(&["context", &file, "--to", "openai-chat", "--json"], &variables);
    assert_eq!(run.json()["profile"], "opencode");
    let run = secateur_with(&["compact", &file, "--json"], &variables);
    assert_eq!(run.json()["profile"], "opencode", "{}", run.err);
    let run = secateur_with(&["scan", &file], &variables);
    assert!(run.out.contains("opencode") && !run.out.contains("balanced"), "{}", run.out);
    let usable = |arguments: &[&str]| {
        let all = [&["overflow", "--json"], arguments].concat();
        secateur_with(&all, &variables).json()["usable"].clone()
    };
    assert_eq!((usable(&["--model", "own"]), usable(&["--model", "mine"])), (8_000.into(), 4_000.into()));
    assert_eq!(usable(&["--model", "own", "--set", "overflow.output_cap=2000"]), 7_000);
    let both = [variables[0], ("SECATEUR_PROFILE", "balanced")];
    assert_eq!(secateur_with(&["prune", &file, "--json"], &both).json()["profile"], "balanced");
    let run = secateur_with(&["prune", &file, "--json", "--profile", "qwery"], &both);
    assert_eq!(run.json()["profile"], "qwery", "a flag wins: {}", run.err);
}

#[test]
fn settings_of_another_family_in_a_file_give_way_to_a_profile_that_a_flag_names() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let config = desk.put("config.toml", "[rent]\nmargin = 2.0\n");
    let run = secateur(&["prune", &file, "--json", "--config", &config, "--profile", "opencode"]);
    assert_eq!(run.code, 0, "{}", run.err);
}

#[test]
fn a_users_own_profile_and_single_values_are_heard() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let own =
        desk.put("own.toml", "name = \"own\"\nextends = \"opencode\"\n[watermark]\nprotect = 1000000\n");
    let run = secateur(&["prune", &file, "--profile", &own]);
    assert!(run.out.contains("are within the newest 1,000,000 that are protected"), "{}", run.out);
    let run = secateur(&["prune", &file, "--profile", "opencode", "--set", "watermark.protect=0", "--json"]);
    assert!(run.json()["cuts"].as_array().unwrap().len() > 40);
    let run = secateur(&["prune", &file, "--profile", "opencode", "--set", "watermark.protekt=0"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("watermark.protekt") && run.err.contains("--set"), "{}", run.err);
}

#[test]
fn what_write_would_do_is_said_for_each_format() {
    let desk = TestFolder::new();
    let file = desk.put("qwery.json", qwery());
    let run = secateur(&["prune", &file, "-p", "qwery"]);
    assert!(
        run.out.contains("overwrites their text") && !run.out.contains("their text stays"),
        "{}",
        run.out
    );
    let chat = |id: usize| {
        let call =
            format!(r#"{{"id":"c{id}","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}"#);
        let text = "soil ".repeat(40_000);
        format!(
            r#"{{"role":"user","content":"Look."}},{{"role":"assistant","content":null,"tool_calls":[{call}]}},
            {{"role":"tool","tool_call_id":"c{id}","content":"{text}"}}"#
        )
    };
    let all: Vec<String> = (0..5).map(chat).collect();
    let request =
        format!(r#"{{"model":"m","messages":[{},{{"role":"user","content":"So?"}}]}}"#, all.join(","));
    let file = desk.put("request.json", request);
    let run = secateur(&["prune", &file, "-p", "opencode"]);
    assert!(run.out.contains("Would cut") && run.out.contains("cannot mark a cut"), "{}", run.out);
    assert!(!run.out.contains("--write"), "{}", run.out);
}
