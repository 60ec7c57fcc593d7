//! Facts about one part of an outline.

use super::{MessageIx, Outline, PartClass, PartFlags, PartIx, PartKind, ToolStatus};
use crate::line_range::LineRange;
use crate::measure::{Sizes, Unit};
use crate::names::Name;
use crate::tool_class::ToolClass;

/// Facts about one part. An index past the end is an empty part of unknown kind.
impl Outline {
    fn flags(&self, part: PartIx) -> PartFlags {
        self.flags.get(part.0 as usize).copied().unwrap_or(PartFlags::NOTHING)
    }

    /// What it is.
    #[inline]
    pub fn kind(&self, part: PartIx) -> PartKind {
        self.flags(part).kind()
    }

    /// The status of its tool call.
    #[inline]
    pub fn status(&self, part: PartIx) -> ToolStatus {
        self.flags(part).status()
    }

    /// Whether the source says that it was cut before.
    #[inline]
    pub fn is_cut(&self, part: PartIx) -> bool {
        self.flags(part).is_cut()
    }

    /// Whether its text is exactly the placeholder of [`Measures::placeholder`](crate::Measures::placeholder).
    pub fn is_placeholder(&self, part: PartIx) -> bool {
        self.flags(part).is_placeholder()
    }

    fn part_class(&self, part: PartIx) -> PartClass {
        self.classes.get(part.0 as usize).copied().unwrap_or(PartClass::UNKNOWN)
    }

    /// The class of its tool.
    pub fn class(&self, part: PartIx) -> ToolClass {
        self.part_class(part).class()
    }

    /// Whether the client inserted it.
    pub fn is_injected(&self, part: PartIx) -> bool {
        self.part_class(part).is_injected()
    }

    /// Whether it summarises what came before: it is marked as such, or its message is.
    pub fn is_summary_part(&self, part: PartIx) -> bool {
        self.part_class(part).is_summary() || self.is_summary(self.owner(part))
    }

    /// Whether the tool failed.
    pub fn is_failure(&self, part: PartIx) -> bool {
        self.status(part) == ToolStatus::Error || self.part_class(part).is_failed()
    }

    /// What a call or result is about: a normalised path, or a command.
    pub fn subject(&self, part: PartIx) -> Option<&str> {
        self.subjects.text(self.subject_name(part))
    }

    /// What a call or result is about, as a number: equal subjects have equal numbers.
    pub fn subject_name(&self, part: PartIx) -> Name {
        self.subject.get(part.0 as usize).copied().unwrap_or(Name::NONE)
    }

    /// Which lines of its subject it is about.
    pub fn lines(&self, part: PartIx) -> LineRange {
        self.lines.get(part.0 as usize).copied().unwrap_or_default()
    }

    /// The message that it belongs to.
    #[inline]
    pub fn owner(&self, part: PartIx) -> MessageIx {
        self.owner.get(part.0 as usize).copied().unwrap_or(MessageIx(u32::MAX))
    }

    /// The name of its tool, as a number.
    #[inline]
    pub fn tool_name(&self, part: PartIx) -> Name {
        self.tool.get(part.0 as usize).copied().unwrap_or(Name::NONE)
    }

    /// The name of its tool.
    pub fn tool(&self, part: PartIx) -> Option<&str> {
        self.tools.text(self.tool_name(part))
    }

    /// The id that a call and its result share.
    pub fn call(&self, part: PartIx) -> Name {
        self.call.get(part.0 as usize).copied().unwrap_or(Name::NONE)
    }

    /// UTF-16 units of its text.
    #[inline]
    pub fn units(&self, part: PartIx) -> u64 {
        at(&self.units, part)
    }

    /// All its sizes; those without a column are zero.
    pub fn sizes(&self, part: PartIx) -> Sizes {
        Sizes {
            bytes: self.bytes(part),
            units: self.units(part),
            points: at(&self.points, part),
            blocks: u32::try_from(self.blocks(part)).unwrap_or(u32::MAX),
            images: u32::try_from(self.images(part)).unwrap_or(u32::MAX),
            js_json: at(&self.extra.js_json, part),
            py_json: at(&self.extra.py_json, part),
            weighted: at(&self.extra.weighted, part),
            wide: at(&self.extra.wide, part),
            trimmed: self.trimmed(part),
            excerpt: self.excerpt(part),
            tokens: at(&self.extra.tokens, part),
            source: self.source(part).unwrap_or(0),
        }
    }

    /// Bytes of its content in the source.
    pub fn bytes(&self, part: PartIx) -> u64 {
        at(&self.bytes, part)
    }

    /// The number of its text blocks.
    pub fn blocks(&self, part: PartIx) -> u64 {
        self.blocks.get(part.0 as usize).map_or(0, |&count| count.into())
    }

    /// The number of images and other media in it.
    #[inline]
    pub fn images(&self, part: PartIx) -> u64 {
        self.images.get(part.0 as usize).map_or(0, |&count| count.into())
    }

    /// Its size in `unit`; zero without a column for it.
    pub fn size(&self, part: PartIx, unit: Unit) -> u64 {
        at(self.column(unit), part)
    }

    /// The sizes of all parts in `unit`; empty without a column for it.
    pub(crate) fn column(&self, unit: Unit) -> &[u32] {
        match unit {
            Unit::Utf16 => &self.units,
            Unit::CodePoints => &self.points,
            Unit::Bytes => &self.bytes,
            Unit::JsJson => &self.extra.js_json,
            Unit::PyJson => &self.extra.py_json,
            Unit::Weighted => &self.extra.weighted,
            Unit::Wide => &self.extra.wide,
            Unit::O200k | Unit::Cl100k => &self.extra.tokens,
        }
    }

    /// The length of what the trim of [`Measures::trimmed`](crate::Measures::trimmed) would keep.
    pub fn trimmed(&self, part: PartIx) -> u64 {
        at(&self.extra.trimmed, part)
    }

    /// The length of its [excerpt](crate::excerpt), if [`Measures::excerpt`](crate::Measures::excerpt) was asked for.
    pub fn excerpt(&self, part: PartIx) -> u64 {
        at(&self.extra.excerpt, part)
    }

    /// The hash of its text, if [`Measures::source`](crate::Measures::source) was asked for.
    pub fn source(&self, part: PartIx) -> Option<u64> {
        self.extra.source.get(part.0 as usize).copied()
    }
}

#[inline]
fn at(column: &[u32], part: PartIx) -> u64 {
    column.get(part.0 as usize).map_or(0, |&size| size.into())
}
