use std::path::PathBuf;

use serde_json::Value;

use super::sample::{HOSTILE, hostile, session};
use super::*;

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
        let html = page(&data);
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
    let html = page(&hostile());
    assert!(!data_of(&html).contains(['<', '\u{2028}', '\u{2029}']));
    let quiet = page(&session(120));
    for tag in ["<script", "</script", "<style", "</style", "<img", "<!--", "<title", "</title"] {
        assert_eq!(html.matches(tag).count(), quiet.matches(tag).count(), "{tag}");
    }
    assert!(HOSTILE.iter().any(|text| html.contains(text)), "some are harmless as they are");
}

#[test]
fn only_the_template_is_filled_in() {
    let data = ReportData { title: "{{data}} {{script}}".to_owned(), ..ReportData::default() };
    let html = page(&data);
    assert_eq!(between(&html, "<title>", "</title>"), "{{data}} {{script}} · Secateur");
    let empty = page(&ReportData { title: String::new(), ..ReportData::default() });
    assert!(!empty.contains("{{") && !empty.contains("}}\n"), "a place was left unfilled");
}

#[test]
fn the_policy_names_the_style_and_the_script_of_the_page() {
    let html = page(&session(3));
    let policy = between(&html, "Content-Security-Policy\" content=\"", "\"");
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    for element in [between(&html, "<style>", "</style>"), between(&html, "\n<script>", "</script>")] {
        assert!(element.len() > 1_000);
        assert!(policy.contains(&format!("'{}'", digest(element))), "{policy}");
    }
}

#[test]
fn base64_is_that_of_its_specification() {
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
        assert_eq!(base64(bytes.as_bytes()), text);
    }
    assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
}

/// `crates/cli/tests/browser/run` opens these pages. They are written where `SECATEUR_REPORT_OUT` says.
#[test]
fn samples_are_written_for_the_browser() {
    let Some(folder) = std::env::var_os("SECATEUR_REPORT_OUT").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let samples = [
        ("empty", session(0)),
        ("short", session(150)),
        ("long", session(5_000)),
        ("endless", session(20_000)),
        ("hostile", hostile()),
    ];
    for (name, data) in samples {
        std::fs::write(folder.join(format!("{name}.html")), page(&data)).unwrap();
    }
}
