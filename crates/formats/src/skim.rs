//! Reading a log for its facts alone, through a buffer of bounded size.
//!
//! A log of one record a line need not be in memory to be counted: line after line goes through one buffer, which
//! is as large as the longest line, and what remains is the outline. Everything else is read as a whole.

use std::io::{self, Read};

use secateur::{Measures, Outline};

use crate::format::{Format, ReadError, read_all_as};
use crate::lines::Lines;
use crate::origin::Origin;
use crate::probe;
use crate::transcript::Transcript;
use crate::warning::Warning;

/// What is left of a session that was only read: its facts, without its bytes.
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

/// How much is read at once: enough that calls to the system do not matter, little enough to stay in a core's cache.
const CHUNK: usize = 1 << 18;

/// Reads the sessions of a source, mostly one, in whatever known format they are.
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
    let mut buffer = Vec::new();
    let mut ended = false;
    while !ended && buffer.len() < probe::ENOUGH {
        ended = fill(&mut source, &mut buffer)? == 0;
    }
    let format = match format {
        Some(format) => format,
        None => Format::detect(&buffer)?,
    };
    let Some(mut lines) = Lines::of(format, measures) else {
        while !ended {
            ended = fill(&mut source, &mut buffer)? == 0;
        }
        let transcripts = read_all_as(&buffer, format, measures)?;
        return Ok(transcripts.into_iter().map(Into::into).collect());
    };
    lines.forget_places();
    let mut offset = 0;
    loop {
        let taken = lines.take(&buffer, offset);
        offset += taken;
        buffer.drain(..taken);
        if ended {
            break;
        }
        ended = fill(&mut source, &mut buffer)? == 0;
    }
    lines.take_last(&buffer, offset);
    Ok(vec![lines.into_skim()])
}

fn fill(source: &mut impl Read, buffer: &mut Vec<u8>) -> io::Result<u64> {
    // A line that is longer than the buffer doubles it, so that a huge line is not looked at again and again.
    let wanted = CHUNK.max(buffer.len()) as u64;
    source.by_ref().take(wanted).read_to_end(buffer).map(|read| read as u64)
}
