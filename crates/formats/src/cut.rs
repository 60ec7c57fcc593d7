//! One cut in the bytes of a session: where it is made, and the edits that make it.

mod replace;

use std::ops::Range;

use secateur::{Action, Outline, PartIx, PartKind};

use crate::content;
use crate::format::Format;
use crate::json::{Edit, SpliceError, decode, encode};
pub(crate) use replace::{replaced, trimmed};

/// Where a part lies in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The string literal of the part's own id.
    pub id: Option<Range<usize>>,
    /// The content that a cut replaces.
    pub content: Option<Range<usize>>,
    /// The value that a mark is written into, or over; the format knows which.
    pub mark: Option<Range<usize>>,
    /// A second place that a mark changes.
    pub second: Option<Range<usize>>,
    /// The content lies inside `mark` rather than beside it.
    pub inside: bool,
}

/// How one part is cut: what a renderer needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rendering<'a> {
    /// Which part.
    pub part: PartIx,
    /// What happens to it.
    pub action: Action,
    /// What replaces the content, with names in braces for what is filled in.
    pub placeholder: &'a str,
}

/// Why cuts cannot be applied to a transcript.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// The format has no way to hold such a cut.
    #[error("a {format} session cannot hold this cut of part {part}: {reason}")]
    Unsupported {
        /// The format.
        format: Format,
        /// The number of the part.
        part: u32,
        /// What is missing.
        reason: &'static str,
    },
    /// Two edits touch the same bytes, which would mean that a part was read wrongly.
    #[error("cuts of this session overlap: {source}")]
    Overlap {
        /// The edits in question.
        #[from]
        source: SpliceError,
    },
}

/// A cut, and the session that it is made in.
pub(crate) struct CutSite<'s> {
    pub(crate) format: Format,
    pub(crate) outline: &'s Outline,
    pub(crate) bytes: &'s [u8],
    /// The bytes as far as they are UTF-8.
    pub(crate) text: &'s str,
    pub(crate) spot: Option<&'s Spot>,
    /// The cut, with its placeholder filled in.
    pub(crate) cut: Rendering<'s>,
    /// The time that is written where a system writes the time of a cut.
    pub(crate) now: i64,
}

impl<'s> CutSite<'s> {
    /// What is cut.
    pub(crate) fn kind(&self) -> PartKind {
        self.outline.kind(self.cut.part)
    }

    /// Where the part lies, if it is a tool result.
    pub(crate) fn result(&self) -> Option<&'s Spot> {
        self.spot.filter(|_| self.kind() == PartKind::Result)
    }

    /// The source's text in this range.
    pub(crate) fn raw(&self, range: &Range<usize>) -> Option<&'s str> {
        std::str::from_utf8(self.bytes.get(range.clone())?).ok()
    }

    /// The error of a format that cannot hold this cut.
    pub(crate) fn unsupported(&self, reason: &'static str) -> ApplyError {
        ApplyError::Unsupported { format: self.format, part: self.cut.part.0, reason }
    }
}

/// The edit that replaces the content of a tool result by what is left of it.
pub(crate) fn replace_result(site: &CutSite<'_>) -> Result<Vec<Edit>, ApplyError> {
    let range = site.result().and_then(|spot| spot.content.clone());
    let range = range.ok_or_else(|| site.unsupported("only tool results are cut"))?;
    let raw = site.raw(&range).unwrap_or_default();
    Ok(vec![Edit { text: replaced(raw, site.cut), range }])
}

/// The edit that replaces a tool's input by a placeholder. Providers expect an object where there was one, also inside
/// a string; an input of free text becomes another text.
pub(crate) fn replace_input(site: &CutSite<'_>) -> Option<Edit> {
    let range = site.spot?.content.clone()?;
    let raw = site.raw(&range)?;
    let placeholder = site.cut.placeholder;
    let object = || format!("{{\"cut\":{}}}", encode(placeholder));
    let text = match raw.as_bytes() {
        [b'{', ..] => object(),
        [b'"', ..] if decode(raw).trim_start().starts_with('{') => encode(&object()),
        [b'"', ..] => encode(placeholder),
        _ => return None,
    };
    (site.cut.action == Action::Clear && text.len() < raw.len()).then_some(Edit { range, text })
}

/// The text that is left of a content after a cut.
pub(crate) fn text_left(raw: &str, cut: Rendering<'_>) -> String {
    content::text(&replaced(raw, cut)).into_owned()
}
