//! The known agents: the variables and the files from which each takes its provider's address.
//!
//! `secateur run` sets the variables, `secateur doctor` checks both. What an agent needs beyond variables is in
//! `commands/run/`, one file for each agent.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use secateur_server::Provider;
use secateur_sources::AgentFolders;

/// An agent, by the name of its program.
#[derive(Debug)]
pub(crate) struct AgentSpec {
    pub(crate) program: &'static str,
    /// Its name as people write it.
    pub(crate) title: &'static str,
    /// The variables in which it looks for a provider's address.
    pub(crate) variables: &'static [(&'static str, Provider)],
    /// What it needs beyond them.
    pub(crate) method: AddressMethod,
}

/// How an agent is given an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressMethod {
    /// By variables only.
    Variables,
    /// By a settings file for one run, because its settings override variables.
    Claude,
    /// By arguments.
    Codex,
    /// By a variable that holds configuration.
    OpenCode,
    /// By an extension for one run.
    Pi,
    /// By a copy of its configuration file.
    OpenClaw,
}

const ANTHROPIC: (&str, Provider) = ("ANTHROPIC_BASE_URL", Provider::Anthropic);
const OPENAI: (&str, Provider) = ("OPENAI_BASE_URL", Provider::OpenAi);
const OPENAI_OLD: (&str, Provider) = ("OPENAI_API_BASE", Provider::OpenAi);
const GEMINI: (&str, Provider) = ("GOOGLE_GEMINI_BASE_URL", Provider::Gemini);

/// The variables that an unknown program may read.
const ALL: &[(&str, Provider)] =
    &[ANTHROPIC, ("ANTHROPIC_API_BASE", Provider::Anthropic), OPENAI, OPENAI_OLD, GEMINI];

pub(crate) static AGENTS: [AgentSpec; 7] = [
    AgentSpec {
        program: "claude",
        title: "Claude Code",
        variables: &[ANTHROPIC],
        method: AddressMethod::Claude,
    },
    AgentSpec { program: "codex", title: "Codex", variables: &[OPENAI], method: AddressMethod::Codex },
    // The addresses of their providers do not depend on variables.
    AgentSpec { program: "opencode", title: "OpenCode", variables: &[], method: AddressMethod::OpenCode },
    AgentSpec { program: "pi", title: "pi", variables: &[], method: AddressMethod::Pi },
    AgentSpec { program: "openclaw", title: "OpenClaw", variables: ALL, method: AddressMethod::OpenClaw },
    AgentSpec {
        program: "aider",
        title: "aider",
        // Only AIDER_… overrides its configuration file.
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

/// Variables that make programs use an HTTP proxy.
pub(crate) const PROXY_VARIABLES: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/// Any other program.
static OTHER: AgentSpec =
    AgentSpec { program: "", title: "the program", variables: ALL, method: AddressMethod::Variables };

impl AgentSpec {
    /// The agent with this program; for an unknown one, an agent that reads every variable.
    pub(crate) fn of(program: &OsStr) -> &'static Self {
        let name = Path::new(program).file_stem().unwrap_or_default();
        AGENTS.iter().find(|agent| name == agent.program).unwrap_or(&OTHER)
    }

    /// The agent's own folder. If it exists, the agent was used here.
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

    /// The files that may hold an address. Later ones override earlier ones.
    pub(crate) fn files(&self, homes: &AgentFolders, here: &Path) -> Vec<PathBuf> {
        self.own_files(homes).into_iter().chain(self.project_files(here)).collect()
    }

    /// The files of the user.
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

    /// The files of a project. A user may not have read them, so no key is sent to an address in them.
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
    fn a_program_is_known_by_its_name_in_any_folder() {
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
