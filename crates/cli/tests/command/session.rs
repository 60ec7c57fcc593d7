//! Sessions that are kept: from the first message to what was undone, each step a process of its own.

use std::io::{BufRead, BufReader};

use serde_json::Value;

use super::{Run, TestFolder, command, masked, secateur_given};

/// A store of its own, and commands on it.
pub(super) struct Shelf {
    pub(super) desk: TestFolder,
    store: String,
    config: String,
}

impl Shelf {
    pub(super) fn new() -> Self {
        let desk = TestFolder::new();
        let store = desk.path("sessions.db").to_str().unwrap().to_owned();
        // Nothing is cut before a request that fits: what happens is what a test asks for.
        let config = desk.put("config.toml", "[compaction]\nprune_at = [\"overflow\"]\n");
        Self { desk, store, config }
    }

    /// Runs `secateur session` and gives whatever came of it.
    pub(super) fn try_run(&self, arguments: &[&str], input: &str) -> Run {
        self.alone(&[&["session"], arguments].concat(), input)
    }

    /// Runs another command on the store.
    pub(super) fn alone(&self, arguments: &[&str], input: &str) -> Run {
        secateur_given(arguments, &self.variables(), input)
    }

    /// A command on the store, ready to be run.
    pub(super) fn command(&self, arguments: &[&str]) -> std::process::Command {
        command(arguments, &self.variables())
    }

    fn variables(&self) -> [(&str, &str); 2] {
        [("SECATEUR_STORE", self.store.as_str()), ("SECATEUR_CONFIG", &self.config)]
    }

    /// Runs `secateur session`, which must succeed.
    pub(super) fn run(&self, arguments: &[&str]) -> Run {
        let run = self.try_run(arguments, "");
        assert_eq!(run.code, 0, "{arguments:?}: {}", run.err);
        run
    }

    /// What it says when it does not succeed.
    pub(super) fn refusal(&self, arguments: &[&str], input: &str) -> String {
        let run = self.try_run(arguments, input);
        assert_eq!(run.code, 2, "{arguments:?}: {}", run.out);
        run.err
    }

    /// The session of the demo, sent once to a model with a large window.
    pub(super) fn demo(&self) {
        self.run(&["new", "--id", "s", "--from", &self.desk.demo()]);
        self.run(&["context", "s", "--window", "400000"]);
    }

    /// The types of what happened.
    fn events(&self) -> Vec<String> {
        let reported = self.run(&["events", "s", "--json"]).out;
        let kind = |line: &str| {
            let event: Value = serde_json::from_str(line).unwrap();
            event["type"].as_str().unwrap().to_owned()
        };
        reported.lines().map(kind).collect()
    }
}

