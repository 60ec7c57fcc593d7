//! Programs that respond, each differently.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use secateur_engine::hooks::{HookCall, HookConfig, HookFacts, HookMoment, HookOutcome, HookResponse};
use tempfile::TempDir;

use super::{ask, call, settings, shell};

/// Puts an executable script into a folder. Another process copies it: if this one had it open for writing, a program
/// started by another test at the same time would inherit the handle and keep it busy.
pub(crate) fn install(folder: &Path, name: &str, text: &str) -> PathBuf {
    let (source, script) = (folder.join(format!("{name}.txt")), folder.join(name));
    fs::write(&source, text).unwrap();
    assert!(Command::new("cp").args([&source, &script]).status().unwrap().success());
    assert!(Command::new("chmod").arg("755").arg(&script).status().unwrap().success());
    script
}

fn running(script: &Path, arguments: &[&str]) -> HookConfig {
    let words = std::iter::once(script.to_str().unwrap()).chain(arguments.iter().copied());
    HookConfig { program: Some(words.map(str::to_owned).collect()), ..settings("program") }
}

/// A program that returns the same at every moment, with all fields.
const SAYS_ALL: &str = r#"cat >/dev/null
printf '{"context": ["a", "b"], "prompt": "p", "veto": null, "keep": ["prt_7"], "tools": ["bash"], "model": 1}'"#;

#[tokio::test]
async fn a_reply_counts_as_far_as_the_moment_allows() {
    let context = vec!["a".to_owned(), "b".to_owned()];
    let keep = vec!["prt_7".to_owned()];
    for (moment, expected) in [
        (HookMoment::BeforePrune, HookResponse { keep, ..HookResponse::default() }),
        (HookMoment::BeforeCompaction, HookResponse { context: context.clone(), ..HookResponse::default() }),
        (
            HookMoment::SessionCompacting,
            HookResponse { context, prompt: Some("p".to_owned()), ..HookResponse::default() },
        ),
        (HookMoment::AfterCompaction, HookResponse::default()),
        (HookMoment::Autocontinue, HookResponse::default()),
    ] {
        let verdict = ask(shell(SAYS_ALL), call(moment)).await;
        assert_eq!(verdict.response, expected, "{moment}");
        assert!(!matches!(verdict.asked[0].outcome, HookOutcome::Failed { .. }), "{verdict:?}");
    }
}

#[tokio::test]
async fn a_program_may_veto_whatever_has_not_happened_yet() {
    for moment in HookMoment::ALL {
        let verdict = ask(shell("echo '{\"veto\": \"not now\"}'"), call(moment)).await;
        let expected = (moment != HookMoment::AfterCompaction).then_some("not now");
        assert_eq!(verdict.response.veto.as_deref(), expected, "{moment}");
        assert_eq!(verdict.vetoed_by(), expected.map(|_| "script"), "{moment}");
    }
}

#[tokio::test]
async fn no_output_means_nothing_to_say() {
    for script in
        ["cat >/dev/null", "printf ' \\n\\n'", "echo '{}'", "echo '{\"context\": null, \"unknown\": [1]}'"]
    {
        let verdict = ask(shell(script), call(HookMoment::BeforePrune)).await;
        assert!(verdict.response.is_empty());
        assert_eq!(verdict.asked[0].outcome, HookOutcome::Silent, "{script}");
    }
}

#[tokio::test]
async fn anything_may_be_answered_where_answers_are_ignored() {
    let verdict = ask(shell("cat >/dev/null; echo thanks"), call(HookMoment::AfterCompaction)).await;
    assert_eq!(verdict.asked[0].outcome, HookOutcome::Silent);
}

#[tokio::test]
async fn the_program_reads_the_call_and_gets_its_arguments_as_they_are() {
    let folder = TempDir::new().unwrap();
    let text = "#!/usr/bin/env python3\n\
        import json, sys\n\
        call = json.load(sys.stdin)\n\
        json.dump({'context': [call['hook'], call['conversation'], *sys.argv[1:]]}, sys.stdout)\n";
    let config = running(&install(folder.path(), "echo.py", text), &["a b; $HOME", "*"]);
    let verdict = ask(config, call(HookMoment::BeforeCompaction)).await;
    let conversation = "[User]: Fix the \"parser\".\n[Assistant]: Done.";
    assert_eq!(verdict.response.context, ["before_compaction", conversation, "a b; $HOME", "*"]);
}

