//! Scanning a machine: the agents' usual folders, filters, order, and what is no session.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use super::samples::{self, Body, Sample};
use super::{Run, TestFolder, secateur, secateur_with};

/// Variables that move an agent's folder; an empty one counts as none.
const MOVED: [&str; 14] = [
    "USERPROFILE",
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "OPENCODE_DB",
    "PI_CODING_AGENT_DIR",
    "OPENCLAW_STATE_DIR",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "CLINE_DIR",
    "LOCALAPPDATA",
    "XDG_STATE_HOME",
];

/// Where the samples lie in a home folder, by agent.
const PLACES: [(&str, &str, &str); 8] = [
    ("claude-code", "claude-code.jsonl", ".claude/projects/-src-garden/s1.jsonl"),
    ("codex", "rollout-2030-01-01T00-00-00-s1.jsonl", ".codex/sessions/2030/01/01/rollout-s1.jsonl"),
    ("opencode", "opencode.db", ".local/share/opencode/opencode.db"),
    ("pi", "pi.jsonl", ".pi/agent/sessions/--src-garden--/s1.jsonl"),
    ("openclaw", "openclaw-agent.sqlite", ".openclaw/agents/main/agent/openclaw-agent.sqlite"),
    ("gemini-cli", "session-2030-01-01T00-00-s1.json", ".gemini/tmp/0a/chats/session-s1.json"),
    ("copilot-cli", "events.jsonl", ".copilot/session-state/s1/events.jsonl"),
    ("cline", "s1.messages.json", ".cline/data/sessions/s1/s1.messages.json"),
];

fn sample(name: &str) -> Sample {
    samples::all().into_iter().find(|sample| sample.name == name).unwrap()
}

/// A home folder in which every agent has left one session.
fn home() -> TestFolder {
    let desk = TestFolder::new();
    for (_, name, place) in PLACES {
        sample(name).lay_at(&desk.path(place));
    }
    // The old storage holds the session that the database has too.
    let storage = samples::opencode::folder();
    let Body::Folder(files) = &storage.body else { panic!("the old storage is a folder") };
    for (name, text) in files {
        write(&desk.path(".local/share/opencode").join(name), text);
    }
    let conversation = desk.path(".openhands/conversations/k1");
    write(&conversation.join("base_state.json"), "{}");
    for (number, event) in sample("openhands-v1.jsonl").text().unwrap().lines().enumerate() {
        write(&conversation.join(format!("events/event-{number:05}-e.json")), event);
    }
    // What lies beside the sessions is none.
    write(&desk.path(".claude/history.jsonl"), "{\"display\":\"Water the ferns.\"}\n");
    write(&desk.path(".codex/config.toml"), "model = \"gpt-5\"\n");
    desk
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Scans the home folder.
fn scan(desk: &TestFolder, arguments: &[&str]) -> Run {
    let mut variables = MOVED.map(|name| (name, "")).to_vec();
    variables.push(("HOME", desk.folder.path().to_str().unwrap()));
    secateur_with(&[&["scan"], arguments].concat(), &variables)
}

fn rows(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, 0, "{}", run.err);
    run.json().as_array().unwrap().clone()
}

fn agents(run: &Run) -> Vec<String> {
    let mut agents: Vec<_> = rows(run).iter().map(|row| row["agent"].as_str().unwrap().to_owned()).collect();
    agents.sort();
    agents
}

#[test]
fn every_agents_session_is_found_and_counted() {
    let desk = home();
    let run = scan(&desk, &["--json"]);
    assert_eq!(run.err, "");
    let rows = rows(&run);
    assert_eq!(rows.len(), PLACES.len() + 1, "{:?}", agents(&run));
    for (agent, name, place) in PLACES {
        let row = rows.iter().find(|row| row["agent"] == agent).unwrap_or_else(|| panic!("no {agent}"));
        let sample = sample(name);
        assert_eq!(row["format"], sample.format);
        assert_eq!(row["file"], desk.path(place).to_str().unwrap());
        for count in ["messages", "tool_calls", "tool_results", "compactions", "peak_context_tokens"] {
            let expected = sample.counts.get(count).cloned().unwrap_or(0.into());
            assert_eq!(row[count], expected, "{agent} {count}");
        }
        assert!(row["chars"].as_u64().unwrap() > row["tool_output_chars"].as_u64().unwrap(), "{agent}");
        assert!(row["modified"].is_u64(), "{agent}");
        assert_eq!(row["warnings"], 0, "{agent}");
    }
    let openhands = rows.iter().find(|row| row["agent"] == "openhands").unwrap();
    assert_eq!((&openhands["messages"], &openhands["session"]), (&7.into(), &"k1".into()));
    let of = |agent: &str| rows.iter().find(|row| row["agent"] == agent).unwrap();
    assert_eq!(of("claude-code")["project"], "/src/garden");
    assert_eq!(of("claude-code")["model"], "claude-sonnet-4-5");
    assert_eq!(of("opencode")["title"], "Ferns");
    assert_eq!(of("claude-code")["recorded_tokens"], 85);
}

#[test]
fn the_list_for_people_names_every_session_once_and_is_not_coloured() {
    let desk = home();
    let run = scan(&desk, &[]);
    assert_eq!(run.code, 0, "{}", run.err);
    for (agent, ..) in PLACES {
        assert_eq!(
            run.out.lines().filter(|line| line.trim_start().starts_with(agent)).count(),
            1,
            "{}",
            run.out
        );
    }
    assert!(
        run.out.contains("9 sessions; the profile balanced would remove 0 tokens (0.0 %)"),
        "{}",
        run.out
    );
    assert!(!run.out.contains('\u{1b}'));
}

