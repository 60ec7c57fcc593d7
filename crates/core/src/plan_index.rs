//! Plans one more turn without scanning the whole history again.
//!
//! The index has running sums over an outline under one policy. [`advance`](PlanIndex::advance) adds only what is new.
//! Then the watermark family finds its bounds by binary search, so a turn costs the same in a session of a million parts
//! as in one of a hundred. The plain scan of [`Policy::plan`] is the definition; property tests check that both give the
//! same plan.
//!
//! When the remembered cuts change, the index is rebuilt: once for many cuts, which touch each part anyway.
//!
//! ```
//! use secateur::{Memory, Outline, Profiles, Situation, PlanIndex};
//!
//! let policy = Profiles::builtin().get("opencode")?.policy;
//! let (outline, memory, situation) = (Outline::default(), Memory::default(), Situation::default());
//! let mut index = PlanIndex::default();
//! index.advance(&outline, &policy, &memory);
//! assert_eq!(index.plan(&outline, &policy, &situation, &memory), policy.plan(&outline, &situation, &memory));
//! # Ok::<(), secateur::ProfileError>(())
//! ```

use crate::budget::Spent;
use crate::keep_last::{self, Count, KeepLast};
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx, PartKind};
use crate::plan::{Bounds, Floor, Idle, Plan};
use crate::policy::{Family, Policy};
use crate::ratio::{self, Ratio, RatioScope};
use crate::rent::{self, RentIndex};
use crate::situation::{Situation, Thinking};
use crate::watermark::{Classifier, Crossing, Extent, Obstacle, ResultClass, WalkRange, WalkSums, Watermark};

/// A result that counts, with the sum up to and including it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CountedResult {
    part: PartIx,
    sum: u64,
}

/// Running sums over an outline under one policy.
///
/// An index belongs to the policy and the outline that it was advanced with. Make a new one when either changes.
#[derive(Clone, Debug, Default)]
pub struct PlanIndex {
    messages: u32,
    parts: u32,
    revision: u64,
    counted: Vec<CountedResult>,
    stops: Vec<PartIx>,
    results: Vec<PartIx>,
    spent: Spent,
    /// Characters as sent (ratio), or tokens without cuts (keep-last), of everything.
    total: u64,
    /// The same without thinking (ratio).
    without_thinking: u64,
    rent: RentIndex,
}

impl PlanIndex {
    /// Adds what is new in the outline. Starts over if the remembered cuts have changed.
    pub fn advance(&mut self, outline: &Outline, policy: &Policy, memory: &Memory) {
        let rewound =
            self.parts as usize > outline.part_count() || self.messages as usize > outline.message_count();
        if self.revision != memory.revision() || rewound {
            *self = Self { revision: memory.revision(), ..Self::default() };
        }
        if let Family::Ratio(ratio) = &policy.family {
            let fresh = (self.messages..outline.message_count() as u32).map(MessageIx);
            let chars = fresh.map(|message| ratio.message_chars(outline.role(message)));
            let chars = chars.fold(0, u64::saturating_add);
            self.total = self.total.saturating_add(chars);
            self.without_thinking = self.without_thinking.saturating_add(chars);
        }
        if let Family::Rent(rent) = &policy.family {
            // There may be new model calls without new parts.
            self.rent.advance(outline, rent, memory);
        }
        let fresh = self.parts..outline.part_count() as u32;
        self.messages = outline.message_count() as u32;
        self.parts = outline.part_count() as u32;
        if fresh.is_empty() {
            return;
        }
        let fresh = fresh.map(PartIx);
        for part in fresh.clone() {
            self.spent.add(Spent::on(outline, part, policy.placeholder.len() as u64));
        }
        match &policy.family {
            Family::Watermark(watermark) => {
                let classifier = Classifier::new(outline, watermark, memory);
                fresh.for_each(|part| self.take_result(outline, watermark, &classifier, part));
            }
            Family::Ratio(ratio) => {
                fresh.for_each(|part| self.take_characters(outline, policy, ratio, memory, part));
            }
            Family::KeepLast(keep) => fresh.for_each(|part| self.take_tokens(outline, keep, part)),
            Family::Rent(_) => {}
        }
    }

    fn take_result(
        &mut self,
        outline: &Outline,
        watermark: &Watermark,
        classifier: &Classifier<'_>,
        part: PartIx,
    ) {
        if watermark.is_skipped_summary(outline, outline.owner(part)) {
            return;
        }
        match classifier.class_of(part) {
            ResultClass::Ignored => {}
            ResultClass::CutBefore => self.stops.push(part),
            ResultClass::Counts => {
                let tokens = watermark.meter.part(outline, part);
                let sum = self.sum_before(self.counted.len()).saturating_add(tokens);
                self.counted.push(CountedResult { part, sum });
            }
        }
    }

    fn take_characters(
        &mut self,
        outline: &Outline,
        policy: &Policy,
        ratio: &Ratio,
        memory: &Memory,
        part: PartIx,
    ) {
        let situation = |thinking| Situation { thinking, ..Situation::default() };
        let chars = |thinking| {
            ratio.sent_chars(outline, policy.placeholder_chars(ratio), &situation(thinking), memory, part)
        };
        let (sent, dropped) = (chars(Thinking::Sent), chars(Thinking::Dropped));
        self.total = self.total.saturating_add(sent);
        self.without_thinking = self.without_thinking.saturating_add(dropped);
    }

