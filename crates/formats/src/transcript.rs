//! A transcript: a session's bytes, where its parts lie in them, and its outline.
//!
//! Reading never copies content: a transcript borrows the bytes and knows the range of each part. Applying cuts gives a
//! list of edits to those bytes, so everything that is not cut stays byte for byte as it was.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use secateur::{
    Action, HANDLE_LETTERS, Memory, MessageIx, MessagePick, Outline, PartIx, PartKind, PivotRule, Plan,
    fill_excerpt, fill_handle, fill_placeholder, recall_note,
};

use crate::content;
use crate::cut::{ApplyError, CutSite, Rendering, Spot};
use crate::draft::TranscriptDraft;
use crate::format::Format;
use crate::handle::HandleKey;
use crate::json::{Edit, Splice, decode};
use crate::origin::Origin;
use crate::spec::FormatSpec;
use crate::warning::Warning;

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
    spec: &'static FormatSpec,
    bytes: &'a [u8],
    /// The bytes as far as they are UTF-8.
    text: &'a str,
    spots: Vec<Spot>,
    /// Names that parts have in a store.
    handles: BTreeMap<PartIx, String>,
}

impl<'a> Transcript<'a> {
    /// The transcript of what a reader found in `bytes`; `text` is their beginning that is UTF-8.
    pub(crate) fn new(
        format: Format,
        spec: &'static FormatSpec,
        mut draft: TranscriptDraft<'_>,
        bytes: &'a [u8],
        text: &'a str,
    ) -> Self {
        let spots = draft.take_spots();
        let TranscriptDraft { outline, origin, warnings, .. } = draft;
        Self { format, outline, origin, warnings, spec, bytes, text, spots, handles: BTreeMap::new() }
    }

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

    /// The text of a part: decoded, its blocks joined by line feeds, without markup. Images have none.
    pub fn text_of(&self, part: PartIx) -> Cow<'_, str> {
        (self.spec.text)(self.content(part).unwrap_or_default())
    }

    /// The whole original of a part, for a recall: its text, or the input of a tool, or the raw content if it has no
    /// text.
    pub fn original(&self, part: PartIx) -> Cow<'_, str> {
        let raw = self.content(part).unwrap_or_default();
        if self.outline.kind(part) == PartKind::Call {
            return content::input(raw);
        }
        match self.text_of(part) {
            text if text.is_empty() => Cow::Borrowed(raw),
            text => text,
        }
    }

    /// The name by which a part is recalled: the one that it was given, or what the [public key](HandleKey::PUBLIC)
    /// gives for its original.
    pub fn handle(&self, part: PartIx) -> String {
        let given = self.handles.get(&part).cloned();
        given.unwrap_or_else(|| {
            let mut letters = HandleKey::PUBLIC.letters(&self.original(part));
            letters.truncate(HANDLE_LETTERS);
            letters
        })
    }

    /// Gives a part the name by which a store recalls it.
    pub fn set_handle(&mut self, part: PartIx, handle: String) {
        self.handles.insert(part, handle);
    }

    /// The placeholder of a part that is cleared: a profile's template with its names filled in.
    pub fn placeholder<'p>(&self, part: PartIx, template: &'p str) -> Cow<'p, str> {
        match fill_placeholder(template, &self.outline, part) {
            Cow::Borrowed(plain) if !plain.contains('{') => Cow::Borrowed(plain),
            filled => {
                let named = fill_handle(&filled, || self.handle(part));
                Cow::Owned(fill_excerpt(&named, &self.text_of(part)).into_owned())
            }
        }
    }

    /// The text that a cut writes: in the place of what is cleared, or behind what is trimmed.
    pub(crate) fn written<'r>(&self, cut: Rendering<'r>) -> Cow<'r, str> {
        match cut.action {
            Action::Trim { .. } => fill_handle(recall_note(cut.placeholder), || self.handle(cut.part)),
            Action::Clear | Action::DropMedia | Action::DropThinking => {
                self.placeholder(cut.part, cut.placeholder)
            }
        }
    }

    /// The context of the request for message `at`, or of the next request: its messages in the order in which the model
    /// sees them.
    pub fn context(&self, at: Option<MessageIx>) -> Transcript<'a> {
        self.select(self.outline.context(at))
    }

    /// The same for a log whose system decides by a [pivot](PivotRule) what is still sent; for all others it is the plain
    /// [context](Self::context).
    pub fn context_by(&self, pivot: &PivotRule, at: Option<MessageIx>) -> Transcript<'a> {
        if !self.format.leaves_pivot_to_profile() {
            return self.context(at);
        }
        let then = self.context(at);
        then.select(pivot.visible(&then.outline).into_iter().flatten().map(MessageIx))
    }

    /// These messages in this order.
    fn select(&self, messages: impl IntoIterator<Item = MessageIx>) -> Transcript<'a> {
        let (outline, parts) = self.outline.select(messages.into_iter().map(MessagePick::Message));
        let spots = parts.iter().filter_map(|&part| self.spot(part).cloned()).collect();
        let Self { format, spec, bytes, text, .. } = *self;
        let (origin, warnings) = (self.origin.clone(), self.warnings.clone());
        let handles = BTreeMap::new();
        Transcript { format, outline, origin, warnings, spec, bytes, text, spots, handles }
    }

    /// The source with these cuts made, as edits: a mark where the system marks cuts, replaced content elsewhere. `now` is
    /// written where a system writes the time of a cut.
    pub fn apply<'r>(
        &self,
        cuts: impl IntoIterator<Item = Rendering<'r>>,
        now: i64,
    ) -> Result<Splice<'a>, ApplyError> {
        let mut splice = Splice::new(self.bytes);
        for cut in cuts {
            for edit in self.edits(cut, now)? {
                splice.push(edit)?;
            }
        }
        Ok(splice)
    }

    /// The edits that make one cut.
    pub fn edits(&self, cut: Rendering<'_>, now: i64) -> Result<Vec<Edit>, ApplyError> {
        let placeholder = self.written(cut);
        let site = CutSite {
            format: self.format,
            outline: &self.outline,
            bytes: self.bytes,
            text: self.text,
            spot: self.spot(cut.part),
            cut: Rendering { placeholder: &placeholder, ..cut },
            now,
        };
        self.spec.edits(&site)
    }
}

/// The cuts of a plan together with those remembered, each part once: all cuts that a request has to show.
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
