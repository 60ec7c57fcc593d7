//! The agents that can be pointed at the proxy: which variables they read, and in which files else their addresses are.
//!
//! `secateur run` sets the variables, `secateur doctor` looks at both. What an agent wants beyond variables is in
//! `run/`, one file per agent.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use secateur_server::Provider;
use secateur_sources::AgentFolders;

/// An agent, by the name of its program.
#[derive(Debug)]
pub(crate) struct AgentSpec {
    /// The program's name.
    pub(crate) program: &'static str,
    /// Its name as people write it.
    pub(crate) title: &'static str,
    /// The variables in which it looks for a provider's address.
    pub(crate) variables: &'static [(&'static str, Provider)],
    /// What it wants beyond them.
    pub(crate) method: AddressMethod,
}

/// How an agent is told an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressMethod {
    /// By variables alone.
    Variables,
    /// Its settings go over variables.
    Claude,
    /// By arguments.
    Codex,
    /// By a variable that holds configuration.
    OpenCode,
    /// By an extension that is loaded for one run.
    Pi,
    /// By a copy of its file.
    OpenClaw,
}

const ANTHROPIC: (&str, Provider) = ("ANTHROPIC_BASE_URL", Provider::Anthropic);
const OPENAI: (&str, Provider) = ("OPENAI_BASE_URL", Provider::OpenAi);
const OPENAI_OLD: (&str, Provider) = ("OPENAI_API_BASE", Provider::OpenAi);
const GEMINI: (&str, Provider) = ("GOOGLE_GEMINI_BASE_URL", Provider::Gemini);

/// What a program that is not in the table may look at.
const ALL: &[(&str, Provider)] =
    &[ANTHROPIC, ("ANTHROPIC_API_BASE", Provider::Anthropic), OPENAI, OPENAI_OLD, GEMINI];

/// The agents that are known.
pub(crate) static AGENTS: [AgentSpec; 7] = [
    AgentSpec {
        program: "claude",
        title: "Claude Code",
        variables: &[ANTHROPIC],
        method: AddressMethod::Claude,
    },
    AgentSpec { program: "codex", title: "Codex", variables: &[OPENAI], method: AddressMethod::Codex },
    // Their providers have addresses of their own, which no variable changes.
    AgentSpec { program: "opencode", title: "OpenCode", variables: &[], method: AddressMethod::OpenCode },
    AgentSpec { program: "pi", title: "pi", variables: &[], method: AddressMethod::Pi },
    AgentSpec { program: "openclaw", title: "OpenClaw", variables: ALL, method: AddressMethod::OpenClaw },
    AgentSpec {
        program: "aider",
        title: "aider",
        // The one with its own name wins over its configuration file.
        variables: &[
            OPENAI_OLD,
            ("AIDER_OPENAI_API_BASE", Provider::OpenAi),
            ANTHROPIC,
            ("ANTHROPIC_API_BASE", Provider::Anthropic),
        ],
        method: AddressMethod::Variables,
    },
    AgentSpec {
        program: "gemini",
        title: "Gemini CLI",
        variables: &[GEMINI],
        method: AddressMethod::Variables,
    },
];

/// Any other program.
static OTHER: AgentSpec =
    AgentSpec { program: "", title: "the program", variables: ALL, method: AddressMethod::Variables };

impl AgentSpec {
    /// The agent that a program is; one that reads every variable if it is not known.
    pub(crate) fn of(program: &OsStr) -> &'static Self {
        let name = Path::new(program).file_stem().unwrap_or_default();
        AGENTS.iter().find(|agent| name == agent.program).unwrap_or(&OTHER)
    }

    /// The folder that tells that the agent was used here.
    pub(crate) fn folder(&self, homes: &AgentFolders) -> Option<PathBuf> {
        let below = |usual: &str| homes.home.as_ref().map(|home| home.join(usual));
        match self.program {
            "claude" => homes.claude.clone().or_else(|| below(".claude")),
            "codex" => homes.codex.clone().or_else(|| below(".codex")),
            "opencode" => homes.config.clone().or_else(|| below(".config")).map(|dir| dir.join("opencode")),
            "pi" => homes.pi.clone().or_else(|| below(".pi/agent")),
            "openclaw" => homes.openclaw.clone().or_else(|| below(".openclaw")),
            "gemini" => homes.gemini.clone().or_else(|| homes.home.clone()).map(|dir| dir.join(".gemini")),
            _ => None,
        }
    }

    /// The files in which an address may be written, those that win last.
    pub(crate) fn files(&self, homes: &AgentFolders, here: &Path) -> Vec<PathBuf> {
        self.own_files(homes).into_iter().chain(self.project_files(here)).collect()
    }

    /// Those of them that are the user's own.
    pub(crate) fn own_files(&self, homes: &AgentFolders) -> Vec<PathBuf> {
        let own = |names: &[&str]| -> Vec<PathBuf> {
            let folder = self.folder(homes);
            folder.iter().flat_map(|folder| names.iter().map(|name| folder.join(name))).collect()
        };
        match self.program {
            "claude" => own(&["settings.json"]),
            "codex" => own(&["config.toml"]),
            "opencode" => own(&["opencode.json", "opencode.jsonc"]),
            "pi" => own(&["models.json"]),
            "openclaw" => own(&["openclaw.json"]),
            "gemini" => own(&[".env"]),
            "aider" => homes.home.iter().map(|home| home.join(".aider.conf.yml")).collect(),
            _ => Vec::new(),
        }
    }

    /// Those that come with a project. Whoever opens it did not read them first, so no key is sent where they say.
    pub(crate) fn project_files(&self, here: &Path) -> Vec<PathBuf> {
        let names: &[&str] = match self.program {
            "claude" => &[".claude/settings.json", ".claude/settings.local.json"],
            "opencode" => &["opencode.json", "opencode.jsonc"],
            "aider" => &[".env", ".aider.conf.yml"],
            "gemini" => &[".env", ".gemini/.env"],
            _ => &[],
        };
        names.iter().map(|name| here.join(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name_wherever_it_lies() {
        assert_eq!(AgentSpec::of(OsStr::new("claude")).title, "Claude Code");
        assert_eq!(AgentSpec::of(OsStr::new("/opt/bin/codex")).method, AddressMethod::Codex);
        assert_eq!(AgentSpec::of(OsStr::new("./my-agent")).variables, ALL);
    }

    #[test]
    fn files_are_looked_for_where_the_environment_says() {
        let homes = AgentFolders {
            home: Some("/home/me".into()),
            codex: Some("/elsewhere".into()),
            ..AgentFolders::default()
        };
        let files = |program: &str| AgentSpec::of(OsStr::new(program)).files(&homes, Path::new("/garden"));
        assert_eq!(files("codex"), [PathBuf::from("/elsewhere/config.toml")]);
        assert_eq!(files("claude")[0], PathBuf::from("/home/me/.claude/settings.json"));
        assert_eq!(files("opencode")[2], PathBuf::from("/garden/opencode.json"));
    }
}
