//! Cuts for models that bind their signed thinking to everything that was sent before it.
//!
//! Such a model accepts a block of thinking only behind the very bytes that it was made behind. A cut in front of a block
//! makes it invalid: the provider refuses the request, or drops the block and the model thinks again. What is cut after
//! the newest block does no harm, and neither does a cut that was in the request when the block was made, because cuts
//! last. So only a *new* cut needs a choice, in this order:
//!
//! 1. the **provider** is asked to clear the results. It is sent all of them, so no block becomes invalid;
//! 2. the cut is **ours**, and the provider is asked to drop the blocks behind it;
//! 3. the cut is ours, and we leave those blocks out, unless the turn that is still going on has one of them: a provider
//!    wants those back;
//! 4. nothing is cut.
//!
//! All of that is recorded as cuts, of results and of thinking, each with [who makes it](CutBy). What to ask the provider
//! for follows from the cuts of the context at each request.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};

use super::SessionMachine;
use super::context::{Context, LiveMessage, rendered};
use super::event::Trigger;
use super::message::{CutBy, Seq, SessionCut};
use crate::calibration::Calibration;
use crate::compaction::Occasion;
use crate::outline::{PartIx, PartKind};
use crate::plan::{Action, Reason};
use crate::situation::{CutPurpose, Rethinking, Situation};

/// Results of fewer characters may be cleared together with others: there is little in them.
const SHORT_RESULT: u64 = 400;

/// What can be done about the thinking of a model that binds it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoundThinking {
    /// The provider can be asked to clear tool results.
    pub can_clear: bool,
    /// The provider can be asked to drop thinking that is not valid any more.
    pub can_drop: bool,
    /// The provider wants the thinking of the open turn back.
    pub is_needed: bool,
    /// What a token of output costs, where plain input costs one.
    pub output_price: f64,
}

/// What the provider is asked to clear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProviderClearing {
    /// How many tool results it clears.
    pub results: u32,
    /// Their estimated tokens.
    pub tokens: u64,
    /// How many of the newest tool results it keeps.
    pub keep: u32,
    /// The tools whose results it keeps.
    pub exclude: Vec<String>,
}

impl Context {
    /// What the provider is to be asked to clear; none if it has nothing to clear.
    pub fn provider_clearing(&self, calibration: &Calibration) -> Option<ProviderClearing> {
        let is_asked = |cut: &SessionCut| cut.by == CutBy::Provider && cut.action == Action::Clear;
        let cleared: HashSet<PartIx> =
            self.results().filter(|&part| self.cut_in_effect(part).is_some_and(is_asked)).collect();
        let last = cleared.iter().max().copied()?;
        let outline = self.outline();
        let before = self.results().take_while(|&part| part < last);
        let stays = before.filter(|&part| !cleared.contains(&part) && self.must_stay(part));
        let exclude: BTreeSet<&str> = stays.filter_map(|part| outline.tool(part)).collect();
        let chars = cleared.iter().map(|&part| outline.units(part)).fold(0, u64::saturating_add);
        Some(ProviderClearing {
            results: u32::try_from(cleared.len()).unwrap_or(u32::MAX),
            tokens: calibration.scale(chars),
            keep: u32::try_from(self.results().filter(|&part| part > last).count()).unwrap_or(u32::MAX),
            exclude: exclude.into_iter().map(str::to_owned).collect(),
        })
    }

    /// Whether the provider is to be asked to drop thinking.
    pub fn has_invalid_thinking(&self) -> bool {
        let is_invalid =
            |cut: &SessionCut| cut.by == CutBy::Provider && cut.action == Action::DropThinking && !cut.undone;
        self.rows().iter().any(|row| row.cuts.iter().any(is_invalid))
    }

    /// The newest operation that left it to the provider to drop thinking of the open turn; none if there is none.
    pub fn dropping_operation(&self) -> Option<u64> {
        let outline = self.outline();
        let open_turn = self.open_turn()?;
        let parts =
            outline.parts().filter(|&part| part > open_turn && outline.kind(part) == PartKind::Signature);
        let cuts = parts.filter_map(|part| self.cut_in_effect(part));
        cuts.filter(|cut| cut.by == CutBy::Provider).map(|cut| cut.operation).max()
    }

