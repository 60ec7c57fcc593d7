//! Family *watermark*: protect the newest tool output, cut the rest if it is worth it.
//!
//! Walk back from the newest message. Leave out the turns that are still being worked on; add up the
//! tool results met; from where the sum passes a watermark, everything older is a candidate; cut the
//! candidates if they are worth it together. OpenCode, openagentic-sdk and Qwery all do this and
//! differ in each comparison: those differences are the fields of [`Watermark`].
//!
//! [`scan`] is the plain walk: no allocation unless something is cut, and the oracle for the
//! [incremental](crate::Tally) plan.

use std::ops::{ControlFlow, Range};

use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::meter::Meter;
use crate::names::Name;
use crate::outline::{Kind, MessageIx, Nature, Outline, PartIx, Role, Status};
use crate::plan::{Action, Bounds, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::tools::{Mask, Tools};

/// What to do when an obstacle is met on the way back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// End the walk.
    Stop,
    /// Leave it out and walk on.
    Skip,
}

/// What a summary means to the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AtSummary {
    /// The walk ends when it meets one.
    Stop,
    /// Its own parts are left out; the walk goes on.
    Skip,
    /// History begins with the last one, before turns are even counted.
    Begin,
}

/// What becomes of the part whose size carries the sum to the watermark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crossing {
    /// It is a candidate when the sum, its own size included, exceeds the watermark.
    Cut,
    /// It is still protected; what follows is a candidate once the sum is at least the watermark.
    Keep,
}

/// A choice between everything and nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Nothing.
    Nothing,
    /// Everything.
    Everything,
}

/// Parameters of the family; see the [module](self).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Watermark {
    /// Tokens of the newest tool output that stay.
    pub protect: i64,
    /// What the candidates must exceed together, in tokens.
    pub minimum: i64,
    /// How results are measured.
    pub meter: Meter,
    /// How many of the newest user turns are left out.
    pub active_turns: u64,
    /// Whether the user message that opens the oldest active turn is scanned itself.
    pub turn_message: TurnMessage,
    /// What is scanned while there are fewer user turns than that.
    pub too_few_turns: Extent,
    /// The part that reaches the watermark.
    pub crossing: Crossing,
    /// What is a candidate if the watermark is never reached (with `crossing = "keep"`).
    pub unreached: Extent,
    /// Whether older parts of the message in which the watermark was reached are candidates
    /// (with `crossing = "keep"`).
    pub rest_of_message: Extent,
    /// A summary on the way back.
    pub summary: AtSummary,
    /// A result that was cut before.
    pub earlier_cut: Obstacle,
    /// Results of these states count.
    pub statuses: Vec<Status>,
    /// Tools that may be touched.
    pub tools: Tools,
    /// Which of two checks comes first: matters for a protected tool's result that was cut before.
    pub first_check: FirstCheck,
}

/// Whether the message that opens the oldest active turn is itself scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnMessage {
    /// It is, and the walk begins with it.
    Scanned,
    /// It is not; the walk begins with the message before it.
    Active,
}

/// The order of two checks on a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FirstCheck {
    /// A protected tool is passed over even if its result was cut before.
    Tool,
    /// A result that was cut before ends the walk even if its tool is protected.
    EarlierCut,
}

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
    fn newest_first(&self, range: Range<u32>) -> impl Iterator<Item = (PartIx, Meaning)> {
        let slice = range.start as usize..range.end as usize;
        let natures = self.natures.get(slice.clone()).unwrap_or_default();
        let tools = self.tools.get(slice).unwrap_or_default();
        natures.iter().zip(tools).enumerate().rev().map(move |(index, (&nature, &tool))| {
            let part = PartIx(range.start + index as u32);
            (part, self.judge(part, nature, tool))
        })
    }
}

impl Watermark {
    /// The reach of the walk by turns: messages before this number are scanned; none if there are too few
    /// turns. Turns are counted among `users`, the user messages from the newest on.
    pub(crate) fn reach(&self, mut users: impl Iterator<Item = MessageIx>, messages: u32) -> Option<u32> {
        if self.active_turns == 0 {
            return Some(messages);
        }
        match usize::try_from(self.active_turns - 1).ok().and_then(|skip| users.nth(skip)) {
            Some(user) if self.turn_message == TurnMessage::Scanned => Some(user.0 + 1),
            Some(user) => Some(user.0),
            None if self.too_few_turns == Extent::Everything => Some(messages),
            None => None,
        }
    }

