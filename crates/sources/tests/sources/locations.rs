use secateur_sources::{AGENTS, Agent, AgentFolders, find};

use super::*;

#[test]
fn every_agent_is_found_where_it_keeps_its_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    for file in [
        ".claude/projects/-src-garden/a.jsonl",
        ".config/claude/projects/-src-shed/b.jsonl",
        ".codex/sessions/2026/01/02/rollout-2026-01-02-c.jsonl",
        ".codex/archived_sessions/rollout-d.jsonl",
        ".pi/agent/sessions/--src-garden--/e.jsonl",
        ".openclaw/agents/main/sessions/f.jsonl",
        ".gemini/tmp/0a/chats/session-g.json",
        ".gemini/tmp/0a/chats/session-h.jsonl",
        ".copilot/session-state/i/events.jsonl",
        ".copilot/history-session-state/j.json",
        ".cline/data/tasks/1/api_conversation_history.json",
        ".cline/data/sessions/2/2.messages.json",
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/3/api_conversation_history.json",
    ] {
        write(home.join(file), "{}");
    }
    for other in [
        ".claude/projects/-src-garden/a/subagents/agent-1.jsonl",
        ".claude/history.jsonl",
        ".codex/history.jsonl",
        ".openclaw/agents/main/sessions/sessions.json",
        ".openclaw/agents/main/sessions/f.trajectory.jsonl",
        ".openclaw/agents/main/sessions/f.jsonl.deleted.1",
        ".gemini/tmp/0a/logs.json",
        ".cline/data/tasks/1/ui_messages.json",
        ".openhands/conversations/unfinished/notes.txt",
        "garden/.aider.chat.history.md",
    ] {
        write(home.join(other), "{}");
    }
    write(home.join(".openhands/conversations/k/base_state.json"), "{}");
    write(home.join(".openhands/conversations/k/events/event-00001-b.json"), r#"{"n": 2}"#);
    write(home.join(".openhands/conversations/k/events/event-00000-a.json"), r#"{"n":1}"#);
    drop(opencode_database(&home.join(".local/share/opencode/opencode.db")));
    write(home.join(".local/share/opencode/storage/session/prj/ses_1.json"), r#"{"id":"moved"}"#);
    write(home.join(".local/share/opencode/storage/session/prj/ses_old.json"), "{}");

    let found = find(&AgentFolders { home: Some(home.to_path_buf()), ..AgentFolders::default() });
    assert_eq!(said(&found.warnings), "");
    let count = |agent| found.sources.iter().filter(|source| source.agent == Some(agent)).count();
    assert_eq!(AGENTS.map(count), [2, 2, 2, 1, 1, 2, 2, 3, 0, 1], "{:#?}", found.sources);
    let project =
        |agent| found.sources.iter().find(|source| source.agent == Some(agent)).unwrap().project.as_deref();
    assert_eq!(project(Agent::ClaudeCode), Some("-src-garden"));
    assert_eq!(project(Agent::Pi), Some("--src-garden--"));
    assert_eq!(project(Agent::OpenClaw), Some("main"));
    assert_eq!(project(Agent::OpenCode), Some("/src/garden"));
    let openhands = found.sources.last().unwrap();
    assert_eq!(text(openhands.open().unwrap()), r#"[{"n":1},{"n": 2}]"#);
    for source in &found.sources {
        source.open().unwrap();
    }
}

#[test]
fn variables_move_folders_and_one_folder_by_two_names_is_listed_once() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    write(at("home/.claude/projects/p/old.jsonl"), "{}");
    write(at("claude/projects/p/new.jsonl"), "{}");
    write(at("codex/archived_sessions/rollout-1.jsonl"), "{}");
    drop(opencode_database(&at("db/mine.sqlite")));
    let homes = AgentFolders::from_vars(|name| match name {
        "HOME" => Some(at("home").into()),
        "CLAUDE_CONFIG_DIR" => Some(at("claude").into()),
        "CODEX_HOME" => Some(at("codex").into()),
        "OPENCODE_DB" => Some(at("db/mine.sqlite").into()),
        "XDG_DATA_HOME" => Some("".into()),
        _ => None,
    });
    assert_eq!(homes.data, None);
    let found = find(&homes);
    let names: Vec<_> = found.sources.iter().map(|source| source.path.file_name().unwrap()).collect();
    assert_eq!(names, ["new.jsonl", "rollout-1.jsonl", "mine.sqlite"]);

    #[cfg(unix)]
    {
        fs::create_dir_all(at("home/.config")).unwrap();
        std::os::unix::fs::symlink(at("home/.claude"), at("home/.config/claude")).unwrap();
        let found = find(&AgentFolders { home: Some(at("home")), ..AgentFolders::default() });
        assert_eq!(only(&found).path, at("home/.claude/projects/p/old.jsonl"));
    }
    assert!(find(&AgentFolders::default()).sources.is_empty());
}

#[test]
fn a_broken_database_is_a_warning_and_the_others_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let home = folder.path();
    write(home.join(".local/share/opencode/opencode.db"), "not a database, but long enough to look like one");
    drop(opencode_database(&home.join(".local/share/opencode/opencode-dev.db")));
    fs::create_dir_all(home.join(".openclaw/agents/main/agent")).unwrap();
    let early = Connection::open(home.join(".openclaw/agents/main/agent/openclaw-agent.sqlite")).unwrap();
    early.execute_batch("CREATE TABLE auth (id)").unwrap();
    let found = find(&AgentFolders { home: Some(home.to_path_buf()), ..AgentFolders::default() });
    assert!(only(&found).path.ends_with("opencode-dev.db"));
    assert_eq!(found.warnings.len(), 1, "{:?}", found.warnings);
    assert!(
        said(&found.warnings).contains("opencode.db: the database cannot be read: file is not a database")
    );
}
