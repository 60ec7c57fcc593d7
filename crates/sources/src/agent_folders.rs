//! Where the agents' folders are, as the environment says.
//!
//! The environment is a value here. [`AgentFolders::from_env`] takes it from the process, a test writes it down, and nothing
//! else in this crate asks for a variable. A variable moves an agent's folder; where none is set, the folder is the
//! usual one below [`AgentFolders::home`].

use std::ffi::OsString;
use std::path::PathBuf;

/// The folders below which agents keep their sessions. What is `None` is derived from [`home`](AgentFolders::home).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentFolders {
    /// The user's home folder: `HOME`, or `USERPROFILE` on Windows.
    pub home: Option<PathBuf>,
    /// `XDG_DATA_HOME`, usually `~/.local/share`.
    pub data: Option<PathBuf>,
    /// `XDG_CONFIG_HOME`, usually `~/.config`.
    pub config: Option<PathBuf>,
    /// Where editors keep their state if not below `config`: `APPDATA` on Windows, `~/Library/Application Support` on
    /// macOS.
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
    /// `GEMINI_CLI_HOME`: the folder that holds `.gemini`, usually the home folder.
    pub gemini: Option<PathBuf>,
    /// `COPILOT_HOME`, usually `~/.copilot`.
    pub copilot: Option<PathBuf>,
    /// `CLINE_DIR`, usually `~/.cline`.
    pub cline: Option<PathBuf>,
}

impl AgentFolders {
    /// The homes of the user who runs this process.
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_vars(|name| std::env::var_os(name))
    }

    /// The homes that `var` describes. An empty variable counts as none, as it does for the agents.
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

    /// The folder that `moved` names, or else the usual one below the home folder.
    pub(crate) fn or_below(&self, moved: Option<&PathBuf>, usual: &str) -> Option<PathBuf> {
        moved.cloned().or_else(|| self.below(usual))
    }
}
