//! Which proxy is used, and who is behind it.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Stdio};

use crate::stage::{Stage, end, free_address};
use crate::terminal::ASK;
use crate::upstream::{Manner, Upstream};

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
    let (stage, behind) = (Stage::new(), Upstream::start(Manner::default()));
    let address = free_address();
    let (listen, url) = (address.to_string(), behind.url());
    let mut serve = stage.secateur(&["serve", "--listen", &listen, "--store", "serve.db"]);
    serve.args(["--anthropic", &url, "--openai", &url, "--gemini", &url]);
    let mut serving = Serving(serve.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap());
    BufReader::new(serving.0.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    stage.program("agent", &format!("echo $ANTHROPIC_BASE_URL; {ASK}"));
    let plain = ["run", "--listen", &listen, "--", "agent"];
    let run = end(&mut stage.secateur(&plain));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(run.out.starts_with(&format!("http://{address}/run:agent-")), "{}", run.out);
    assert!(run.err.contains("secateur: 1 request"), "{}", run.err);
    assert_eq!((behind.asked().len(), stage.upstream.asked().len()), (1, 0));
    assert!(serving.0.try_wait().unwrap().is_none());
    // What is asked of the proxy in particular, the one that runs was not told.
    let mut command = stage.run_at(address, &["agent"]);
    command.env("ANTHROPIC_BASE_URL", stage.upstream.url());
    let run = end(&mut command);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(!run.out.contains(&listen), "{}", run.out);
    assert_eq!((behind.asked().len(), stage.upstream.asked().len()), (1, 1));
    std::fs::write(stage.path("work/own.toml"), "[compaction]\nauto = false\n").unwrap();
    stage.program("agent", "echo $ANTHROPIC_BASE_URL");
    for flags in [
        &["--store", "own.db"][..],
        &["--config", "own.toml"],
        &["--set", "compaction.auto=false"],
        &["--summariser-url", "http://127.0.0.1:1", "--summariser-model", "m"],
        &["--no-headers"],
        &["--log-file", "log"],
    ] {
        let run = end(&mut stage.secateur(&[&["run"], flags, &plain[1..]].concat()));
        assert_eq!(run.code, 0, "{}", run.err);
        assert!(!run.out.contains(&listen), "{flags:?}: {}", run.out);
    }
    // What it was told itself it may be told again.
    let told = ["--store", "serve.db", "--anthropic", &url, "--openai", &url, "--gemini", &url];
    let run = end(&mut stage.secateur(&[&["run"], &told[..], &plain[1..]].concat()));
    assert!(run.out.contains(&listen), "{}", run.out);
}

#[test]
fn a_port_that_another_program_has_is_left_to_it() {
    let stage = Stage::new();
    let other = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = other.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in other.incoming().flatten() {
            let mut stream = stream;
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello").ok();
        }
    });
    stage.program("agent", &format!("echo $ANTHROPIC_BASE_URL; {ASK}"));
    let run = end(&mut stage.run_at(address, &["agent"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.starts_with("http://127.0.0.1:") && !run.out.contains(&address.to_string()),
        "{}",
        run.out
    );
    assert_eq!(stage.upstream.asked().len(), 1);
}

#[test]
fn where_an_agent_was_pointed_before_is_where_the_proxy_goes() {
    let (stage, gateway) = (Stage::new(), Upstream::start(Manner::default()));
    stage.program("claude", ASK);
    let pointed = |command: &mut std::process::Command| {
        end(command.env("ANTHROPIC_BASE_URL", format!("{}/gateway", gateway.url())))
    };
    let run = pointed(&mut stage.run(&["claude"]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!((gateway.asked().len(), stage.upstream.asked().len()), (1, 0));
    assert!(gateway.asked()[0].line.starts_with("POST /gateway/"), "{:?}", gateway.asked());
    // A flag says otherwise.
    let url = stage.upstream.url();
    let run = pointed(&mut stage.secateur(&[
        "run",
        "--listen",
        "127.0.0.1:0",
        "--anthropic",
        &url,
        "--",
        "claude",
    ]));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!((gateway.asked().len(), stage.upstream.asked().len()), (1, 1));
    // An address of the proxy itself is nobody behind it.
    let address = free_address();
    let mut command = stage.run_at(address, &["claude"]);
    let run = end(command.env("ANTHROPIC_BASE_URL", format!("http://{address}")));
    assert_eq!(run.code, 0, "{}", run.err);
    assert_eq!(stage.upstream.asked().len(), 2);
}
