//! An index of every part that may be cut one day: from when on, and what that would save.
//!
//! It is extended as parts arrive and never scans back. A read is listed under its file and an output under its hash, so
//! that a later result that makes it old finds it with one lookup. A turn therefore costs time in proportion to what is
//! new, and a plan in proportion to the candidates.

use std::collections::{HashMap, VecDeque};

use super::Rent;
use crate::cache::Lifetime;
use crate::line_range::LineRange;
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx, PartKind, ToolStatus};
use crate::plan::Action;
use crate::tool_class::ToolClass;

/// A part that may be cut one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RentCandidate {
    pub(super) part: PartIx,
    /// The first model call at which it may be cut while the cache is warm; `u32::MAX` for never.
    pub(super) from: u32,
    /// The same while the cache is cold, or when a request does not fit.
    pub(super) cold: u32,
    /// The characters that are sent for it now.
    pub(super) chars: u64,
    /// The characters of its excerpt.
    pub(super) excerpt: u64,
}

/// What is sent up to a part.
#[derive(Clone, Copy, Debug, Default)]
struct SentSum {
    chars: u64,
    /// How many placeholders, whose length only the plan knows.
    placeholders: u64,
}

/// The candidates among all parts so far, and running sums of what is sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct RentIndex {
    parts: u32,
    /// The message of the newest part.
    newest: Option<MessageIx>,
    calls: usize,
    /// How long the provider's cache lives, as the calls show.
    pub(super) lifetime: Lifetime,
    pub(super) candidates: Vec<RentCandidate>,
    sum: SentSum,
    /// The sum before each part, from the first candidate on.
    sums: Vec<SentSum>,
    /// The indices of the candidates that read a file, with their lines.
    reads: HashMap<String, VecDeque<(usize, LineRange)>>,
    /// The index of the candidate with this output.
    outputs: HashMap<u64, usize>,
}

/// The most reads of one file that are listed.
const MOST_READS: usize = 64;

impl RentIndex {
    /// The index of a whole outline.
    pub(crate) fn of(outline: &Outline, rent: &Rent, memory: &Memory) -> Self {
        let mut index = Self::default();
        index.advance(outline, rent, memory);
        index
    }

    /// Adds what is new in the outline.
    pub(crate) fn advance(&mut self, outline: &Outline, rent: &Rent, memory: &Memory) {
        if self.is_outdated(outline) {
            *self = Self::default();
        }
        for call in outline.model_calls().iter().skip(self.calls) {
            self.lifetime.observe(call.time, &call.usage);
        }
        self.calls = outline.model_calls().len();
        for part in (self.parts..outline.part_count() as u32).map(PartIx) {
            self.add_part(outline, rent, memory, part);
            self.newest = Some(outline.owner(part));
        }
        self.parts = outline.part_count() as u32;
    }

    /// Whether model calls were recorded late, so that parts are older than assumed.
    fn is_outdated(&self, outline: &Outline) -> bool {
        let Some(newest) = self.newest else { return false };
        let mut late = outline.model_calls().iter().skip(self.calls);
        outline.model_calls().len() < self.calls || late.any(|call| self.calls == 0 || call.message <= newest)
    }

    fn add_part(&mut self, outline: &Outline, rent: &Rent, memory: &Memory, part: PartIx) {
        let cut = memory.cut(outline, part).map(|cut| cut.action);
        let is_cleared = outline.is_cut(part) || cut == Some(Action::Clear);
        let chars = match cut {
            _ if is_cleared => outline.excerpt(part),
            Some(Action::Trim { head, tail, .. }) => outline.sent(part).min(head.saturating_add(tail)),
            _ => outline.sent(part),
        };
        let kind = outline.kind(part);
        if !is_cleared && cut != Some(Action::DropMedia) && rent.may_cut(outline, memory, part, chars) {
            self.add_candidate(outline, rent, part, chars);
        }
        if kind == PartKind::Result {
            self.age_earlier(outline, rent, part);
            self.list(outline, part);
        }
        if !self.candidates.is_empty() {
            self.sums.push(self.sum);
        }
        self.sum.chars = self.sum.chars.saturating_add(chars);
        self.sum.placeholders += u64::from(is_cleared);
    }

    /// Adds a candidate.
    fn add_candidate(&mut self, outline: &Outline, rent: &Rent, part: PartIx, chars: u64) {
        let first = outline.first_call(outline.owner(part));
        let after = |age: Option<u32>| age.map_or(u32::MAX, |age| first.saturating_add(age));
        let (from, cold) = match (outline.kind(part), rent.inputs) {
            (PartKind::Call, inputs) => {
                let from = after(inputs.map(|inputs| inputs.age));
                (from, from)
            }
            _ => match after(rent.ages.of(outline.class(part))) {
                u32::MAX => (u32::MAX, u32::MAX),
                from => (from, from.min(after(rent.ages.cold))),
            },
        };
        self.candidates.push(RentCandidate { part, from, cold, chars, excerpt: outline.excerpt(part) });
    }

    /// Lowers the age of what a new result makes old: the same output, a read of lines that it shows, a read of a file
    /// that it changed.
    fn age_earlier(&mut self, outline: &Outline, rent: &Rent, part: PartIx) {
        let now = outline.first_call(outline.owner(part));
        let shorten = |candidates: &mut Vec<RentCandidate>, index: usize, age: Option<u32>| {
            let (Some(age), Some(candidate)) = (age, candidates.get_mut(index)) else { return };
            let first = outline.first_call(outline.owner(candidate.part));
            candidate.from = candidate.from.min(first.saturating_add(age).max(now));
            candidate.cold = candidate.cold.min(candidate.from);
        };
        if let Some(&index) = source(outline, part).and_then(|source| self.outputs.get(&source)) {
            shorten(&mut self.candidates, index, rent.ages.repeated);
        }
        let is_done = !matches!(outline.status(part), ToolStatus::Pending | ToolStatus::Running);
        if !is_done || outline.is_failure(part) {
            return;
        }
        let class = outline.class(part);
        let shown = outline.lines(part);
        for subject in subjects(outline, part).filter(|_| matches!(class, ToolClass::Read | ToolClass::Edit))
        {
            for &(index, lines) in self.reads.get(subject).into_iter().flatten() {
                match class {
                    ToolClass::Edit => shorten(&mut self.candidates, index, rent.ages.edited),
                    _ if shown.covers(lines) => shorten(&mut self.candidates, index, rent.ages.covered),
                    _ => {}
                }
            }
        }
    }

