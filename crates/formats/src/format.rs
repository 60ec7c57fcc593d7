//! The formats, and which one a text is in.
//!
//! A format is recognised by what is in it, never by a file's name: agents' logs are copied, renamed and
//! attached to reports.

use std::fmt;

use secateur::{Kind, Measures, PartIx};
use serde::Serialize;

use crate::json::Edit;
use crate::lines::Lines;
use crate::probe::{self, Probe, Shape};
use crate::transcript::{ApplyError, Rendering, Transcript};
use crate::warning::Warning;
use crate::wire::Wire;
use crate::{
    aider, claude_code, cline, codex, content, copilot_cli, gemini_cli, openagentic, openclaw, opencode,
    openhands, pi, qwery, request, swe_agent, tau_bench, ui_messages,
};

/// A session format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Claude Code: JSON lines that form a tree.
    ClaudeCode,
    /// Codex: a rollout of JSON lines.
    Codex,
    /// OpenCode: an export document or an array of `{info, parts}`.
    OpenCode,
    /// pi, and OpenClaw's logs: JSON lines that form a tree.
    Pi,
    /// OpenClaw: an array of `{role, content}`.
    OpenClaw,
    /// openagentic-sdk: events, one a line or in an array.
    OpenAgentic,
    /// Qwery: an array of `{id, role, content: {parts}}`.
    Qwery,
    /// Vercel AI SDK: an array of `{id, role, parts}`.
    UiMessages,
    /// Gemini CLI: a document of messages.
    GeminiCli,
    /// Copilot CLI: events, one a line.
    CopilotCli,
    /// Cline: a document of messages in Anthropic's blocks.
    Cline,
    /// SWE-agent: a trajectory.
    SweAgent,
    /// OpenHands: an array of events.
    OpenHands,
    /// tau-bench: an array of runs.
    TauBench,
    /// aider: a chat history in Markdown.
    Aider,
    /// A request to a model provider.
    Request(Wire),
}

/// Every format, in the order in which they are listed.
pub const FORMATS: [Format; 19] = [
    Format::ClaudeCode,
    Format::Codex,
    Format::OpenCode,
    Format::Pi,
    Format::OpenClaw,
    Format::OpenAgentic,
    Format::Qwery,
    Format::UiMessages,
    Format::GeminiCli,
    Format::CopilotCli,
    Format::Cline,
    Format::SweAgent,
    Format::OpenHands,
    Format::TauBench,
    Format::Aider,
    Format::Request(Wire::Anthropic),
    Format::Request(Wire::OpenAiChat),
    Format::Request(Wire::OpenAiResponses),
    Format::Request(Wire::Gemini),
];

/// How a format recognises itself.
type Matches = fn(&Probe<'_>) -> bool;

/// Why a text could not be read at all.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is in no known format.
    #[error(
        "not a session in a known format ({found}); known are {known}",
        known = FORMATS.map(|format| format.to_string()).join(", ")
    )]
    Unknown {
        /// What was found instead.
        found: String,
    },
}

