//! A policy: one of the families with its parameters, and what all families share.
//!
//! Planning is a pure function of outline, policy, situation and memory. The same four values always give the same plan,
//! on any machine.

use serde::{Deserialize, Serialize};

use crate::budget::{Budget, BudgetInput, Spent};
use crate::keep_last::{self, KeepLast};
use crate::measure::{Measures, TrimMeasure, Unit};
use crate::memory::Memory;
use crate::outline::{Outline, PartIx};
use crate::placeholder::EXCERPT;
use crate::plan::{Action, Cut, Idle, Keep, Plan, Verdict};
use crate::ratio::{self, Ratio, RatioMode};
use crate::rent::{self, Rent, RentIndex};
use crate::situation::{Pass, Situation};
use crate::tool_filter::ToolFilter;
use crate::watermark::{self, Watermark};
use crate::weight::{weighted_len, wide_len};

/// The placeholder that the founding systems share.
pub const PLACEHOLDER: &str = "[Old tool result content cleared]";

/// A family of policies with its parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// Protect the newest tool output, cut the rest if it is worth it.
    Watermark(Watermark),
    /// Compare the context with the window; trim, then clear.
    Ratio(Ratio),
    /// Past a trigger, clear all but the newest tool uses.
    KeepLast(KeepLast),
    /// Cut results once keeping them has cost more than removing them.
    Rent(Rent),
}

/// Where a cut is kept, and so how long it lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lasting {
    /// In the session log itself.
    #[default]
    Marked,
    /// As `Marked`, but every mark rewrites the whole message as it was before, so that only the last of several marks in
    /// one message survives.
    MarkedOncePerMessage,
    /// Beside the session; it is repeated in every request.
    Remembered,
    /// Nowhere: it holds for one request, and the next one is planned anew.
    OneRequest,
}

/// What to prune: a family and what all families share.
#[derive(Clone, Debug, PartialEq)]
pub struct Policy {
    /// Whether it prunes at all.
    pub enabled: bool,
    /// The rule.
    pub family: Family,
    /// The template of placeholders.
    pub placeholder: String,
    /// Where cuts are kept.
    pub lasting: Lasting,
    /// Limits beside the tokens.
    pub budget: Budget,
}

impl Lasting {
    /// Whether the session log has the cuts.
    pub fn is_marked(self) -> bool {
        matches!(self, Lasting::Marked | Lasting::MarkedOncePerMessage)
    }
}

