//! Logs of one record a line: the loop that all of them share.
//!
//! A reader of such a log sees one record at a time and keeps only what it needs to know later, so the same
//! reader serves a text in memory and a file that goes by in a small buffer. Lines that cannot be read are passed
//! over with a warning; a last line without its end is a file that is being written.

use secateur::Measures;

use crate::draft::Draft;
use crate::format::{Format, text_of};
use crate::json::SyntaxError;
use crate::skim::Skim;
use crate::transcript::Transcript;
use crate::warning::Warning;
use crate::{claude_code, codex, copilot_cli, pi};

/// A reader that takes one record after the other.
pub(crate) trait Records {
    /// Takes a record: a line without its end. An error means that the line is not JSON.
    fn record(&mut self, draft: &mut Draft<'_>, line: &str) -> Result<(), SyntaxError>;

    /// What is known only after the last record: branches, totals, the order of messages.
    fn finish(&mut self, draft: &mut Draft<'_>);
}

/// A log in the course of being read.
pub(crate) struct Lines<'m> {
    format: Format,
    reader: Box<dyn Records>,
    draft: Draft<'m>,
    line: u64,
    /// Nothing but white space has come by so far.
    is_blank: bool,
}

/// So many warnings about single lines are enough.
const WARNINGS: usize = 100;

impl<'m> Lines<'m> {
    /// A reader for logs of this format, if they are lines.
    pub(crate) fn of(format: Format, measures: &'m Measures) -> Option<Self> {
        let reader: Box<dyn Records> = match format {
            Format::ClaudeCode => Box::<claude_code::Reader>::default(),
            Format::Codex => Box::<codex::Reader>::default(),
            Format::Pi => Box::<pi::Reader>::default(),
            Format::CopilotCli => Box::<copilot_cli::Reader>::default(),
            _ => return None,
        };
        Some(Self { format, reader, draft: Draft::new("", measures), line: 0, is_blank: true })
    }

    /// Reads a whole source.
    pub(crate) fn read<'a>(mut self, bytes: &'a [u8]) -> Transcript<'a> {
        let taken = self.take(bytes, 0);
        self.take_last(bytes.get(taken..).unwrap_or_default(), taken);
        self.reader.finish(&mut self.draft);
        // A line that is no text was left alone; everything else is looked up by its bytes.
        let text = text_of(bytes);
        Transcript { bytes, ..self.draft.finish(self.format, text) }
    }

    /// Does without the places of parts: the source goes by and cannot be looked into again.
    pub(crate) fn forget_places(&mut self) {
        self.draft.forget_places();
    }

    /// Takes all whole lines of a buffer that begins at this offset of the source; says how many bytes they are.
    pub(crate) fn take(&mut self, buffer: &[u8], offset: usize) -> usize {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', buffer) {
            let line = buffer.get(start..end).unwrap_or_default();
            if let Err(error) = self.take_line(line, offset + start) {
                self.warn(format!("{error}; the line was left alone"));
            }
            start = end + 1;
        }
        start
    }

    /// Takes what stands behind the last line end.
    pub(crate) fn take_last(&mut self, rest: &[u8], offset: usize) {
        if rest.trim_ascii().is_empty() {
            return;
        }
        if let Err(error) = self.take_line(rest, offset) {
            self.warn(format!(
                "{error}; the last line is not whole (the file may still be growing) and was left alone"
            ));
        }
    }

    fn take_line(&mut self, line: &[u8], offset: usize) -> Result<(), String> {
        self.line += 1;
        let start = if self.line == 1 && line.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
        let line = line.get(start..).unwrap_or_default().trim_ascii_end();
        self.is_blank &= start == 0 && line.is_empty();
        if line.is_empty() {
            return Ok(());
        }
        let text = simdutf8::compat::from_utf8(line)
            .map_err(|error| format!("byte {} of the line is not UTF-8", error.valid_up_to() + 1))?;
        self.draft.enter(text, offset + start);
        self.reader.record(&mut self.draft, text).map_err(|error| format!("not a JSON record ({error})"))
    }

    fn warn(&mut self, reason: String) {
        let warnings = &mut self.draft.warnings;
        if warnings.len() < WARNINGS {
            warnings.push(Warning { line: self.line, reason });
        } else if warnings.len() == WARNINGS {
            let reason = "more lines cannot be read; no further warnings are given".to_owned();
            warnings.push(Warning { line: self.line, reason });
        }
    }

    /// Whether nothing but white space has come by.
    pub(crate) fn is_blank(&self) -> bool {
        self.is_blank
    }

    /// What is left after the last line.
    pub(crate) fn into_skim(mut self) -> Skim {
        self.reader.finish(&mut self.draft);
        self.draft.into_skim(self.format)
    }
}
