//! The books of the landlord: every part that may go one day, since when, and what it would save.
//!
//! They are kept up as parts arrive and never look back further than one lookup: a read is entered under its file, an
//! output under its hash, and what comes later and overtakes it finds it there. So a turn costs what came new, and
//! planning costs what is in the books, which cut results leave.

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
pub(crate) struct Tenant {
    pub(super) part: PartIx,
    /// The first call at which it may go while the cache is warm; none reaches the last.
    pub(super) from: u32,
    /// The same while the cache is cold, or while room is wanted.
    pub(super) cold: u32,
    /// Characters as they are sent now.
    pub(super) chars: u64,
    /// Characters of its excerpt.
    pub(super) excerpt: u64,
}

/// What was sent up to a part, itself included.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    chars: u64,
    /// Placeholders, whose length a plan knows.
    placeholders: u64,
}

/// What is known about all parts so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    parts: u32,
    /// The message of the newest part.
    newest: Option<MessageIx>,
    calls: usize,
    /// What the calls show about the life of the cache.
    pub(super) lifetime: Lifetime,
    pub(super) tenants: Vec<Tenant>,
    sum: Sum,
    /// The sum before each part from the first tenant on.
    sums: Vec<Sum>,
    /// Where the reads of a file stand among the tenants, with their lines.
    reads: HashMap<String, VecDeque<(usize, LineRange)>>,
    /// Where an output stands among the tenants.
    outputs: HashMap<u64, usize>,
}

/// How many reads of one file are remembered for what overtakes them.
const MOST_READS: usize = 64;

impl Books {
    /// The books of a whole outline.
    pub(crate) fn of(outline: &Outline, rent: &Rent, memory: &Memory) -> Self {
        let mut books = Self::default();
        books.advance(outline, rent, memory);
        books
    }

    /// Enters what came new.
    pub(crate) fn advance(&mut self, outline: &Outline, rent: &Rent, memory: &Memory) {
        if self.is_outdated(outline) {
            *self = Self::default();
        }
        for call in outline.model_calls().iter().skip(self.calls) {
            self.lifetime.observe(call.time, &call.usage);
        }
        self.calls = outline.model_calls().len();
        for part in (self.parts..outline.part_count() as u32).map(PartIx) {
            self.enter(outline, rent, memory, part);
            self.newest = Some(outline.owner(part));
        }
        self.parts = outline.part_count() as u32;
    }

    /// Whether calls were told late, so that parts are older than they were entered.
    fn is_outdated(&self, outline: &Outline) -> bool {
        let Some(newest) = self.newest else { return false };
        let mut told = outline.model_calls().iter().skip(self.calls);
        outline.model_calls().len() < self.calls || told.any(|call| self.calls == 0 || call.message <= newest)
    }

    fn enter(&mut self, outline: &Outline, rent: &Rent, memory: &Memory, part: PartIx) {
        let cut = memory.cut(outline, part).map(|cut| cut.action);
        let is_cleared = outline.is_cut(part) || cut == Some(Action::Clear);
        let chars = match cut {
            _ if is_cleared => outline.excerpt(part),
            Some(Action::Trim { head, tail, .. }) => outline.sent(part).min(head.saturating_add(tail)),
            _ => outline.sent(part),
        };
        let kind = outline.kind(part);
        if !is_cleared && cut != Some(Action::DropMedia) && rent.may_cut(outline, memory, part, chars) {
            self.admit(outline, rent, part, chars);
        }
        if kind == PartKind::Result {
            self.overtake(outline, rent, part);
            self.list(outline, part);
        }
        if !self.tenants.is_empty() {
            self.sums.push(self.sum);
        }
        self.sum.chars = self.sum.chars.saturating_add(chars);
        self.sum.placeholders += u64::from(is_cleared);
    }

    /// Takes in a new tenant.
    fn admit(&mut self, outline: &Outline, rent: &Rent, part: PartIx, chars: u64) {
        let born = outline.first_call(outline.owner(part));
        let after = |age: Option<u32>| age.map_or(u32::MAX, |age| born.saturating_add(age));
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
        self.tenants.push(Tenant { part, from, cold, chars, excerpt: outline.excerpt(part) });
    }

