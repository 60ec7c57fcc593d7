//! Budgets of bytes and media, beside the tokens.
//!
//! Providers refuse requests with too many bytes or images, even if the tokens fit. The budget is applied after the
//! family's own cuts: while the context exceeds it, media are dropped and results cleared, oldest first, except in the
//! current turn. Tools that the policy may not cut are left alone here, too.

use serde::{Deserialize, Serialize};

use crate::memory::Memory;
use crate::outline::{Outline, PartIx, PartKind};
use crate::plan::{Action, Cut, Plan, Reason};
use crate::tool_filter::ToolFilter;

/// Limits of a request beside its tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Budget {
    /// Bytes of content.
    pub bytes: Option<u64>,
    /// Images and other media.
    pub media: Option<u64>,
}

/// Bytes and media of a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Spent {
    pub bytes: u64,
    pub media: u64,
}

impl Spent {
    /// The bytes and media of a part in the source: those of the placeholder if it was cut before.
    pub(crate) fn on(outline: &Outline, part: PartIx, placeholder: u64) -> Self {
        if matches!(outline.kind(part), PartKind::Other | PartKind::Compaction) {
            return Self::default();
        }
        let whole = Self { bytes: outline.bytes(part), media: outline.images(part) };
        if outline.is_cut(part) { whole.after(Action::Clear, placeholder) } else { whole }
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.media = self.media.saturating_add(other.media);
    }

    /// What is left after a cut.
    fn after(self, action: Action, placeholder: u64) -> Self {
        match action {
            Action::Clear => Self { bytes: self.bytes.min(placeholder), media: 0 },
            Action::Trim { head, tail, .. } => {
                Self { bytes: self.bytes.min(head.saturating_add(tail)), media: 0 }
            }
            // The part's bytes include text and media, so it is unknown how many bytes go with the media.
            Action::DropMedia => Self { bytes: self.bytes, media: 0 },
            Action::DropThinking => Self::default(),
        }
    }

    fn reduce(&mut self, before: Self, after: Self) {
        self.bytes = self.bytes.saturating_sub(before.bytes - after.bytes.min(before.bytes));
        self.media = self.media.saturating_sub(before.media - after.media.min(before.media));
    }
}

/// What the budget needs to know about the context.
pub(crate) struct BudgetInput<'a, W> {
    pub outline: &'a Outline,
    pub memory: &'a Memory,
    /// The tools whose results may be cut.
    pub tools: &'a ToolFilter,
    /// Bytes and media without the plan and without remembered cuts.
    pub raw: Spent,
    /// Bytes of the placeholder.
    pub placeholder: u64,
    /// The size of a part in the plan's scale, before and after a cut.
    pub weigh: W,
}

impl Budget {
    /// Whether there is any limit.
    pub(crate) fn is_set(&self) -> bool {
        self.bytes.is_some() || self.media.is_some()
    }

    fn over_bytes(&self, spent: Spent) -> bool {
        self.bytes.is_some_and(|limit| spent.bytes > limit)
    }

    fn over_media(&self, spent: Spent) -> bool {
        self.media.is_some_and(|limit| spent.media > limit)
    }

    /// Adds the cuts that the budget still needs after those of `plan`.
    pub(crate) fn extend<W: Fn(PartIx, Action) -> (u64, u64)>(
        &self,
        plan: &mut Plan,
        input: &BudgetInput<'_, W>,
    ) {
        let BudgetInput { outline, memory, tools, raw, placeholder, weigh } = input;
        let (placeholder, memory) = (*placeholder, *memory);
        let mut spent = *raw;
        let valid = |part: PartIx| plan.cut(part).is_none() && memory.cut(outline, part).is_some();
        for (part, cut) in memory.cuts().filter(|&(part, _)| valid(part)) {
            let before = Spent::on(outline, part, placeholder);
            spent.reduce(before, before.after(cut.action, placeholder));
        }
        for cut in &plan.cuts {
            let before = Spent::on(outline, cut.part, placeholder);
            spent.reduce(before, before.after(cut.action, placeholder));
        }
        if !self.over_bytes(spent) && !self.over_media(spent) {
            return;
        }
        let end = outline.users().last().map_or(0, |&message| outline.first_part(message));
        let mut added = Vec::new();
        for part in (0..end).map(PartIx) {
            if !self.over_bytes(spent) && !self.over_media(spent) {
                break;
            }
            let free = plan.cut(part).is_none()
                && memory.cut(outline, part).is_none()
                && !outline.is_cut(part)
                && !memory.is_undone(part)
                && !outline.is_summary(outline.owner(part));
            // The user's media belong to no tool, so no list of tools protects them.
            let allowed = match outline.tool(part) {
                None if outline.kind(part) == PartKind::Media => true,
                tool => tools.allows(tool.unwrap_or_default()),
            };
            if !free || !allowed {
                continue;
            }
            let before = Spent::on(outline, part, placeholder);
            let (action, reason) = match outline.kind(part) {
                PartKind::Result if self.over_bytes(spent) => (Action::Clear, Reason::ByteBudget),
                PartKind::Media if self.over_bytes(spent) => (Action::Clear, Reason::ByteBudget),
                PartKind::Result | PartKind::Media if before.media > 0 => {
                    (Action::DropMedia, Reason::MediaBudget)
                }
                _ => continue,
            };
            let after = before.after(action, placeholder);
            if after == before {
                continue;
            }
            spent.reduce(before, after);
            let (before, after) = weigh(part, action);
            plan.totals.after = plan.totals.after.saturating_sub(before.saturating_sub(after));
            added.push(Cut { part, action, reason, before, after });
        }
        if !added.is_empty() {
            plan.idle = None;
            plan.cuts.append(&mut added);
            plan.cuts.sort_unstable_by_key(|cut| cut.part);
        }
    }
}
