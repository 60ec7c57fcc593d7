//! Where each agent stores its sessions.
//!
//! One table, so that a new agent or a moved folder is one line. A comment says how reliable each line is:
//! *documented* by the agent's authors, *seen* in sessions that the agent wrote, or *reported* by others.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::source::{FoundSources, Source, SourceKind};
use crate::{Agent, AgentFolders, SourceError, SourceWarning, opencode, openhands, pattern, storage};

/// Editors that store extensions' files like VS Code does.
const EDITORS: [&str; 5] = ["Code", "Code - Insiders", "VSCodium", "Cursor", "Windsurf"];

/// Finds the sessions of all agents on this machine, in their usual folders.
///
/// A missing folder means that the agent is not installed. A session that OpenCode has moved from its old folder into
/// its database is listed once, from the database. aider stores its history in the project, so it is not found here;
/// pass the project to [`find_at`](crate::find_at).
#[must_use]
pub fn find(folders: &AgentFolders) -> FoundSources {
    let mut found = FoundSources::default();
    let mut seen = HashSet::new();
    for place in locations(folders) {
        let Ok(root) = fs::canonicalize(&place.root) else { continue };
        // A folder with two names, because of a link or a variable, is searched once.
        if !seen.insert((root, place.pattern)) {
            continue;
        }
        for found_path in pattern::matches(&place.root, place.pattern, &mut found.warnings) {
            let sources = match place.kind {
                LocationKind::File => files(found_path.path),
                LocationKind::Database => databases(&found_path.path, &mut found.warnings),
                LocationKind::OpenCodeFolder => opencode::folder::list(&found_path.path, &mut found.warnings),
                LocationKind::OpenHandsFolder if openhands::is_conversation(&found_path.path) => {
                    openhands::conversation(&found_path.path).into_iter().collect()
                }
                LocationKind::OpenHandsFolder => Vec::new(),
            };
            for mut source in sources {
                source.agent = Some(place.agent);
                source.project = source.project.or_else(|| found_path.project.clone());
                found.sources.push(source);
            }
        }
    }
    list_once(&mut found.sources);
    found
}

/// Leaves out sessions of OpenCode's old folder that its database has too.
pub(crate) fn list_once(sources: &mut Vec<Source>) {
    let moved: HashSet<String> = sources
        .iter()
        .filter(|source| source.kind == SourceKind::OpenCodeDatabase)
        .filter_map(|source| source.session.clone())
        .collect();
    sources.retain(|source| {
        source.kind != SourceKind::OpenCodeFolder
            || source.session.as_ref().is_none_or(|session| !moved.contains(session))
    });
}

fn files(path: PathBuf) -> Vec<Source> {
    // Anything but a regular file is not a session, and opening it would fail.
    if path.is_file() { vec![Source::file(path)] } else { Vec::new() }
}

fn databases(path: &Path, warnings: &mut Vec<SourceWarning>) -> Vec<Source> {
    match storage::list_database(path) {
        Ok(sources) => sources,
        // OpenClaw had the database before it stored sessions in it.
        Err(SourceError::UnknownDatabase { .. }) => Vec::new(),
        Err(error) => {
            warnings.push(SourceWarning::new(path, error.reason()));
            Vec::new()
        }
    }
}

struct SessionLocation {
    agent: Agent,
    root: PathBuf,
    pattern: &'static str,
    kind: LocationKind,
}

#[derive(Clone, Copy)]
enum LocationKind {
    File,
    Database,
    OpenCodeFolder,
    OpenHandsFolder,
}

#[rustfmt::skip]
fn locations(folders: &AgentFolders) -> Vec<SessionLocation> {
    use Agent::{ClaudeCode, Cline, Codex, CopilotCli, GeminiCli, OpenClaw, OpenCode, OpenHands, Pi};
    use LocationKind::{OpenHandsFolder, Database, File, OpenCodeFolder};

    let mut locations = Vec::new();
    let mut add = |agent, root: Option<PathBuf>, pattern, kind| {
        locations.extend(root.map(|root| SessionLocation { agent, root, pattern, kind }));
    };
    let config = folders.or_below(folders.config.as_ref(), ".config");
    let data = folders.or_below(folders.data.as_ref(), ".local/share");

    // Documented. The second folder is that of versions that followed XDG (reported).
    let claude = folders.or_below(folders.claude.as_ref(), ".claude");
    let moved = config.as_ref().filter(|_| folders.claude.is_none()).map(|config| config.join("claude"));
    add(ClaudeCode, claude, "projects/{project}/*.jsonl", File);
    add(ClaudeCode, moved, "projects/{project}/*.jsonl", File);

    // Seen; year, month and day are folders.
    let codex = folders.or_below(folders.codex.as_ref(), ".codex");
    add(Codex, codex.clone(), "sessions/*/*/*/rollout-*.jsonl", File);
    add(Codex, codex, "archived_sessions/rollout-*.jsonl", File);

    // Seen. Other release channels have databases like `opencode-dev.db` (reported); versions before the database
    // used the folder `storage`.
    let opencode = data.map(|data| data.join("opencode"));
    add(OpenCode, opencode.clone(), "opencode*.db", Database);
    let named = folders.opencode_database.as_ref().map(|path| match &opencode {
        Some(folder) => folder.join(path),
        None => path.clone(),
    });
    add(OpenCode, named, "", Database);
    add(OpenCode, opencode, "storage", OpenCodeFolder);

    // Seen.
    let pi = folders.or_below(folders.pi.as_ref(), ".pi/agent");
    add(Pi, pi, "sessions/{project}/*.jsonl", File);

    // Documented: lines until mid-2026, the database since. `~/.clawdbot` is its former name (reported).
    let openclaw = folders.or_below(folders.openclaw.as_ref(), ".openclaw");
    let former = folders.below(".clawdbot").filter(|_| folders.openclaw.is_none());
    for root in [openclaw, former] {
        add(OpenClaw, root.clone(), "agents/{project}/agent/openclaw-agent.sqlite", Database);
        add(OpenClaw, root, "agents/{project}/sessions/*.jsonl", File);
    }

    // Documented: one document until 2026, lines since (reported).
    let gemini = folders.or_below(folders.gemini.as_ref(), "").map(|home| home.join(".gemini"));
    add(GeminiCli, gemini.clone(), "tmp/{project}/chats/session-*.json", File);
    add(GeminiCli, gemini, "tmp/{project}/chats/session-*.jsonl", File);

    // Reported many times; the second and third are those of early versions.
    let copilot = folders.or_below(folders.copilot.as_ref(), ".copilot");
    add(CopilotCli, copilot.clone(), "session-state/*/events.jsonl", File);
    add(CopilotCli, copilot.clone(), "session-state/*.jsonl", File);
    add(CopilotCli, copilot, "history-session-state/*.json", File);

    // The extension: documented. The command: reported; tasks in early versions, sessions since.
    let cline = folders.or_below(folders.cline.as_ref(), ".cline");
    add(Cline, cline.clone(), "data/tasks/*/api_conversation_history.json", File);
    add(Cline, cline, "data/sessions/*/*.messages.json", File);
    let editors = [config, folders.applications.clone()].into_iter().flatten()
        .flat_map(|folder| EDITORS.map(|editor| folder.join(editor)))
        .chain(folders.below(".vscode-server/data"));
    for editor in editors {
        let pattern = "User/globalStorage/saoudrizwan.claude-dev/tasks/*/api_conversation_history.json";
        add(Cline, Some(editor), pattern, File);
    }

    // Documented; the files in it are reported.
    add(OpenHands, folders.below(".openhands"), "conversations/*", OpenHandsFolder);
    locations
}
