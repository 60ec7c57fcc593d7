//! The agents whose sessions can be found.

/// An agent that stores sessions on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex CLI.
    Codex,
    /// OpenCode.
    OpenCode,
    /// pi.
    Pi,
    /// OpenClaw.
    OpenClaw,
    /// Gemini CLI.
    GeminiCli,
    /// GitHub Copilot CLI.
    CopilotCli,
    /// Cline, as an extension or as a command.
    Cline,
    /// aider. Its history is in the project that it worked on, so it is only found in a folder that the user names.
    Aider,
    /// OpenHands.
    OpenHands,
}

/// All agents, in the order in which their sessions are searched.
pub const AGENTS: [Agent; 10] = [
    Agent::ClaudeCode,
    Agent::Codex,
    Agent::OpenCode,
    Agent::Pi,
    Agent::OpenClaw,
    Agent::GeminiCli,
    Agent::CopilotCli,
    Agent::Cline,
    Agent::Aider,
    Agent::OpenHands,
];

impl Agent {
    /// The agent's name as it is typed on a command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::OpenCode => "opencode",
            Self::Pi => "pi",
            Self::OpenClaw => "openclaw",
            Self::GeminiCli => "gemini-cli",
            Self::CopilotCli => "copilot-cli",
            Self::Cline => "cline",
            Self::Aider => "aider",
            Self::OpenHands => "openhands",
        }
    }
}
