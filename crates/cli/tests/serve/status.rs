//! What `secateur status` says about conversations that pass through.

use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::process::{Process, command};
use secateur_formats::Wire;
use secateur_testing::Agent;
use secateur_testing::ScriptedModel;
use secateur_testing::client::ClientResponse;
use secateur_testing::configuration::{model_catalogue, steady_profile};

/// The window of the model.
const WINDOW: u64 = 12_000;

/// What a million tokens cost in dollars.
const FRESH: f64 = 3.0;
const CACHED: f64 = 0.3;
const OUTPUT: f64 = 15.0;

/// A proxy that knows what its model costs.
fn priced(folder: &Path, upstream: &str, window: u64) -> Process {
    let mut serve = command(folder, folder.join("store.db").to_str().unwrap(), window);
    let price = format!("price = {{ input = {FRESH:.1}, output = {OUTPUT:.1}, cache_read = {CACHED:.1} }}\n");
    let catalogue = model_catalogue(window).replace("output = 1000\n", &format!("output = 1000\n{price}"));
    std::fs::write(folder.join("models.toml"), catalogue).unwrap();
    let steady = folder.join("steady.toml");
    std::fs::write(&steady, steady_profile()).unwrap();
    serve.arg("--profile").arg(steady).args(["--openai", upstream, "--anthropic", upstream]);
    Process::spawn(serve)
}

/// A number as the table has it.
fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

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
    let model = ScriptedModel::with_window(None).await;
    let proxy = priced(folder.path(), &model.url(), WINDOW);
    let nothing = status(&proxy.address, "--once");
    assert!(String::from_utf8_lossy(&nothing.stdout).starts_with("no conversations yet"), "{nothing:?}");

    let mut agent = Agent::new(Wire::OpenAiChat, "SCENARIO:long");
    let (_, answers) = agent.work(proxy.address).await;
    let (mut saved, mut tokens_in, mut cached, mut session) = (0.0, 0, 0, String::new());
    for answer in &answers {
        let (came, went) = answer.header("x-secateur-bytes").split_once('/').unwrap();
        let (came, went): (f64, f64) = (came.parse().unwrap(), went.parse().unwrap());
        let body: Value = serde_json::from_str(&answer.body).unwrap();
        let tokens = body["usage"]["prompt_tokens"].as_u64().unwrap();
        let read = body["usage"]["prompt_tokens_details"]["cached_tokens"].as_u64().unwrap_or(0);
        tokens_in += tokens;
        cached += read;
        let left_out = ((came - went) / (went / tokens as f64)).round().min(WINDOW as f64 - tokens as f64);
        saved += left_out;
        answer.header("x-secateur-session").clone_into(&mut session);
    }
    assert!(saved > 10_000.0, "{saved}");
    assert!(cached > 0);
    // The last answer is counted when it is through, which the client may know a moment earlier.
    let one = loop {
        let said = status(&proxy.address, "--json");
        let said: Value = serde_json::from_slice(&said.stdout).unwrap();
        if said["items"][0]["requests"] == answers.len() {
            break said["items"][0].clone();
        }
    };
    assert_eq!(one["session"], session.as_str());
    assert_eq!(one["requests"], answers.len());
    assert_eq!(one["tokens_in"], tokens_in);
    // By the bytes per token of what was sent it is about the same.
    let said = one["tokens_saved"].as_f64().unwrap();
    assert!((said - saved).abs() < 0.1 * saved, "{said} {saved}");
    assert_eq!(one["tokens_cached"], cached);
    let money = one["money_saved"].as_f64().unwrap();
    assert_eq!(one["window"], WINDOW);

    let table = String::from_utf8(status(&proxy.address, "--once").stdout).unwrap();
    let id = &session[session.len() - 12..];
    let line =
        table.lines().find(|line| line.trim_start().starts_with(id)).unwrap_or_else(|| panic!("{table}"));
    let last = answers.iter().rev().find(|answer| answer.is_flush()).unwrap().outcome();
    let fill = 100.0 * one["tokens"].as_f64().unwrap() / WINDOW as f64;
    let dollars = format!("{}${:.2}", if money < 0.0 { "-" } else { "" }, money.abs());
    let percents = [fill, 100.0 * cached as f64 / tokens_in as f64].map(|share| format!("{share:.1} %"));
    let columns = [&percents[0], &percents[1], &grouped(said), &dollars, last];
    let mut rest = line;
    for column in columns {
        let (_, behind) =
            rest.split_once(column).unwrap_or_else(|| panic!("no {column:?} in {rest:?}\n{table}"));
        rest = behind;
    }
    assert!(table.contains("1 conversation"), "{table}");
}

/// What the provider bills for the responses of a conversation, in dollars.
fn bill(wire: Wire, responses: &[ClientResponse]) -> f64 {
    let cost = |response: &ClientResponse| {
        let usage = &serde_json::from_str::<Value>(&response.body).unwrap()["usage"];
        let tokens = |path: &str| usage.pointer(path).and_then(Value::as_f64).unwrap_or(0.0);
        let (fresh, read, write, output) = match wire {
            Wire::Anthropic => (
                tokens("/input_tokens"),
                tokens("/cache_read_input_tokens"),
                tokens("/cache_creation_input_tokens"),
                tokens("/output_tokens"),
            ),
            _ => {
                let read = tokens("/prompt_tokens_details/cached_tokens");
                (tokens("/prompt_tokens") - read, read, 0.0, tokens("/completion_tokens"))
            }
        };
        (fresh + write) * FRESH + read * CACHED + output * OUTPUT
    };
    responses.iter().map(cost).sum::<f64>() / 1e6
}

/// The same work with and without the proxy, at a provider with a prompt cache: the money that is said to be saved is the
/// difference of the two bills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_money_saved_is_the_difference_of_two_bills() {
    for (wire, scenario) in [
        (Wire::OpenAiChat, "SCENARIO:long steps=60 bytes=9000"),
        (Wire::Anthropic, "SCENARIO:long steps=40 bytes=4000"),
        (Wire::Anthropic, "SCENARIO:long steps=80 bytes=12000"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let (model, direct) =
            (ScriptedModel::with_window(None).await, ScriptedModel::with_window(None).await);
        let proxy = priced(folder.path(), &model.url(), 1_000_000);
        let mut agent = Agent::new(wire, scenario);
        let mut other = agent.clone();
        let (text, responses) = agent.work(proxy.address).await;
        let (same, without) = other.work(direct.url()["http://".len()..].parse().unwrap()).await;
        assert_eq!(text, same);
        let billed = bill(wire, &responses);
        let truth = bill(wire, &without) - billed;
        let one = loop {
            let said = status(&proxy.address, "--json");
            let said: Value = serde_json::from_slice(&said.stdout).unwrap();
            if said["items"][0]["requests"] == responses.len() {
                break said["items"][0].clone();
            }
        };
        let money = one["money_saved"].as_f64().unwrap();
        println!("{wire:?}: {billed:.4} billed, {truth:.4} saved, {money:.4} said, {one}");
        assert!(one["cache_breaks"].as_u64().unwrap() > 0, "{one}");
        assert!((money - truth).abs() < 0.05 * truth.abs(), "{wire:?}: {money} said, {truth} saved");
    }
}

#[test]
fn without_a_proxy_it_says_how_to_get_one() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let said = status(&unused, "--once");
    assert_eq!(said.status.code(), Some(2));
    let error = String::from_utf8_lossy(&said.stderr);
    assert!(error.contains("secateur serve") && error.contains("--listen"), "{error}");
}
