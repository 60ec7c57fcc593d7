//! What `secateur status` says about conversations that pass through.

use std::net::SocketAddr;
use std::process::{Command, Output};

use serde_json::Value;

use crate::agent::{Agent, Wire};
use crate::process::Process;
use crate::stage::model;

fn status(address: &SocketAddr, flag: &str) -> Output {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_secateur"));
    for (name, _) in std::env::vars().filter(|(name, _)| name.starts_with("SECATEUR_")) {
        command.env_remove(name);
    }
    command.args(["status", flag, "--listen", &address.to_string()]);
    command.env("HOME", home.path()).env("XDG_CONFIG_HOME", home.path()).current_dir(home.path());
    command.output().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_saved_is_what_was_sent_less_than_what_came() {
    let folder = tempfile::tempdir().unwrap();
    let model = model(None).await;
    let proxy = Process::start(folder.path(), &model.url(), 12_000);
    let nothing = status(&proxy.address, "--once");
    assert!(String::from_utf8_lossy(&nothing.stdout).starts_with("no conversation has come"), "{nothing:?}");

    let mut agent = Agent::new(Wire::Chat, "SCENARIO:long");
    let (_, answers) = agent.work(proxy.address).await;
    let (mut saved, mut tokens_in, mut session) = (0.0, 0, String::new());
    for answer in &answers {
        let (came, went) = answer.header("x-secateur-bytes").split_once('/').unwrap();
        let (came, went): (f64, f64) = (came.parse().unwrap(), went.parse().unwrap());
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let tokens = body["usage"]["prompt_tokens"].as_u64().unwrap();
        tokens_in += tokens;
        saved += ((came - went) / (went / tokens as f64)).round();
        answer.header("x-secateur-session").clone_into(&mut session);
    }
    assert!(saved > 10_000.0, "{saved}");
    // The last answer is counted when it is through, which the client may know a moment earlier.
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;

    let said = status(&proxy.address, "--json");
    let said: Value = serde_json::from_slice(&said.stdout).unwrap();
    let one = &said["items"][0];
    assert_eq!(one["session"], session.as_str());
    assert_eq!(one["requests"], answers.len());
    assert_eq!(one["tokens_in"], tokens_in);
    assert_eq!(one["tokens_saved"].as_f64(), Some(saved));
    assert_eq!(one["window"], 12_000);

    let table = String::from_utf8(status(&proxy.address, "--once").stdout).unwrap();
    let id = &session[session.len() - 12..];
    assert!(table.lines().any(|line| line.trim_start().starts_with(id)), "{table}");
    assert!(table.contains("1 conversation"), "{table}");
}

#[test]
fn without_a_proxy_it_says_how_to_get_one() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = status(&nobody, "--once");
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8_lossy(&said.stderr);
    assert!(error.contains("secateur serve") && error.contains("--listen"), "{error}");
}
