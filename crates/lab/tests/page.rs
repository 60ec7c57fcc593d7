//! The page of a study, made from small sessions that are written here.
//!
//! What a browser makes of the page is looked at by people. These tests hold what must not break unseen: that it is one
//! whole document, that it loads nothing, and that no name out of a log becomes markup.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on may say so with a panic")]

use std::fmt::Write;

use secateur::Measures;
use secateur_lab::{PriceSheets, Study, StudyOptions, Trace, TraceLabel, page, profiles};

const HOSTILE: &str = "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\">&\u{202e}{{data}}";

/// A session in which files are read one after the other.
fn session(agent: &str, name: &str, calls: usize) -> Vec<Trace> {
    let mut log = String::from(
        r#"{"type":"user","uuid":"u","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:00.000Z","message":{"role":"user","content":"look"}}"#,
    );
    let mut parent = "u".to_owned();
    for call in 0..calls {
        let time = format!("2026-01-01T00:{:02}:{:02}.000Z", call / 4, call % 4 * 15);
        let (input, read) = (2_000, 9_000 + 2_500 * call);
        _ = write!(
            log,
            "\n{{\"type\":\"assistant\",\"uuid\":\"a{call}\",\"parentUuid\":\"{parent}\",\"sessionId\":\"s\",\"timestamp\":\"{time}\",\
             \"message\":{{\"id\":\"m{call}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-5\",\"content\":[{{\"type\":\"tool_use\",\
             \"id\":\"t{call}\",\"name\":\"Read\",\"input\":{{\"file_path\":\"/src/f{call}.rs\"}}}}],\"usage\":{{\"input_tokens\":10,\
             \"cache_creation_input_tokens\":{input},\"cache_read_input_tokens\":{read},\"output_tokens\":80}}}}}}\
             \n{{\"type\":\"user\",\"uuid\":\"r{call}\",\"parentUuid\":\"a{call}\",\"sessionId\":\"s\",\"timestamp\":\"{time}\",\
             \"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{call}\",\"content\":\"{}\"}}]}}}}",
            format!("let value_{call} = {call}; ").repeat(400)
        );
        parent = format!("r{call}");
    }
    let measures = Measures { source: true, excerpt: true, weighted: true, ..Measures::default() };
    let transcript = secateur_formats::read(log.as_bytes(), &measures).unwrap();
    let label = TraceLabel { agent: agent.to_owned(), project: "p".to_owned(), name: name.to_owned() };
    Trace::of(&transcript, &label)
}

fn study(sessions: &[(&str, &str, usize)]) -> Study {
    let traces = sessions.iter().flat_map(|(agent, name, calls)| session(agent, name, *calls)).collect();
    let all = profiles();
    let list: Vec<_> = ["none", "anthropic", "rolling-10", "cap-4k", "careful", "balanced", "frugal"]
        .iter()
        .map(|name| all.get(name).unwrap())
        .collect();
    Study::of(traces, &list, &PriceSheets::builtin(), &StudyOptions::default(), |_, _| ()).unwrap()
}

fn usual() -> Study {
    study(&[("alpha", "first.jsonl", 30), ("alpha", "second.jsonl", 60), ("beta", "third.jsonl", 45)])
}

/// What lies between two marks.
fn between<'a>(html: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = html.split_once(start).unwrap();
    rest.split_once(end).unwrap().0
}

