//! What each part means to the walk.

use std::ops::Range;

use super::{FirstCheck, Watermark};
use crate::memory::Memory;
use crate::names::Name;
use crate::outline::{Nature, Outline, PartIx};
use crate::tools::Mask;

/// What one part means to the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// It does not count.
    Passed,
    /// It counts.
    Counts,
    /// It was cut before, and that matters.
    CutBefore,
}

/// Tells what parts mean. Made once per walk, so that the loop itself reads two columns and little else.
pub(crate) struct Sieve<'a> {
    outline: &'a Outline,
    memory: &'a Memory,
    natures: &'a [Nature],
    tools: &'a [Name],
    mask: Mask<'a>,
    /// One bit per status that counts.
    statuses: u32,
    first_check: FirstCheck,
    remembers: bool,
}

impl<'a> Sieve<'a> {
    pub(crate) fn new(outline: &'a Outline, policy: &'a Watermark, memory: &'a Memory) -> Self {
        let (natures, tools) = outline.natures();
        Self {
            outline,
            memory,
            natures,
            tools,
            mask: policy.tools.mask(outline.tool_names()),
            statuses: policy.statuses.iter().fold(0, |bits, &status| bits | 1 << status as u32),
            first_check: policy.first_check,
            remembers: !memory.is_empty(),
        }
    }

    pub(crate) fn meaning(&self, part: PartIx) -> Meaning {
        let index = part.0 as usize;
        match (self.natures.get(index), self.tools.get(index)) {
            (Some(&nature), Some(&tool)) => self.judge(part, nature, tool),
            _ => Meaning::Passed,
        }
    }

    #[inline]
    fn judge(&self, part: PartIx, nature: Nature, tool: Name) -> Meaning {
        if !nature.is_result_in(self.statuses) {
            return Meaning::Passed;
        }
        let cut = nature.is_cut() || (self.remembers && self.memory.cut(self.outline, part).is_some());
        if self.remembers && self.memory.is_pinned(part) {
            return Meaning::Passed;
        }
        match (self.mask.allows(tool), cut) {
            (true, false) => Meaning::Counts,
            (true, true) => Meaning::CutBefore,
            (false, true) if self.first_check == FirstCheck::EarlierCut => Meaning::CutBefore,
            (false, _) => Meaning::Passed,
        }
    }

    /// The parts of a range with what they mean, newest first.
    #[inline]
    pub(super) fn newest_first(&self, range: Range<u32>) -> impl Iterator<Item = (PartIx, Meaning)> {
        let slice = range.start as usize..range.end as usize;
        let natures = self.natures.get(slice.clone()).unwrap_or_default();
        let tools = self.tools.get(slice).unwrap_or_default();
        natures.iter().zip(tools).enumerate().rev().map(move |(index, (&nature, &tool))| {
            let part = PartIx(range.start + index as u32);
            (part, self.judge(part, nature, tool))
        })
    }
}