    fn take_tokens(&mut self, outline: &Outline, keep: &KeepLast, part: PartIx) {
        if outline.kind(part) == PartKind::Result {
            self.results.push(part);
        }
        self.total = self.total.saturating_add(keep.meter.sent(outline, part));
    }

    /// Plans like [`Policy::plan`], if the index was [advanced](Self::advance) with the same outline, policy and memory.
    pub fn plan(&self, outline: &Outline, policy: &Policy, situation: &Situation, memory: &Memory) -> Plan {
        policy.plan_with(
            outline,
            situation,
            memory,
            || self.spent,
            || match &policy.family {
                Family::Watermark(watermark) => self.plan_watermark(outline, watermark),
                Family::Ratio(ratio) => {
                    let scope = RatioScope::of(outline, ratio);
                    let total = || match situation.thinking {
                        Thinking::Sent => self.total,
                        Thinking::Dropped => self.without_thinking,
                    };
                    let placeholder = policy.placeholder_chars(ratio);
                    ratio::plan(outline, ratio, placeholder, situation, memory, &scope, total)
                }
                Family::KeepLast(keep) => {
                    let kept_from = match keep.keep {
                        0 => Some(PartIx(self.parts)),
                        last => self.results.iter().rev().nth(last as usize - 1).copied(),
                    };
                    let count = Count { tokens: self.total, uses: self.results.len() as u64, kept_from };
                    keep_last::plan(outline, keep, situation, memory, &count)
                }
                Family::Rent(rent) => rent::plan(outline, rent, situation, memory, &self.rent),
            },
        )
    }

    /// What the [budget](crate::Budget) alone would cut.
    pub(crate) fn plan_budget(
        &self,
        outline: &Outline,
        policy: &Policy,
        situation: &Situation,
        memory: &Memory,
    ) -> Plan {
        policy.plan_with(outline, situation, memory, || self.spent, || Plan::idle(Idle::NothingEligible))
    }

    /// The sum of everything counted before the entry at `index`.
    fn sum_before(&self, index: usize) -> u64 {
        index.checked_sub(1).and_then(|last| self.counted.get(last)).map_or(0, |counted| counted.sum)
    }

    fn plan_watermark(&self, outline: &Outline, policy: &Watermark) -> Plan {
        let range = match policy.range(outline) {
            Ok(range) => range,
            Err(idle) => return Plan::idle(idle),
        };
        let active = range.active;
        let (floor_kind, floor) = self.floor(policy, range);
        let at = |part: u32| self.counted.partition_point(|counted| counted.part.0 < part);
        let (low, high) = (at(floor), at(active).max(at(floor)));
        let split = self.split(outline, policy, low, high);
        let candidates = split.unwrap_or(high);
        let sums = WalkSums {
            total: self.sum_before(high) - self.sum_before(low),
            counted: (high - low) as u64,
            candidates: self.sum_before(candidates) - self.sum_before(low),
            candidate_count: (candidates - low) as u64,
        };
        let protected = match split {
            None => active,
            Some(split) if split == low => floor,
            Some(split) => self.counted.get(split - 1).map_or(floor, |newest| newest.part.0 + 1),
        };
        let bounds = Bounds { floor_kind, floor, protected, active };
        let idle = policy.idle(sums);
        if idle.is_some() {
            return Plan { cuts: Vec::new(), idle, totals: policy.totals(sums, 0), bounds };
        }
        let cuts = (low..candidates)
            .filter_map(|index| {
                let counted = self.counted.get(index)?;
                Some(policy.cut(counted.part, counted.sum - self.sum_before(index)))
            })
            .collect();
        Plan { cuts, idle: None, totals: policy.totals(sums, sums.candidates), bounds }
    }

    /// Where the scan would end: at a summary or at an earlier cut, whichever comes first.
    fn floor(&self, policy: &Watermark, range: WalkRange) -> (Floor, u32) {
        let by_summary = (range.floor_kind, range.floor);
        if policy.earlier_cut == Obstacle::Skip {
            return by_summary;
        }
        let met = self.stops.partition_point(|stop| stop.0 < range.active);
        let newest = met.checked_sub(1).and_then(|last| self.stops.get(last));
        match newest {
            Some(stop) if stop.0 >= range.floor => (Floor::Cut, stop.0 + 1),
            _ => by_summary,
        }
    }

    /// The end of the candidates within `low..high`; none if everything is a candidate because the watermark was never
    /// reached.
    fn split(&self, outline: &Outline, policy: &Watermark, low: usize, high: usize) -> Option<usize> {
        let whole = self.sum_before(high);
        // From the newest down to the entry at `index`, itself included.
        let reached = |index: usize| policy.reached(whole - self.sum_before(index));
        let reached_end = partition(low, high, reached);
        if policy.crossing == Crossing::Cut {
            return Some(reached_end);
        }
        if reached_end == low {
            return (policy.unreached == Extent::Nothing).then_some(low);
        }
        let crossing = reached_end - 1;
        if policy.rest_of_message == Extent::Everything {
            return Some(crossing);
        }
        let owner = |index: usize| self.counted.get(index).map(|counted| outline.owner(counted.part));
        let message = owner(crossing);
        Some(partition(low, crossing, |index| owner(index) < message))
    }
}

/// The first index in `low..high` for which `holds` is false, if it is true for all before it.
fn partition(mut low: usize, mut high: usize, holds: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