#[tokio::test]
async fn the_program_of_the_documentation_takes_notes() {
    let folder = TempDir::new().unwrap();
    let example = install(folder.path(), "notes", include_str!("../../../src/hooks/example.sh"));
    // The same program with another home: the environment of a test is not changed while others run.
    let home = format!("HOME='{}' exec '{}'", folder.path().display(), example.display());
    let verdict = ask(shell(&home), call(HookMoment::BeforeCompaction)).await;
    assert_eq!(verdict.response.context, ["Earlier work is kept word for word in ~/notes.jsonl."]);
    assert_eq!(
        ask(shell(&home), call(HookMoment::AfterCompaction)).await.asked[0].outcome,
        HookOutcome::Silent
    );
    let notes = fs::read_to_string(folder.path().join("notes.jsonl")).unwrap();
    let expected = serde_json::to_string(&call(HookMoment::BeforeCompaction)).unwrap();
    assert_eq!(notes, format!("{expected}\n"));
}

#[tokio::test]
async fn the_environment_is_what_the_settings_name() {
    // Cargo sets these for every test; the first is passed on, the second is not.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some() && std::env::var_os("CARGO_PKG_VERSION").is_some());
    let names = "env | cut -d= -f1 | grep -v -x -e PWD -e OLDPWD -e SHLVL -e _ | sort | tr '\\n' ' '";
    let script = format!("printf '{{\"context\": [\"%s\"]}}' \"$({names})\"");
    let env = vec!["CARGO_PKG_NAME".to_owned(), "SECATEUR_TEST_NOT_SET".to_owned()];
    let verdict = ask(HookConfig { env, ..shell(&script) }, call(HookMoment::BeforeCompaction)).await;
    let mut expected = vec!["CARGO_PKG_NAME"];
    expected.extend(["HOME", "LANG", "PATH"].into_iter().filter(|name| std::env::var_os(name).is_some()));
    assert_eq!(verdict.response.context, [format!("{} ", expected.join(" "))]);
}

/// A call that does not fit into any pipe.
fn huge() -> HookCall {
    let mut call = call(HookMoment::BeforeCompaction);
    if let HookFacts::BeforeCompaction { conversation, .. } = &mut call.facts {
        *conversation = "x".repeat(1 << 20);
    }
    call
}

#[tokio::test]
async fn a_program_need_not_read_a_large_call() {
    for script in [
        "echo '{\"veto\": \"unread\"}'",
        "exec <&-; echo '{\"veto\": \"unread\"}'",
        "head -c 10 >/dev/null; echo '{\"veto\": \"unread\"}'",
        // Closes its outputs first, and exits later.
        "echo '{\"veto\": \"unread\"}'; exec >&- 2>&-; sleep 0.05",
    ] {
        let verdict = ask(shell(script), huge()).await;
        assert_eq!(verdict.response.veto.as_deref(), Some("unread"), "{script}");
    }
}

#[tokio::test]
async fn a_large_call_arrives_whole() {
    let length = serde_json::to_vec(&huge()).unwrap().len() + 1;
    let verdict = ask(shell("printf '{\"context\": [\"%d\"]}' $(wc -c)"), huge()).await;
    assert_eq!(verdict.response.context, [length.to_string()]);
}

#[tokio::test]
async fn many_complaints_do_not_keep_a_program_from_answering() {
    let script = "head -c 1000000 /dev/zero >&2; echo '{\"veto\": \"heard\"}'";
    let verdict = ask(shell(script), call(HookMoment::BeforePrune)).await;
    assert_eq!(verdict.response.veto.as_deref(), Some("heard"));
}

#[tokio::test]
async fn a_process_that_is_left_behind_is_neither_awaited_nor_killed() {
    let folder = TempDir::new().unwrap();
    let pid = folder.path().join("pid");
    let script = format!("sleep 300 & echo $! > '{}'; echo '{{\"veto\": \"at once\"}}'", pid.display());
    let config = HookConfig { timeout_ms: 30_000, ..shell(&script) };
    let verdict = ask(config, call(HookMoment::BeforePrune)).await;
    assert_eq!(verdict.response.veto.as_deref(), Some("at once"));
    let pid = fs::read_to_string(pid).unwrap();
    // Succeeds only if the process still exists.
    assert!(Command::new("kill").arg(pid.trim()).status().unwrap().success());
}

#[tokio::test]
async fn an_answer_of_exactly_the_limit_is_read() {
    let script = "printf '{\"veto\": \"12345\"}'";
    let fits = HookConfig { max_bytes: 17, ..shell(script) };
    assert_eq!(ask(fits, call(HookMoment::BeforePrune)).await.response.veto.as_deref(), Some("12345"));
    let short = HookConfig { max_bytes: 16, ..shell(script) };
    assert_eq!(
        super::failure(&ask(short, call(HookMoment::BeforePrune)).await),
        "the response is longer than 16 bytes"
    );
}

#[tokio::test]
async fn took_is_the_time_that_the_hook_took() {
    let verdict = ask(shell("sleep 0.05"), call(HookMoment::BeforePrune)).await;
    assert!(Duration::from_millis(verdict.asked[0].took_ms) >= Duration::from_millis(50));
}
