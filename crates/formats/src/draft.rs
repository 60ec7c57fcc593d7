//! A transcript in the making: what every reader fills, part by part.
//!
//! A reader knows its format; a draft knows what follows from it for any format: sizes, where the content lies,
//! which tool a result belongs to and what that tool was about. It borrows nothing from the text, so that a log
//! can be read line by line through one small buffer: [`Draft::enter`] tells it where the text at hand lies in
//! the source.

use std::ops::Range;

use secateur::{
    Kind, Lines, Measures, MessageFacts, MessageIx, Outline, PartFacts, PartIx, Pick, Sizes, Status,
};

use crate::content;
use crate::format::Format;
use crate::json::Raw;
use crate::origin::Origin;
use crate::sizes;
use crate::skim::Skim;
use crate::subject::{About, subject};
use crate::transcript::{Spot, Transcript};
use crate::warning::Warning;

pub(crate) struct Draft<'m> {
    pub measures: &'m Measures,
    pub outline: Outline,
    pub warnings: Vec<Warning>,
    pub origin: Origin,
    places: Places,
    /// The call of each id, by the number of its name: its result is about the same.
    called: Vec<Option<PartIx>>,
    /// The address of the text at hand, its length, and where it lies in the source.
    window: (usize, usize, usize),
}

/// Where the parts lie in the source.
enum Places {
    Kept(Vec<Spot>),
    Dropped,
}

/// A tool call, as a reader finds it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Called<'a> {
    pub tool: Option<&'a str>,
    pub id: Option<&'a str>,
    pub status: Status,
    /// The input: an object, or a string that holds JSON or free text.
    pub input: Option<Raw<'a>>,
}

/// What a tool answered, as a reader finds it.
#[derive(Clone, Copy, Default)]
pub(crate) struct Answered<'a> {
    /// The tool's name, if the result tells it; else that of the call counts.
    pub tool: Option<&'a str>,
    pub id: Option<&'a str>,
    pub status: Status,
    /// It finished, but without success.
    pub failed: bool,
    /// The source says that it was cut before.
    pub cut: bool,
    /// A string, or a list of blocks in any dialect.
    pub content: Option<Raw<'a>>,
}

impl<'m> Draft<'m> {
    pub(crate) fn new(text: &str, measures: &'m Measures) -> Self {
        Self {
            measures,
            outline: Outline::new(measures.clone()),
            warnings: Vec::new(),
            origin: Origin::default(),
            places: Places::Kept(Vec::new()),
            called: Vec::new(),
            window: (text.as_ptr().addr(), text.len(), 0),
        }
    }

    /// Does without the places of parts, which nobody can look up once the source has gone by.
    pub(crate) fn forget_places(&mut self) {
        self.places = Places::Dropped;
    }

    /// From now on values are borrowed from this text, which lies at this offset of the source.
    pub(crate) fn enter(&mut self, text: &str, offset: usize) {
        self.window = (text.as_ptr().addr(), text.len(), offset);
    }

    /// Begins a message.
    pub(crate) fn message(&mut self, facts: MessageFacts<'_>) -> MessageIx {
        self.outline.push_message(facts)
    }

    /// Adds text, thinking or a signature to the newest message.
    pub(crate) fn say(&mut self, kind: Kind, content: Option<Raw<'_>>) {
        self.add(PartFacts { kind, ..PartFacts::default() }, content);
    }

    /// Adds text that the program put in.
    pub(crate) fn inject(&mut self, content: Option<Raw<'_>>) {
        self.add(PartFacts { kind: Kind::Text, injected: true, ..PartFacts::default() }, content);
    }

    /// Adds an image or another file to the newest message.
    pub(crate) fn show(&mut self, block: Raw<'_>) {
        let sizes = Sizes { bytes: block.text().len() as u64, images: 1, ..Sizes::default() };
        let spot = self.spot_of(Some(block));
        self.push(PartFacts { kind: Kind::Media, sizes, ..PartFacts::default() }, spot);
    }

    /// Adds the mark of a compaction to the newest message.
    pub(crate) fn mark(&mut self) {
        self.push(PartFacts { kind: Kind::Compaction, ..PartFacts::default() }, Spot::default());
    }

    fn add(&mut self, facts: PartFacts<'_>, content: Option<Raw<'_>>) {
        let sizes = content.map(|raw| content::sizes(raw.text(), self.measures)).unwrap_or_default();
        let spot = self.spot_of(content);
        self.push(PartFacts { sizes, ..facts }, spot);
    }

    /// Adds a tool call to the newest message.
    pub(crate) fn call(&mut self, called: Called<'_>) {
        let spot = self.spot_of(called.input.filter(|raw| raw.text() != "null"));
        self.call_at(called, spot);
    }

