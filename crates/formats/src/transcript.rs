//! A transcript: a session's bytes, where its messages and parts lie in them, and its outline.
//!
//! Reading never copies content: a transcript borrows the bytes and knows, for each part, the range that
//! holds it. Applying cuts gives a list of edits to those bytes, so that whatever is not cut comes out
//! exactly as it went in.

use std::borrow::Cow;
use std::ops::Range;

use secateur::{
    Action, Kind, Memory, MessageIx, Outline, PartIx, Pick, Plan, fill_digest, fill_handle, fill_placeholder,
    recall_note,
};

use crate::format::Format;
use crate::handle::handle;
use crate::json::{Splice, SpliceError, decode};
use crate::origin::Origin;
use crate::warning::Warning;
use crate::{aider, content};

/// Where a part lies in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The string literal of the part's own id.
    pub id: Option<Range<usize>>,
    /// The content that a cut replaces.
    pub content: Option<Range<usize>>,
    /// What a mark is written into, or over; what that is, the format knows.
    pub mark: Option<Range<usize>>,
    /// A second place that a mark touches.
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
    /// What stands where content was, with names in braces for what is filled in.
    pub placeholder: &'a str,
}

/// A session's bytes with their outline.
#[derive(Clone, Debug)]
pub struct Transcript<'a> {
    /// The format that was read.
    pub format: Format,
    /// The facts.
    pub outline: Outline,
    /// Where the session comes from, as far as it says so.
    pub origin: Origin,
    /// What could not be read.
    pub warnings: Vec<Warning>,
    pub(crate) bytes: &'a [u8],
    pub(crate) text: &'a str,
    pub(crate) spots: Vec<Spot>,
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

impl<'a> Transcript<'a> {
    /// The bytes that were read.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The source's text in this range.
    pub(crate) fn raw(&self, range: Range<usize>) -> Option<&'a str> {
        std::str::from_utf8(self.bytes.get(range)?).ok()
    }

    pub(crate) fn spot(&self, part: PartIx) -> Option<&Spot> {
        self.spots.get(part.0 as usize)
    }

    /// The source's own id of a part; the id of its tool call where parts have none.
    pub fn part_id(&self, part: PartIx) -> Option<Cow<'_, str>> {
        let own = self.spot(part).and_then(|spot| spot.id.clone()).and_then(|range| self.raw(range));
        own.map(decode).or_else(|| self.outline.ids().text(self.outline.call(part)).map(Cow::Borrowed))
    }

    /// The part with this id, or with this call id: the result, where call and result share it.
    pub fn find_part(&self, id: &str) -> Option<PartIx> {
        let call = self.outline.ids().find(id);
        let is_called = |part: PartIx| call.is_some_and(|call| self.outline.call(part) == call);
        let is_own = |part: PartIx| self.part_id(part).is_some_and(|own| own == id);
        self.outline.parts().rev().find(|&part| is_own(part) || is_called(part))
    }

    /// The raw content of a part, as it lies in the source.
    pub fn content(&self, part: PartIx) -> Option<&'a str> {
        self.spot(part)?.content.clone().and_then(|range| self.raw(range))
    }

    /// The text of a part: decoded, its blocks joined by line ends, without what is only markup. Images have none.
    pub fn text_of(&self, part: PartIx) -> Cow<'_, str> {
        let raw = self.content(part).unwrap_or_default();
        match self.format {
            Format::Aider => aider::text(raw),
            _ => content::text(raw),
        }
    }

    /// All that a part says, as it is fetched back: its text, or the whole input of a tool, or the raw content if there
    /// is no text in it.
    pub fn original(&self, part: PartIx) -> Cow<'_, str> {
        let raw = self.content(part).unwrap_or_default();
        if self.outline.kind(part) == Kind::Call && self.format != Format::Aider {
            return content::input(raw);
        }
        match self.text_of(part) {
            text if text.is_empty() => Cow::Borrowed(raw),
            text => text,
        }
    }

    /// The name by which a part is fetched back. It follows from what the part says, so it is the same in every
    /// session, every copy and every request that holds it.
    pub fn handle(&self, part: PartIx) -> String {
        handle(&self.original(part))
    }

    /// What stands in the place of a part that is cleared: the names in a profile's placeholder filled in.
    pub fn placeholder<'p>(&self, part: PartIx, template: &'p str) -> Cow<'p, str> {
        match fill_placeholder(template, &self.outline, part) {
            Cow::Borrowed(plain) if !plain.contains('{') => Cow::Borrowed(plain),
            filled => {
                let named = fill_handle(&filled, || self.handle(part));
                Cow::Owned(fill_digest(&named, &self.text_of(part)).into_owned())
            }
        }
    }

    /// What is written because of a cut: in the place of what is cleared, or behind what is trimmed.
    pub(crate) fn written<'r>(&self, cut: Rendering<'r>) -> Cow<'r, str> {
        match cut.action {
            Action::Trim { .. } => fill_handle(recall_note(cut.placeholder), || self.handle(cut.part)),
            Action::Clear | Action::DropMedia => self.placeholder(cut.part, cut.placeholder),
        }
    }

    /// What the model is given when message `at` is asked for, or with the next request: the messages that are
    /// alive then, in the order in which it sees them.
    pub fn context(&self, at: Option<MessageIx>) -> Transcript<'a> {
        let (outline, parts) = self.outline.select(self.outline.context(at).into_iter().map(Pick::Message));
        let spots = parts.iter().filter_map(|&part| self.spot(part).cloned()).collect();
        let Self { format, origin, warnings, bytes, text, .. } = self;
        let (origin, warnings) = (origin.clone(), warnings.clone());
        Transcript { format: *format, outline, origin, warnings, bytes, text, spots }
    }

    /// The source with these cuts made, as edits: marks where the system marks, replaced content where it
    /// replaces. `now` is written where a system writes the time of a cut.
    pub fn apply<'r>(
        &self,
        cuts: impl IntoIterator<Item = Rendering<'r>>,
        now: i64,
    ) -> Result<Splice<'a>, ApplyError> {
        let mut splice = Splice::new(self.bytes);
        for cut in cuts {
            let placeholder = self.written(cut);
            for edit in self.format.edits(self, Rendering { placeholder: &placeholder, ..cut }, now)? {
                splice.push(edit)?;
            }
        }
        Ok(splice)
    }
}

/// The cuts of a plan together with those remembered, each part once: what a request has to show.
pub fn renderings<'a>(
    plan: &'a Plan,
    outline: &'a Outline,
    memory: &'a Memory,
    placeholder: &'a str,
) -> Vec<Rendering<'a>> {
    let earlier = memory
        .cuts()
        .filter(|&(part, _)| plan.cut(part).is_none() && memory.cut(outline, part).is_some())
        .map(|(part, cut)| Rendering { part, action: cut.action, placeholder: memory.placeholder(cut) });
    let fresh = plan.cuts.iter().map(|cut| Rendering { part: cut.part, action: cut.action, placeholder });
    let mut all: Vec<_> = earlier.chain(fresh).collect();
    all.sort_unstable_by_key(|cut| cut.part);
    all
}