    /// Lets a new result overtake what it makes old: an output that is the same, a read of lines that it shows, a read
    /// of a file that it changed.
    fn overtake(&mut self, outline: &Outline, rent: &Rent, part: PartIx) {
        let now = outline.first_call(outline.owner(part));
        let shorten = |tenants: &mut Vec<Tenant>, index: usize, age: Option<u32>| {
            let (Some(age), Some(tenant)) = (age, tenants.get_mut(index)) else { return };
            let born = outline.first_call(outline.owner(tenant.part));
            tenant.from = tenant.from.min(born.saturating_add(age).max(now));
            tenant.cold = tenant.cold.min(tenant.from);
        };
        if let Some(&index) = source(outline, part).and_then(|source| self.outputs.get(&source)) {
            shorten(&mut self.tenants, index, rent.ages.repeated);
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
                    ToolClass::Edit => shorten(&mut self.tenants, index, rent.ages.edited),
                    _ if shown.covers(lines) => shorten(&mut self.tenants, index, rent.ages.covered),
                    _ => {}
                }
            }
        }
    }

    /// Lists a result that was admitted just now where what overtakes it will look.
    fn list(&mut self, outline: &Outline, part: PartIx) {
        let Some(index) = self.tenants.len().checked_sub(1) else { return };
        if self.tenants.get(index).is_none_or(|tenant| tenant.part != part) {
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

    /// Characters that are sent from a tenant on up to another part, if a placeholder has so many.
    pub(super) fn sent(&self, from: PartIx, to: u32, placeholder: u64) -> u64 {
        let first = self.tenants.first().map_or(self.parts, |tenant| tenant.part.0);
        let at = |part: u32| {
            let index = part.saturating_sub(first) as usize;
            weigh(self.sums.get(index).unwrap_or(&self.sum), placeholder)
        };
        at(to.max(from.0)).saturating_sub(at(from.0))
    }

    /// Characters of everything that is sent.
    pub(super) fn whole(&self, placeholder: u64) -> u64 {
        weigh(&self.sum, placeholder)
    }
}

fn weigh(sum: &Sum, placeholder: u64) -> u64 {
    sum.chars.saturating_add(sum.placeholders.saturating_mul(placeholder))
}

/// The hash of a text; one that was never taken says nothing.
fn source(outline: &Outline, part: PartIx) -> Option<u64> {
    outline.source(part).filter(|&source| source != 0)
}

fn subjects(outline: &Outline, part: PartIx) -> impl Iterator<Item = &str> {
    outline.subject(part).into_iter().flat_map(str::lines)
}

impl Rent {
    /// Whether a part of so many characters may be cut one day.
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
            && !memory.is_pinned(part)
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
        let (mut outline, mut books) = (Outline::default(), Books::default());
        for _ in 0..1_000 {
            read(&mut outline);
            books.advance(&outline, &rent, &memory);
        }
        assert_eq!(books.reads["/a"].len(), MOST_READS);
        assert_eq!(books.tenants.len(), 1_000);
    }

    #[test]
    fn a_call_that_is_told_late_makes_the_books_new() {
        let (rent, memory) = (balanced(), Memory::default());
        let mut outline = Outline::default();
        (0..4).for_each(|_| read(&mut outline));
        let mut books = Books::of(&outline, &rent, &memory);
        for message in [0, 1, 3, 4] {
            let (message, usage) = (MessageIx(message), Usage::default());
            outline.push_model_call(ModelCall { message, time: None, usage });
            books.advance(&outline, &rent, &memory);
            assert_eq!(books.tenants, Books::of(&outline, &rent, &memory).tenants);
        }
    }

    #[test]
    fn nothing_is_kept_of_parts_before_the_first_tenant() {
        let mut outline = Outline::default();
        for _ in 0..100 {
            outline.push_part(PartFacts { kind: PartKind::Text, ..PartFacts::default() });
        }
        let books = Books::of(&outline, &balanced(), &Memory::default());
        assert_eq!(books.sums.capacity(), 0);
    }
}
