//! Logs of one record a line: the loop that all of them share.
//!
//! A reader of such a log gets one record at a time and keeps only what it needs later, so the same reader serves a text
//! in memory and a file that is read through a small buffer. Lines that cannot be read are skipped with a warning. A last
//! line without a line end may belong to a file that is still being written.

use secateur::Measures;

use crate::draft::TranscriptDraft;
use crate::json::SyntaxError;
use crate::warning::Warning;

/// A reader that takes one record after the other.
pub(crate) trait LineReader {
    /// Reads a record: a line without its end. An error means that the line is not JSON.
    fn record(&mut self, draft: &mut TranscriptDraft<'_>, line: &str) -> Result<(), SyntaxError>;

    /// Adds what is known only after the last record: branches, totals, the order of messages.
    fn finish(&mut self, _draft: &mut TranscriptDraft<'_>) {}
}

/// A log that is being read line by line.
pub(crate) struct LineLog<'m> {
    reader: Box<dyn LineReader>,
    pub(crate) draft: TranscriptDraft<'m>,
    line: u64,
    /// There was nothing but white space so far.
    pub(crate) is_blank: bool,
}

/// The most warnings about single lines.
const MAX_WARNINGS: usize = 100;

impl<'m> LineLog<'m> {
    /// A log that was not read yet.
    pub(crate) fn new(reader: Box<dyn LineReader>, measures: &'m Measures) -> Self {
        Self { reader, draft: TranscriptDraft::new("", measures), line: 0, is_blank: true }
    }

    /// Reads a whole source.
    pub(crate) fn read(mut self, bytes: &[u8]) -> TranscriptDraft<'m> {
        let taken = self.take(bytes, 0);
        self.take_last(bytes.get(taken..).unwrap_or_default(), taken);
        self.finish()
    }

    /// Reads all whole lines of a buffer that begins at this offset of the source; returns their length in bytes.
    pub(crate) fn take(&mut self, buffer: &[u8], offset: usize) -> usize {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', buffer) {
            let line = buffer.get(start..end).unwrap_or_default();
            if let Err(error) = self.take_line(line, offset + start) {
                self.warn(format!("{error}; the line was skipped"));
            }
            start = end + 1;
        }
        start
    }

    /// Reads what follows the last line end.
    pub(crate) fn take_last(&mut self, rest: &[u8], offset: usize) {
        if rest.trim_ascii().is_empty() {
            return;
        }
        if let Err(error) = self.take_line(rest, offset) {
            self.warn(format!(
                "{error}; the incomplete last line was skipped (the file may still be growing)"
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
        if warnings.len() < MAX_WARNINGS {
            warnings.push(Warning { line: self.line, reason });
        } else if warnings.len() == MAX_WARNINGS {
            let reason = "more lines cannot be read; no further warnings are given".to_owned();
            warnings.push(Warning { line: self.line, reason });
        }
    }

    /// Ends the log after its last line.
    pub(crate) fn finish(mut self) -> TranscriptDraft<'m> {
        self.reader.finish(&mut self.draft);
        self.draft
    }
}
