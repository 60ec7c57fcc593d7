//! The plain scan: every part within reach, newest first, once.

use std::ops::ControlFlow;

use super::{AtSummary, Classifier, Crossing, Extent, Obstacle, ResultClass, Watermark};
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx};
use crate::plan::{Bounds, Floor, Idle, Plan};

/// The sums of a scan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct WalkSums {
    /// Tokens of all results that count.
    pub total: u64,
    /// How many count.
    pub counted: u64,
    /// Tokens of the candidates.
    pub candidates: u64,
    /// How many are candidates.
    pub candidate_count: u64,
}

/// The range of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WalkRange {
    pub reach: u32,
    pub active: u32,
    pub floor: u32,
    pub floor_kind: Floor,
}

impl Watermark {
    /// The range of a scan, or why there is none.
    pub(crate) fn range(&self, outline: &Outline) -> Result<WalkRange, Idle> {
        let begin = match self.summary {
            AtSummary::Begin => outline.summaries().last().copied(),
            _ => None,
        };
        let first = begin.unwrap_or(MessageIx(0));
        let users = outline.users().iter().rev().copied().take_while(|&user| user >= first);
        let Some(reach) = self.reach(users.clone(), outline.message_count() as u32) else {
            return Err(Idle::TooFewTurns { have: users.count() as u64, need: self.active_turns });
        };
        let summary = match self.summary {
            AtSummary::Skip => None,
            AtSummary::Begin => begin,
            AtSummary::Stop => self.summaries_before(outline, reach).next(),
        };
        let floor = summary.map_or(0, |summary| outline.parts_of(summary).end);
        let floor_kind = if summary.is_some() { Floor::Summary } else { Floor::None };
        Ok(WalkRange { reach, active: outline.first_part(MessageIx(reach)), floor, floor_kind })
    }

    /// The summaries before a message, newest first.
    fn summaries_before<'o>(
        &self,
        outline: &'o Outline,
        reach: u32,
    ) -> impl Iterator<Item = MessageIx> + use<'o> {
        let met = outline.summaries().partition_point(|summary| summary.0 < reach);
        let met = outline.summaries().get(..met).unwrap_or_default();
        met.iter().rev().copied()
    }
}

/// Plans by scanning everything within reach.
pub(crate) fn scan(outline: &Outline, policy: &Watermark, memory: &Memory) -> Plan {
    let range = match policy.range(outline) {
        Ok(range) => range,
        Err(idle) => return Plan::idle(idle),
    };
    let mut walk = Walk {
        outline,
        policy,
        sizes: if policy.meter.image == 0 { outline.column(policy.meter.unit) } else { &[] },
        classifier: Classifier::new(outline, policy, memory),
        sums: WalkSums::default(),
        bounds: Bounds {
            floor_kind: range.floor_kind,
            floor: range.floor,
            protected: range.active,
            active: range.active,
        },
        reached_in: None,
    };
    let mut end = range.active;
    if policy.summary == AtSummary::Skip {
        for summary in policy.summaries_before(outline, range.reach) {
            let parts = outline.parts_of(summary);
            if walk.run(parts.end, end).is_break() {
                return walk.finish();
            }
            end = parts.start;
        }
    }
    let _ = walk.run(range.floor, end);
    walk.finish()
}

/// How many parts are added up at once.
const STRETCH: u32 = 512;

/// A scan, newest part first.
struct Walk<'a> {
    outline: &'a Outline,
    policy: &'a Watermark,
    /// The sizes that the meter counts; empty if a part's size takes more than one column.
    sizes: &'a [u32],
    classifier: Classifier<'a>,
    sums: WalkSums,
    bounds: Bounds,
    /// With `crossing = "keep"`: the message in which the watermark was reached.
    reached_in: Option<MessageIx>,
}

