//! The program's surroundings: variables, exit code, signals, the line at the end.

use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::machine::{Machine, finished, run_to_end, wait_for_file};

/// A request to Anthropic through whatever the environment says.
pub(crate) const ASK: &str = r#"curl -sf -X POST -H 'content-type: application/json' -d '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}' "$ANTHROPIC_BASE_URL/v1/messages" >/dev/null"#;

#[test]
fn a_program_finds_the_proxy_in_its_environment_and_its_code_is_passed_on() {
    let machine = Machine::new();
    machine.program("agent", &format!("env >$MACHINE/env; {ASK} || exit 9; echo said; exit 7"));
    let run = run_to_end(&mut machine.run(&["agent"]));
    assert_eq!((run.code, run.out.as_str()), (7, "said\n"), "{}", run.err);
    assert_eq!(run.err, "secateur: 1 request, nothing cut\n");
    let env = machine.read("env");
    let value = |name: &str| {
        let line = env.lines().find_map(|line| line.strip_prefix(&format!("{name}=")));
        line.unwrap_or_else(|| panic!("no {name} in {env}")).to_owned()
    };
    let root = value("ANTHROPIC_BASE_URL");
    assert!(root.starts_with("http://127.0.0.1:") && root.contains("/run:agent-"), "{root}");
    assert_eq!(value("GOOGLE_GEMINI_BASE_URL"), root);
    assert_eq!(value("ANTHROPIC_API_BASE"), root);
    assert_eq!(
        (value("OPENAI_BASE_URL"), value("OPENAI_API_BASE")),
        (format!("{root}/v1"), format!("{root}/v1"))
    );
    let asked = machine.upstream.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0].line, "POST /v1/messages HTTP/1.1");
    assert!(asked[0].headers.contains("application/json"), "{asked:?}");
}

#[test]
fn the_line_at_the_end_says_what_was_cut() {
    let machine = Machine::new();
    let mut messages = vec![json!({ "role": "user", "content": "look at everything" })];
    for step in 0..20 {
        let call = json!({ "name": "read", "arguments": format!("{{\"path\":\"{step}\"}}") });
        let call = json!([{ "id": format!("c{step}"), "type": "function", "function": call }]);
        messages.push(json!({ "role": "assistant", "content": "", "tool_calls": call }));
        let text = format!("line of file {step}\n").repeat(200);
        messages.push(json!({ "role": "tool", "tool_call_id": format!("c{step}"), "content": text }));
    }
    let body = json!({ "model": "small", "messages": messages });
    std::fs::write(machine.path("body"), body.to_string()).unwrap();
    let page = "[[model]]\nid = \"small\"\nprovider = \"test\"\ncontext = 6000\noutput = 500\n";
    std::fs::write(machine.path("models.toml"), page).unwrap();
    let ask = "curl -sf -H 'content-type: application/json' -d @$MACHINE/body $OPENAI_BASE_URL/chat/completions >/dev/null";
    machine.program("agent", ask);
    let run = run_to_end(machine.run(&["agent"]).env("SECATEUR_MODELS", machine.path("models.toml")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.err.starts_with("secateur: 1 request, 1 of them cut: "), "{}", run.err);
    assert!(run.err.contains(": saved ") && run.err.ends_with(" % of all bytes)\n"), "{}", run.err);
}

#[test]
fn a_token_is_shown_in_front_of_the_path_and_not_passed_on() {
    let machine = Machine::new();
    let token = machine.token("a-word-that-nobody-guesses");
    machine.program("agent", ASK);
    let url = machine.upstream.url();
    let run = || {
        let mut command =
            machine.secateur(&["run", "--listen", "127.0.0.1:0", "--anthropic", &url, "--token-file"]);
        run_to_end(command.arg(&token).args(["--", "agent"]))
    };
    let said = run();
    assert_eq!((said.code, said.err.as_str()), (0, "secateur: 1 request, nothing cut\n"));
    let asked = machine.upstream.requests();
    assert!(
        asked[0].line.starts_with("POST /v1/messages") && !asked[0].headers.contains("guesses"),
        "{asked:?}"
    );
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o640)).unwrap();
    let said = run().err;
    assert_eq!(said.matches("can read the token").count(), 1, "{said}");
}

