//! The formats by name. What each of them is like stands in `logs` and `wire`.

use std::fmt;

use serde::Serialize;

use crate::wire_spec::Wire;

/// Declares the log formats in the order in which they are listed: the variant, the name that commands use, and the
/// name that people use.
macro_rules! log_formats {
    ($($(#[$doc:meta])* $variant:ident $name:literal $title:literal;)*) => {
        /// How the bytes of a session are written: an agent's log, or a request to a provider.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Format {
            $($(#[$doc])* $variant,)*
            /// A request to a model provider.
            Request(Wire),
        }

        /// Every format, in the order in which they are listed.
        pub const FORMATS: [Format; LOGS.len() + Wire::ALL.len()] = {
            let mut formats = [Format::Request(Wire::ALL[0]); LOGS.len() + Wire::ALL.len()];
            let mut at = 0;
            while at < formats.len() {
                formats[at] =
                    if at < LOGS.len() { LOGS[at] } else { Format::Request(Wire::ALL[at - LOGS.len()]) };
                at += 1;
            }
            formats
        };

        const LOGS: [Format; [$($name),*].len()] = [$(Format::$variant,)*];

        impl Format {
            /// The name that commands use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Format::$variant => $name,)*
                    Format::Request(wire) => wire.spec().request_name,
                }
            }
        }

        impl fmt::Display for Format {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self {
                    $(Format::$variant => $title,)*
                    Format::Request(wire) => return write!(f, "{wire} request"),
                })
            }
        }
    };
}

log_formats! {
    /// Claude Code: JSON lines that form a tree.
    ClaudeCode "claude" "Claude Code";
    /// Codex: a rollout of JSON lines.
    Codex "codex" "Codex";
    /// OpenCode: an export document or an array of `{info, parts}`.
    OpenCode "opencode" "OpenCode";
    /// pi, and OpenClaw's logs: JSON lines that form a tree.
    Pi "pi" "pi";
    /// OpenClaw: an array of `{role, content}`.
    OpenClaw "openclaw" "OpenClaw";
    /// openagentic-sdk: events, one a line or in an array.
    OpenAgentic "openagentic" "openagentic-sdk";
    /// Qwery: an array of `{id, role, content: {parts}}`.
    Qwery "qwery" "Qwery";
    /// Vercel AI SDK: an array of `{id, role, parts}`.
    UiMessages "ui-messages" "Vercel AI SDK";
    /// Gemini CLI: a document of messages.
    GeminiCli "gemini" "Gemini CLI";
    /// Copilot CLI: events, one a line.
    CopilotCli "copilot" "Copilot CLI";
    /// Cline: a document of messages in Anthropic's blocks.
    Cline "cline" "Cline";
    /// SWE-agent: a trajectory.
    SweAgent "sweagent" "SWE-agent";
    /// OpenHands: an array of events.
    OpenHands "openhands" "OpenHands";
    /// tau-bench: an array of runs.
    TauBench "tau-bench" "tau-bench";
    /// aider: a chat history in Markdown.
    Aider "aider" "aider";
}

impl Format {
    /// The wire that the agent itself uses, if the format tells.
    pub fn wire(self) -> Option<Wire> {
        match self {
            Format::Request(wire) => Some(wire),
            Format::ClaudeCode | Format::Cline => Some(Wire::Anthropic),
            Format::Codex => Some(Wire::OpenAiResponses),
            Format::GeminiCli => Some(Wire::Gemini),
            _ => None,
        }
    }
}

impl Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}