    /// All tool results, oldest first.
    fn results(&self) -> impl Iterator<Item = PartIx> {
        let outline = self.outline();
        outline.parts().filter(move |&part| outline.kind(part) == PartKind::Result)
    }

    /// Signed blocks of thinking that are sent, oldest first.
    fn signed_blocks(&self) -> impl Iterator<Item = PartIx> {
        let outline = self.outline();
        let is_signed = move |part: &PartIx| outline.kind(*part) == PartKind::Signature;
        outline.parts().filter(is_signed).filter(|&part| self.cut_in_effect(part).is_none())
    }

    fn cut_in_effect(&self, part: PartIx) -> Option<&SessionCut> {
        let row = self.rows().get(self.outline().owner(part).0 as usize)?;
        let first = self.outline().parts_of(self.outline().owner(part)).start;
        SessionCut::in_effect(&row.cuts, part.0 - first)
    }

    /// Whether a result that is not to be cleared would be missed. One that is cleared already would not.
    fn must_stay(&self, part: PartIx) -> bool {
        let outline = self.outline();
        let is_cleared = self.cut_in_effect(part).is_some_and(|cut| cut.action == Action::Clear);
        let is_pinned = self.rows().get(outline.owner(part).0 as usize).is_some_and(|row| row.facts.pinned);
        !is_cleared && (is_pinned || outline.images(part) > 0 || outline.units(part) >= SHORT_RESULT)
    }

    /// The first part of the turn that is still going on; none if no user message begins one.
    fn open_turn(&self) -> Option<PartIx> {
        let begins = |row: &LiveMessage| row.facts.is_from_user() && !row.facts.has_tool_parts();
        let at = self.rows().iter().rposition(begins)?;
        Some(PartIx(self.outline().parts_of(crate::outline::MessageIx(at as u32)).start))
    }
}

impl SessionMachine {
    /// What a cut costs beside the cache. Nothing if the provider can clear results: that leaves thinking valid.
    pub(super) fn rethinking(&self) -> Rethinking {
        match self.state.request.thinking {
            Some(thinking) if !thinking.can_clear => self.rethinking_of(thinking),
            _ => Rethinking::default(),
        }
    }

    fn rethinking_of(&self, thinking: BoundThinking) -> Rethinking {
        let blocks = u32::try_from(self.context.signed_blocks().count()).unwrap_or(u32::MAX);
        Rethinking { blocks, output_price: thinking.output_price }
    }

    /// The same cuts, made so that every block of thinking that is sent stays valid or is known to be invalid; fewer if
    /// that is not possible.
    pub(super) fn spare_thinking(
        &mut self,
        now: i64,
        occasion: Occasion,
        cuts: Vec<(Seq, SessionCut)>,
    ) -> Vec<(Seq, SessionCut)> {
        let Some(thinking) = self.state.request.thinking else { return cuts };
        let Some(last) = self.context.signed_blocks().last() else { return cuts };
        let is_before = |(seq, cut): &(Seq, SessionCut)| {
            self.context.part(*seq, cut.part).is_some_and(|part| part < last)
        };
        let (before, harmless): (Vec<_>, Vec<_>) = cuts.into_iter().partition(is_before);
        if before.is_empty() {
            return harmless;
        }
        let makes_room = matches!(occasion, Occasion::Overflow | Occasion::Arrival | Occasion::Emergency);
        let by_provider = if thinking.can_clear { self.clearable(&before) } else { Vec::new() };
        let suffices = if makes_room {
            !self.is_over(self.tokens_with(&by_provider))
        } else {
            self.saved(&by_provider).saturating_mul(2) >= self.saved(&before)
        };
        let mut made = by_provider;
        if made.is_empty() || !suffices {
            let own = if makes_room || !thinking.can_clear {
                before
            } else {
                // The plan was made without what it costs to think again.
                self.planned_with_rethinking(now, thinking)
            };
            if let Some(own) = self.own_cuts(thinking, own) {
                made = own;
            }
        }
        made.extend(harmless);
        made.sort_by_key(|(seq, cut)| (self.context.position(*seq), cut.part));
        made.dedup_by_key(|(seq, cut)| (*seq, cut.part));
        made
    }

