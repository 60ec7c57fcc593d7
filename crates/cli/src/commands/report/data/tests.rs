mod sample;

use std::path::PathBuf;

use serde_json::Value;

use sample::{HOSTILE, hostile, session};

/// What lies between two marks that each occur once.
fn between<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = html.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

fn data_of(html: &str) -> &str {
    between(html, "<script type=\"application/json\" id=\"data\">", "</script>")
}

#[test]
fn the_data_come_back_as_they_went_in() {
    for data in [session(0), session(300), hostile()] {
        let html = data.page();
        let read: Value = serde_json::from_str(data_of(&html)).unwrap();
        assert_eq!(read, serde_json::to_value(&data).unwrap());
    }
}

#[test]
fn the_names_of_the_contract_are_kept() {
    let data = serde_json::to_value(session(500)).unwrap();
    let part = data["parts"].as_array().unwrap().iter().find(|part| part["verdict"] == "cut").unwrap();
    assert_eq!(part["kind"], "result");
    assert_eq!(data["messages"][0]["role"], "user");
    let names: Vec<&str> = part.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "message", "kind", "tool", "subject", "status", "size", "after", "verdict", "reason", "preview",
            "clipped"
        ]
    );
}

#[test]
fn no_text_of_a_session_becomes_markup() {
    let html = hostile().page();
    assert!(!data_of(&html).contains(['<', '\u{2028}', '\u{2029}']));
    let quiet = session(120).page();
    for tag in ["<script", "</script", "<style", "</style", "<img", "<!--", "<title", "</title"] {
        assert_eq!(html.matches(tag).count(), quiet.matches(tag).count(), "{tag}");
    }
    assert!(HOSTILE.iter().any(|text| html.contains(text)), "some are harmless as they are");
}

#[test]
fn the_data_are_what_the_page_expects() {
    for data in [session(0), session(500), hostile()] {
        let data = serde_json::to_value(&data).unwrap();
        secateur_pages::contract::check("report/data.js", "ReportData", &data).unwrap();
    }
}

/// `crates/cli/tests/browser/run` opens these pages. They are written where `SECATEUR_PAGES_OUT` says.
#[test]
fn samples_are_written_for_the_browser() {
    let Some(folder) = std::env::var_os("SECATEUR_PAGES_OUT").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let samples = [
        ("empty", session(0)),
        ("short", session(150)),
        ("long", session(5_000)),
        ("endless", session(20_000)),
        ("hostile", hostile()),
    ];
    for (name, data) in samples {
        std::fs::write(folder.join(format!("{name}.html")), data.page()).unwrap();
    }
}