#[test]
fn input_and_output_are_the_programs_own() {
    let machine = Machine::new();
    machine.program("agent", "cat; echo to-stderr >&2");
    let mut child = machine.run(&["agent"]).stdin(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"what is said").unwrap();
    let run = finished(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.out.as_str()), (0, "what is said"));
    assert!(run.err.starts_with("to-stderr\nsecateur: "), "{}", run.err);
}

#[test]
fn an_end_by_a_signal_has_the_exit_code_of_shells() {
    let machine = Machine::new();
    machine.program("agent", "kill -TERM $$");
    assert_eq!(run_to_end(&mut machine.run(&["agent"])).code, 128 + 15);
    machine.program("agent", "kill -KILL $$");
    assert_eq!(run_to_end(&mut machine.run(&["agent"])).code, 128 + 9);
}

#[test]
fn a_signal_reaches_the_program_and_the_proxy_stays_until_it_is_gone() {
    for (signal, code) in [("INT", 5), ("TERM", 6), ("HUP", 7)] {
        let machine = Machine::new();
        // It says goodbye to the model before it ends.
        let script = format!(
            "leave() {{ {ASK} && exit {code}; exit 1; }}\ntrap leave {signal}\ntouch $MACHINE/ready\nwhile :; do sleep 0.1; done"
        );
        machine.program("agent", &script);
        let child = machine.run(&["agent"]).spawn().unwrap();
        wait_for_file(&machine.path("ready"));
        let id = child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{signal}"), &id]).status().unwrap().success());
        let run = finished(child.wait_with_output().unwrap());
        assert_eq!(run.code, code, "{signal}: {}", run.err);
        assert_eq!(machine.upstream.requests().len(), 1, "{signal}");
        assert!(run.err.contains("secateur: 1 request"), "{}", run.err);
    }
}

#[test]
fn a_signal_is_passed_on_however_early_it_comes() {
    let machine = Machine::new();
    // It comes while we have hardly started the program.
    let script = "trap 'exit 7' HUP\nkill -HUP $PPID\nfor i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done; exit 1";
    machine.program("agent", script);
    for _ in 0..20 {
        let run = run_to_end(&mut machine.run(&["agent"]));
        assert_eq!(run.code, 7, "{}", run.err);
    }
}

#[test]
fn a_signal_that_is_ignored_is_ignored_by_the_program() {
    let machine = Machine::new();
    machine.program("agent", "kill -HUP $$; exit 3");
    let secateur = machine.run(&["agent"]);
    let mut nohup = Command::new("sh");
    nohup
        .args(["-c", "trap '' HUP; exec \"$@\"", "sh"])
        .arg(secateur.get_program())
        .args(secateur.get_args());
    for (name, value) in secateur.get_envs() {
        match value {
            Some(value) => nohup.env(name, value),
            None => nohup.env_remove(name),
        };
    }
    assert_eq!(run_to_end(&mut nohup).code, 3);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let machine = Machine::new();
    let run = run_to_end(&mut machine.run(&["no-such-agent", "--flag"]));
    assert_eq!(run.code, 127);
    assert!(run.err.contains("cannot start no-such-agent"), "{}", run.err);
}

#[test]
fn requests_to_this_machine_are_kept_from_other_proxies() {
    let machine = Machine::new();
    machine.program("agent", "env >$MACHINE/env");
    let mut command = machine.run(&["agent"]);
    command.env("HTTPS_PROXY", "http://proxy.example:3128").env("NO_PROXY", "example.com");
    assert_eq!(run_to_end(&mut command).code, 0);
    let env = machine.read("env");
    assert!(env.contains("\nNO_PROXY=example.com,127.0.0.1,localhost\n"), "{env}");
}