    /// The characters that cuts save.
    fn saved(&self, cuts: &[(Seq, SessionCut)]) -> u64 {
        self.context.chars().saturating_sub(self.chars_with(cuts))
    }

    fn planned_with_rethinking(&mut self, now: i64, thinking: BoundThinking) -> Vec<(Seq, SessionCut)> {
        let rethinking = self.rethinking_of(thinking);
        self.planned_cuts_in(Situation { rethinking, purpose: CutPurpose::SaveCost, ..self.situation(now) })
    }

    /// Those of these cuts that the provider can make. It clears oldest results first and can leave out tools by name
    /// only, so a tool with an older result that stays is left out altogether. Of all places to stop at, the one is
    /// taken that saves most.
    fn clearable(&self, cuts: &[(Seq, SessionCut)]) -> Vec<(Seq, SessionCut)> {
        let outline = self.context.outline();
        let planned: BTreeMap<PartIx, &(Seq, SessionCut)> = cuts
            .iter()
            .filter(|(_, cut)| cut.action == Action::Clear)
            .filter_map(|made| Some((self.context.part(made.0, made.1.part)?, made)))
            .filter(|(part, _)| outline.kind(*part) == PartKind::Result)
            .collect();
        let mut gains: BTreeMap<&str, u64> = BTreeMap::new();
        let mut excluded: BTreeSet<&str> = BTreeSet::new();
        let mut best = (0, None, BTreeSet::new());
        for part in self.context.results() {
            let tool = outline.tool(part).unwrap_or_default();
            if let Some((_, cut)) = planned.get(&part) {
                *gains.entry(tool).or_default() +=
                    outline.units(part).saturating_sub(rendered(cut, outline, part));
                let gain = gains.iter().filter(|(tool, _)| !excluded.contains(*tool)).map(|(_, gain)| gain);
                let gain = gain.copied().fold(0, u64::saturating_add);
                if gain > best.0 {
                    best = (gain, Some(part), excluded.clone());
                }
            } else if self.context.must_stay(part) {
                excluded.insert(tool);
            }
        }
        let (_, last, excluded) = best;
        let is_made = |part: &PartIx| {
            last.is_some_and(|last| *part <= last)
                && !excluded.contains(outline.tool(*part).unwrap_or_default())
        };
        let made = planned.into_iter().filter(|(part, _)| is_made(part));
        made.map(|(_, (seq, cut))| (*seq, SessionCut { by: CutBy::Provider, ..cut.clone() })).collect()
    }

    /// Cuts of ours, with cuts of all thinking behind the first of them; none if that thinking must stay.
    fn own_cuts(
        &self,
        thinking: BoundThinking,
        cuts: Vec<(Seq, SessionCut)>,
    ) -> Option<Vec<(Seq, SessionCut)>> {
        let first = cuts.iter().filter_map(|(seq, cut)| self.context.part(*seq, cut.part)).min()?;
        let blocks: Vec<PartIx> = self.context.signed_blocks().filter(|&block| block > first).collect();
        let dropped = self.dropped(thinking, &blocks)?;
        Some(cuts.into_iter().chain(dropped).collect())
    }

    /// Cuts of these blocks of thinking; none if one of them can be neither left out nor dropped.
    fn dropped(&self, thinking: BoundThinking, blocks: &[PartIx]) -> Option<Vec<(Seq, SessionCut)>> {
        let open_turn = self.context.open_turn();
        let is_needed = |block: PartIx| thinking.is_needed && open_turn.is_none_or(|open| block > open);
        let by = if thinking.can_drop { CutBy::Provider } else { CutBy::Secateur };
        if !thinking.can_drop && blocks.iter().any(|&block| is_needed(block)) {
            return None;
        }
        Some(blocks.iter().filter_map(|&block| self.thinking_cut(block, by)).collect())
    }

    fn thinking_cut(&self, block: PartIx, by: CutBy) -> Option<(Seq, SessionCut)> {
        let (seq, part) = self.context.locate(block)?;
        let cut = SessionCut {
            part,
            action: Action::DropThinking,
            after: 0,
            placeholder: String::new(),
            handle: None,
            reason: Some(Reason::BoundThinking),
            operation: 0,
            undone: false,
            by,
        };
        Some((seq, cut))
    }

