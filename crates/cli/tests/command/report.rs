//! The page of a session: written where it was asked for, with the session's data, and nowhere else.

use std::fs;

use serde_json::Value;

use super::samples;
use super::{TestFolder, bytes, secateur};

/// The data that a page holds.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"data\">").expect("the page holds data");
    let (data, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn every_format_becomes_a_page_with_its_data() {
    let desk = TestFolder::new();
    for sample in samples::all() {
        let file = sample.lay(desk.folder.path());
        let out = desk.path("page.html");
        let run = secateur(&["report", &file, "--out", out.to_str().unwrap(), "--json"]);
        assert_eq!(run.code, 0, "{}: {}", sample.name, run.err);
        let page = fs::read_to_string(&out).unwrap();
        let (written, data) = (run.json(), data(&page));
        assert_eq!(written["page"], out.to_str().unwrap());
        assert_eq!(written["bytes"], page.len());
        assert_eq!(written["totals"], data["totals"], "{}", sample.name);
        let counts = sample.counts.get(0).unwrap_or(&sample.counts);
        let expected = counts.get("tool_calls").cloned().unwrap_or(0.into());
        assert_eq!(written["totals"]["tool_calls"], expected, "{}", sample.name);
        let parts = data["parts"].as_array().unwrap();
        assert_eq!(written["totals"]["parts"], parts.len());
        assert!(page.contains("Water the ferns."), "{}", sample.name);
    }
}

#[test]
fn the_page_needs_no_network_and_takes_text_for_text() {
    let desk = TestFolder::new();
    let text =
        samples::of("claude").text().unwrap().replace("dry soil", "</script><script>alert(1)</script>");
    let file = desk.put("session.jsonl", text);
    let out = desk.path("page.html");
    let run = secateur(&["report", &file, "--out", out.to_str().unwrap()]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert!(run.out.starts_with(&format!("{}: ", out.display())), "{}", run.out);
    assert!(run.out.contains("with the profile balanced about"), "{}", run.out);
    let page = fs::read_to_string(&out).unwrap();
    assert!(page.contains("default-src 'none'"));
    assert!(!page.contains("<script>alert") && !page.contains(" src=") && !page.contains("<link"));
    assert!(data(&page).to_string().contains("alert(1)"));
}

#[test]
fn a_profile_shows_in_the_page() {
    let desk = TestFolder::new();
    let file = desk.demo();
    let out = desk.path("page.html");
    let run = |profile: &str| {
        secateur(&["report", &file, "--profile", profile, "--out", out.to_str().unwrap(), "--json"]).json()
    };
    let totals = run("opencode")["totals"].clone();
    assert!(totals["after"].as_u64().unwrap() < totals["before"].as_u64().unwrap(), "{totals}");
    assert_eq!(data(&fs::read_to_string(&out).unwrap())["profile"]["name"], "opencode");
    let other = run("openclaw@2026-01")["totals"].clone();
    assert_eq!(other["before"], totals["before"]);
    assert_ne!(other["after"], totals["after"]);
}

#[test]
fn nothing_is_written_over_the_session_or_into_a_folder() {
    let desk = TestFolder::new();
    let file = samples::of("claude").lay(desk.folder.path());
    let database = samples::opencode::database().lay(desk.folder.path());
    let (before, rows) = (bytes(&file), bytes(&database));
    let folder = desk.folder.path().to_str().unwrap().to_owned();
    let roundabout = format!("{folder}/./claude-code.jsonl");
    for (file, out, why) in [
        (&file, &folder, "is a folder; name a file for the output"),
        (&file, &file, "is the input; name another file for the output"),
        (&file, &roundabout, "is the input; name another file for the output"),
        (&database, &database, "is the input; name another file for the output"),
    ] {
        for command in [
            vec!["report", file, "--out", out],
            vec!["context", file, "--to", "anthropic", "--out", out],
            vec!["convert", file, "--to", "gemini", "--out", out],
        ] {
            let run = secateur(&command);
            assert_eq!(run.code, 2, "{command:?}");
            assert!(run.err.contains(why), "{command:?}: {}", run.err);
        }
    }
    assert_eq!((bytes(&file), bytes(&database)), (before, rows));
    let run = secateur(&["report", &file, "--out", "/no/such/folder/page.html"]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("cannot write /no/such/folder/page.html"), "{}", run.err);
    let run = secateur(&["report", &file]);
    assert_eq!(run.code, 2);
    assert!(run.err.contains("--out <PAGE>"), "{}", run.err);
}
