//! The books of the landlord: every result that may go one day, since when, and what it would save.
//!
//! They are kept up as parts arrive and never look back further than one lookup: a read is entered under its file, an
//! output under its hash, and what comes later and overtakes it finds it there. So a turn costs what came new, and
//! planning costs what is in the books, which cut results leave.

use std::collections::HashMap;

use super::Rent;
use crate::class::Class;
use crate::lines::Lines;
use crate::memory::Memory;
use crate::outline::{Kind, MessageIx, Outline, PartIx, Status};
use crate::plan::Action;

/// A part that may be cut one day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tenant {
    pub(super) part: PartIx,
    /// The first call whose context held it.
    pub(super) born: u32,
    /// The first call at which it may go while the cache is warm.
    pub(super) from: u32,
    /// Characters as they are sent now.
    pub(super) chars: u64,
    /// Characters of its digest.
    pub(super) digest: u64,
}

/// What is known about all results so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Books {
    parts: u32,
    pub(super) tenants: Vec<Tenant>,
    /// Characters of all parts before each one, as they are sent.
    sums: Vec<u64>,
    /// Where the reads of a file stand among the tenants, with their lines.
    reads: HashMap<String, Vec<(usize, Lines)>>,
    /// Where an output stands among the tenants.
    outputs: HashMap<u64, usize>,
}

/// How many reads of one file are looked through when it is read again.
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
        for part in (self.parts..outline.part_count() as u32).map(PartIx) {
            self.enter(outline, rent, memory, part);
        }
        self.parts = outline.part_count() as u32;
    }

    fn enter(&mut self, outline: &Outline, rent: &Rent, memory: &Memory, part: PartIx) {
        let cut = memory.cut(outline, part).map(|cut| cut.action);
        let whole = outline.sent(part);
        let chars = match cut {
            None | Some(Action::DropMedia) => whole,
            Some(Action::Trim { head, tail, .. }) => whole.min(head.saturating_add(tail)),
            Some(Action::Clear) => outline.digest(part),
        };
        self.sums.push(self.sums.last().copied().unwrap_or(0).saturating_add(chars));
        let born = outline.first_call(outline.owner(part));
        let class = outline.class(part);
        match outline.kind(part) {
            Kind::Result => {}
            Kind::Call => {
                let age = rent.inputs.filter(|inputs| chars >= inputs.least_chars).map(|inputs| inputs.age);
                if let Some(age) = age.filter(|_| cut.is_none() && rent.may_touch(outline, memory, part)) {
                    let from = born.saturating_add(age);
                    self.tenants.push(Tenant { part, born, from, chars, digest: 0 });
                }
                return;
            }
            _ => return,
        }
        let done = !matches!(outline.status(part), Status::Pending | Status::Running);
        if done && !outline.is_failure(part) {
            self.overtake(outline, rent, part, born);
        }
        let is_open = cut.is_none_or(|cut| matches!(cut, Action::Trim { .. }));
        if !is_open || !done || !rent.may_cut(outline, memory, part, chars) {
            return;
        }
        let from = rent.ages.of(class).map_or(u32::MAX, |age| born.saturating_add(age));
        let index = self.tenants.len();
        self.tenants.push(Tenant { part, born, from, chars, digest: outline.digest(part) });
        if let Some(source) = outline.source(part) {
            self.outputs.insert(source, index);
        }
        if class == Class::Read {
            for subject in outline.subject(part).into_iter().flat_map(str::lines) {
                let known = self.reads.entry(subject.to_owned()).or_default();
                known.push((index, outline.lines(part)));
            }
        }
    }

    /// Lets a new result overtake what it makes old.
    fn overtake(&mut self, outline: &Outline, rent: &Rent, part: PartIx, now: u32) {
        let shorten = |tenant: &mut Tenant, age: Option<u32>| {
            if let Some(age) = age {
                tenant.from = tenant.from.min(tenant.born.saturating_add(age).max(now));
            }
        };
        if let Some(source) = outline.source(part)
            && let Some(&earlier) = self.outputs.get(&source)
            && let Some(tenant) = self.tenants.get_mut(earlier)
        {
            shorten(tenant, rent.ages.repeated);
        }
        let class = outline.class(part);
        let lines = outline.lines(part);
        if !matches!(class, Class::Read | Class::Edit) {
            return;
        }
        for subject in outline.subject(part).into_iter().flat_map(str::lines) {
            let Some(reads) = self.reads.get(subject) else { continue };
            for (index, shown) in reads.iter().rev().take(MOST_READS) {
                let Some(tenant) = self.tenants.get_mut(*index) else { continue };
                match class {
                    Class::Edit => shorten(tenant, rent.ages.edited),
                    _ if lines.covers(*shown) => shorten(tenant, rent.ages.covered),
                    _ => {}
                }
            }
        }
    }

    /// Characters that are sent from a part on up to another.
    pub(super) fn sent(&self, from: PartIx, to: u32) -> u64 {
        let at = |part: u32| {
            part.checked_sub(1).and_then(|last| self.sums.get(last as usize)).copied().unwrap_or(0)
        };
        at(to.min(self.parts)).saturating_sub(at(from.0))
    }
}

impl Rent {
    /// Whether a part may be touched at all.
    pub(super) fn may_touch(&self, outline: &Outline, memory: &Memory, part: PartIx) -> bool {
        !outline.is_cut(part)
            && !memory.is_pinned(part)
            && !outline.is_summary(outline.owner(part))
            && self.tools.allows(outline.tool(part).unwrap_or_default())
    }

    /// Whether a result may be cut one day.
    pub(super) fn may_cut(&self, outline: &Outline, memory: &Memory, part: PartIx, chars: u64) -> bool {
        outline.status(part) != Status::Error
            && outline.images(part) == 0
            && chars >= self.least_chars
            && self.may_touch(outline, memory, part)
    }
}

impl Outline {
    /// The number of the first model call that has a message in its context. Without recorded calls every message of
    /// the model counts as one.
    pub(crate) fn first_call(&self, message: MessageIx) -> u32 {
        let count = if self.calls().is_empty() {
            self.assistants().partition_point(|&answer| answer <= message)
        } else {
            self.calls().partition_point(|call| call.message <= message)
        };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The number of the next model call.
    pub(crate) fn next_call(&self) -> u32 {
        let count = if self.calls().is_empty() { self.assistants().len() } else { self.calls().len() };
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// The first part that no model call has seen yet.
    pub(crate) fn unseen(&self) -> u32 {
        let newest = if self.calls().is_empty() {
            self.assistants().last().copied()
        } else {
            self.calls().last().map(|call| call.message)
        };
        newest.map_or(0, |message| self.first_part(message))
    }
}