#[test]
fn a_session_overflows_is_pruned_and_compacted_and_all_is_undone() {
    let shelf = Shelf::new();
    shelf.demo();
    let whole = shelf.run(&["context", "s", "--window", "400000", "--json"]).json();
    let fitted = shelf.run(&["context", "s", "--window", "28000"]);
    insta::assert_snapshot!(masked(&fitted.err), @r"
    overflow: the next request would have about N tokens; N usable
    pruned N tool results: about N → N tokens
    compacted N messages into a digest: about N → N tokens
    OpenAI Chat Completions request of N bytes: 5 messages, about N of N usable tokens
    ");
    assert!(fitted.out.contains("Uploads over 1 GB fail."), "the summary tells what was asked for");
    assert_eq!(shelf.events(), ["overflow", "pruned", "compaction-started", "compaction-completed"]);

    insta::assert_snapshot!(masked(&shelf.run(&["undo", "s"]).out), @"undid operation 2 (compact): about N → N tokens");
    insta::assert_snapshot!(masked(&shelf.run(&["undo", "s"]).out), @"undid operation 1 (prune): about N → N tokens");
    insta::assert_snapshot!(shelf.refusal(&["undo", "s"], ""), @"error: nothing can be undone");
    let again = shelf.run(&["context", "s", "--window", "400000", "--json"]).json();
    assert_eq!(again["body"], whole["body"], "byte for byte as it was");

    let redone = shelf.run(&["redo", "s", "1", "--json"]).json();
    assert_eq!(
        (&redone["operation"], &redone["kind"], &redone["undone"]),
        (&1.into(), &"prune".into(), &false.into())
    );
    insta::assert_snapshot!(shelf.refusal(&["undo", "s", "7"], ""), @"error: operation 7 cannot be undone: there is no such operation; operations that can be undone: 1 (prune)");
    insta::assert_snapshot!(masked(&shelf.run(&["events", "s"]).out), @r"
    1  N N  overflow: the next request would have about N tokens; N usable
    2  N N  pruned N tool results: about N → N tokens
    3  N N  started a digest of N messages, about N tokens
    4  N N  compacted N messages into a digest: about N → N tokens
    5  N N  undid operation 2
    6  N N  undid operation 1
    7  N N  redid operation 1
    ");
}

#[test]
fn what_was_compacted_away_is_recalled_as_it_was() {
    let shelf = Shelf::new();
    let long = "fern ".repeat(2_000);
    let said = format!(
        r#"[{{"role":"user","content":"Read it."}},
            {{"role":"assistant","content":null,"tool_calls":[{{"id":"c1","type":"function","function":{{"name":"read","arguments":"{{}}"}}}}]}},
            {{"role":"tool","tool_call_id":"c1","content":"{long}"}},
            {{"role":"assistant","content":"Read."}}, {{"role":"user","content":"And now?"}}]"#
    );
    shelf.run(&["new", "--id", "s", "--profile", "opencode"]);
    assert_eq!(shelf.try_run(&["append", "s"], &said).out, "1\n2\n3\n4\n5\n");
    assert_eq!(shelf.run(&["recall", "s", "c1"]).out, format!("{long}\n"), "by the call's id");
    let compacted = shelf.run(&["compact", "s", "--focus", "ferns"]);
    assert!(compacted.out.starts_with("compacted 4 messages into a digest: "), "{}", compacted.out);
    assert_eq!(compacted.err, "`secateur session undo s` undoes it\n");
    assert!(!shelf.run(&["context", "s", "--window", "200000"]).out.contains("fern"));
    assert_eq!(shelf.run(&["recall", "s", "3.0"]).out, format!("{long}\n"));
    let report = shelf.run(&["recall", "s", "3", "--json"]).json();
    assert_eq!((&report["number"], &report["message"]["tool_call_id"]), (&3.into(), &"c1".into()));
    insta::assert_snapshot!(shelf.refusal(&["recall", "s", "99"], ""), @r#"error: session s has no part "99"; expected a message from 1 to 7, a part such as 1.0, a handle, or the id of a tool call"#);
}

#[test]
fn what_the_provider_counts_is_learned_from() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    let said = format!(r#"{{"role":"user","content":"{}"}}"#, "moss ".repeat(1_000));
    shelf.try_run(&["append", "s"], &said);
    let before = shelf.run(&["context", "s", "--window", "200000", "--json"]).json();
    let settled =
        shelf.run(&["settle", "s", "--input", "4000", "--cache-read", "1000", "--output", "9", "--open"]);
    assert!(settled.out.starts_with("recorded; nothing to prune or compact\n"), "{}", settled.out);
    let after = shelf.run(&["context", "s", "--window", "200000", "--json"]).json();
    assert!(after["tokens"].as_i64() > before["tokens"].as_i64(), "{} {}", before["tokens"], after["tokens"]);
    assert_eq!(after["tokens"], 5_000);
    insta::assert_snapshot!(shelf.refusal(&["settle", "s", "--input", "1"], ""), @"error: missing usage: give --input TOKENS and --output TOKENS, or --overflow");
}

#[test]
fn a_refused_request_is_made_smaller() {
    let shelf = Shelf::new();
    shelf.demo();
    let settled = shelf.run(&["settle", "s", "--overflow", "200001"]);
    assert!(
        settled.out.starts_with("overflow: the provider rejected the request as too long"),
        "{}",
        settled.out
    );
    assert!(
        shelf.events().contains(&"compaction-completed".to_owned())
            || shelf.events().contains(&"pruned".to_owned())
    );
}

#[test]
fn what_cannot_be_made_to_fit_is_an_answer() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s"]);
    let said = format!(r#"{{"role":"user","content":"{}"}}"#, "moss ".repeat(20_000));
    shelf.try_run(&["append", "s"], &said);
    let run = shelf.try_run(&["context", "s", "--window", "30000", "--json"], "");
    assert_eq!(run.code, 1, "{}", run.err);
    assert_eq!(run.json()["no_room"]["largest"], 1);
    insta::assert_snapshot!(masked(&run.err), @"error: the next request has about N tokens where N are usable, and nothing more can be left out; the largest message is number 1");
}

#[test]
fn a_request_of_another_wire_is_made_on_the_way_out() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s", "--as", "anthropic"]);
    shelf.try_run(&["append", "s"], r#"{"role":"user","content":"Hello."}"#);
    let sent = shelf.run(&["context", "s", "--as", "gemini", "--window", "1000000"]).json();
    assert_eq!(sent["contents"][0]["parts"][0]["text"], "Hello.");
}

#[test]
fn the_window_of_a_known_model_need_not_be_named() {
    let shelf = Shelf::new();
    shelf.run(&["new", "--id", "s", "--as", "anthropic"]);
    shelf.try_run(&["append", "s"], r#"{"role":"user","content":"Hello."}"#);
    let report = shelf.run(&["context", "s", "--model", "claude-sonnet-4-5", "--json"]).json();
    assert_eq!((&report["model"], &report["usable"]), (&"claude-sonnet-4-5".into(), &180_000.into()));
    insta::assert_snapshot!(shelf.refusal(&["context", "s", "--model", "fern-1"], ""), @r#"error: the window of the model "fern-1" is not known: give --window TOKENS, set windows."fern-1" = TOKENS in config.toml, or add the model to a file named by SECATEUR_MODELS"#);
    insta::assert_snapshot!(shelf.refusal(&["context", "s"], ""), @"error: the model is not known: give --model NAME or --window TOKENS");
}

#[test]
fn events_are_followed_across_processes() {
    let shelf = Shelf::new();
    shelf.demo();
    let arguments = ["session", "events", "s", "--follow", "--json"];
    let mut child = command(&arguments, &[("SECATEUR_STORE", &shelf.store)]).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    shelf.run(&["compact", "s"]);
    shelf.run(&["undo", "s"]);
    let reported: Vec<String> = lines.by_ref().take(3).map(Result::unwrap).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    for (line, kind) in reported.iter().zip(["compaction-started", "compaction-completed", "undone"]) {
        assert!(line.contains(&format!(r#""type":"{kind}""#)), "{line}");
    }
    let rest = shelf.run(&["events", "s", "--after", "2", "--json"]).out;
    assert_eq!(rest.lines().collect::<Vec<_>>(), reported[2..], "from any number on");
}
