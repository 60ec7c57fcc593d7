//! Family *ratio*: compare the context with the window; trim, then clear, until it is below a limit.
//!
//! OpenClaw's rule. Context and window are compared in characters. Above a soft limit, long tool results are trimmed. If
//! the context is still above a hard limit and there is enough to gain, the oldest results are cleared one by one until
//! it is below. Results among the newest assistant messages, and before the first user message, are never cut.
//!
//! The first versions decide anew at every request. The later one makes new cuts only once the provider's cache has gone
//! cold, remembers them, and repeats them in every request.

mod round;

use serde::{Deserialize, Serialize};

pub(crate) use round::{RatioScope, plan, scan};

use crate::measure::{Trim, Unit};
use crate::memory::Memory;
use crate::outline::{Outline, PartIx, PartKind, Role};
use crate::plan::{Action, Bounds, Cut, Idle, Keep, Plan, Reason};
use crate::situation::{Situation, Thinking};
use crate::tool_filter::ToolFilter;

/// How far the family goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RatioMode {
    /// Trim above the soft limit, clear above the hard one.
    Adaptive,
    /// Clear every result that may be cleared, however full the window is.
    Aggressive,
    /// As adaptive, but new cuts only once the provider's cache has gone cold.
    CacheTtl,
}

/// What happens to results with images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Images {
    /// They are never cut.
    Protect,
    /// The images are replaced by a line that says so.
    Replace,
}

/// How characters are counted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Characters {
    /// How text is measured.
    pub unit: Unit,
    /// Characters per token of the window.
    pub per_token: f64,
    /// What an image counts for.
    pub image: u64,
    /// What a message of an unknown role counts for, beside its parts.
    pub unknown_message: u64,
    /// Whether signatures and redacted thinking count.
    pub signatures: bool,
}

/// Parameters of the family.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// How far it goes.
    pub mode: RatioMode,
    /// How many of the newest assistant messages are kept, with everything after the first of them.
    pub keep_last_assistants: u64,
    /// Share of the window from which on long results are trimmed.
    pub soft_ratio: f64,
    /// Share of the window from which on results are cleared.
    pub hard_ratio: f64,
    /// Characters that clearing must be able to gain.
    pub min_prunable: u64,
    /// What a trim keeps.
    pub trim: Trim,
    /// Whether results are cleared, or only trimmed.
    pub hard_clear: bool,
    /// What happens to images.
    pub images: Images,
    /// How characters are counted.
    pub characters: Characters,
    /// With `mode = "cache-ttl"`: how long the provider keeps a cache, in milliseconds.
    #[serde(default)]
    pub ttl_ms: i64,
    /// The tools whose results may be cut.
    #[serde(default)]
    pub tools: ToolFilter,
}

/// The line in place of an image.
pub const IMAGE_REMOVED: &str = "[image removed during context pruning]";

/// The gap between head and tail of a trimmed text.
pub const TRIM_GAP: &str = "\n...\n";

/// The note that closes a trimmed text.
pub fn trim_note(head: u64, tail: u64, whole: u64) -> String {
    format!("\n\n[Tool result trimmed: kept first {head} chars and last {tail} chars of {whole} chars.]")
}

fn digits(number: u64) -> u64 {
    number.checked_ilog10().map_or(1, |log| u64::from(log) + 1)
}

/// The length of gap and note, which are ASCII, without building them.
fn trim_overhead(trim: Trim, whole: u64) -> u64 {
    const FIXED: u64 =
        "\n...\n\n\n[Tool result trimmed: kept first  chars and last  chars of  chars.]".len() as u64;
    FIXED + digits(trim.head) + digits(trim.tail) + digits(whole)
}

impl Ratio {
    /// What a part counts for without cuts.
    fn chars(&self, outline: &Outline, situation: &Situation, part: PartIx) -> u64 {
        let rule = &self.characters;
        let text = || outline.size(part, rule.unit);
        let images = || outline.images(part).saturating_mul(rule.image);
        match outline.kind(part) {
            PartKind::Text => text(),
            PartKind::Call => outline.size(part, Unit::JsJson),
            PartKind::Result => text().saturating_add(images()),
            PartKind::Media => images(),
            PartKind::Reasoning if situation.thinking == Thinking::Sent => text(),
            PartKind::Signature if situation.thinking == Thinking::Sent && rule.signatures => text(),
            _ => 0,
        }
    }

    /// What a message counts for beside its parts.
    pub(crate) fn message_chars(&self, role: Role) -> u64 {
        if role == Role::Other { self.characters.unknown_message } else { 0 }
    }

