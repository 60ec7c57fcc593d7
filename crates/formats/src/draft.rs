//! A transcript in the making: what every reader fills, part by part.
//!
//! A reader knows its format. A draft does what is the same for all formats: it measures parts, notes where they lie,
//! and finds the tool call that a result belongs to and its subject. It borrows nothing from the text, so that a log
//! can be read line by line through one small buffer; [`TranscriptDraft::enter`] says where the current text lies in the
//! source.

use std::ops::Range;

use secateur::{
    LineRange, Measures, MessageFacts, MessageIx, MessagePick, Outline, PartFacts, PartIx, PartKind, Sizes,
    ToolStatus,
};

use crate::content;
use crate::cut::Spot;
use crate::json::{OptionalRaw, Raw};
use crate::origin::Origin;
use crate::sizes;
use crate::subject::{About, subject};
use crate::warning::Warning;

/// The facts of a session, as far as it was read.
pub(crate) struct TranscriptDraft<'m> {
    pub measures: &'m Measures,
    pub outline: Outline,
    pub warnings: Vec<Warning>,
    pub origin: Origin,
    /// Where the parts lie in the source, unless that is not noted.
    spots: Option<Vec<Spot>>,
    /// The call of each id, by the number of its name: a result has the subject of its call.
    calls: Vec<Option<PartIx>>,
    /// The address of the current text, its length, and where it lies in the source.
    current: (usize, usize, usize),
}

/// A tool call, as a reader finds it. Names are borrowed, or decoded from the source.
#[derive(Clone, Copy, Default)]
pub(crate) struct ToolCall<'a, N = &'a str> {
    pub tool: Option<N>,
    pub id: Option<N>,
    pub status: ToolStatus,
    /// The input: an object, or a string that holds JSON or free text.
    pub input: Option<Raw<'a>>,
}

/// A tool result, as a reader finds it.
#[derive(Clone, Copy, Default)]
pub(crate) struct ToolResult<'a, N = &'a str> {
    /// The tool's name, if the result has it; otherwise the name in the call counts.
    pub tool: Option<N>,
    pub id: Option<N>,
    pub status: ToolStatus,
    /// It finished, but without success.
    pub failed: bool,
    /// The source says that it was cut before.
    pub cut: bool,
    /// A string, or a list of blocks in any spelling.
    pub content: Option<Raw<'a>>,
}

/// The status of a result that says whether it is an error.
pub(crate) fn outcome(error: Option<Raw<'_>>) -> ToolStatus {
    if error.truthy() { ToolStatus::Error } else { ToolStatus::Completed }
}

impl<'m> TranscriptDraft<'m> {
    /// An empty draft of the session in `text`.
    pub(crate) fn new(text: &str, measures: &'m Measures) -> Self {
        Self {
            measures,
            outline: Outline::new(measures.clone()),
            warnings: Vec::new(),
            origin: Origin::default(),
            spots: Some(Vec::new()),
            calls: Vec::new(),
            current: (text.as_ptr().addr(), text.len(), 0),
        }
    }

    /// Stops noting where parts lie: of a source that is read through a buffer, they cannot be looked up.
    pub(crate) fn drop_spots(&mut self) {
        self.spots = None;
    }

    /// Sets the text that values are borrowed from next, and its offset in the source.
    pub(crate) fn enter(&mut self, text: &str, offset: usize) {
        self.current = (text.as_ptr().addr(), text.len(), offset);
    }

    /// Begins a message. All parts that are pushed next belong to it.
    pub(crate) fn push_message(&mut self, facts: MessageFacts<'_>) -> MessageIx {
        self.outline.push_message(facts)
    }

    /// Adds text, thinking or a signature.
    pub(crate) fn push_text(&mut self, kind: PartKind, content: Option<Raw<'_>>) {
        self.add(PartFacts { kind, ..PartFacts::default() }, content);
    }

    /// Adds the signature of a block of thinking. To leave the thinking out is to leave out the block.
    pub(crate) fn push_signature(&mut self, signature: Option<Raw<'_>>, block: Raw<'_>) {
        let sizes = signature.map(|raw| content::sizes(raw.text(), self.measures)).unwrap_or_default();
        let spot = Spot { mark: self.spot_of(Some(block)).content, ..self.spot_of(signature) };
        self.push(PartFacts { kind: PartKind::Signature, sizes, ..PartFacts::default() }, spot);
    }

    /// Adds text that the agent put in, not the user or the model.
    pub(crate) fn push_injected(&mut self, content: Option<Raw<'_>>) {
        self.add(PartFacts { kind: PartKind::Text, injected: true, ..PartFacts::default() }, content);
    }

    /// Adds an image or another file.
    pub(crate) fn push_media(&mut self, block: Raw<'_>) {
        let sizes = Sizes { bytes: block.text().len() as u64, images: 1, ..Sizes::default() };
        let spot = self.spot_of(Some(block));
        self.push(PartFacts { kind: PartKind::Media, sizes, ..PartFacts::default() }, spot);
    }

    /// Adds the mark of a compaction.
    pub(crate) fn push_compaction(&mut self) {
        self.push(PartFacts { kind: PartKind::Compaction, ..PartFacts::default() }, Spot::default());
    }