impl Walk<'_> {
    /// Scans from `end` down to `floor`, stretch by stretch: all at once where possible, part by part where the watermark
    /// is reached or a part was cut before. Stops at an earlier cut if the policy does.
    fn run(&mut self, floor: u32, end: u32) -> ControlFlow<()> {
        let mut end = end;
        while end > floor {
            let start = end.saturating_sub(STRETCH).max(floor);
            if !self.sum_stretch(start, end) {
                self.step(start, end)?;
            }
            end = start;
        }
        ControlFlow::Continue(())
    }

    /// Adds up a stretch at once; false if it has to be scanned part by part.
    fn sum_stretch(&mut self, start: u32, end: u32) -> bool {
        let gauge = self.policy.meter.gauge();
        // One loop for each way to estimate, so that none has to branch for each part.
        let skimmed = match gauge.plain_quarter() {
            Some(add) => self.classifier.sum_range(start..end, self.sizes, |length| (length + add) >> 2),
            None if gauge.is_by_four() => {
                self.classifier.sum_range(start..end, self.sizes, |length| gauge.quarter(length))
            }
            None => self.classifier.sum_range(start..end, self.sizes, |length| gauge.estimate(length)),
        };
        let Some((sum, count)) = skimmed else {
            return false;
        };
        let total = self.sums.total.saturating_add(sum);
        if self.sums.candidate_count > 0 {
            // After the first candidate, every result that counts is a candidate.
            self.sums.candidates = self.sums.candidates.saturating_add(sum);
            self.sums.candidate_count += count;
        } else if self.reached_in.is_some() || self.policy.reached(total) {
            return false;
        }
        self.sums.total = total;
        self.sums.counted += count;
        true
    }

    /// Adds up the parts from `end` down to `floor` one by one and finds the first candidate.
    fn step(&mut self, floor: u32, end: u32) -> ControlFlow<()> {
        // A local copy, so that the sums stay in registers in the loop.
        let (mut sums, gauge) = (self.sums, self.policy.meter.gauge());
        let mut broken = None;
        for (part, class) in self.classifier.newest_first(floor..end) {
            match class {
                ResultClass::Ignored => {}
                ResultClass::Counts => {
                    let tokens = match self.sizes.get(part.0 as usize) {
                        Some(&size) => gauge.estimate(size.into()),
                        None => self.tokens(part),
                    };
                    sums.total = sums.total.saturating_add(tokens);
                    sums.counted += 1;
                    let candidate = match (self.policy.crossing, self.reached_in) {
                        (Crossing::Cut, _) => self.policy.reached(sums.total),
                        (Crossing::Keep, Some(message)) => {
                            self.policy.rest_of_message == Extent::Everything
                                || self.outline.owner(part) < message
                        }
                        (Crossing::Keep, None) => {
                            if self.policy.reached(sums.total) {
                                self.reached_in = Some(self.outline.owner(part));
                            }
                            false
                        }
                    };
                    if candidate {
                        if sums.candidate_count == 0 {
                            self.bounds.protected = part.0 + 1;
                        }
                        sums.candidates = sums.candidates.saturating_add(tokens);
                        sums.candidate_count += 1;
                    }
                }
                ResultClass::CutBefore if self.policy.earlier_cut == Obstacle::Skip => {}
                ResultClass::CutBefore => {
                    broken = Some(part);
                    break;
                }
            }
        }
        self.sums = sums;
        let Some(part) = broken else {
            return ControlFlow::Continue(());
        };
        self.bounds.floor = part.0 + 1;
        self.bounds.floor_kind = Floor::Cut;
        ControlFlow::Break(())
    }

    fn tokens(&self, part: PartIx) -> u64 {
        self.policy.meter.part(self.outline, part)
    }

    /// Decides by the sums and, if cuts are due, collects them in a second pass over the candidates.
    fn finish(mut self) -> Plan {
        let policy = self.policy;
        let unreached = policy.crossing == Crossing::Keep && self.reached_in.is_none();
        if unreached && policy.unreached == Extent::Everything {
            self.sums.candidates = self.sums.total;
            self.sums.candidate_count = self.sums.counted;
        } else if self.sums.candidate_count == 0 {
            self.bounds.protected = self.bounds.floor;
        }
        let idle = policy.idle(self.sums);
        if idle.is_some() {
            return Plan { cuts: Vec::new(), idle, totals: policy.totals(self.sums, 0), bounds: self.bounds };
        }
        let cuts = (self.bounds.floor..self.bounds.protected)
            .map(PartIx)
            .filter(|&part| self.classifier.class_of(part) == ResultClass::Counts)
            .filter(|&part| !policy.is_skipped_summary(self.outline, self.outline.owner(part)))
            .map(|part| policy.cut(part, self.tokens(part)))
            .collect();
        let totals = policy.totals(self.sums, self.sums.candidates);
        Plan { cuts, idle: None, totals, bounds: self.bounds }
    }
}