/// The tags of a page without what lies in styles and scripts; fails where one is not closed.
fn tags(html: &str) -> Vec<String> {
    const VOID: [&str; 4] = ["!doctype", "meta", "input", "br"];
    let (mut open, mut all): (Vec<&str>, Vec<String>) = (Vec::new(), Vec::new());
    let mut rest = html;
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').unwrap();
        assert!(!tag.contains('<'), "<{tag}");
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "after {:?}", all.last());
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap();
        assert!(tag.matches('"').count() % 2 == 0, "<{tag}>");
        all.push(tag.to_owned());
        if !VOID.contains(&name) && !tag.ends_with('/') {
            open.push(name);
        }
        if matches!(name, "script" | "style") {
            rest = &rest[rest.find(&format!("</{name}>")).unwrap()..];
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn every_tag_is_closed_and_every_id_is_there_once() {
    for study in [usual(), study(&[("alpha", "only.jsonl", 12)]), study(&[])] {
        let html = page(&study, "A study");
        let tags = tags(&html);
        let mut ids: Vec<&str> = tags.iter().filter_map(|tag| Some(tag.split_once(" id=\"")?.1)).collect();
        ids.iter_mut().for_each(|id| *id = id.split('"').next().unwrap());
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(count, ids.len());
        let (shown, _) = html.split_once("<script").unwrap();
        assert!(!shown.contains("NaN") && !shown.contains("inf%"), "a number is none");
        assert!(!html.contains("{{") && !html.contains("}}\n"), "a place was left unfilled");
    }
}

#[test]
fn nothing_is_loaded() {
    let html = page(&usual(), "A study");
    assert!(!html.contains("http://") && !html.contains("https://") && !html.contains("//cdn"));
    assert!(!html.contains("@import") && !html.contains("url("));
    for tag in tags(&html) {
        assert!(!tag.contains(" src=") && !tag.starts_with("link"), "<{tag}>");
        assert!(!tag.contains(" href=") || tag.contains(" href=\"#"), "<{tag}>");
    }
    assert!(between(&html, "Content-Security-Policy\" content=\"", "\"").starts_with("default-src 'none';"));
}

#[test]
fn no_name_becomes_markup() {
    let quiet = page(&study(&[("alpha", "x", 14), ("beta", "y", 14)]), "title");
    let html = page(&study(&[(HOSTILE, HOSTILE, 14), ("beta", "y", 14)]), HOSTILE);
    let names = |html: &str| -> Vec<String> {
        tags(html).iter().map(|tag| tag.split([' ', '/']).next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&html), names(&quiet));
    assert!(!between(&html, "id=\"data\">", "</script>").contains('<'));
    assert!(html.contains("<h1>&lt;/script&gt;&lt;script&gt;"));
    assert!(!html.contains('\u{202e}'));
}

#[test]
fn the_same_study_gives_the_same_page() {
    assert_eq!(page(&usual(), "A study"), page(&usual(), "A study"));
}

#[test]
fn every_policy_and_every_agent_is_there() {
    let study = usual();
    let html = page(&study, "A study");
    for policy in &study.policies {
        // In two tables, for all agents and each of the two.
        let cell = format!("<th scope=\"row\">{policy}</th>");
        assert_eq!(html.matches(&cell).count(), 6, "{policy}");
        assert_eq!(html.matches(&format!("<title>{policy}: ")).count(), 9, "{policy}");
    }
    for agent in ["alpha", "beta"] {
        assert!(html.contains(&format!("<caption>{agent}: ")), "{agent}");
    }
    assert!(html.contains("3\u{a0}recorded sessions") && html.contains("135\u{a0}model calls"));
}

#[test]
fn the_lines_are_those_of_the_replay() {
    let study = usual();
    let html = page(&study, "A study");
    let data: serde_json::Value = serde_json::from_str(between(&html, "id=\"data\">", "</script>")).unwrap();
    let sessions = data["sessions"].as_array().unwrap();
    assert_eq!(sessions[0]["name"], "second.jsonl", "the dearest comes first");
    assert_eq!(data["policies"].as_array().unwrap().len(), study.policies.len());
    for session in sessions {
        let case = study.sessions.iter().find(|case| session["name"] == *case.trace.name).unwrap();
        let mut sum = 0;
        for (grown, tokens) in session["lines"][0].as_array().unwrap().iter().zip(&case.none.contexts) {
            sum += grown.as_i64().unwrap();
            assert!((sum as f32 * 100.0 - tokens).abs() <= 50.5, "{sum} {tokens}");
        }
        assert_eq!(session["lines"].as_array().unwrap().len(), study.policies.len());
    }
}

#[test]
fn many_sessions_make_a_page_that_can_be_mailed() {
    let names: Vec<String> = (0..40).map(|index| format!("session-{index:02}-of-a-project.jsonl")).collect();
    let sessions: Vec<(&str, &str, usize)> =
        names.iter().enumerate().map(|(index, name)| (["a", "b", "c"][index % 3], &**name, 20)).collect();
    let html = page(&study(&sessions), "A study");
    assert!(html.len() < 700_000, "{}", html.len());
    assert!(between(&html, "id=\"data\">", "</script>").matches("\"name\":\"session-").count() == 12);
}