    /// Adds a tool call whose record the caller has located.
    pub(crate) fn call_at(&mut self, called: Called<'_>, spot: Spot) {
        let input = called.input.filter(|raw| raw.text() != "null");
        let facts = PartFacts {
            kind: Kind::Call,
            status: called.status,
            tool: called.tool,
            call: called.id,
            sizes: sizes::of_input(input.map_or("{}", Raw::text), self.measures),
            ..PartFacts::default()
        };
        let tool = called.tool.unwrap_or_default();
        let about = subject(tool, input.map_or("{}", Raw::text), self.origin.project.as_deref());
        let (subject, lines) = match about.about {
            About::Nothing => (None, Lines::ALL),
            About::File { path, lines } => (Some(path), lines),
            // A patch over several files is about all of them; as one subject they are joined.
            About::Files(paths) => (Some(paths.join("\n")), Lines::ALL),
            About::Command(command) => (Some(command), Lines::ALL),
        };
        let facts = PartFacts { class: about.class, subject: subject.as_deref(), lines, ..facts };
        let part = self.push(facts, spot);
        if let Some(id) = called.id.and_then(|id| self.outline.ids().find(id)) {
            if self.called.len() <= id.index() {
                self.called.resize(id.index() + 1, None);
            }
            self.called[id.index()] = Some(part);
        }
    }

    /// Adds a tool's answer to the newest message.
    pub(crate) fn answer(&mut self, answered: Answered<'_>) {
        let sizes = content::sizes(answered.content.map_or("null", Raw::text), self.measures);
        let spot = self.spot_of(answered.content);
        self.answer_at(answered, sizes, spot);
    }

    /// Adds a tool's answer whose text is not simply that of its content.
    pub(crate) fn answer_sized(&mut self, answered: Answered<'_>, sizes: Sizes) {
        let spot = self.spot_of(answered.content);
        self.answer_at(answered, sizes, spot);
    }

    /// Adds a tool's answer that the caller has measured and located.
    pub(crate) fn answer_at(&mut self, answered: Answered<'_>, sizes: Sizes, spot: Spot) {
        let raw = answered.content.map_or("null", Raw::text);
        let facts = PartFacts {
            kind: Kind::Result,
            status: answered.status,
            call: answered.id,
            cut: answered.cut,
            failed: answered.failed,
            placeholder: content::is_placeholder(raw, self.measures),
            sizes,
            ..PartFacts::default()
        };
        let id = answered.id.and_then(|id| self.outline.ids().find(id));
        let call = id.and_then(|id| self.called.get(id.index()).copied().flatten());
        let part = self.push(PartFacts { tool: answered.tool, ..facts }, spot);
        if let Some(call) = call {
            self.outline.follow(part, call);
        }
    }

    /// Adds a part and where it lies.
    pub(crate) fn push(&mut self, facts: PartFacts<'_>, spot: Spot) -> PartIx {
        if let Places::Kept(spots) = &mut self.places {
            spots.push(spot);
        }
        self.outline.push_part(facts)
    }

    /// Where a value lies in the source; nothing if it was not borrowed from the text at hand.
    pub(crate) fn range(&self, raw: Option<Raw<'_>>) -> Option<Range<usize>> {
        let text = raw?.text();
        let (address, len, offset) = self.window;
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

    /// Whether a value is exactly the placeholder that the measures ask about.
    pub(crate) fn is_placeholder(&self, raw: Option<Raw<'_>>) -> bool {
        raw.is_some_and(|raw| sizes::is_placeholder(raw.text(), self.measures))
    }

    /// Puts the messages into another order, or joins some.
    pub(crate) fn rearrange(&mut self, picks: impl IntoIterator<Item = Pick>) {
        let (outline, parts) = self.outline.select(picks);
        if let Places::Kept(spots) = &mut self.places {
            *spots = parts.iter().filter_map(|part| spots.get(part.0 as usize).cloned()).collect();
        }
        self.outline = outline;
    }

    /// The transcript of a text that was read as a whole.
    pub(crate) fn finish<'a>(self, format: Format, text: &'a str) -> Transcript<'a> {
        let Self { outline, warnings, origin, places, .. } = self;
        let spots = match places {
            Places::Kept(spots) => spots,
            Places::Dropped => Vec::new(),
        };
        Transcript { format, outline, origin, warnings, bytes: text.as_bytes(), text, spots }
    }

    /// What is left of a text that was read through a buffer.
    pub(crate) fn into_skim(self, format: Format) -> Skim {
        let Self { outline, warnings, origin, .. } = self;
        Skim { format, outline, origin, warnings }
    }
}