#[test]
fn filters_leave_what_was_asked_for() {
    let desk = home();
    let json = |arguments: &[&str]| scan(&desk, &[arguments, &["--json"]].concat());
    assert_eq!(agents(&json(&["--agent", "claude"])), ["claude-code"]);
    assert_eq!(agents(&json(&["--agent", "claude-code"])), ["claude-code"]);
    assert_eq!(agents(&json(&["--agent", "openclaw"])), ["openclaw"]);
    assert_eq!(agents(&json(&["--agent", "nobody"])).len(), 0);
    assert_eq!(agents(&json(&["--project", "garden", "--agent", "codex"])), ["codex"]);
    assert_eq!(agents(&json(&["--project", "nowhere"])).len(), 0);

    let old = fs::File::options().write(true).open(desk.path(PLACES[0].2)).unwrap();
    old.set_modified(SystemTime::now() - Duration::from_secs(40 * 86_400)).unwrap();
    assert!(!agents(&json(&["--since", "4w"])).contains(&"claude-code".to_owned()));
    assert!(agents(&json(&["--since", "6w"])).contains(&"claude-code".to_owned()));

    let none = scan(&desk, &["--agent", "nobody"]);
    assert_eq!(none.code, 0);
    assert!(none.out.starts_with("No sessions found that match these filters in"), "{}", none.out);
}

#[test]
fn the_order_is_the_one_that_was_asked_for_and_a_limit_cuts_the_list_but_not_the_sums() {
    let desk = home();
    desk.put("big.json", "");
    let big = desk.demo();
    let place = desk.path(".claude/projects/-src-garden/big.jsonl");
    fs::rename(big, place).unwrap();
    for (sort, field) in [
        ("saved", "saved_tokens"),
        ("age", "modified"),
        ("context", "estimated_tokens"),
        ("peak", "peak_context_tokens"),
        ("messages", "messages"),
    ] {
        let rows = rows(&scan(&desk, &["--json", "--sort", sort]));
        let values: Vec<u64> = rows.iter().map(|row| row[field].as_u64().unwrap()).collect();
        assert!(values.is_sorted_by(|one, other| one >= other), "{sort}: {values:?}");
        assert!(values[0] > *values.last().unwrap(), "{sort}");
    }
    let all = rows(&scan(&desk, &["--json", "--sort", "messages"]));
    let some = rows(&scan(&desk, &["--json", "--sort", "messages", "--limit", "2"]));
    assert_eq!(some, all[..2]);
    let sum = |run: Run| run.out.lines().last().unwrap().split("; ").last().unwrap().to_owned();
    let limited = scan(&desk, &["--sort", "peak", "--limit", "0"]);
    assert!(limited.out.contains("10 sessions (0 shown)"), "{}", limited.out);
    assert_eq!(sum(limited), sum(scan(&desk, &[])));
    let one_thread = rows(&scan(&desk, &["--json", "--sort", "messages", "--threads", "1"]));
    assert_eq!(one_thread, all);
}

#[test]
fn an_empty_machine_is_no_error() {
    let desk = TestFolder::new();
    let run = scan(&desk, &[]);
    assert_eq!((run.code, run.err.as_str()), (0, ""));
    assert_eq!(
        run.out,
        "No sessions found in the usual folders of the known agents; name a file or folder to search elsewhere.\n"
    );
    assert_eq!(scan(&desk, &["--json"]).out, "[]\n");
    let folder = desk.folder.path().to_str().unwrap();
    assert_eq!(secateur(&["scan", folder]).out, format!("No sessions found in {folder}.\n"));
}

#[test]
fn a_folder_with_other_things_in_it_yields_its_sessions_and_a_note() {
    let desk = TestFolder::new();
    samples::of("codex").lay(desk.folder.path());
    samples::of("aider").lay(desk.folder.path());
    desk.put("notes.txt", "just notes");
    desk.put("package.json", r#"{"name":"garden"}"#);
    desk.put("empty.jsonl", "");
    desk.put("binary.json", [0u8, 159, 146, 150, 1, 2]);
    desk.put("torn.db", "SQLite format 3\0 and no more");
    let folder = desk.folder.path().to_str().unwrap();
    let run = secateur(&["scan", folder, "--json"]);
    assert_eq!(agents(&run), ["aider", "codex"]);
    assert!(run.err.contains("note: 3 files could not be read as a session. The first: "), "{}", run.err);
    assert!(run.err.contains("torn.db: "), "{}", run.err);
    for named in ["package.json", "empty.jsonl", "binary.json"] {
        let path = desk.path(named);
        let run = secateur(&["scan", path.to_str().unwrap()]);
        assert_eq!(run.code, 2, "a file that was named is expected to be a session");
        assert!(run.err.contains(named), "{}", run.err);
    }
}

#[test]
fn wrong_arguments_say_what_is_allowed() {
    for (arguments, words) in [
        (["scan", "--since", "soon"], "expected a number and m, h, d or w, e.g. 7d"),
        (["scan", "--sort", "size"], "[possible values: saved, age, context, peak, messages]"),
        (["scan", "--limit", "few"], "invalid digit"),
        (["scan", "--profile", "nobody"], "`profile` = \"nobody\": unknown profile; known are"),
    ] {
        let run = secateur(&arguments);
        assert_eq!(run.code, 2, "{arguments:?}");
        assert!(run.err.contains(words), "{arguments:?}: {}", run.err);
    }
}
