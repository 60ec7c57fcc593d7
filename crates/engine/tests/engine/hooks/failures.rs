//! Programs that fail, hang or write nonsense, and what remains of them.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use secateur_engine::hooks::{HookConfig, HookMoment, HookResponse};
use tempfile::TempDir;

use super::{ask, call, failure, list, settings, shell};

async fn complaint(script: &str) -> String {
    failure(&ask(shell(script), call(HookMoment::SessionCompacting)).await).to_owned()
}

#[tokio::test]
async fn nonsense_is_skipped() {
    let nonsense = [
        ("text", "echo hello"),
        ("a list", r#"echo '[["context"], "prompt", "veto", []]'"#),
        ("null", "echo null"),
        ("a text", r#"echo '"veto"'"#),
        ("half an object", r#"printf '{"veto": "x"'"#),
        ("two objects", r#"echo '{"veto": "x"} {"veto": "y"}'"#),
        ("a field twice", r#"echo '{"veto": "x", "veto": "y"}'"#),
        ("a veto that is no text", r#"echo '{"veto": true}'"#),
        ("a context that is no list", r#"echo '{"context": "x"}'"#),
        ("a context of objects", r#"echo '{"context": [{}], "veto": "x"}'"#),
        ("a prompt in a list", r#"echo '{"prompt": ["x"]}'"#),
        ("numbers to keep", r#"echo '{"keep": [1]}'"#),
        ("invalid UTF-8", r#"printf '{"veto": "\377\376"}'"#),
        ("half a surrogate pair", r#"printf '{"veto": "\\ud800"}'"#),
        ("a byte order mark", r#"printf '\357\273\277{"veto": "x"}'"#),
        ("deep nesting", r#"printf '{"context": '; head -c 60000 /dev/zero | tr '\0' '['"#),
        ("a nul", r#"printf '{"veto": "x"}\000'"#),
    ];
    for (what, script) in nonsense {
        let why = complaint(script).await;
        assert!(why.starts_with("invalid response: "), "{what}: {why}");
    }
}

#[tokio::test]
async fn the_complaint_about_nonsense_holds_nothing_of_it() {
    let why = complaint(r#"echo '{"veto": {"password": "hunter2"}, "prompt": 7}'"#).await;
    insta::assert_snapshot!(
        why,
        @"invalid response: a field of the wrong type in line 1, column 9"
    );
}

#[tokio::test]
async fn depth_in_an_unknown_field_does_no_harm() {
    let deep = "head -c 20000 /dev/zero | tr '\\0'";
    let script = format!("printf '{{\"x\": '; {deep} '['; {deep} ']'; printf ', \"veto\": \"v\"}}'");
    assert_eq!(ask(shell(&script), call(HookMoment::BeforePrune)).await.response.veto.as_deref(), Some("v"));
}

#[tokio::test]
async fn a_program_that_ends_with_another_code_has_failed() {
    let why = complaint(r#"echo '{"veto": "x"}'; exit 3"#).await;
    assert!(why.starts_with("the program ended with exit status: 3;"), "{why}");
    let why = complaint(r#"echo '{"veto": "x"}'; kill -s TERM $$"#).await;
    assert!(why.starts_with("the program ended with signal: 15"), "{why}");
}

#[tokio::test]
async fn a_program_that_is_not_there_or_may_not_run_is_skipped() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("plain");
    std::fs::write(&file, "#!/bin/sh\n").unwrap();
    for path in [file, folder.path().join("missing"), folder.path().to_owned()] {
        let program = Some(vec![path.to_str().unwrap().to_owned()]);
        let verdict = ask(HookConfig { program, ..settings("x") }, call(HookMoment::BeforePrune)).await;
        assert!(failure(&verdict).starts_with("cannot start "), "{verdict:?}");
    }
}

#[tokio::test]
async fn a_program_that_hangs_is_given_up() {
    for script in ["sleep 300", "exec >&- 2>&- <&-; sleep 300", "trap '' TERM INT; cat; sleep 300"] {
        let config = HookConfig { timeout_ms: 60, ..shell(script) };
        let verdict = ask(config, call(HookMoment::BeforePrune)).await;
        assert_eq!(failure(&verdict), "no response within 60 ms", "{script}");
    }
}

#[tokio::test]
async fn a_program_that_writes_without_end_is_stopped() {
    for script in ["yes", "exec yes ' '", "head -c 70000 /dev/zero; sleep 300", "(yes &); sleep 300"] {
        assert_eq!(complaint(script).await, "the response is longer than 65536 bytes", "{script}");
    }
    // Standard error may be endless, the program may not.
    let config = HookConfig { timeout_ms: 60, ..shell("yes >&2") };
    assert_eq!(failure(&ask(config, call(HookMoment::BeforePrune)).await), "no response within 60 ms");
}

/// Tells whether processes are alive: each holds a named pipe open, which ends with the last of them.
struct Pulse {
    path: PathBuf,
    lines: mpsc::Receiver<String>,
    _folder: TempDir,
}

impl Pulse {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("pulse");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let (sender, lines) = mpsc::channel();
        let opened = path.clone();
        thread::spawn(move || {
            let mut pipe = BufReader::new(File::open(opened).unwrap());
            let mut line = String::new();
            pipe.read_line(&mut line).unwrap();
            sender.send(line).unwrap();
            pipe.read_to_end(&mut Vec::new()).unwrap();
            sender.send("end".to_owned()).unwrap();
        });
        Self { path, lines, _folder: folder }
    }

    /// A script that starts a process and prints its own id, then does something else.
    fn script(&self, then: &str) -> String {
        let path = self.path.display();
        format!("exec 3>'{path}'; sleep 300 & (sleep 300 & sleep 300) & echo $$ >&3; {then}")
    }

    fn next(&self) -> String {
        self.lines.recv_timeout(Duration::from_secs(60)).expect("a process of the group lives on")
    }
}

#[tokio::test]
async fn the_whole_group_is_killed_with_a_program_that_is_stopped() {
    let pulse = Pulse::new();
    let verdict = ask(shell(&pulse.script("yes")), call(HookMoment::BeforePrune)).await;
    assert_eq!(failure(&verdict), "the response is longer than 65536 bytes");
    let leader = pulse.next();
    assert_eq!(pulse.next(), "end");
    // Reaped as well: not even a zombie with that id is left.
    let process = Path::new("/proc").join(leader.trim());
    assert!(!process.exists(), "{} is still there", process.display());
}

#[tokio::test]
async fn the_whole_group_is_killed_when_the_caller_stops_waiting() {
    let pulse = Pulse::new();
    let hooks = list([shell(&pulse.script("wait")).build().unwrap()]);
    let asking = tokio::spawn(async move { hooks.ask(call(HookMoment::BeforePrune)).await });
    let pulse = tokio::task::spawn_blocking(move || {
        pulse.next();
        pulse
    });
    let pulse = pulse.await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    assert_eq!(tokio::task::spawn_blocking(move || pulse.next()).await.unwrap(), "end");
}

#[tokio::test]
async fn a_skipped_hook_does_not_keep_others_from_being_asked() {
    let says = shell(r#"echo '{"context": ["still here"]}'"#);
    let hooks =
        [shell("exit 1"), HookConfig { timeout_ms: 50, ..shell("sleep 300") }, shell("echo no"), says];
    let hooks = list(hooks.map(|config| config.build().unwrap()));
    let verdict = hooks.ask(call(HookMoment::BeforeCompaction)).await;
    assert_eq!(
        verdict.response,
        HookResponse { context: vec!["still here".to_owned()], ..HookResponse::default() }
    );
    assert_eq!(verdict.asked.len(), 4);
}