    /// Whether a sum of protected and candidate tokens makes the part that brought it there a
    /// candidate (`Cut`), or what follows it (`Keep`).
    #[inline]
    pub(crate) fn reached(&self, sum: u64) -> bool {
        let sum = i64::try_from(sum).unwrap_or(i64::MAX);
        match self.crossing {
            Crossing::Cut => sum > self.protect,
            Crossing::Keep => sum >= self.protect,
        }
    }

    /// Turns the sums of a walk into a plan without cuts, or none if cuts are due.
    pub(crate) fn judge(&self, sums: Sums) -> Option<Idle> {
        if sums.total == 0 && sums.counted == 0 {
            return Some(Idle::NothingEligible);
        }
        if sums.candidate_count == 0 {
            return Some(Idle::WithinProtected { total: sums.total, protect: self.protect });
        }
        let worth = i64::try_from(sums.candidates).unwrap_or(i64::MAX) > self.minimum;
        (!worth).then_some(Idle::BelowMinimum { candidates: sums.candidates, minimum: self.minimum })
    }

    pub(crate) fn totals(&self, sums: Sums, cut: u64) -> Totals {
        Totals {
            scale: Scale::Tokens,
            before: sums.total,
            after: sums.total.saturating_sub(cut),
            candidates: sums.candidates,
        }
    }

    pub(crate) fn cut(&self, part: PartIx, before: u64) -> Cut {
        Cut { part, action: Action::Clear, reason: Reason::BeyondProtected, before, after: 0 }
    }
}

/// What a walk added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sums {
    /// Tokens of all results that count.
    pub total: u64,
    /// How many count.
    pub counted: u64,
    /// Tokens of the candidates.
    pub candidates: u64,
    /// How many are candidates.
    pub candidate_count: u64,
}

/// Where a walk takes place, before a single part is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ground {
    pub reach: u32,
    pub active: u32,
    pub floor: u32,
    pub floor_kind: Floor,
}

impl Watermark {
    /// Finds the ground of a walk, or says why there is none.
    pub(crate) fn ground(&self, outline: &Outline) -> Result<Ground, Idle> {
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
            AtSummary::Stop => self.passed_summaries(outline, reach).next(),
        };
        let floor = summary.map_or(0, |summary| outline.parts_of(summary).end);
        let floor_kind = if summary.is_some() { Floor::Summary } else { Floor::None };
        Ok(Ground { reach, active: outline.first_part(MessageIx(reach)), floor, floor_kind })
    }

    /// The model's summaries before a message, newest first.
    fn passed_summaries<'o>(
        &self,
        outline: &'o Outline,
        reach: u32,
    ) -> impl Iterator<Item = MessageIx> + use<'o> {
        let met = outline.summaries().partition_point(|summary| summary.0 < reach);
        let met = outline.summaries().get(..met).unwrap_or_default();
        met.iter().rev().copied().filter(|&summary| outline.role(summary) == Role::Assistant)
    }
}

/// Plans by walking the whole reach.
pub(crate) fn scan(outline: &Outline, policy: &Watermark, memory: &Memory) -> Plan {
    let ground = match policy.ground(outline) {
        Ok(ground) => ground,
        Err(idle) => return Plan::idle(idle),
    };
    let mut walk = Walk {
        outline,
        policy,
        sizes: if policy.meter.image == 0 { outline.column(policy.meter.unit) } else { &[] },
        sieve: Sieve::new(outline, policy, memory),
        sums: Sums::default(),
        bounds: Bounds {
            floor_kind: ground.floor_kind,
            floor: ground.floor,
            protected: ground.active,
            active: ground.active,
        },
        reached_in: None,
    };
    let mut end = ground.active;
    if policy.summary == AtSummary::Skip {
        for summary in policy.passed_summaries(outline, ground.reach) {
            let parts = outline.parts_of(summary);
            if walk.run(parts.end, end).is_break() {
                return walk.finish();
            }
            end = parts.start;
        }
    }
    let _ = walk.run(ground.floor, end);
    walk.finish()
}

