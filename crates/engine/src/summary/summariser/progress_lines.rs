//! The response while it arrives, as redacted lines.

use super::super::piece::RedactFn;
use super::SummaryProgress;
use crate::provider::Delta;

/// Collects the text and passes on complete lines.
///
/// A credential does not end where a delta ends, so only complete lines are redacted and shown. A credential that
/// spans lines is only found in the finished response; the model was not given it anyway.
pub(super) struct ProgressLines<'l> {
    redact: &'l RedactFn<'l>,
    progress: &'l mut (dyn FnMut(SummaryProgress<'_>) + Send),
    pending: String,
}

impl<'l> ProgressLines<'l> {
    pub(super) fn new(
        redact: &'l RedactFn<'l>,
        progress: &'l mut (dyn FnMut(SummaryProgress<'_>) + Send),
    ) -> Self {
        Self { redact, progress, pending: String::new() }
    }

    pub(super) fn take(&mut self, delta: Delta<'_>) {
        let text = match delta {
            Delta::Text(text) => text,
            Delta::Restart => {
                self.pending.clear();
                return (self.progress)(SummaryProgress::Restart);
            }
        };
        // The last piece is what follows the last line end.
        let mut lines = text.split('\n').peekable();
        while let Some(line) = lines.next() {
            self.pending += line;
            if lines.peek().is_some() {
                self.hand_on();
            }
        }
    }

    /// The response is complete, and so is its last line.
    pub(super) fn finish(mut self) {
        if !self.pending.is_empty() {
            self.hand_on();
        }
    }

    fn hand_on(&mut self) {
        let line = (self.redact)(&std::mem::take(&mut self.pending));
        (self.progress)(SummaryProgress::Line(&line));
    }
}
