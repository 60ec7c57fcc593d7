//! Converting a session: a body, and an account in which every byte of content has its place.

use super::samples::{self, WIRES};
use super::{TestFolder, broken_rules, secateur};

#[test]
fn the_account_adds_up_for_every_session_and_wire() {
    let desk = TestFolder::new();
    for sample in samples::all() {
        let file = sample.lay(desk.folder.path());
        for wire in WIRES {
            let run = secateur(&["convert", &file, "--to", wire, "--json"]);
            assert_eq!(run.code, 0, "{} as {wire}: {}", sample.name, run.err);
            let account = run.json();
            let number = |name: &str| account[name].as_u64().unwrap_or_else(|| panic!("no {name}"));
            let sum = number("carried_bytes") + number("lost_bytes") + number("gone_bytes");
            assert_eq!(sum, number("content_bytes"), "{} as {wire}: {account:#}", sample.name);
            let losses = account["losses"].as_array().unwrap();
            let lost: u64 = losses.iter().map(|loss| loss["bytes"].as_u64().unwrap()).sum();
            assert_eq!(lost, number("lost_bytes"), "{} as {wire}", sample.name);
            for loss in losses {
                assert!(!loss["why"].as_str().unwrap().is_empty());
            }
            assert_eq!((&account["from"], &account["to"]), (&sample.format.into(), &wire.into()));
            assert!(number("carried_bytes") > 0);
            let body = desk.put("body.json", account["body"].as_str().unwrap());
            assert_eq!(broken_rules(&body, wire), [] as [&str; 0], "{} as {wire}", sample.name);
        }
    }
}

#[test]
fn what_left_the_context_is_accounted_for() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    let account = secateur(&["convert", &file, "--to", "openai-chat", "--json"]).json();
    // A question, a thought, its signature, two answers, two calls and two results.
    assert_eq!(account["gone_parts"], 9);
    assert_eq!(account["lost_bytes"], 0);
    let log = samples::of("gemini").lay(desk.folder.path());
    let account = secateur(&["convert", &log, "--to", "openai-chat", "--json"]).json();
    assert_eq!((&account["gone_parts"], &account["gone_bytes"]), (&0.into(), &0.into()));
}

#[test]
fn what_a_wire_cannot_hold_is_named() {
    let desk = TestFolder::new();
    let file = samples::of("anthropic-request").lay(desk.folder.path());
    let account = secateur(&["convert", &file, "--to", "openai-chat", "--json"]).json();
    let losses = account["losses"].as_array().unwrap();
    assert!(!losses.is_empty(), "thinking and its signature have no place there");
    let reported = secateur(&["convert", &file, "--to", "openai-chat"]);
    assert!(
        reported.err.contains("cannot be expressed")
            && reported.err.contains(losses[0]["why"].as_str().unwrap())
    );
}

#[test]
fn the_account_stands_beside_the_body_or_alone() {
    let desk = TestFolder::new();
    let file = samples::of("pi").lay(desk.folder.path());
    let printed = secateur(&["convert", &file, "--to", "anthropic"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    assert!(printed.err.starts_with("pi session as Anthropic Messages request: "), "{}", printed.err);
    let out = desk.path("body.json");
    let written = secateur(&["convert", &file, "--to", "anthropic", "--out", out.to_str().unwrap()]);
    assert_eq!((written.out, written.err.as_str()), (printed.err, ""));
    assert_eq!(std::fs::read_to_string(&out).unwrap() + "\n", printed.out);
    let json = secateur(&["convert", &file, "--to", "anthropic", "--out", out.to_str().unwrap(), "--json"]);
    assert_eq!(json.json()["body"], serde_json::Value::Null);
}

#[test]
fn what_would_have_no_effect_is_refused() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    for option in [["--profile", "opencode"], ["--set", "watermark.protect=1"], ["--window", "1000"]] {
        let run = secateur(&[&["convert", &file, "--to", "gemini"], &option[..]].concat());
        assert_eq!(run.code, 2, "{option:?}");
        assert!(run.err.contains(option[0]), "{}", run.err);
    }
    let named = secateur(&["convert", &file, "--to", "openai-chat", "--model", "fern-1"]);
    assert!(named.out.contains(r#""model":"fern-1""#), "{}", named.out);
}