    /// What a part counts for as it is sent: with its remembered cut, or as the placeholder if the source cut it.
    pub(crate) fn sent_chars(
        &self,
        outline: &Outline,
        placeholder: u64,
        situation: &Situation,
        memory: &Memory,
        part: PartIx,
    ) -> u64 {
        match memory.cut(outline, part) {
            Some(remembered) => remembered.after,
            None if outline.is_cut(part) => placeholder,
            None => self.chars(outline, situation, part),
        }
    }

    /// What a part counts for before and after a cut that another rule makes.
    pub(crate) fn weigh(
        &self,
        outline: &Outline,
        placeholder: u64,
        situation: &Situation,
        part: PartIx,
        action: Action,
    ) -> (u64, u64) {
        let before = self.chars(outline, situation, part);
        let after = match action {
            Action::Clear => placeholder,
            Action::DropThinking => 0,
            Action::DropMedia | Action::Trim { .. } => {
                let lines = outline.images(part).saturating_mul(IMAGE_REMOVED.len() as u64 + 1);
                let is_result = outline.kind(part) == PartKind::Result;
                let text = if is_result { outline.size(part, self.characters.unit) } else { 0 };
                text.saturating_add(lines)
            }
        };
        (before, after)
    }

    fn is_eligible(&self, outline: &Outline, part: PartIx) -> bool {
        outline.kind(part) == PartKind::Result
            && !outline.is_cut(part)
            && !(self.images == Images::Protect && outline.images(part) > 0)
    }

    fn may_touch(&self, outline: &Outline, part: PartIx) -> bool {
        self.tools.allows(outline.tool(part).unwrap_or_default())
    }

    /// UTF-16 units of a result's blocks joined by line ends, each image as a line.
    fn joined_units(&self, outline: &Outline, part: PartIx) -> u64 {
        let images = match self.images {
            Images::Protect => 0,
            Images::Replace => outline.images(part),
        };
        let lines = outline.blocks(part) + images;
        outline.units(part) + images * IMAGE_REMOVED.len() as u64 + lines.saturating_sub(1)
    }

    /// What a trim does to a result, if it does anything: what was trimmed before can be trimmed again from its source.
    pub fn trim_of(&self, outline: &Outline, part: PartIx) -> Option<Action> {
        let is_result = outline.kind(part) == PartKind::Result && !outline.is_cut(part);
        self.trim_cut(outline, part, 0).filter(|_| is_result).map(|cut| cut.action)
    }

    /// The trim of a result, if it is long enough or has an image.
    fn trim_cut(&self, outline: &Outline, part: PartIx, before: u64) -> Option<Cut> {
        let whole = self.joined_units(outline, part);
        let Trim { max, head, tail, pairs } = self.trim;
        let cut = |action, after| Cut { part, action, reason: Reason::OverSoftRatio, before, after };
        if whole <= max || head.saturating_add(tail) >= whole {
            let has_image = self.images == Images::Replace && outline.images(part) > 0;
            let extra = whole - outline.units(part);
            let text = outline.size(part, self.characters.unit);
            return has_image.then(|| cut(Action::DropMedia, text + extra));
        }
        let kept = match self.characters.unit {
            Unit::Weighted | Unit::Wide => outline.trimmed(part),
            _ => head + tail,
        };
        Some(cut(Action::Trim { head, tail, pairs }, kept + trim_overhead(self.trim, whole)))
    }
}

impl Ratio {
    /// Why a part that the plan does not cut is kept.
    pub(crate) fn keep(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
        if outline.kind(part) != PartKind::Result {
            return Keep::NotResult;
        }
        if memory.cut(outline, part).is_some() || outline.is_cut(part) || outline.is_placeholder(part) {
            return Keep::AlreadyCut;
        }
        if plan.bounds == Bounds::default() {
            return Keep::NoOccasion;
        }
        if part.0 < plan.bounds.floor {
            return Keep::BeforeFirstUser;
        }
        if part.0 >= plan.bounds.active {
            return Keep::ActiveTurn;
        }
        if !self.may_touch(outline, part) {
            return Keep::ProtectedTool;
        }
        if !self.is_eligible(outline, part) {
            return Keep::HasImage;
        }
        match plan.idle {
            Some(Idle::BelowRatio { .. }) => Keep::NoOccasion,
            Some(Idle::BelowMinimum { .. }) => Keep::BelowMinimum,
            _ if plan.cuts.iter().any(|cut| cut.action == Action::Clear) => Keep::Enough,
            _ => Keep::ShortEnough,
        }
    }
}
