//! Which parts count for a scan.

use std::ops::Range;

use super::{FirstCheck, Watermark};
use crate::memory::Memory;
use crate::names::Name;
use crate::outline::{Outline, PartFlags, PartIx};
use crate::tool_filter::Mask;

/// How a part counts for a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultClass {
    /// It does not count.
    Ignored,
    /// It counts.
    Counts,
    /// It was cut before, which may end the scan.
    CutBefore,
}

/// A result that counts.
const RESULT: u8 = 1;
/// A result that was cut before.
const CUT: u8 = 2;

/// Classifies parts. Made once per scan, so that the loop itself reads little more than two columns.
pub(crate) struct Classifier<'a> {
    outline: &'a Outline,
    memory: &'a Memory,
    flags: &'a [PartFlags],
    tools: &'a [Name],
    mask: Mask<'a>,
    /// One bit per status that counts.
    statuses: u32,
    /// For each flag byte: [`RESULT`] if it counts, [`CUT`] if it was cut before.
    bits: [u8; 256],
    /// 1 if a tool's results may be cut, by its number modulo 64; none if there are too many tools for that.
    allowed: Option<[u8; 64]>,
    first_check: FirstCheck,
    remembers: bool,
}

impl<'a> Classifier<'a> {
    pub(crate) fn new(outline: &'a Outline, policy: &'a Watermark, memory: &'a Memory) -> Self {
        let (flags, tools) = outline.scan_columns();
        let mask = policy.tools.mask(outline.tool_names());
        let statuses = policy.statuses.iter().fold(0, |bits, &status| bits | 1 << status as u32);
        let bits = std::array::from_fn(|byte| {
            let flags = PartFlags::from_byte(byte as u8);
            match (flags.is_result_in(statuses), flags.is_cut()) {
                (true, true) => CUT,
                (true, false) => RESULT,
                (false, _) => 0,
            }
        });
        let allowed = mask.word().map(|word| std::array::from_fn(|index| (word >> index & 1) as u8));
        Self {
            outline,
            memory,
            flags,
            tools,
            mask,
            statuses,
            bits,
            allowed,
            first_check: policy.first_check,
            remembers: !memory.is_empty(),
        }
    }

    pub(crate) fn class_of(&self, part: PartIx) -> ResultClass {
        let index = part.0 as usize;
        match (self.flags.get(index), self.tools.get(index)) {
            (Some(&flags), Some(&tool)) => self.classify(part, flags, tool),
            _ => ResultClass::Ignored,
        }
    }

    #[inline]
    fn classify(&self, part: PartIx, flags: PartFlags, tool: Name) -> ResultClass {
        if !flags.is_result_in(self.statuses) {
            return ResultClass::Ignored;
        }
        let cut = flags.is_cut() || (self.remembers && self.memory.cut(self.outline, part).is_some());
        if self.remembers && self.memory.is_undone(part) {
            return ResultClass::Ignored;
        }
        match (self.mask.allows(tool), cut) {
            (true, false) => ResultClass::Counts,
            (true, true) => ResultClass::CutBefore,
            (false, true) if self.first_check == FirstCheck::EarlierCut => ResultClass::CutBefore,
            (false, _) => ResultClass::Ignored,
        }
    }

    /// Adds up a range without a branch per part. None if that would be wrong: a result in it was cut before, there are
    /// remembered cuts, or too many tools.
    #[inline]
    pub(super) fn sum_range(
        &self,
        range: Range<u32>,
        sizes: &[u32],
        estimate: impl Fn(u64) -> u64,
    ) -> Option<(u64, u64)> {
        if self.remembers {
            return None;
        }
        let allowed = self.allowed.as_ref()?;
        let slice = range.start as usize..range.end as usize;
        let flags = self.flags.get(slice.clone())?;
        let tools = self.tools.get(slice.clone())?;
        let sizes = sizes.get(slice)?;
        let (mut sum, mut count, mut seen) = (0, 0, 0);
        for ((flags, tool), &size) in flags.iter().zip(tools).zip(sizes) {
            let bits = self.bits[usize::from(flags.byte())];
            seen |= bits;
            let counts = u64::from(bits & allowed[tool.index() & 63]);
            sum += estimate(size.into()) & counts.wrapping_neg();
            count += counts;
        }
        (seen & CUT == 0).then_some((sum, count))
    }

    /// The parts of a range with their classes, newest first.
    #[inline]
    pub(super) fn newest_first(&self, range: Range<u32>) -> impl Iterator<Item = (PartIx, ResultClass)> {
        let slice = range.start as usize..range.end as usize;
        let flags = self.flags.get(slice.clone()).unwrap_or_default();
        let tools = self.tools.get(slice).unwrap_or_default();
        flags.iter().zip(tools).enumerate().rev().map(move |(index, (&flags, &tool))| {
            let part = PartIx(range.start + index as u32);
            (part, self.classify(part, flags, tool))
        })
    }
}
