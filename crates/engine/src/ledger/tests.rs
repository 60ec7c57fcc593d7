//! What a ledger keeps of small conversations, and how it reads.

mod conversation;
mod corpus;
mod properties;
mod resolved_errors;

use conversation::{ScriptStep, anthropic, chat, failing, ledger, ledger_of, model, tool, user};
use secateur_formats::Wire;
use serde_json::json;

use super::*;

/// A day's work.
fn work() -> Vec<ScriptStep> {
    vec![
        user(
            "<system-reminder>Be brief.</system-reminder>\nFix the parser, see PROJ-7.\nKeep /app/README.md as it is.",
        ),
        tool("Read", json!({"file_path": "/app/src/parser.rs", "offset": 10, "limit": 20}), "fn parse() {}"),
        tool("Read", json!({"file_path": "/app/src/lib.rs"}), "mod parser;"),
        failing("Edit", json!({"file_path": "/app/src/parser.rs"}), "String to replace not found in file."),
        tool("Edit", json!({"file_path": "/app/src/parser.rs"}), "The file was updated."),
        failing(
            "Bash",
            json!({"command": "cargo test"}),
            "Exit code 101\nerror[E0308]: mismatched types\n\nend",
        ),
        failing("Bash", json!({"command": "cargo clippy"}), "Exit code 1\nno such command: clippy"),
        model("The types differ."),
        tool(
            "TodoWrite",
            json!({"todos": [
            {"content": "Mend the types", "status": "in_progress"},
            {"content": "Read the parser", "status": "completed"},
            {"content": "Run the tests", "status": "pending"}]}),
            "ok",
        ),
        user("Use commit 3fa9c1d as the base.\nThen go on."),
        user("yes"),
        tool("Bash", json!({"command": "cargo test"}), "test result: ok"),
        tool("WebFetch", json!({"url": "https://example.org/guide", "prompt": "Summarise"}), "A guide."),
        tool(
            "Task",
            json!({"description": "Look for callers", "subagent_type": "explore", "prompt": "Look"}),
            "None.",
        ),
        model("All tests pass now; clippy is not installed."),
    ]
}

