//! Reading a log for its facts alone, through a buffer of bounded size.
//!
//! A log of one record a line need not be in memory as a whole: it is read through one buffer, which is as large as the
//! longest line, and only the outline is kept. All other formats are read as a whole.

mod buffer;

use std::io::{self, Read};

use secateur::{Measures, Outline};

use crate::draft::TranscriptDraft;
use crate::format::Format;
use crate::lines::LineLog;
use crate::origin::Origin;
use crate::probe;
use crate::read::{ReadError, read_all_as};
use crate::spec::FormatReader;
use crate::transcript::Transcript;
use crate::warning::Warning;
use buffer::ReadBuffer;

/// The facts of a session, without its bytes.
#[derive(Clone, Debug)]
pub struct Skim {
    /// The format that was read.
    pub format: Format,
    /// The facts.
    pub outline: Outline,
    /// Where the session comes from, as far as it says so.
    pub origin: Origin,
    /// What could not be read.
    pub warnings: Vec<Warning>,
}

impl From<Transcript<'_>> for Skim {
    fn from(transcript: Transcript<'_>) -> Self {
        let Transcript { format, outline, origin, warnings, .. } = transcript;
        Self { format, outline, origin, warnings }
    }
}

/// Why nothing could be skimmed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkimError {
    /// The source failed.
    #[error(transparent)]
    Io {
        /// How.
        #[from]
        source: io::Error,
    },
    /// The bytes are no session.
    #[error(transparent)]
    Read {
        /// Why.
        #[from]
        source: ReadError,
    },
}

/// Reads the facts of the sessions in a source, mostly one, in any known format.
///
/// ```
/// use secateur::Measures;
/// use secateur_formats::{Format, skim};
///
/// let log = concat!(
///     r#"{"type":"user","uuid":"a","sessionId":"s","message":{"role":"user","content":"hello"}}"#, "\n",
///     r#"{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","message":{"id":"m","role":"assistant","#,
///     r#""content":[{"type":"text","text":"hi"}]}}"#, "\n",
/// );
/// let sessions = skim(log.as_bytes(), None, &Measures::default())?;
/// assert_eq!(sessions[0].format, Format::ClaudeCode);
/// assert_eq!(sessions[0].outline.message_count(), 2);
/// # Ok::<(), secateur_formats::SkimError>(())
/// ```
pub fn skim(
    mut source: impl Read,
    format: Option<Format>,
    measures: &Measures,
) -> Result<Vec<Skim>, SkimError> {
    // The beginning shows the format; after that a buffer is enough.
    let mut beginning = Vec::new();
    let enough = probe::ENOUGH as u64;
    source.by_ref().take(enough).read_to_end(&mut beginning)?;
    let format = match format {
        Some(format) => format,
        None => Format::detect(&beginning)?,
    };
    let FormatReader::Lines(reader) = format.spec().reader else {
        source.read_to_end(&mut beginning)?;
        let transcripts = read_all_as(&beginning, format, measures)?;
        return Ok(transcripts.into_iter().map(Into::into).collect());
    };
    let mut lines = LineLog::new(reader(), measures);
    lines.draft.drop_spots();
    let mut offset = lines.take(&beginning, 0);
    beginning.drain(..offset);
    let mut buffer = ReadBuffer::of(beginning);
    while buffer.fill(&mut source)? {
        let taken = lines.take(buffer.bytes(), offset);
        buffer.consume(taken);
        offset += taken;
    }
    lines.take_last(buffer.bytes(), offset);
    if lines.is_blank {
        return Err(ReadError::Empty.into());
    }
    let TranscriptDraft { outline, origin, warnings, .. } = lines.finish();
    Ok(vec![Skim { format, outline, origin, warnings }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_of_nothing_is_refused_as_reading_refuses_it() {
        let measures = Measures::default();
        let blank = b" \n\r\n\t".repeat(probe::ENOUGH / 2);
        for log in [&b""[..], b" \n", &blank] {
            let skimmed = skim(log, Some(Format::ClaudeCode), &measures);
            assert!(matches!(skimmed, Err(SkimError::Read { source: ReadError::Empty })));
            assert_eq!(read_all_as(log, Format::ClaudeCode, &measures).unwrap_err(), ReadError::Empty);
        }
        // A byte order mark is not nothing.
        let mark = b"\xEF\xBB\xBF\n";
        assert!(skim(&mark[..], Some(Format::ClaudeCode), &measures).is_ok());
        assert!(read_all_as(mark, Format::ClaudeCode, &measures).is_ok());
    }
}