impl Policy {
    /// The cuts of a plan that the session would have afterwards, newest part first, which is the order of writing.
    pub fn surviving<'p>(
        &self,
        outline: &'p Outline,
        plan: &'p Plan,
    ) -> impl Iterator<Item = &'p Cut> + use<'p> {
        let once = self.lasting == Lasting::MarkedOncePerMessage;
        let message = move |cut: &Cut| outline.owner(cut.part);
        let is_last = move |index: &usize| {
            let (own, older) =
                (plan.cuts.get(*index), index.checked_sub(1).and_then(|older| plan.cuts.get(older)));
            !once || older.map(message) != own.map(message)
        };
        (0..plan.cuts.len()).rev().filter(is_last).filter_map(|index| plan.cuts.get(index))
    }

    /// Plans from scratch: scans all parts within reach.
    pub fn plan(&self, outline: &Outline, situation: &Situation, memory: &Memory) -> Plan {
        let spent = || {
            outline.parts().fold(Spent::default(), |mut sum, part| {
                sum.add(Spent::on(outline, part, self.placeholder.len() as u64));
                sum
            })
        };
        self.plan_with(outline, situation, memory, spent, || match &self.family {
            Family::Watermark(watermark) => watermark::scan(outline, watermark, memory),
            Family::Ratio(ratio) => {
                ratio::scan(outline, ratio, self.placeholder_chars(ratio), situation, memory)
            }
            Family::KeepLast(keep) => keep_last::plan(outline, keep, situation, memory, &keep.count(outline)),
            Family::Rent(rent) => {
                rent::plan(outline, rent, situation, memory, &RentIndex::of(outline, rent, memory))
            }
        })
    }

    /// What all ways of planning share: the switch before the family, the budget after it.
    pub(crate) fn plan_with(
        &self,
        outline: &Outline,
        situation: &Situation,
        memory: &Memory,
        spent: impl FnOnce() -> Spent,
        family: impl FnOnce() -> Plan,
    ) -> Plan {
        if !self.enabled {
            return Plan::idle(Idle::Disabled);
        }
        if situation.pass == Pass::ReplayOnly {
            return Plan::idle(Idle::ReplayOnly);
        }
        let mut plan = family();
        if self.budget.is_set() {
            let input = BudgetInput {
                outline,
                memory,
                tools: self.tools(),
                raw: spent(),
                placeholder: self.placeholder.len() as u64,
                weigh: |part, action| self.weigh(outline, situation, memory, part, action),
            };
            self.budget.extend(&mut plan, &input);
        }
        plan
    }

    /// The size of a part in the family's scale, before and after a cut.
    fn weigh(
        &self,
        outline: &Outline,
        situation: &Situation,
        memory: &Memory,
        part: PartIx,
        action: Action,
    ) -> (u64, u64) {
        match &self.family {
            Family::Ratio(ratio) => {
                ratio.weigh(outline, self.placeholder_chars(ratio), situation, part, action)
            }
            Family::Watermark(Watermark { meter, .. }) | Family::KeepLast(KeepLast { meter, .. }) => {
                let before = meter.part(outline, part);
                (before, if action == Action::Clear { 0 } else { before })
            }
            Family::Rent(_) => {
                let before = memory.calibration.scale(outline.sent(part));
                (before, if action == Action::Clear { 0 } else { before })
            }
        }
    }

    /// The length of the placeholder as the family counts characters.
    pub(crate) fn placeholder_chars(&self, ratio: &Ratio) -> u64 {
        match ratio.characters.unit {
            Unit::Weighted => weighted_len(&self.placeholder),
            Unit::Wide => wide_len(&self.placeholder),
            _ => self.placeholder.encode_utf16().count() as u64,
        }
    }

    /// What the plan says about a part.
    pub fn verdict(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Verdict {
        if let Some(cut) = plan.cut(part) {
            return Verdict::Cut(*cut);
        }
        if !self.enabled {
            return Verdict::Kept(Keep::Disabled);
        }
        if memory.is_undone(part) {
            return Verdict::Kept(Keep::Undone);
        }
        Verdict::Kept(match &self.family {
            Family::Watermark(watermark) => watermark.keep(outline, memory, plan, part),
            Family::Ratio(ratio) => ratio.keep(outline, memory, plan, part),
            Family::KeepLast(keep) => keep.keep(outline, memory, plan, part),
            Family::Rent(rent) => rent::keep(outline, rent, memory, part),
        })
    }

    /// The measures that this policy needs.
    pub fn measures(&self) -> Measures {
        let mut measures = Measures::default();
        match &self.family {
            Family::Watermark(watermark) => measures = measures.with_unit(watermark.meter.unit),
            Family::KeepLast(keep) => measures = measures.with_unit(keep.meter.unit),
            Family::Rent(rent) => {
                measures.excerpt = self.placeholder.contains(EXCERPT);
                measures.source = rent.ages.repeated.is_some();
            }
            Family::Ratio(ratio) => {
                measures = measures.with_unit(ratio.characters.unit).with_unit(Unit::JsJson);
                let unit = ratio.characters.unit;
                measures.trimmed = (unit != Unit::Utf16).then_some(TrimMeasure { trim: ratio.trim, unit });
                measures.placeholder =
                    (ratio.mode == RatioMode::Aggressive).then(|| self.placeholder.clone().into());
            }
        }
        measures.source |= self.lasting == Lasting::Remembered;
        measures
    }

    /// The tools whose results the policy may cut.
    pub fn tools(&self) -> &ToolFilter {
        match &self.family {
            Family::Watermark(watermark) => &watermark.tools,
            Family::Ratio(ratio) => &ratio.tools,
            Family::KeepLast(keep) => &keep.tools,
            Family::Rent(rent) => &rent.tools,
        }
    }
}
