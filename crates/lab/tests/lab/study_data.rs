//! The data of a study's page, made from small sessions that are written here.

use std::fmt::Write;
use std::path::PathBuf;

use secateur::Measures;
use secateur_lab::{
    DEFAULT_POLICIES, PriceSheets, Study, StudyData, StudyOptions, Trace, TraceLabel, profiles,
};
use secateur_pages::{PageHead, STUDY, contract};
use serde_json::Value;

const HOSTILE: &str = "</script><script>alert('1')</script><img src=x onerror=\"alert(2)\">&\u{202e}{{data}}";

const FEW_POLICIES: [&str; 7] =
    ["none", "anthropic", "rolling-10", "cap-4k", "careful", "balanced", "frugal"];

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

fn study_of(sessions: &[(&str, &str, usize)], policies: &[&str]) -> Study {
    let traces = sessions.iter().flat_map(|(agent, name, calls)| session(agent, name, *calls)).collect();
    let known = profiles();
    let list: Vec<_> = policies.iter().map(|name| known.get(name).unwrap()).collect();
    Study::of(traces, &list, &PriceSheets::builtin(), &StudyOptions::default(), |_, _| ()).unwrap()
}

fn study(sessions: &[(&str, &str, usize)]) -> Study {
    study_of(sessions, &FEW_POLICIES)
}

fn usual() -> Study {
    study(&[("alpha", "first.jsonl", 30), ("alpha", "second.jsonl", 60), ("beta", "third.jsonl", 45)])
}

fn data(study: &Study) -> Value {
    serde_json::to_value(StudyData::of(study, "A study")).unwrap()
}

fn page(study: &Study, title: &str) -> String {
    STUDY.render(&PageHead { title, summary: "" }, &StudyData::of(study, title))
}

#[test]
fn the_data_are_what_the_page_expects() {
    for study in [usual(), study(&[("alpha", "only.jsonl", 12)]), study(&[])] {
        contract::check("study/data.js", "StudyData", &data(&study)).unwrap();
    }
}

#[test]
fn the_same_study_gives_the_same_page() {
    assert_eq!(page(&usual(), "A study"), page(&usual(), "A study"));
}

#[test]
fn no_name_becomes_markup() {
    let quiet = page(&study(&[("alpha", "x", 14), ("beta", "y", 14)]), "title");
    let html = page(&study(&[(HOSTILE, HOSTILE, 14), ("beta", "y", 14)]), HOSTILE);
    assert_eq!(html.matches('<').count(), quiet.matches('<').count());
    assert!(html.contains("<title>&lt;/script&gt;&lt;script&gt;"));
}

#[test]
fn every_policy_and_every_agent_is_there() {
    let study = usual();
    let data = StudyData::of(&study, "A study");
    let names = |view: usize| -> Vec<&str> { data.views[view].rows.iter().map(|row| &*row.policy).collect() };
    for view in 0..3 {
        assert_eq!(names(view), FEW_POLICIES);
    }
    let agents: Vec<Option<&str>> = data.views.iter().map(|view| view.agent.as_deref()).collect();
    assert_eq!(agents, [None, Some("alpha"), Some("beta")]);
    let own: Vec<bool> = data.policies.iter().map(|policy| policy.own).collect();
    assert_eq!(own, [false, false, false, false, true, true, true]);
    assert_eq!(data.sessions.iter().map(|session| session.calls).sum::<usize>(), 135);
    assert!(data.sessions.iter().all(|session| (session.cost_pct[0] - 100.0).abs() < 1e-9));
    // Without a session there is nothing to choose from.
    assert!(StudyData::of(&study_of(&[], &FEW_POLICIES), "").views.is_empty());
}

#[test]
fn the_lines_are_those_of_the_replay() {
    let study = usual();
    let data = data(&study);
    let contexts = &data["contexts"];
    let sessions = contexts["sessions"].as_array().unwrap();
    assert_eq!(sessions[0]["name"], "second.jsonl", "the most costly comes first");
    assert_eq!(contexts["policies"].as_array().unwrap().len(), study.policies.len());
    for session in sessions {
        let replayed = study.sessions.iter().find(|each| session["name"] == *each.trace.name).unwrap();
        let mut sum = 0;
        for (grown, tokens) in session["lines"][0].as_array().unwrap().iter().zip(&replayed.none.contexts) {
            sum += grown.as_i64().unwrap();
            assert!((sum as f32 * 100.0 - tokens).abs() <= 50.5, "{sum} {tokens}");
        }
        assert_eq!(session["lines"].as_array().unwrap().len(), study.policies.len());
    }
}

#[test]
fn many_sessions_make_a_page_that_can_be_mailed() {
    let study = study(&many(40).iter().map(|(agent, name)| (*agent, &**name, 20)).collect::<Vec<_>>());
    assert!(page(&study, "A study").len() < 700_000);
    assert_eq!(StudyData::of(&study, "").contexts.sessions.len(), 12);
}

/// Names of sessions of three agents.
fn many(count: usize) -> Vec<(&'static str, String)> {
    let name = |index: usize| format!("session-{index:02}-of-a-project.jsonl");
    (0..count).map(|index| (["alpha", "beta", "gamma"][index % 3], name(index))).collect()
}

/// `crates/cli/tests/browser/run` opens these pages. They are written where `SECATEUR_PAGES_OUT` says.
#[test]
fn samples_are_written_for_the_browser() {
    let Some(folder) = std::env::var_os("SECATEUR_PAGES_OUT").map(PathBuf::from) else { return };
    std::fs::create_dir_all(&folder).unwrap();
    let names = many(15);
    let sessions: Vec<(&str, &str, usize)> =
        names.iter().enumerate().map(|(index, (agent, name))| (*agent, &**name, 20 + 9 * index)).collect();
    let samples = [
        ("study", study_of(&sessions, &DEFAULT_POLICIES)),
        ("study-single", study(&[("alpha", "only.jsonl", 30)])),
        ("study-empty", study(&[])),
        ("study-hostile", study(&[(HOSTILE, HOSTILE, 14), ("beta", &"W".repeat(3_000), 14)])),
    ];
    for (name, study) in samples {
        let title = if name == "study-hostile" { HOSTILE } else { "What pruning would have cost" };
        std::fs::write(folder.join(format!("{name}.html")), page(&study, title)).unwrap();
    }
}
