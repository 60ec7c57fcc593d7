//! The agents' folders, as the environment defines them.
//!
//! [`AgentFolders::from_env`] reads the environment of the process; nothing else in this crate reads a variable, so
//! tests can set every folder. A variable moves an agent's folder; without it, the folder is the usual one below
//! [`AgentFolders::home`].

use std::ffi::OsString;
use std::path::PathBuf;

/// The folders below which agents store their sessions. A folder that is `None` is derived from
/// [`home`](AgentFolders::home).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFolders {
    /// The user's home folder: `HOME`, or `USERPROFILE` on Windows.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_HOME`, usually `~/.local/share`.
    pub data: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, usually `~/.config`.
    pub config: Option<PathBuf>,
    /// Where editors store their state if not below `config`: `APPDATA` on Windows, `~/Library/Application Support`
    /// on macOS.
    pub applications: Option<PathBuf>,
    /// `CLAUDE_CONFIG_DIR`, usually `~/.claude`.
    pub claude: Option<PathBuf>,
    /// `CODEX_HOME`, usually `~/.codex`.
    pub codex: Option<PathBuf>,
    /// `OPENCODE_DB`: a database beside the usual ones in `~/.local/share/opencode`.
    pub opencode_database: Option<PathBuf>,
    /// `PI_CODING_AGENT_DIR`, usually `~/.pi/agent`.
    pub pi: Option<PathBuf>,
    /// `OPENCLAW_STATE_DIR`, usually `~/.openclaw`.
    pub openclaw: Option<PathBuf>,
    /// `GEMINI_CLI_HOME`: the folder that contains `.gemini`, usually the home folder.
    pub gemini: Option<PathBuf>,
    /// `COPILOT_HOME`, usually `~/.copilot`.
    pub copilot: Option<PathBuf>,
    /// `CLINE_DIR`, usually `~/.cline`.
    pub cline: Option<PathBuf>,
}

impl AgentFolders {
    /// The folders of the user who runs this process.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_vars(|name| std::env::var_os(name))
    }

    /// The folders that the variables define. An empty variable counts as unset, as it does for the agents.
    pub fn from_vars(var: impl Fn(&str) -> Option<OsString>) -> Self {
        let path = |name: &str| var(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = path("HOME").or_else(|| path("USERPROFILE"));
        let applications = path("APPDATA")
            .or_else(|| home.as_ref().map(|home| home.join("Library").join("Application Support")));
        Self {
            home,
            data: path("XDG_DATA_HOME"),
            config: path("XDG_CONFIG_HOME"),
            applications,
            claude: path("CLAUDE_CONFIG_DIR"),
            codex: path("CODEX_HOME"),
            opencode_database: path("OPENCODE_DB"),
            pi: path("PI_CODING_AGENT_DIR"),
            openclaw: path("OPENCLAW_STATE_DIR"),
            gemini: path("GEMINI_CLI_HOME"),
            copilot: path("COPILOT_HOME"),
            cline: path("CLINE_DIR"),
        }
    }

    /// A folder below the home folder.
    pub(crate) fn below(&self, folder: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(folder))
    }

    /// The folder `moved`, or the usual one below the home folder.
    pub(crate) fn or_below(&self, moved: Option<&PathBuf>, usual: &str) -> Option<PathBuf> {
        moved.cloned().or_else(|| self.below(usual))
    }
}
