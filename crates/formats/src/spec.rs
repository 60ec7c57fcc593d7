//! What a format has to define. Each format's module has one constant of this type; `logs` and `wire` list them.

use std::borrow::Cow;

use secateur::{Action, Measures, PartKind};

use crate::content;
use crate::cut::{ApplyError, CutSite, replace_input, replace_result};
use crate::draft::TranscriptDraft;
use crate::json::Edit;
use crate::lines::LineReader;
use crate::probe::Probe;

/// How a format is recognised, read and cut.
#[derive(Debug)]
pub(crate) struct FormatSpec {
    /// Whether the beginning of a text is in this format. Formats are tried in the order of their table, so a format may
    /// rely on those before it not matching.
    pub(crate) matches: fn(&Probe<'_>) -> bool,
    /// How a text is read. What cannot be read is skipped with a warning.
    pub(crate) reader: FormatReader,
    /// The text of a part, given its raw content.
    pub(crate) text: fn(&str) -> Cow<'_, str>,
    /// How cuts are written.
    pub(crate) cutting: Cutting,
}

/// How a text is read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FormatReader {
    /// The text as a whole is one session.
    Whole(fn(&mut TranscriptDraft<'_>, &str)),
    /// The text as a whole holds many sessions.
    Many(for<'m> fn(&str, &'m Measures) -> Vec<TranscriptDraft<'m>>),
    /// The text is one session of one record a line, which can be read through a small buffer.
    Lines(fn() -> Box<dyn LineReader>),
}

/// Makes the edits of one cut of a tool result.
pub(crate) type MakeEdits = fn(&CutSite<'_>) -> Result<Vec<Edit>, ApplyError>;

/// How cuts are written into the bytes of a session.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cutting {
    /// The content of tool results is replaced by this function, and the input of tool calls by a placeholder.
    Replace(MakeEdits),
    /// The system marks tool results that it cleared. There is no mark for a tool call's input, so it is never cut.
    Mark(MakeEdits),
    /// The system cuts tool results only in what it sends and never writes that down.
    Unwritten(MakeEdits),
    /// Nothing can be cut, for this reason.
    Nothing(&'static str),
}

impl FormatSpec {
    /// A format whose content is text or blocks, and whose cuts replace that content: most are like this.
    pub(crate) const fn plain(matches: fn(&Probe<'_>) -> bool, reader: FormatReader) -> Self {
        Self { matches, reader, text: content::text, cutting: Cutting::Replace(replace_result) }
    }

    /// The edits that make a cut.
    pub(crate) fn edits(&self, site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
        match self.cutting {
            Cutting::Replace(_) if site.kind() == PartKind::Call => {
                Ok(replace_input(site).into_iter().collect())
            }
            _ if site.kind() == PartKind::Call => Ok(Vec::new()),
            Cutting::Mark(_) if site.cut.action != Action::Clear => {
                Err(site.unsupported("its only mark means that the whole output is cleared"))
            }
            Cutting::Replace(edits) | Cutting::Mark(edits) | Cutting::Unwritten(edits) => edits(site),
            Cutting::Nothing(reason) => Err(site.unsupported(reason)),
        }
    }
}