impl Format {
    /// The name that commands use.
    pub fn name(self) -> &'static str {
        match self {
            Format::ClaudeCode => "claude",
            Format::Codex => "codex",
            Format::OpenCode => "opencode",
            Format::Pi => "pi",
            Format::OpenClaw => "openclaw",
            Format::OpenAgentic => "openagentic",
            Format::Qwery => "qwery",
            Format::UiMessages => "ui-messages",
            Format::GeminiCli => "gemini",
            Format::CopilotCli => "copilot",
            Format::Cline => "cline",
            Format::SweAgent => "sweagent",
            Format::OpenHands => "openhands",
            Format::TauBench => "tau-bench",
            Format::Aider => "aider",
            Format::Request(Wire::Anthropic) => "anthropic-request",
            Format::Request(Wire::OpenAiChat) => "openai-chat-request",
            Format::Request(Wire::OpenAiResponses) => "openai-responses-request",
            Format::Request(Wire::Gemini) => "gemini-request",
        }
    }

    /// Whether a session in this format can hold the marks of what was cut.
    pub fn holds_marks(self) -> bool {
        matches!(self, Format::OpenCode | Format::OpenAgentic | Format::Qwery)
    }

    /// Whether the system that writes this format has a rule of its own for what of a session a model still sees,
    /// which its profile knows. Of all other formats the [context](Transcript::context) is planned for.
    pub fn prunes_itself(self) -> bool {
        self.holds_marks() || self == Format::OpenClaw
    }

    /// Tells the format from the content itself; the beginning is enough.
    pub fn detect(bytes: &[u8]) -> Result<Self, ReadError> {
        let sample = bytes.get(..probe::ENOUGH).unwrap_or(bytes);
        let text = text_of(sample);
        if text.is_empty() && !bytes.is_empty() {
            return Err(ReadError::Unknown { found: "bytes that are no text".to_owned() });
        }
        let Some(probe) = Probe::of(text) else { return Err(ReadError::Empty) };
        Self::of(&probe).ok_or_else(|| ReadError::Unknown { found: probe.describe() })
    }

    /// The formats are asked in turn, the ones that are easy to tell before those that they could be taken for.
    fn of(probe: &Probe<'_>) -> Option<Self> {
        let asked: [(Format, Matches); 15] = [
            (Format::Aider, aider::matches),
            (Format::ClaudeCode, claude_code::matches),
            (Format::Codex, codex::matches),
            (Format::CopilotCli, copilot_cli::matches),
            (Format::Pi, pi::matches),
            (Format::OpenCode, opencode::matches),
            (Format::SweAgent, swe_agent::matches),
            (Format::TauBench, tau_bench::matches),
            (Format::OpenHands, openhands::matches),
            (Format::GeminiCli, gemini_cli::matches),
            (Format::Cline, cline::matches),
            (Format::UiMessages, ui_messages::matches),
            (Format::Qwery, qwery::matches),
            (Format::OpenAgentic, openagentic::matches),
            (Format::OpenClaw, openclaw::matches),
        ];
        let request =
            || Wire::detect(probe.text).filter(|_| probe.shape == Shape::Object).map(Format::Request);
        asked.into_iter().find(|(_, matches)| matches(probe)).map(|(format, _)| format).or_else(request)
    }

    pub(crate) fn edits(
        self,
        transcript: &Transcript<'_>,
        cut: Rendering<'_>,
        now: i64,
    ) -> Result<Vec<Edit>, ApplyError> {
        if transcript.outline.kind(cut.part) == Kind::Call {
            return Ok(match self {
                // Their marks say that a result was cut; an input has no mark, so it stays whole.
                Format::OpenCode | Format::OpenClaw | Format::OpenAgentic | Format::Qwery | Format::Aider => {
                    Vec::new()
                }
                _ => content::input_edit(transcript, cut).into_iter().collect(),
            });
        }
        match self {
            Format::OpenCode => opencode::edits(transcript, cut, now),
            Format::OpenClaw => openclaw::edits(transcript, cut),
            Format::OpenAgentic => openagentic::edits(transcript, cut, now),
            Format::Qwery => qwery::edits(transcript, cut, now),
            Format::Aider => Err(self.unsupported(cut.part, "it is text without tool results")),
            Format::Request(_) => request::edits(transcript, cut),
            _ => content::edits(transcript, cut),
        }
    }

    /// The error of a format that cannot hold a cut.
    pub(crate) fn unsupported(self, part: PartIx, reason: &'static str) -> ApplyError {
        ApplyError::Unsupported { format: self, part: part.0, reason }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Format::ClaudeCode => "Claude Code",
            Format::Codex => "Codex",
            Format::OpenCode => "OpenCode",
            Format::Pi => "pi",
            Format::OpenClaw => "OpenClaw",
            Format::OpenAgentic => "openagentic-sdk",
            Format::Qwery => "Qwery",
            Format::UiMessages => "Vercel AI SDK",
            Format::GeminiCli => "Gemini CLI",
            Format::CopilotCli => "Copilot CLI",
            Format::Cline => "Cline",
            Format::SweAgent => "SWE-agent",
            Format::OpenHands => "OpenHands",
            Format::TauBench => "tau-bench",
            Format::Aider => "aider",
            Format::Request(wire) => return write!(f, "{wire} request"),
        })
    }
}

