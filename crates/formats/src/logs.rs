//! The log formats of agents, one module each.
//!
//! A module reads one format into a [draft](crate::draft), and its `SPEC` says how the format is recognised, read and
//! cut. A new format is a new module, a row in the table below and one in [`Format`].

mod aider;
mod claude_code;
mod cline;
mod codex;
mod copilot_cli;
mod gemini_cli;
mod openagentic;
mod openclaw;
mod opencode;
mod openhands;
mod pi;
mod qwery;
mod swe_agent;
mod tau_bench;
mod ui_messages;

use crate::format::Format;
use crate::probe::Probe;
use crate::spec::FormatSpec;
use crate::wire_spec::Wire;

/// Declares the table of log formats, and the lookup in it.
macro_rules! table {
    ($($format:ident: $module:ident,)*) => {
        /// The log formats in the order in which they are tried.
        const TABLE: &[(Format, &FormatSpec)] = &[$((Format::$format, &$module::SPEC)),*];

        /// What a log format defines; the wire if the format is that of a request.
        pub(crate) fn spec(format: Format) -> Result<&'static FormatSpec, Wire> {
            match format {
                $(Format::$format => Ok(&$module::SPEC),)*
                Format::Request(wire) => Err(wire),
            }
        }
    };
}

// The formats that are easy to recognise come before those that they could be mistaken for.
table! {
    Aider: aider,
    ClaudeCode: claude_code,
    Codex: codex,
    CopilotCli: copilot_cli,
    Pi: pi,
    OpenCode: opencode,
    SweAgent: swe_agent,
    TauBench: tau_bench,
    OpenHands: openhands,
    GeminiCli: gemini_cli,
    Cline: cline,
    UiMessages: ui_messages,
    Qwery: qwery,
    OpenAgentic: openagentic,
    OpenClaw: openclaw,
}

/// The log format of a text, given its beginning.
pub(crate) fn detect(probe: &Probe<'_>) -> Option<Format> {
    TABLE.iter().find(|(_, spec)| (spec.matches)(probe)).map(|&(format, _)| format)
}
