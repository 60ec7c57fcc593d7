//! Agents that do not come here, or to the wrong port; and whether what they send arrives.

use super::report::{Serving, doctor, examine, examine_unchanged};
use crate::machine::{Machine, free_address};

#[test]
fn an_agent_that_points_at_the_wrong_port_is_found() {
    let machine = Machine::new();
    let serving = Serving::start(&machine, &machine.upstream.url());
    machine.program("claude", "true");
    let dead = free_address();
    let mut command = doctor(&machine);
    command.args(["--listen", &serving.address]).env("ANTHROPIC_BASE_URL", format!("http://{dead}"));
    let report = examine_unchanged(&mut command);
    let (found, fix) = report.find("port", "fault", &dead.to_string());
    assert!(found.contains("ANTHROPIC_BASE_URL points Claude Code at"), "{found}");
    assert!(found.contains(&format!("the proxy is at http://{}", serving.address)), "{found}");
    assert!(fix.contains(&format!("export ANTHROPIC_BASE_URL=http://{}", serving.address)), "{fix}");
    report.find("proxy", "ok", &serving.address);
}

#[test]
fn an_agent_that_points_at_a_proxy_that_does_not_run_is_found() {
    let machine = Machine::new();
    let listen = free_address().to_string();
    machine.put(".codex/config.toml", &format!("openai_base_url = \"http://{listen}/v1\"\n"));
    let report = examine_unchanged(doctor(&machine).args(["--listen", &listen]));
    let (found, fix) = report.find("port", "fault", "where nothing listens");
    assert!(found.contains("config.toml points Codex at"), "{found}");
    assert!(fix.contains("secateur serve") && fix.contains("secateur run -- codex"), "{fix}");
}

#[test]
fn a_program_that_sits_on_the_port_is_found() {
    let machine = Machine::new();
    let other = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listen = other.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in other.incoming().flatten() {
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").ok();
        }
    });
    let (found, fix) = examine_unchanged(doctor(&machine).args(["--listen", &listen])).find(
        "proxy",
        "fault",
        "another program",
    );
    assert!(found.contains(&listen) && fix.contains("--listen"), "{found} {fix}");
}

#[test]
fn a_proxy_that_wants_a_token_is_found() {
    let machine = Machine::new();
    std::fs::write(machine.path("token"), "a-word-that-nobody-guesses\n").unwrap();
    let token = machine.path("token").to_str().unwrap().to_owned();
    let serving = Serving::start_with(&machine, &machine.upstream.url(), &["--token-file", &token]);
    let (_, fix) = examine_unchanged(doctor(&machine).args(["--listen", &serving.address])).find(
        "proxy",
        "fault",
        "needs a token",
    );
    assert!(fix.contains("--token-file"), "{fix}");
    let report =
        examine_unchanged(doctor(&machine).args(["--listen", &serving.address, "--token-file", &token]));
    report.find("traffic", "ok", "a request went through");
    assert!(!report.text.contains("nobody-guesses"), "{}", report.text);
}

#[test]
fn agents_that_do_not_come_here_are_found() {
    let machine = Machine::new();
    for program in ["claude", "codex", "opencode", "pi", "aider", "gemini", "openclaw"] {
        machine.program(program, "true");
    }
    let models = r#"{"providers":{"mine":{"baseUrl":"https://key@gateway.example/secret/v1"}}}"#;
    machine.put(".pi/agent/models.json", models);
    let report = examine(&mut doctor(&machine));
    for (title, remedy) in [
        ("Claude Code", "export ANTHROPIC_BASE_URL="),
        ("Codex", "openai_base_url"),
        ("OpenCode", "baseURL"),
        ("aider", "OPENAI_API_BASE"),
        ("Gemini CLI", "GOOGLE_GEMINI_BASE_URL"),
        ("OpenClaw", "openclaw.json"),
    ] {
        let (_, fix) = report.find("agent", "warning", &format!("{title} does not use the proxy"));
        assert!(fix.contains(remedy), "{fix}");
    }
    let (found, fix) = report.find("agent", "warning", "pi does not use the proxy");
    assert!(
        found.contains("points it at gateway.example") && fix.contains("secateur run -- pi"),
        "{found} {fix}"
    );
    assert!(!report.text.contains("secret"), "{}", report.text);
}

#[test]
fn an_agent_that_comes_here_is_well_wherever_that_is_written() {
    let machine = Machine::new();
    let serving = Serving::start(&machine, &machine.upstream.url());
    let url = format!("http://{}", serving.address);
    machine.put(".claude/settings.json", &format!(r#"{{"env":{{"ANTHROPIC_BASE_URL":"{url}"}}}}"#));
    machine.put(".codex/config.toml", &format!("[model_providers.local]\nbase_url = \"{url}/v1\"\n"));
    machine.put(".pi/agent/models.json", &format!(r#"{{"providers":{{"a":{{"baseUrl":"{url}"}}}}}}"#));
    let opencode = format!(
        "{{ // mine\n \"provider\": {{ \"a\": {{ \"options\": {{ \"baseURL\": \"{url}/v1\" }} }} }} }}"
    );
    machine.put(".config/opencode/opencode.jsonc", &opencode);
    let report = examine_unchanged(doctor(&machine).args(["--listen", &serving.address]));
    assert_eq!(report.faults(), 0, "{}", report.text);
    for title in ["Claude Code", "Codex", "pi", "OpenCode"] {
        report.find("agent", "ok", &format!("points {title} at {url}"));
    }
    report.find("traffic", "ok", "a request went through");
    assert!(!machine.upstream.requests().is_empty());
}

#[test]
fn a_proxy_without_anybody_behind_it_is_found() {
    let machine = Machine::new();
    let serving = Serving::start(&machine, &format!("http://{}", free_address()));
    let report = examine_unchanged(doctor(&machine).args(["--listen", &serving.address]));
    let (_, fix) = report.find("traffic", "fault", "got no response from the provider");
    assert!(fix.contains("upstream"), "{fix}");
}
