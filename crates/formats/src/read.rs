//! Finding the format of a text, and reading it.
//!
//! A format is recognised by its content, never by a file's name: agents' logs are copied, renamed and attached to
//! reports.

use secateur::Measures;

use crate::draft::TranscriptDraft;
use crate::format::{FORMATS, Format};
use crate::lines::LineLog;
use crate::logs;
use crate::probe::{self, Probe};
use crate::spec::{Cutting, FormatReader, FormatSpec};
use crate::transcript::Transcript;
use crate::warning::Warning;
use crate::wire::request;

/// Why a text could not be read at all.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is empty.
    #[error("the input is empty")]
    Empty,
    /// It is in no known format.
    #[error(
        "unknown session format: {found}; known formats are {known}",
        known = FORMATS.map(|format| format.to_string()).join(", ")
    )]
    Unknown {
        /// What was found instead.
        found: String,
    },
}

impl Format {
    pub(crate) fn spec(self) -> &'static FormatSpec {
        logs::spec(self).unwrap_or_else(request::spec)
    }

    /// Whether a session in this format can hold the marks of what was cut.
    pub fn holds_marks(self) -> bool {
        matches!(self.spec().cutting, Cutting::Mark(_))
    }

    /// Whether the system that writes this format has a rule of its own for what of a session a model still sees, which
    /// its profile knows. For all other formats, plans are made for the [context](Transcript::context).
    pub fn prunes_itself(self) -> bool {
        matches!(self.spec().cutting, Cutting::Mark(_) | Cutting::Unwritten(_))
    }

    /// Whether a log in this format does not say which messages left the context, so that the pivot of a profile has to.
    pub fn leaves_pivot_to_profile(self) -> bool {
        matches!(self, Format::OpenAgentic | Format::Qwery)
    }

    /// Whether marking a cut overwrites its text.
    pub fn overwrites_cuts(self) -> bool {
        self == Format::Qwery
    }

    /// Finds the format of a text by its content; the beginning is enough.
    pub fn detect(bytes: &[u8]) -> Result<Self, ReadError> {
        let sample = bytes.get(..probe::ENOUGH).unwrap_or(bytes);
        let text = valid_text(sample);
        if text.is_empty() && !bytes.is_empty() {
            return Err(ReadError::Unknown { found: "not text".to_owned() });
        }
        let Some(probe) = Probe::of(text) else { return Err(ReadError::Empty) };
        let found = logs::detect(&probe).or_else(|| request::detect(&probe).map(Format::Request));
        found.ok_or_else(|| ReadError::Unknown { found: probe.describe() })
    }
}

/// Reads a session in any known format.
///
/// Text that is not UTF-8 is read up to the first byte that is not. In logs of one record a line, only those lines are
/// skipped. A warning says where that is. If a file holds several sessions, this is the first; see [`read_all`].
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

/// Reads all sessions of a file: one, except in formats that keep many in one file.
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
    let spec = format.spec();
    let text = valid_text(bytes);
    let mut drafts = match spec.reader {
        FormatReader::Lines(reader) => vec![LineLog::new(reader(), measures).read(bytes)],
        FormatReader::Many(read) => read(text, measures),
        FormatReader::Whole(read) => {
            let mut draft = TranscriptDraft::new(text, measures);
            read(&mut draft, text);
            vec![draft]
        }
    };
    // Logs of lines skip only the lines that are not UTF-8, with a warning for each.
    if text.len() < bytes.len() && !matches!(spec.reader, FormatReader::Lines(_)) {
        let reason = format!("byte {} is not UTF-8; everything from there on was skipped", text.len());
        let warning = Warning::at(bytes, text.len(), reason);
        for draft in &mut drafts {
            draft.warnings.insert(0, warning.clone());
        }
    }
    Ok(drafts.into_iter().map(|draft| Transcript::new(format, spec, draft, bytes, text)).collect())
}

/// The text as far as it is UTF-8.
fn valid_text(bytes: &[u8]) -> &str {
    simdutf8::compat::from_utf8(bytes).unwrap_or_else(|error| {
        let valid = bytes.get(..error.valid_up_to()).unwrap_or_default();
        std::str::from_utf8(valid).unwrap_or_default()
    })
}

#[cfg(test)]
mod tests;