/// The plain walk, newest part first.
struct Walk<'a> {
    outline: &'a Outline,
    policy: &'a Watermark,
    /// The sizes that the meter counts; empty if a part's size takes more than one column to tell.
    sizes: &'a [u32],
    sieve: Sieve<'a>,
    sums: Sums,
    bounds: Bounds,
    /// With `crossing = "keep"`: the message in which the watermark was reached.
    reached_in: Option<MessageIx>,
}

impl Walk<'_> {
    /// Adds up the parts from `end` down to `floor` and notes where candidates begin; breaks off at an earlier cut.
    fn run(&mut self, floor: u32, end: u32) -> ControlFlow<()> {
        // The sums live in registers while the loop runs.
        let (mut sums, gauge) = (self.sums, self.policy.meter.gauge());
        let mut broken = None;
        for (part, meaning) in self.sieve.newest_first(floor..end) {
            match meaning {
                Meaning::Passed => {}
                Meaning::Counts => {
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
                Meaning::CutBefore if self.policy.earlier_cut == Obstacle::Skip => {}
                Meaning::CutBefore => {
                    broken = Some(part);
                    break;
                }
            }
        }
        self.sums = sums;
        let Some(part) = broken else { return ControlFlow::Continue(()) };
        self.bounds.floor = part.0 + 1;
        self.bounds.floor_kind = Floor::Cut;
        ControlFlow::Break(())
    }

    fn tokens(&self, part: PartIx) -> u64 {
        self.policy.meter.part(self.outline, part)
    }

    /// Judges the sums and, if cuts are due, collects them in a second walk over the candidates.
    fn finish(mut self) -> Plan {
        let policy = self.policy;
        let unreached = policy.crossing == Crossing::Keep && self.reached_in.is_none();
        if unreached && policy.unreached == Extent::Everything {
            self.sums.candidates = self.sums.total;
            self.sums.candidate_count = self.sums.counted;
        } else if self.sums.candidate_count == 0 {
            self.bounds.protected = self.bounds.floor;
        }
        let idle = policy.judge(self.sums);
        if idle.is_some() {
            return Plan { cuts: Vec::new(), idle, totals: policy.totals(self.sums, 0), bounds: self.bounds };
        }
        let cuts = (self.bounds.floor..self.bounds.protected)
            .map(PartIx)
            .filter(|&part| self.sieve.meaning(part) == Meaning::Counts)
            .filter(|&part| !policy.is_passed_summary(self.outline, self.outline.owner(part)))
            .map(|part| policy.cut(part, self.tokens(part)))
            .collect();
        let totals = policy.totals(self.sums, self.sums.candidates);
        Plan { cuts, idle: None, totals, bounds: self.bounds }
    }
}

impl Watermark {
    /// Whether the walk passes over this message because it is a summary.
    pub(crate) fn is_passed_summary(&self, outline: &Outline, message: MessageIx) -> bool {
        self.summary == AtSummary::Skip
            && outline.is_summary(message)
            && outline.role(message) == Role::Assistant
    }

    /// Why a part that the plan does not cut is kept.
    pub(crate) fn keep(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
        let bounds = plan.bounds;
        let status = outline.status(part);
        if outline.kind(part) != Kind::Result {
            return Keep::NotResult;
        }
        if outline.is_cut(part) || memory.cut(outline, part).is_some() {
            return Keep::AlreadyCut;
        }
        if part.0 >= bounds.active {
            return Keep::ActiveTurn;
        }
        if self.is_passed_summary(outline, outline.owner(part)) {
            return Keep::Summary;
        }
        if part.0 < bounds.floor {
            return if bounds.floor_kind == Floor::Cut { Keep::BehindCut } else { Keep::BehindSummary };
        }
        if !self.statuses.contains(&status) {
            return Keep::Unfinished(status);
        }
        if !outline.tool(part).map_or_else(|| self.tools.allows(""), |tool| self.tools.allows(tool)) {
            return Keep::ProtectedTool;
        }
        if part.0 < bounds.protected {
            return Keep::BelowMinimum;
        }
        Keep::ProtectedWindow
    }
}
