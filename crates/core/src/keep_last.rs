//! Family *keep-last*: past a trigger, clear all but the newest tool uses.
//!
//! The rule of the Anthropic API's `clear_tool_uses_20250919`. A tool use is counted by its result. What was cleared
//! stays cleared, so cuts are remembered. Each clearing breaks the cached prefix, so a minimum of tokens can be set.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::meter::Meter;
use crate::names::Name;
use crate::outline::{Outline, PartIx, PartKind};
use crate::plan::{Action, Bounds, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::situation::Situation;
use crate::tool_filter::ToolFilter;

/// What triggers the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeepLastTrigger {
    /// More input tokens than `threshold`.
    InputTokens,
    /// More tool uses than `threshold`.
    ToolUses,
    /// More tool uses than `threshold` whose results were not cut yet.
    UncutToolUses,
}

/// Parameters of the family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeepLast {
    /// What triggers it.
    pub trigger: KeepLastTrigger,
    /// What the trigger's count must exceed.
    pub threshold: u64,
    /// How many of the newest tool uses stay.
    pub keep: u64,
    /// Nothing is cleared unless that saves at least this many tokens.
    #[serde(default)]
    pub clear_at_least: u64,
    /// Whether the inputs of cleared tool uses are cleared, too.
    #[serde(default)]
    pub clear_inputs: bool,
    /// How results are measured.
    pub meter: Meter,
    /// The tools whose results may be cut.
    #[serde(default)]
    pub tools: ToolFilter,
}

/// Counts for the trigger, and where the newest tool uses begin.
pub(crate) struct Count {
    /// Tokens of everything, before any cut.
    pub tokens: u64,
    /// All results.
    pub uses: u64,
    /// The oldest of the newest results that stay.
    pub kept_from: Option<PartIx>,
}

impl KeepLast {
    /// Counts everything.
    pub(crate) fn count(&self, outline: &Outline) -> Count {
        let results = || outline.parts().filter(|&part| outline.kind(part) == PartKind::Result);
        let kept_from = match self.keep {
            0 => Some(PartIx(outline.part_count() as u32)),
            keep => usize::try_from(keep - 1).ok().and_then(|skip| results().rev().nth(skip)),
        };
        Count { tokens: self.meter.whole(outline), uses: results().count() as u64, kept_from }
    }

    fn may_clear(&self, outline: &Outline, memory: &Memory, part: PartIx) -> bool {
        outline.kind(part) == PartKind::Result && self.may_touch(outline, memory, part)
    }

    fn may_touch(&self, outline: &Outline, memory: &Memory, part: PartIx) -> bool {
        !outline.is_cut(part)
            && !outline.is_summary(outline.owner(part))
            && memory.cut(outline, part).is_none()
            && !memory.is_undone(part)
            && self.tools.allows(outline.tool(part).unwrap_or_default())
    }
}

/// Plans with these counts.
pub(crate) fn plan(
    outline: &Outline,
    policy: &KeepLast,
    situation: &Situation,
    memory: &Memory,
    count: &Count,
) -> Plan {
    let cut_before = || {
        let valid = memory.cuts().filter(|&(part, _)| memory.cut(outline, part).is_some());
        let saved = |part, after| policy.meter.sent(outline, part).saturating_sub(after);
        valid.map(|(part, cut)| saved(part, cut.after)).fold(0, u64::saturating_add)
    };
    let value = match policy.trigger {
        KeepLastTrigger::ToolUses => count.uses,
        KeepLastTrigger::UncutToolUses => count.uses.saturating_sub(cuts_before(outline, memory)),
        KeepLastTrigger::InputTokens => {
            situation.input_tokens.unwrap_or_else(|| count.tokens.saturating_sub(cut_before()))
        }
    };
    if value <= policy.threshold {
        return Plan::idle(Idle::BelowTrigger { value, trigger: policy.threshold });
    }
    let end = count.kept_from.map_or(0, |part| part.0);
    let clearable = || (0..end).map(PartIx).filter(|&part| policy.may_clear(outline, memory, part));
    let cost = |part: PartIx| policy.meter.part(outline, part);
    let candidates: u64 = clearable().map(cost).fold(0, u64::saturating_add);
    let bounds = Bounds { floor_kind: Floor::None, floor: 0, protected: end, active: end };
    let totals = Totals { scale: Scale::Tokens, before: count.tokens, after: count.tokens, candidates };
    let idle = if clearable().next().is_none() {
        Some(Idle::NothingEligible)
    } else if candidates < policy.clear_at_least {
        let minimum = i64::try_from(policy.clear_at_least).unwrap_or(i64::MAX);
        Some(Idle::BelowMinimum { candidates, minimum })
    } else {
        None
    };
    if idle.is_some() {
        return Plan { cuts: Vec::new(), idle, totals, bounds };
    }
    let clear = |part| Cut {
        part,
        action: Action::Clear,
        reason: Reason::OlderThanKept,
        before: cost(part),
        after: 0,
    };
    let mut cuts: Vec<Cut> = clearable().map(clear).collect();
    if policy.clear_inputs {
        let inputs = inputs_of(outline, &cuts);
        let free = |part: &PartIx| policy.may_touch(outline, memory, *part);
        cuts.extend(inputs.into_iter().filter(free).map(clear));
        cuts.sort_unstable_by_key(|cut| cut.part);
    }
    let gone: u64 = cuts.iter().map(|cut| cut.before).fold(0, u64::saturating_add);
    let totals = Totals { after: count.tokens.saturating_sub(gone), ..totals };
    Plan { cuts, idle: None, totals, bounds }
}

/// The number of results that were cut before.
fn cuts_before(outline: &Outline, memory: &Memory) -> u64 {
    let is_cut = |part: PartIx| outline.kind(part) == PartKind::Result && memory.cut(outline, part).is_some();
    memory.cuts().filter(|&(part, _)| is_cut(part)).count() as u64
}

/// The calls of these results: for each the last one before it with the same id, because ids may be reused.
fn inputs_of(outline: &Outline, results: &[Cut]) -> Vec<PartIx> {
    let mut open: HashMap<Name, PartIx> = HashMap::new();
    let mut answered = Vec::new();
    let mut results = results.iter().map(|cut| cut.part).peekable();
    for part in outline.parts() {
        let call = outline.call(part);
        if call.is_some() && outline.kind(part) == PartKind::Call {
            open.insert(call, part);
        }
        if results.next_if_eq(&part).is_some() {
            answered.extend(open.remove(&call));
        }
        if results.peek().is_none() {
            break;
        }
    }
    answered
}

impl KeepLast {
    /// Why a part that the plan does not cut is kept.
    pub(crate) fn keep(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
        if outline.kind(part) != PartKind::Result {
            return Keep::NotResult;
        }
        if outline.is_cut(part) || memory.cut(outline, part).is_some() {
            return Keep::AlreadyCut;
        }
        if outline.is_summary(outline.owner(part)) {
            return Keep::Summary;
        }
        if !self.tools.allows(outline.tool(part).unwrap_or_default()) {
            return Keep::ProtectedTool;
        }
        match plan.idle {
            Some(Idle::BelowTrigger { .. } | Idle::ReplayOnly) => Keep::NoOccasion,
            _ if part.0 >= plan.bounds.active => Keep::ProtectedWindow,
            _ => Keep::BelowMinimum,
        }
    }
}
