//! New sessions and what is put into them.

use super::samples::{self, WIRES};
use super::session::Shelf;
use super::{bytes, masked, secateur_with};

#[test]
fn a_new_session_has_an_id_of_its_own_and_is_listed() {
    let shelf = Shelf::new();
    insta::assert_snapshot!(shelf.run(&["list"]).out.replace(shelf.desk.folder.path().to_str().unwrap(), "FOLDER"), @"No sessions in FOLDER/sessions.db. `secateur session new` creates one.");
    let first = shelf.run(&["new"]).out;
    let second = shelf
        .run(&["new", "--id", "ferns", "--title", "About ferns", "--as", "gemini", "--profile", "qwery"])
        .out;
    assert_eq!((first.trim().len(), second.as_str()), (36, "ferns\n"));
    let list = shelf.run(&["list", "--json"]).json();
    assert_eq!(list.as_array().unwrap().len(), 2);
    assert_eq!(list[0]["session"], "ferns", "the one changed last comes first");
    assert_eq!((&list[0]["title"], &list[0]["wire"]), (&"About ferns".into(), &"gemini".into()));
    let short = shelf.run(&["list", "--limit", "1"]);
    insta::assert_snapshot!(masked(&short.out), @r"
    session  title        messages  operations  changed           wire    profile
    ferns    About ferns         0           0  N N  gemini  qwery
    ");
    assert_eq!(short.err, "note: more sessions exist; raise --limit to see them\n");
}

#[test]
fn the_frame_goes_into_every_request() {
    let shelf = Shelf::new();
    let frame = r#"{"model":"fern-1","system":"Be brief."}"#;
    let run = shelf.try_run(&["new", "--id", "s", "--as", "anthropic", "--envelope", "-"], frame);
    assert_eq!(run.code, 0, "{}", run.err);
    shelf.try_run(&["append", "s"], r#"{"role":"user","content":"Hello."}"#);
    let sent = shelf.run(&["context", "s", "--window", "100000"]).json();
    assert_eq!((&sent["model"], &sent["system"]), (&"fern-1".into(), &"Be brief.".into()));
    let file = shelf.desk.put("frame.json", r#"{"messages":[]}"#);
    insta::assert_snapshot!(shelf.refusal(&["new", "--envelope", &file], ""), @r#"error: the envelope of a request must be a JSON object without the list of messages: it has a member "messages"; append messages instead"#);
}

#[test]
fn every_log_becomes_a_session() {
    let shelf = Shelf::new();
    // Each log as one wire, each wire for several logs: all of them as all would be hundreds of processes.
    for (sample, wire) in samples::all().into_iter().zip(WIRES.into_iter().cycle()) {
        let file = sample.lay(shelf.desk.folder.path());
        let before = bytes_of(&file);
        let id = format!("{}-{wire}", sample.name);
        let report = shelf.run(&["new", "--id", &id, "--from", &file, "--as", wire, "--json"]).json();
        assert!(report["messages"].as_u64() > Some(0), "{id}");
        let kept = shelf.run(&["context", &id, "--window", "1000000"]).json();
        let sent = super::secateur(&["context", &file, "--to", wire]).json();
        let list = match wire {
            "gemini" => "contents",
            "openai-responses" => "input",
            _ => "messages",
        };
        assert_eq!(kept[list], sent[list], "{id}");
        assert!(before == bytes_of(&file), "{file} was touched");
    }
}

/// The bytes of a file; nothing of a folder.
fn bytes_of(path: &str) -> Vec<u8> {
    if std::path::Path::new(path).is_file() { bytes(path) } else { Vec::new() }
}

#[test]
fn without_a_wire_a_log_keeps_its_own() {
    let shelf = Shelf::new();
    for (format, wire) in [
        ("claude", "anthropic"),
        ("codex", "openai-responses"),
        ("gemini-request", "gemini"),
        ("pi", "openai-chat"),
    ] {
        let file = samples::of(format).lay(shelf.desk.folder.path());
        assert_eq!(shelf.run(&["new", "--from", &file, "--json"]).json()["wire"], wire, "{format}");
    }
}

#[test]
fn messages_are_appended_as_lines_or_as_a_list() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    let lines = "{\"role\":\"user\",\"content\":\"a\"}\n\n{\"role\":\"assistant\",\"content\":\"b\"}\n";
    assert_eq!(shelf.try_run(&["append", "s", "-"], lines).out, "1\n2\n");
    let file = shelf.desk.put("more.json", "[\n{\"role\":\"user\",\n\"content\":\"c\"}\n]");
    assert_eq!(shelf.run(&["append", "s", &file]).out, "3\n");
    let spread = "{\n  \"role\": \"assistant\",\n  \"content\": \"d\"\n}\n";
    assert_eq!(shelf.try_run(&["append", "s"], spread).out, "4\n");
    let sent = shelf.run(&["context", "s", "--window", "100000"]);
    assert!(sent.out.contains(spread.trim()), "as it was, byte for byte: {}", sent.out);
}

#[test]
fn an_id_is_appended_once() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    let said = r#"{"role":"user","content":"a"}"#;
    for _ in 0..2 {
        assert_eq!(shelf.try_run(&["append", "s", "--id", "m1"], said).out, "1\n");
    }
    let two = format!("{said}\n{said}");
    insta::assert_snapshot!(shelf.refusal(&["append", "s", "--id", "m2"], &two), @"error: --id names a single message, but there are 2");
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_appended() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    let good = r#"{"role":"user","content":"a"}"#;
    let result = r#"{"role":"tool","tool_call_id":"c","content":"a"}"#;
    let mut reported = String::new();
    for (input, arguments) in [
        (format!("{good}\n{{\"role\":\n"), &[][..]),
        (format!("{good}\n\n7\n"), &[][..]),
        (format!("[{good}, 7]"), &[][..]),
        (format!("[{good}"), &[][..]),
        ("\n".to_owned(), &[][..]),
        (format!("{good}\n{result}"), &["--pin"][..]),
    ] {
        reported.push_str(&shelf.refusal(&[&["append", "s"], arguments].concat(), &input));
    }
    insta::assert_snapshot!(reported, @r"
    error: line 2 of standard input is not JSON (EOF while parsing a value at column 8); expected a message as in a request, a JSON object. Nothing was appended
    error: line 3 of standard input is not an object; expected a message as in a request, a JSON object. Nothing was appended
    error: message 2 of standard input is not an object; expected a message as in a request, a JSON object. Nothing was appended
    error: standard input is not a JSON array: EOF while parsing a list at line 1 column 30. Nothing was appended
    error: standard input holds no message; expected one JSON object per line
    error: line 2 of standard input holds a tool call or a tool result and cannot be pinned: neither can stay without the other. Nothing was appended
    ");
    assert_eq!(shelf.run(&["list", "--json"]).json()[0]["messages"], 0);
}

#[test]
fn a_session_that_is_not_there_is_looked_for_in_vain() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    for command in ["append", "compact", "undo", "redo", "events"] {
        let reported = shelf.refusal(&[command, "nobody"], r#"{"role":"user","content":"a"}"#);
        assert!(reported.contains("there is no session \"nobody\" in "), "{reported}");
        assert!(reported.contains("`secateur session list` shows the sessions"), "{reported}");
    }
    assert!(shelf.refusal(&["new", "--id", "s"], "").contains("a session s exists already"));
    assert!(shelf.refusal(&["new", "--id", ""], "").contains("invalid --id"));
    let reported = shelf.refusal(&["new", "--profile", "fern"], "");
    assert!(reported.contains("\"fern\""), "{reported}");
}

#[test]
fn without_a_store_sessions_are_in_the_users_data_folder() {
    let shelf = Shelf::new();
    let home = shelf.desk.path("data");
    let variables = [("XDG_DATA_HOME", home.to_str().unwrap())];
    assert_eq!(secateur_with(&["session", "new", "--id", "s"], &variables).out, "s\n");
    assert!(home.join("secateur/sessions.db").is_file());
    let reported = secateur_with(&["session", "list", "--store", "mysql://me:sesame@host/db"], &variables);
    assert_eq!(reported.code, 2);
    assert!(!reported.err.contains("sesame"), "{}", reported.err);
    insta::assert_snapshot!(reported.err, @r#"error: "mysql:…" names no store: expected a path, sqlite:PATH, sqlite::memory: or postgres://…"#);
}