    /// Adds a part that is measured as it is spelled.
    pub(crate) fn push_spelled(&mut self, kind: PartKind, content: Option<Raw<'_>>) {
        let (sizes, spot) = (self.sizes_of(content), self.spot_of(content));
        self.push(PartFacts { kind, sizes, ..PartFacts::default() }, spot);
    }

    fn add(&mut self, facts: PartFacts<'_>, content: Option<Raw<'_>>) {
        let sizes = content.map(|raw| content::sizes(raw.text(), self.measures)).unwrap_or_default();
        let spot = self.spot_of(content);
        self.push(PartFacts { sizes, ..facts }, spot);
    }

    pub(crate) fn push_call<N: AsRef<str>>(&mut self, call: ToolCall<'_, N>) {
        let spot = self.spot_of(call.input.unless_null());
        self.push_call_at(call, spot);
    }

    /// Adds a tool call that the caller has located.
    pub(crate) fn push_call_at<N: AsRef<str>>(&mut self, call: ToolCall<'_, N>, spot: Spot) {
        let ToolCall { tool, id, status, input } = call;
        let input = input.unless_null().map_or("{}", Raw::text);
        let (tool, id) = (tool.as_ref().map(AsRef::as_ref), id.as_ref().map(AsRef::as_ref));
        let about = subject(tool.unwrap_or_default(), input, self.origin.project.as_deref());
        let (subject, lines) = match about.about {
            About::Nothing => (None, LineRange::ALL),
            About::File { path, lines } => (Some(path), lines),
            // The subject of a patch over several files is all of them, joined.
            About::Files(paths) => (Some(paths.join("\n")), LineRange::ALL),
            About::Command(command) => (Some(command), LineRange::ALL),
        };
        let facts = PartFacts {
            kind: PartKind::Call,
            status,
            tool,
            call: id,
            sizes: sizes::of_input(input, self.measures),
            class: about.class,
            subject: subject.as_deref(),
            lines,
            ..PartFacts::default()
        };
        let part = self.push(facts, spot);
        if let Some(id) = id.and_then(|id| self.outline.ids().find(id)) {
            if self.calls.len() <= id.index() {
                self.calls.resize(id.index() + 1, None);
            }
            self.calls[id.index()] = Some(part);
        }
    }

    pub(crate) fn push_result<N: AsRef<str>>(&mut self, result: ToolResult<'_, N>) {
        let sizes = content::sizes(result.content.map_or("null", Raw::text), self.measures);
        let spot = self.spot_of(result.content);
        self.push_result_at(result, sizes, spot);
    }

    /// Adds a tool result that the caller has measured and located.
    pub(crate) fn push_result_at<N: AsRef<str>>(
        &mut self,
        result: ToolResult<'_, N>,
        sizes: Sizes,
        spot: Spot,
    ) {
        let ToolResult { tool, id, status, failed, cut, content } = result;
        let (tool, id) = (tool.as_ref().map(AsRef::as_ref), id.as_ref().map(AsRef::as_ref));
        let raw = content.map_or("null", Raw::text);
        let facts = PartFacts {
            kind: PartKind::Result,
            status,
            tool,
            call: id,
            cut,
            failed,
            placeholder: content::is_placeholder(raw, self.measures),
            sizes,
            ..PartFacts::default()
        };
        let known = id.and_then(|id| self.outline.ids().find(id));
        let call = known.and_then(|id| self.calls.get(id.index()).copied().flatten());
        let part = self.push(facts, spot);
        if let Some(call) = call {
            self.outline.follow(part, call);
        }
    }

    /// Adds a part and where it lies.
    pub(crate) fn push(&mut self, facts: PartFacts<'_>, spot: Spot) -> PartIx {
        if let Some(spots) = &mut self.spots {
            spots.push(spot);
        }
        self.outline.push_part(facts)
    }

    /// Where a value lies in the source; `None` if it was not borrowed from the current text.
    pub(crate) fn range(&self, raw: Option<Raw<'_>>) -> Option<Range<usize>> {
        let text = raw?.text();
        let (address, len, offset) = self.current;
        let start = text.as_ptr().addr().checked_sub(address)?;
        (start + text.len() <= len).then_some(offset + start..offset + start + text.len())
    }

    /// The spot of a part that is nothing but its content.
    pub(crate) fn spot_of(&self, content: Option<Raw<'_>>) -> Spot {
        Spot { content: self.range(content), ..Spot::default() }
    }

    /// The sizes of a value; all zero if there is none.
    pub(crate) fn sizes_of(&self, raw: Option<Raw<'_>>) -> Sizes {
        raw.map(|raw| sizes::of_json(raw.text(), self.measures)).unwrap_or_default()
    }

    /// Whether a value is exactly the placeholder that the measures name.
    pub(crate) fn is_placeholder(&self, raw: Option<Raw<'_>>) -> bool {
        raw.is_some_and(|raw| sizes::is_placeholder(raw.text(), self.measures))
    }

    /// Puts the messages into another order, or joins some.
    pub(crate) fn rearrange(&mut self, picks: impl IntoIterator<Item = MessagePick>) {
        let (outline, parts) = self.outline.select(picks);
        if let Some(spots) = &mut self.spots {
            *spots = parts.iter().filter_map(|part| spots.get(part.0 as usize).cloned()).collect();
        }
        self.outline = outline;
    }

    /// Where each part lies in the source; empty if that was not noted.
    pub(crate) fn take_spots(&mut self) -> Vec<Spot> {
        self.spots.take().unwrap_or_default()
    }
}