    /// The thinking that becomes invalid when these messages are replaced: that of all others. It is left out, except
    /// where the provider wants it back and can drop it itself; none if it wants it back and cannot.
    pub(super) fn thinking_behind(&self, replaced: &HashSet<Seq>) -> Option<Vec<(Seq, SessionCut)>> {
        let Some(thinking) = self.state.request.thinking else { return Some(Vec::new()) };
        let open_turn = self.context.open_turn();
        let mut cuts = Vec::new();
        for block in self.context.signed_blocks() {
            if self.context.locate(block).is_some_and(|(seq, _)| replaced.contains(&seq)) {
                continue;
            }
            let is_needed = thinking.is_needed && open_turn.is_none_or(|open| block > open);
            if is_needed && !thinking.can_drop {
                return None;
            }
            let by = if is_needed { CutBy::Provider } else { CutBy::Secateur };
            cuts.extend(self.thinking_cut(block, by));
        }
        Some(cuts)
    }

    /// Cuts of thinking that answers the last request, if something changed since that was sent.
    pub(super) fn outdated_thinking(&self) -> Vec<(Seq, SessionCut)> {
        let Some(thinking) = self.state.request.thinking.filter(|_| self.state.changed_since_sent) else {
            return Vec::new();
        };
        let is_new =
            |block: &PartIx| self.context.locate(*block).is_some_and(|(seq, _)| seq > self.state.sent_to);
        let blocks: Vec<PartIx> = self.context.signed_blocks().filter(is_new).collect();
        self.dropped(thinking, &blocks).unwrap_or_default()
    }

    /// Whether nothing may change between a response and the next request: the thinking of that response is not here
    /// yet, it would become invalid, and it could not be dropped. After a refusal there is none.
    pub(super) fn must_wait_for_thinking(&self, trigger: Option<Trigger>) -> bool {
        let thinking = self.state.request.thinking;
        let is_kept = thinking.is_some_and(|thinking| thinking.is_needed && !thinking.can_drop);
        is_kept && trigger != Some(Trigger::Refusal)
    }

    /// Cuts of the thinking that the provider refused, from a message on.
    pub(super) fn refused_thinking(&self, from: Option<Seq>) -> Vec<(Seq, SessionCut)> {
        let Some(thinking) = self.state.request.thinking else { return Vec::new() };
        let start = from.and_then(|from| self.context.position(from)).unwrap_or(0);
        let is_refused = |block: &PartIx| self.context.outline().owner(*block).0 as usize >= start;
        let blocks: Vec<PartIx> = self.context.signed_blocks().filter(is_refused).collect();
        self.dropped(thinking, &blocks).unwrap_or_default()
    }

    /// Cuts that the provider was to make and cannot make for this request: they become ours.
    pub(super) fn cuts_to_take_over(&self) -> Vec<(Seq, SessionCut)> {
        let thinking = self.state.request.thinking;
        let open_turn = self.context.open_turn();
        let is_ours = |part: PartIx, cut: &SessionCut| match (cut.action, thinking) {
            (Action::DropThinking, Some(thinking)) => {
                let is_needed = thinking.is_needed && open_turn.is_none_or(|open| part > open);
                !thinking.can_drop && !is_needed
            }
            // Only a model that binds its thinking looks at what stands before it.
            (Action::DropThinking, None) => false,
            (_, thinking) => thinking.is_none_or(|thinking| !thinking.can_clear),
        };
        let rows = self.context.rows().iter().filter(|row| !row.cuts.is_empty());
        let cuts = rows.flat_map(|row| row.cuts.iter().map(move |cut| (row, cut)));
        cuts.filter(|(row, cut)| {
            cut.by == CutBy::Provider
                && SessionCut::in_effect(&row.cuts, cut.part) == Some(cut)
                && self.context.part(row.seq, cut.part).is_some_and(|part| is_ours(part, cut))
        })
        .map(|(row, cut)| (row.seq, SessionCut { by: CutBy::Secateur, ..cut.clone() }))
        .collect()
    }
}
