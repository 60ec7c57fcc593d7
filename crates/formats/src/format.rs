//! The formats, and which one a text is in.
//!
//! A format is recognised by what is in it, never by a file's name: agents' logs are copied, renamed and
//! attached to reports.

use std::fmt;

use secateur::{Measures, PartIx};
use serde::Serialize;

use crate::document::element_ranges;
use crate::json::{Edit, Token, decode, tokens};
use crate::transcript::{ApplyError, Rendering, Transcript};
use crate::warning::Warning;
use crate::{openagentic, openclaw, opencode, qwery};

/// A session format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// OpenCode: an export document or an array of `{info, parts}`.
    #[serde(rename = "opencode")]
    OpenCode,
    /// OpenClaw: an array of `{role, content}`.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// openagentic-sdk: events, one a line or in an array.
    #[serde(rename = "openagentic")]
    OpenAgentic,
    /// Qwery: an array of `{id, role, content: {parts}}`.
    Qwery,
}

/// Every format, in the order in which they are listed.
pub const FORMATS: [Format; 4] = [Format::OpenCode, Format::OpenClaw, Format::OpenAgentic, Format::Qwery];

/// Why a text could not be read at all.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadError {
    /// There is nothing in it.
    #[error("there is nothing in it")]
    Empty,
    /// It is in no known format.
    #[error(
        "not a session in a known format ({found}); known are OpenCode, OpenClaw, openagentic-sdk and Qwery"
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
            Format::OpenCode => "opencode",
            Format::OpenClaw => "openclaw",
            Format::OpenAgentic => "openagentic",
            Format::Qwery => "qwery",
        }
    }

    /// Whether a session in this format can hold the marks of what was cut.
    pub fn holds_marks(self) -> bool {
        self != Format::OpenClaw
    }

    /// Tells the format from the text itself.
    pub fn detect(text: &str) -> Result<Self, ReadError> {
        let Some(sample) = Sample::take(text) else { return Err(ReadError::Empty) };
        sample.format().ok_or_else(|| ReadError::Unknown { found: sample.describe() })
    }

    pub(crate) fn edits(
        self,
        transcript: &Transcript<'_>,
        cut: Rendering<'_>,
        now: i64,
    ) -> Result<Vec<Edit>, ApplyError> {
        match self {
            Format::OpenCode => opencode::edits(transcript, cut, now),
            Format::OpenClaw => openclaw::edits(transcript, cut),
            Format::OpenAgentic => openagentic::edits(transcript, cut, now),
            Format::Qwery => qwery::edits(transcript, cut, now),
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
            Format::OpenCode => "OpenCode",
            Format::OpenClaw => "OpenClaw",
            Format::OpenAgentic => "openagentic-sdk",
            Format::Qwery => "Qwery",
        })
    }
}

/// Reads a session in whatever known format it is in.
///
/// Text that is not UTF-8 is read up to the first byte that is not; a warning says where that is.
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
    let (text, _) = as_text(bytes);
    read_as(bytes, Format::detect(text)?, measures)
}

/// Reads a session in a known format.
pub fn read_as<'a>(
    bytes: &'a [u8],
    format: Format,
    measures: &Measures,
) -> Result<Transcript<'a>, ReadError> {
    let (text, warning) = as_text(bytes);
    if text.trim().is_empty() {
        return Err(ReadError::Empty);
    }
    let mut transcript = match format {
        Format::OpenCode => opencode::read(text, measures),
        Format::OpenClaw => openclaw::read(text, measures),
        Format::OpenAgentic => openagentic::read(text, measures),
        Format::Qwery => qwery::read(text, measures),
    };
    transcript.bytes = bytes;
    transcript.warnings.splice(0..0, warning);
    Ok(transcript)
}

/// The text as far as it is UTF-8.
fn as_text(bytes: &[u8]) -> (&str, Option<Warning>) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (text, None),
        Err(error) => {
            let (valid, _) = bytes.split_at(error.valid_up_to());
            let reason = format!("byte {} is not UTF-8; nothing from there on was read", error.valid_up_to());
            let text = std::str::from_utf8(valid).unwrap_or_default();
            (text, Some(Warning::at(bytes, error.valid_up_to(), reason)))
        }
    }
}

/// What the first element of a document looks like.
#[derive(Debug, Default)]
struct Sample {
    keys: Vec<String>,
    /// The first token of the member `content`.
    content: Option<char>,
    /// The member `type`, if it is a text.
    kind: Option<String>,
    is_export: bool,
    is_empty_list: bool,
}

