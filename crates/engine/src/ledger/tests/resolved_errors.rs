//! How commands end, which errors stay open, and what resolves them.

use secateur_formats::Wire;
use serde_json::json;

use super::conversation::{chat, failing, ledger, ledger_of, tool, user};

#[test]
fn an_error_is_made_good_by_the_same_subject_only() {
    let run = |answer: &str| tool("Bash", json!({"command": "make"}), answer);
    let broken = [failing("Bash", json!({"command": "make"}), "Exit code 2\nno rule")];
    assert_eq!(ledger(&broken).errors.iter().count(), 1);
    let other = [broken[0].clone(), tool("Bash", json!({"command": "make x"}), "ok")];
    assert_eq!(ledger(&other).errors.iter().count(), 1);
    let mended = [broken[0].clone(), run("ok")];
    assert_eq!(ledger(&mended).errors.iter().count(), 0);
    // What failed in one stretch may be resolved in the next.
    assert_eq!(ledger(&broken).followed_by(ledger(&[run("ok")])), ledger(&mended));
}

#[test]
fn reading_a_file_does_not_make_good_that_it_could_not_be_changed() {
    let path = json!({"file_path": "/a"});
    let refused = failing("Edit", path.clone(), "Error: no match");
    let read = tool("Read", path.clone(), "text");
    assert_eq!(ledger(&[refused.clone(), read.clone()]).errors.iter().count(), 1);
    let locked = failing("Read", path.clone(), "Permission denied");
    assert_eq!(ledger(std::slice::from_ref(&locked)).errors.iter().count(), 1);
    assert_eq!(ledger(&[locked, tool("Write", path.clone(), "written")]).errors.iter().count(), 0);
    let absent = failing("Read", path, "File does not exist.");
    assert!(ledger(&[absent]).is_empty(), "a file that was not there is no error to mend");
}

#[test]
fn a_result_whose_text_is_gone_says_nothing_about_its_command() {
    let run = |answer: &str| tool("Bash", json!({"command": "make"}), answer);
    let steps = [run("x\nCommand exited with code 2"), run(secateur::PLACEHOLDER)];
    let kept = ledger_of(&chat(&steps), Wire::OpenAiChat);
    assert_eq!(kept.errors.iter().count(), 1);
    assert!(kept.render(1_000).contains("- exit 2 (twice): make"));
}

#[test]
fn a_refusal_of_the_user_is_heard() {
    let text = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to \
                proceed, the user said:\nnot this way";
    let kept = ledger(&[user("Go"), failing("Bash", json!({"command": "rm x"}), text)]);
    assert!(kept.render(1_000).contains("- > not this way\n"));
}

#[test]
fn a_command_is_the_same_however_much_of_its_output_was_shown() {
    let run = |command: &str, answer: &str| tool("Bash", json!({"command": command}), answer);
    let failed = failing("Bash", json!({"command": "make test"}), "Exit code 2\n1 test failed");
    let mended = [failed.clone(), run("cd /app && make test 2>&1 | tail -5", "all good, 0 failed")];
    assert_eq!(ledger(&mended).errors.iter().count(), 0);
    // The exit code of the last program in a pipe says nothing about the first.
    let hidden = [failed.clone(), run("make test | tail -5", "1 test failed")];
    assert_eq!(ledger(&hidden).errors.iter().count(), 1);
    let other = [failed, run("make test | grep ok", "ok")];
    assert_eq!(ledger(&other).errors.iter().count(), 1);
}

#[test]
fn a_command_that_was_left_running_ends_when_somebody_asks_after_it() {
    let start = "Wall time: 10 seconds\nProcess running with session ID 7\nOutput:\n";
    let end = "Wall time: 5 seconds\nProcess exited with code 1\nOutput:\ntwo tests failed\n";
    let steps = [
        tool("exec_command", json!({"cmd": "make test"}), start),
        tool("write_stdin", json!({"session_id": 7, "chars": ""}), end),
    ];
    insta::assert_snapshot!(ledger_of(&chat(&steps), Wire::OpenAiChat).render(400), @r"
    ## Errors that were still open
    - exit 1: run of make test
      > two tests failed

    ## Commands, newest last
    - exit 1: make test
    ");
}

#[test]
fn what_the_user_chose_is_what_the_user_said() {
    let input = json!({"questions": [{"question": "Which way?", "options": ["left", "right"]}]});
    let kept = ledger(&[user("Go"), tool("AskUserQuestion", input, "User selected: left")]);
    assert!(kept.render(1_000).contains("- to \u{201c}Which way?\u{201d}:\n  > User selected: left\n"));
}

#[test]
fn of_a_script_the_first_line_tells_which_it_is() {
    let script = |body: &str| json!({"command": format!("cd /app && python3 - <<'EOF'\n{body}\nEOF")});
    let broken = failing("Bash", script("a("), "Exit code 1\nSyntaxError");
    insta::assert_snapshot!(ledger(std::slice::from_ref(&broken)).render(300), @r"
    ## Errors that were still open
    - exit 1: run of python3 - <<'EOF' … (+2 lines)
      > SyntaxError

    ## Commands, newest last
    - exit 1: python3 - <<'EOF' … (+2 lines)
    ");
    assert_eq!(ledger(&[broken, tool("Bash", script("a()"), "")]).errors.iter().count(), 0);
}
