//! Which proxy is used, and who is behind it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use super::terminal::ASK;
use crate::fixed_provider::{FixedProvider, FixedResponse};
use crate::machine::{Machine, free_address, run_to_end};

/// A process that ends with the test.
struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

#[test]
fn a_proxy_that_runs_already_is_used_and_stays() {
    let (machine, behind) = (Machine::new(), FixedProvider::start(FixedResponse::default()));
    let address = free_address();
    let (listen, url) = (address.to_string(), behind.url());
    let mut serve = machine.secateur(&["serve", "--listen", &listen, "--store", "serve.db"]);
    serve.args(["--anthropic", &url, "--openai", &url, "--gemini", &url]);
    let mut serving = Serving(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    BufReader::new(serving.0.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    machine.program("agent", &format!("echo $ANTHROPIC_BASE_URL; {ASK}"));
    let plain = ["run", "--listen", &listen, "--", "agent"];
    let run = run_to_end(&mut machine.secateur(&plain));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with(&format!("http://{address}/run:agent-")), "{}", run.out);
    assert!(run.err.contains("secateur: 1 request"), "{}", run.err);
    assert_eq!((behind.requests().len(), machine.upstream.requests().len()), (1, 0));
    assert!(serving.0.try_wait().unwrap().is_none());
    // What is asked of the proxy in particular, the one that runs was not told.
    let mut command = machine.run_at(address, &["agent"]);
    command.env("ANTHROPIC_BASE_URL", machine.upstream.url());
    let run = run_to_end(&mut command);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.out.contains(&listen), "{}", run.out);
    assert_eq!((behind.requests().len(), machine.upstream.requests().len()), (1, 1));
    std::fs::write(machine.path("work/own.toml"), "[compaction]\nauto = false\n").unwrap();
    machine.program("agent", "echo $ANTHROPIC_BASE_URL");
    for flags in [
        &["--store", "own.db"][..],
        &["--config", "own.toml"],
        &["--set", "compaction.auto=false"],
        &["--summariser-url", "http://127.0.0.1:1", "--summariser-model", "m"],
        &["--no-headers"],
        &["--log-file", "log"],
    ] {
        let run = run_to_end(&mut machine.secateur(&[&["run"], flags, &plain[1..]].concat()));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains(&listen), "{flags:?}: {}", run.out);
    }
    // What it was told itself it may be told again.
    let reported = ["--store", "serve.db", "--anthropic", &url, "--openai", &url, "--gemini", &url];
    let run = run_to_end(&mut machine.secateur(&[&["run"], &reported[..], &plain[1..]].concat()));
    assert!(run.out.contains(&listen), "{}", run.out);
}

#[test]
fn a_port_that_another_program_has_is_left_to_it() {
    let machine = Machine::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in other.incoming().flatten() {
            let mut stream = stream;
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").ok();
        }
    });
    machine.program("agent", &format!("echo $ANTHROPIC_BASE_URL; {ASK}"));
    let run = run_to_end(&mut machine.run_at(address, &["agent"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.starts_with("http://127.0.0.1:") && !run.out.contains(&address.to_string()),
        "{}",
        run.out
    );
    assert_eq!(machine.upstream.requests().len(), 1);
}

#[test]
fn where_an_agent_was_pointed_before_is_where_the_proxy_goes() {
    let (machine, gateway) = (Machine::new(), FixedProvider::start(FixedResponse::default()));
    machine.program("claude", ASK);
    let pointed = |command: &mut std::process::Command| {
        run_to_end(command.env("ANTHROPIC_BASE_URL", format!("{}/gateway", gateway.url())))
    };
    let run = pointed(&mut machine.run(&["claude"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!((gateway.requests().len(), machine.upstream.requests().len()), (1, 0));
    assert!(gateway.requests()[0].line.starts_with("POST /gateway/"), "{:?}", gateway.requests());
    // A flag says otherwise.
    let url = machine.upstream.url();
    let run = pointed(&mut machine.secateur(&[
        "run",
        "--listen",
        "127.0.0.1:0",
        "--anthropic",
        &url,
        "--",
        "claude",
    ]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!((gateway.requests().len(), machine.upstream.requests().len()), (1, 1));
    // An address of the proxy itself is no provider.
    let address = free_address();
    let mut command = machine.run_at(address, &["claude"]);
    let run = run_to_end(command.env("ANTHROPIC_BASE_URL", format!("http://{address}")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(machine.upstream.requests().len(), 2);
}