    /// Lists a result that was just added, so that a later one can find it.
    fn list(&mut self, outline: &Outline, part: PartIx) {
        let Some(index) = self.candidates.len().checked_sub(1) else { return };
        if self.candidates.get(index).is_none_or(|candidate| candidate.part != part) {
            return;
        }
        if let Some(source) = source(outline, part) {
            self.outputs.insert(source, index);
        }
        if outline.class(part) == ToolClass::Read {
            for subject in subjects(outline, part) {
                let known = self.reads.entry(subject.to_owned()).or_default();
                if known.len() >= MOST_READS {
                    known.pop_front();
                }
                known.push_back((index, outline.lines(part)));
            }
        }
    }

    /// The characters that are sent from a candidate up to part `to`, with placeholders of this length.
    pub(super) fn sent(&self, from: PartIx, to: u32, placeholder: u64) -> u64 {
        let first = self.candidates.first().map_or(self.parts, |candidate| candidate.part.0);
        let at = |part: u32| {
            let index = part.saturating_sub(first) as usize;
            total_chars(self.sums.get(index).unwrap_or(&self.sum), placeholder)
        };
        at(to.max(from.0)).saturating_sub(at(from.0))
    }

    /// The characters of everything that is sent.
    pub(super) fn whole(&self, placeholder: u64) -> u64 {
        total_chars(&self.sum, placeholder)
    }
}

fn total_chars(sum: &SentSum, placeholder: u64) -> u64 {
    sum.chars.saturating_add(sum.placeholders.saturating_mul(placeholder))
}

/// The hash of a part's text; none if it was not taken.
fn source(outline: &Outline, part: PartIx) -> Option<u64> {
    outline.source(part).filter(|&source| source != 0)
}

fn subjects(outline: &Outline, part: PartIx) -> impl Iterator<Item = &str> {
    outline.subject(part).into_iter().flat_map(str::lines)
}

impl Rent {
    /// Whether a part of `chars` characters may be cut one day.
    pub(super) fn may_cut(&self, outline: &Outline, memory: &Memory, part: PartIx, chars: u64) -> bool {
        let least = match outline.kind(part) {
            PartKind::Result => Some(self.least_chars),
            PartKind::Call => self.inputs.map(|inputs| inputs.least_chars),
            _ => None,
        };
        let is_open =
            matches!(outline.status(part), ToolStatus::Error | ToolStatus::Pending | ToolStatus::Running);
        least.is_some_and(|least| chars >= least)
            && (outline.kind(part) == PartKind::Call || !is_open)
            && outline.images(part) == 0
            && !outline.is_cut(part)
            && !memory.is_undone(part)
            && !outline.is_summary(outline.owner(part))
            && self.tools.allows(outline.tool(part).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Family, MessageFacts, ModelCall, PartFacts, Profiles, Role, Sizes, Usage};

    fn balanced() -> Rent {
        match Profiles::builtin().get("balanced").unwrap().policy.family {
            Family::Rent(rent) => rent,
            other => panic!("{other:?}"),
        }
    }

    fn read(outline: &mut Outline) {
        let sizes = Sizes { units: 1_000, ..Sizes::default() };
        let (kind, status, subject) = (PartKind::Result, ToolStatus::Completed, Some("/a"));
        outline.push_message(MessageFacts { role: Role::Assistant, ..MessageFacts::default() });
        outline.push_part(PartFacts {
            kind,
            status,
            class: ToolClass::Read,
            subject,
            sizes,
            ..PartFacts::default()
        });
    }

    #[test]
    fn of_a_file_that_is_read_for_ever_only_the_newest_reads_are_listed() {
        let (rent, memory) = (balanced(), Memory::default());
        let (mut outline, mut index) = (Outline::default(), RentIndex::default());
        for _ in 0..1_000 {
            read(&mut outline);
            index.advance(&outline, &rent, &memory);
        }
        assert_eq!(index.reads["/a"].len(), MOST_READS);
        assert_eq!(index.candidates.len(), 1_000);
    }

    #[test]
    fn a_call_that_is_recorded_late_rebuilds_the_index() {
        let (rent, memory) = (balanced(), Memory::default());
        let mut outline = Outline::default();
        (0..4).for_each(|_| read(&mut outline));
        let mut index = RentIndex::of(&outline, &rent, &memory);
        for message in [0, 1, 3, 4] {
            let (message, usage) = (MessageIx(message), Usage::default());
            outline.push_model_call(ModelCall { message, time: None, usage });
            index.advance(&outline, &rent, &memory);
            assert_eq!(index.candidates, RentIndex::of(&outline, &rent, &memory).candidates);
        }
    }

    #[test]
    fn no_sums_are_kept_before_the_first_candidate() {
        let mut outline = Outline::default();
        for _ in 0..100 {
            outline.push_part(PartFacts { kind: PartKind::Text, ..PartFacts::default() });
        }
        let index = RentIndex::of(&outline, &balanced(), &Memory::default());
        assert_eq!(index.sums.capacity(), 0);
    }
}