impl Serialize for Format {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// Reads a session in whatever known format it is in.
///
/// Text that is not UTF-8 is read up to the first byte that is not, or, in logs of one record a line, without the
/// lines in question; a warning says where that is. Of a file that holds several sessions this is the first; see
/// [`read_all`].
///
/// ```
/// use secateur::Measures;
/// use secateur_formats::{Format, read};
///
/// let session = br#"[{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"hi"}]}]"#;
/// let transcript = read(session, &Measures::default())?;
/// assert_eq!(transcript.format, Format::OpenCode);
/// assert_eq!(transcript.outline.message_count(), 1);
/// assert!(transcript.warnings.is_empty());
/// # Ok::<(), secateur_formats::ReadError>(())
/// ```
pub fn read<'a>(bytes: &'a [u8], measures: &Measures) -> Result<Transcript<'a>, ReadError> {
    read_as(bytes, Format::detect(bytes)?, measures)
}

/// Reads a session in a known format.
pub fn read_as<'a>(
    bytes: &'a [u8],
    format: Format,
    measures: &Measures,
) -> Result<Transcript<'a>, ReadError> {
    let mut transcripts = read_all_as(bytes, format, measures)?;
    let others = transcripts.len().saturating_sub(1);
    let mut first = transcripts.drain(..).next().ok_or(ReadError::Empty)?;
    if others > 0 {
        let reason = format!("the file holds {others} more sessions; this is the first");
        first.warnings.push(Warning { line: 1, reason });
    }
    Ok(first)
}

/// Reads all sessions of a file: one, but for formats that keep many in one file.
pub fn read_all<'a>(bytes: &'a [u8], measures: &Measures) -> Result<Vec<Transcript<'a>>, ReadError> {
    read_all_as(bytes, Format::detect(bytes)?, measures)
}

/// Reads all sessions of a file in a known format.
pub fn read_all_as<'a>(
    bytes: &'a [u8],
    format: Format,
    measures: &Measures,
) -> Result<Vec<Transcript<'a>>, ReadError> {
    if bytes.trim_ascii().is_empty() {
        return Err(ReadError::Empty);
    }
    if let Some(lines) = Lines::of(format, measures) {
        return Ok(vec![lines.read(bytes)]);
    }
    let (text, warning) = as_text(bytes);
    let mut transcripts = match format {
        Format::OpenCode => vec![opencode::read(text, measures)],
        Format::OpenClaw => vec![openclaw::read(text, measures)],
        Format::OpenAgentic => vec![openagentic::read(text, measures)],
        Format::Qwery => vec![qwery::read(text, measures)],
        Format::UiMessages => vec![ui_messages::read(text, measures)],
        Format::GeminiCli => vec![gemini_cli::read(text, measures)],
        Format::Cline => vec![cline::read(text, measures)],
        Format::SweAgent => vec![swe_agent::read(text, measures)],
        Format::OpenHands => vec![openhands::read(text, measures)],
        Format::Aider => vec![aider::read(text, measures)],
        Format::Request(wire) => vec![request::read(wire, text, measures)],
        Format::TauBench => tau_bench::read_all(text, measures),
        Format::ClaudeCode | Format::Codex | Format::Pi | Format::CopilotCli => Vec::new(),
    };
    for transcript in &mut transcripts {
        transcript.bytes = bytes;
        transcript.warnings.splice(0..0, warning.clone());
    }
    Ok(transcripts)
}

/// The text as far as it is UTF-8.
pub(crate) fn text_of(bytes: &[u8]) -> &str {
    simdutf8::compat::from_utf8(bytes).unwrap_or_else(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        std::str::from_utf8(valid).unwrap_or_default()
    })
}

fn as_text(bytes: &[u8]) -> (&str, Option<Warning>) {
    let text = text_of(bytes);
    let warning = (text.len() < bytes.len()).then(|| {
        let reason = format!("byte {} is not UTF-8; nothing from there on was read", text.len());
        Warning::at(bytes, text.len(), reason)
    });
    (text, warning)
}

#[cfg(test)]
mod tests;