impl Sample {
    /// Looks at the beginning of a text; nothing if there is none.
    fn take(text: &str) -> Option<Self> {
        let text = text.trim_start_matches('\u{FEFF}').trim_start();
        let first = text.chars().next()?;
        if first == '[' {
            let mut sample = Self::of_element(&text[1..]);
            sample.is_empty_list = text[1..].trim_start().starts_with(']');
            return Some(sample);
        }
        let sample = Self::of_element(text);
        if sample.keys.iter().any(|key| key == "messages") {
            let message = element_ranges(text).first().and_then(|range| text.get(range.clone()));
            let inner = message.map(Self::of_element).unwrap_or_default();
            return Some(Self { is_export: sample.keys.iter().any(|key| key == "info"), ..inner });
        }
        Some(sample)
    }

    /// The members of the first value of a text.
    fn of_element(text: &str) -> Self {
        let mut sample = Self::default();
        let mut depth = 0usize;
        let mut key = String::new();
        for (_, token) in tokens(text) {
            match token {
                Token::Key(raw) if depth == 1 => {
                    key = decode(raw).into_owned();
                    sample.keys.push(key.clone());
                    continue;
                }
                Token::String(raw) if depth == 1 && key == "type" => {
                    sample.kind = Some(decode(raw).into_owned());
                }
                Token::ObjectEnd | Token::ArrayEnd => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 1 && key == "content" && sample.content.is_none() {
                sample.content = token.raw().chars().next();
            }
            if matches!(token, Token::ObjectStart | Token::ArrayStart) {
                depth += 1;
            }
            if depth == 0 {
                break;
            }
        }
        sample
    }

    fn has(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    fn format(&self) -> Option<Format> {
        let is_event = self.kind.as_deref().is_some_and(|kind| kind.contains('.'));
        if self.is_export || (self.has("info") && self.has("parts")) {
            Some(Format::OpenCode)
        } else if self.has("role") && self.content == Some('{') {
            Some(Format::Qwery)
        } else if self.has("role") {
            Some(Format::OpenClaw)
        } else if is_event && !self.has("role") {
            Some(Format::OpenAgentic)
        } else {
            None
        }
    }

    fn describe(&self) -> String {
        if self.is_empty_list {
            return "an empty list; name the format".to_owned();
        }
        if self.keys.is_empty() {
            return "no JSON object at its beginning".to_owned();
        }
        let keys: Vec<String> = self.keys.iter().take(20).map(|key| key.escape_debug().to_string()).collect();
        format!("its first record has the keys {}", keys.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_from_their_content() {
        for (text, format) in [
            (r#"{"info":{"id":"s"},"messages":[]}"#, Format::OpenCode),
            (r#"[{"info":{},"parts":[]}]"#, Format::OpenCode),
            (r#" [ {"role":"user","content":"hi"}]"#, Format::OpenClaw),
            (r#"[{"role":"toolResult","content":[]}]"#, Format::OpenClaw),
            (r#"[{"id":"a","role":"user","content":{"parts":[]}}]"#, Format::Qwery),
            ("{\"type\":\"user.message\",\"text\":\"x\"}\n{\"ty", Format::OpenAgentic),
            (r#"[{"type":"tool.use","name":"x"}]"#, Format::OpenAgentic),
        ] {
            assert_eq!(Format::detect(text), Ok(format), "{text}");
        }
    }

    #[test]
    fn what_is_no_session_is_said_to_be_none() {
        assert_eq!(Format::detect("  \n"), Err(ReadError::Empty));
        for text in ["hello", "[]", "[1,2]", "{\"a\":1}", "\u{1}\u{2}", "{"] {
            assert!(matches!(Format::detect(text), Err(ReadError::Unknown { .. })), "{text}");
        }
    }

    #[test]
    fn bytes_that_are_not_text_end_the_reading_with_a_warning() {
        let bytes = b"[{\"info\":{\"role\":\"user\"},\"parts\":[]},\n{\"info\":{\"id\":\"\xff\"}}]";
        let transcript = read(bytes, &Measures::default()).unwrap();
        assert_eq!(transcript.outline.message_count(), 1);
        assert!(
            transcript.warnings[0].to_string().starts_with("line 2: byte 53 is not UTF-8"),
            "{:?}",
            transcript.warnings
        );
    }
}