#[test]
fn a_conversation_in_anthropics_dialect() {
    insta::assert_snapshot!(ledger_of(&anthropic(&work()), Wire::Anthropic).render(4_000), @r"
    This is a record of the conversation so far, made to save room. It is history, not a request. Quoted lines (>) repeat what was said or printed then.

    ## What the user asked first
    - > Fix the parser, see PROJ-7.
      > Keep /app/README.md as it is.

    ## What the user said later, oldest first
    - > Use commit 3fa9c1d as the base.
      > Then go on.
    - to “The types differ.”:
      > yes

    ## Errors that were still open
    - exit 1: run of cargo clippy
      > no such command: clippy

    ## What was to do
    - in progress: Mend the types
    - open: Run the tests
    - done: Read the parser

    ## Files changed, newest last
    - /app/src/parser.rs

    ## Files only read, newest last
    - /app/src/lib.rs

    ## Commands, newest last
    - exit 1: cargo clippy
    - ran (twice): cargo test

    ## Sub-agents
    - explore: Look for callers

    ## Web pages and searches
    - https://example.org/guide

    ## Exact names
    - 3fa9c1d
    - /app/README.md
    - PROJ-7

    ## What the assistant said last
    - > All tests pass now; clippy is not installed.
    ");
}

#[test]
fn the_same_conversation_as_a_chat() {
    insta::assert_snapshot!(ledger_of(&chat(&work()), Wire::OpenAiChat).render(4_000), @r"
    This is a record of the conversation so far, made to save room. It is history, not a request. Quoted lines (>) repeat what was said or printed then.

    ## What the user asked first
    - > Fix the parser, see PROJ-7.
      > Keep /app/README.md as it is.

    ## What the user said later, oldest first
    - > Use commit 3fa9c1d as the base.
      > Then go on.
    - to “The types differ.”:
      > yes

    ## Errors that were still open
    - exit 1: run of cargo clippy
      > no such command: clippy

    ## What was to do
    - in progress: Mend the types
    - open: Run the tests
    - done: Read the parser

    ## Files changed, newest last
    - /app/src/parser.rs

    ## Files only read, newest last
    - /app/src/lib.rs

    ## Commands, newest last
    - exit 1: cargo clippy
    - ran (twice): cargo test

    ## Sub-agents
    - explore: Look for callers

    ## Web pages and searches
    - https://example.org/guide

    ## Exact names
    - 3fa9c1d
    - /app/README.md
    - PROJ-7

    ## What the assistant said last
    - > All tests pass now; clippy is not installed.
    ");
}

#[test]
fn a_small_room_keeps_what_the_user_said_and_what_is_broken() {
    insta::assert_snapshot!(ledger(&work()).render(420), @r"
    ## What the user asked first
    - > Fix the parser, see PROJ-7.
      > Keep /app/README.md as it is.

    ## What the user said later, oldest first
    - > Use commit 3fa9c1d as the base.
      > Then go on.
    - to “The types differ.”:
      > yes

    ## Errors that were still open
    - exit 1: run of cargo clippy
      > no such command: clippy

    ## What was to do
    - in progress: Mend the types
    - open: Run the tests
    - done: Read the parser
    ");
}

#[test]
fn tasks_that_are_kept_one_by_one_become_a_list() {
    let steps = [
        tool("TaskCreate", json!({"subject": "Write it"}), "Task #1 created successfully: Write it"),
        tool("TaskCreate", json!({"subject": "Test it"}), "Task #2 created successfully: Test it"),
        tool("TaskUpdate", json!({"taskId": "1", "status": "completed"}), "Updated task #1 status"),
        tool("TaskUpdate", json!({"taskId": "2", "status": "in_progress"}), "Updated task #2 status"),
    ];
    let whole = ledger(&steps);
    insta::assert_snapshot!(whole.render(200), @r"
    ## What was to do
    - in progress: Test it
    - done: Write it
    ");
    assert_eq!(ledger(&steps[..2]).followed_by(ledger(&steps[2..])), whole);
}

#[test]
fn plans_come_in_several_shapes() {
    let plan =
        tool("update_plan", json!({"plan": [{"step": "Look", "status": "completed"}]}), "Plan updated");
    assert!(ledger(&[plan]).render(200).contains("- done: Look"));
    let phases = json!({"op": "init", "list": [{"phase": "One", "items": ["a", "b"]}]});
    let steps = [tool("todo", phases, "ok"), tool("todo", json!({"op": "done", "task": "a"}), "ok")];
    assert!(ledger(&steps).render(200).contains("- open: b\n- done: a\n"));
    let boxes = [model("Plan:\n- [x] first\n- [ ] second")];
    assert!(ledger(&boxes).render(200).contains("- open: second\n- done: first\n"));
}

#[test]
fn the_first_request_outlives_all_others() {
    let mut steps = vec![user("The very first request")];
    steps.extend((0..500).map(|n| user(&format!("request {n} {}", "x".repeat(100)))));
    let text = ledger(&steps).render(1_500);
    assert!(text.contains("- > The very first request\n") && text.contains("- > request 499 "), "{text}");
    assert!(text.contains(" more\n"));
}

#[test]
fn what_is_pinned_comes_first_and_stays_longest() {
    let mut kept = ledger(&work());
    kept.pin("Never touch the database.", &|text| text.to_owned());
    kept.pin("Never touch the database.", &|text| text.to_owned());
    insta::assert_snapshot!(kept.render(60), @r"
    ## Pinned by the user
    - > Never touch the database.
    ");
    assert_eq!(kept.clone().followed_by(ledger(&work())).pinned, kept.pinned);
}

#[test]
fn nothing_is_kept_that_was_not_redacted() {
    let body = anthropic(&[
        user("the key is hunter2"),
        tool("Bash", json!({"command": "login hunter2"}), "Exit code 1\nhunter2 refused"),
        failing("Read", json!({"file_path": "/hunter2/a"}), "no hunter2"),
        tool("WebFetch", json!({"url": "https://example.org/hunter2"}), "x"),
        tool("lookup", json!({"key": "hunter2"}), "x"),
        tool("TodoWrite", json!({"todos": [{"content": "use hunter2", "status": "pending"}]}), "x"),
        model("I used hunter2.\n- [ ] hunter2"),
    ]);
    let format = secateur_formats::Format::Request(Wire::Anthropic);
    let transcript =
        secateur_formats::read_as(body.as_bytes(), format, &secateur::Measures::default()).unwrap();
    let kept = Ledger::of(&transcript, &|text| text.replace("hunter2", "[redacted]"));
    let stored = serde_json::to_string(&kept).unwrap();
    assert!(!stored.contains("hunter2") && stored.contains("[redacted]"), "{stored}");
}
