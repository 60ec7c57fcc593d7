//! Family *ratio*: compare the context with the window; trim, then clear, until it is below.
//!
//! OpenClaw's rule. The context is measured in characters and compared with the window, likewise in
//! characters. Above a soft limit, long tool results lose their middle; if the context is still above a
//! hard limit and there is enough to gain, the oldest results are cleared one by one until it is below.
//! Results among the newest assistant messages, and before the first user message, are never touched.
//!
//! The first versions decide anew at every request. The later one waits until the provider's cache has
//! gone cold before it makes new cuts, remembers them, and replays them on every request.

use serde::{Deserialize, Serialize};

use crate::measure::{Trim, Unit};
use crate::memory::Memory;
use crate::outline::{Kind, MessageIx, Outline, PartIx, Role};
use crate::plan::{Action, Bounds, Cut, Floor, Idle, Keep, Plan, Reason, Scale, Totals};
use crate::situation::{Situation, Thinking};
use crate::tools::Tools;

/// How far the family goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Trim above the soft limit, clear above the hard one.
    Adaptive,
    /// Clear every result that may be cleared, however full the window is.
    Aggressive,
    /// As adaptive, but new cuts only once the provider's cache has gone cold.
    CacheTtl,
}

/// What becomes of results that hold images.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Images {
    /// They are never touched.
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
    /// Characters that make a token of the window.
    pub per_token: f64,
    /// What an image counts for.
    pub image: u64,
    /// What a message of an unknown role counts for, whatever it holds.
    pub unknown_message: u64,
    /// Whether signatures and redacted thinking count.
    pub signatures: bool,
}

/// Parameters of the family; see the [module](self).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ratio {
    /// How far it goes.
    pub mode: Mode,
    /// The newest assistant messages from which on nothing is touched.
    pub keep_last_assistants: u64,
    /// Share of the window from which long results are trimmed.
    pub soft_ratio: f64,
    /// Share of the window from which results are cleared.
    pub hard_ratio: f64,
    /// Characters that clearing must be able to gain.
    pub min_prunable: u64,
    /// What a soft trim keeps.
    pub trim: Trim,
    /// Whether results are cleared at all; trimming alone otherwise.
    pub hard_clear: bool,
    /// What becomes of images.
    pub images: Images,
    /// How characters are counted.
    pub characters: Characters,
    /// With `mode = "cache-ttl"`: how long the provider keeps a cache, in milliseconds.
    #[serde(default)]
    pub ttl_ms: i64,
    /// Tools that may be touched.
    #[serde(default)]
    pub tools: Tools,
}

/// The line that stands where an image was.
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
    /// What one part counts for, uncut.
    fn chars(&self, outline: &Outline, situation: &Situation, part: PartIx) -> u64 {
        let rule = &self.characters;
        let text = || outline.size(part, rule.unit);
        let images = || outline.images(part).saturating_mul(rule.image);
        match outline.kind(part) {
            Kind::Text => text(),
            Kind::Call => outline.size(part, Unit::JsJson),
            Kind::Result => text().saturating_add(images()),
            Kind::Media => images(),
            Kind::Reasoning if situation.thinking == Thinking::Sent => text(),
            Kind::Signature if situation.thinking == Thinking::Sent && rule.signatures => text(),
            _ => 0,
        }
    }

    /// What a message counts for beyond its parts.
    pub(crate) fn message_chars(&self, role: Role) -> u64 {
        if role == Role::Other { self.characters.unknown_message } else { 0 }
    }

    /// What one part counts for as it is sent: as remembered if it was cut before, as the placeholder if the
    /// source says so.
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

    fn is_eligible(&self, outline: &Outline, part: PartIx) -> bool {
        outline.kind(part) == Kind::Result
            && !outline.is_cut(part)
            && !(self.images == Images::Protect && outline.images(part) > 0)
    }

    fn may_touch(&self, outline: &Outline, part: PartIx) -> bool {
        self.tools.allows(outline.tool(part).unwrap_or_default())
    }

    /// UTF-16 units of a result's blocks joined by line ends, images as lines of their own.
    fn joined_units(&self, outline: &Outline, part: PartIx) -> u64 {
        let images = match self.images {
            Images::Protect => 0,
            Images::Replace => outline.images(part),
        };
        let lines = outline.blocks(part) + images;
        outline.units(part) + images * IMAGE_REMOVED.len() as u64 + lines.saturating_sub(1)
    }

    /// The soft trim of a result, if it is long enough or holds an image.
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
            Unit::Weighted => outline.trimmed(part),
            _ => head + tail,
        };
        Some(cut(Action::Trim { head, tail, pairs }, kept + trim_overhead(self.trim, whole)))
    }
}

/// The range of messages whose results may be touched, or why there is none.
pub(crate) struct Scope {
    pub first_user: Option<MessageIx>,
    /// The first message that is kept as recent.
    pub cutoff: Option<MessageIx>,
    pub assistants: u64,
}

impl Scope {
    pub(crate) fn of(outline: &Outline, policy: &Ratio) -> Self {
        let messages = outline.message_count() as u32;
        let assistants = outline.assistants();
        let cutoff = match policy.keep_last_assistants {
            0 => Some(MessageIx(messages)),
            keep => assistants.iter().rev().nth(usize::try_from(keep - 1).unwrap_or(usize::MAX)).copied(),
        };
        Self { first_user: outline.users().first().copied(), cutoff, assistants: assistants.len() as u64 }
    }
}

/// Plans by looking at every part.
pub(crate) fn scan(
    outline: &Outline,
    policy: &Ratio,
    placeholder: u64,
    situation: &Situation,
    memory: &Memory,
) -> Plan {
    let scope = Scope::of(outline, policy);
    let total = || {
        let parts =
            outline.parts().map(|part| policy.sent_chars(outline, placeholder, situation, memory, part));
        let messages = outline.messages().map(|message| policy.message_chars(outline.role(message)));
        parts.chain(messages).fold(0, u64::saturating_add)
    };
    plan(outline, policy, placeholder, situation, memory, &scope, total)
}

/// Plans within a known scope; `total` is asked for only if it matters.
pub(crate) fn plan(
    outline: &Outline,
    policy: &Ratio,
    placeholder: u64,
    situation: &Situation,
    memory: &Memory,
    scope: &Scope,
    total: impl FnOnce() -> u64,
) -> Plan {
    let bounds = match gate(outline, policy, situation, scope) {
        Ok(bounds) => bounds,
        Err(idle) => return Plan::idle(idle),
    };
    let mut round =
        Round { outline, policy, placeholder, situation, memory, bounds, total: 0, cuts: Vec::new() };
    if policy.mode == Mode::Aggressive {
        return round.clear_everything();
    }
    let before = total();
    round.total = before;
    let idle = round.run(situation.window.unwrap_or_default() * policy.characters.per_token);
    let idle = if round.cuts.is_empty() { Some(idle.unwrap_or(Idle::NothingEligible)) } else { None };
    let candidates = round.prunable();
    let totals = Totals { scale: Scale::Characters, before, after: round.total, candidates };
    Plan { cuts: round.cuts, idle, totals, bounds }
}

/// Everything that can be said before a single part is looked at.
fn gate(outline: &Outline, policy: &Ratio, situation: &Situation, scope: &Scope) -> Result<Bounds, Idle> {
    if policy.mode == Mode::CacheTtl {
        // A touch at time zero counts as no touch, as it does in the system this reproduces.
        let age =
            situation.last_request.filter(|&last| last != 0).map(|last| situation.now.saturating_sub(last));
        if policy.ttl_ms <= 0 || age.is_none_or(|age| age < policy.ttl_ms) {
            return Err(Idle::CacheWarm { age, ttl: policy.ttl_ms });
        }
    }
    if !situation.window.is_some_and(|window| window.is_finite() && window > 0.0) {
        return Err(Idle::NoWindow);
    }
    let need = policy.keep_last_assistants;
    let cutoff = scope.cutoff.ok_or(Idle::TooFewAssistants { have: scope.assistants, need })?;
    let first_user = scope.first_user.ok_or(Idle::NoUser)?;
    let (floor, active) = (outline.first_part(first_user), outline.first_part(cutoff));
    Ok(Bounds { floor_kind: Floor::FirstUser, floor, protected: active, active })
}

/// One round over the parts within reach.
struct Round<'a> {
    outline: &'a Outline,
    policy: &'a Ratio,
    /// Characters of the placeholder.
    placeholder: u64,
    situation: &'a Situation,
    memory: &'a Memory,
    bounds: Bounds,
    total: u64,
    cuts: Vec<Cut>,
}

impl<'a> Round<'a> {
    /// Results within reach that were not cleared before, oldest first.
    fn eligible(&self) -> impl Iterator<Item = PartIx> + use<'a> {
        let (outline, policy, memory) = (self.outline, self.policy, self.memory);
        (self.bounds.floor..self.bounds.active.max(self.bounds.floor))
            .map(PartIx)
            .filter(move |&part| policy.is_eligible(outline, part) && policy.may_touch(outline, part))
            .filter(move |&part| {
                memory.is_empty() || memory.cut(outline, part).is_none_or(|cut| cut.action != Action::Clear)
            })
    }

    fn chars(&self, part: PartIx) -> u64 {
        self.policy.sent_chars(self.outline, self.placeholder, self.situation, self.memory, part)
    }

    fn clear(&self, part: PartIx, before: u64, reason: Reason) -> Cut {
        Cut { part, action: Action::Clear, reason, before, after: self.placeholder }
    }

    fn clear_everything(mut self) -> Plan {
        let fresh = self.eligible().filter(|&part| !self.outline.is_placeholder(part));
        let cuts: Vec<Cut> =
            fresh.map(|part| self.clear(part, self.chars(part), Reason::Aggressive)).collect();
        let sum = |size: fn(&Cut) -> u64| cuts.iter().map(size).fold(0, u64::saturating_add);
        let (before, after) = (sum(|cut| cut.before), sum(|cut| cut.after));
        let totals = Totals { scale: Scale::Characters, before, after, candidates: before };
        self.bounds.protected = self.bounds.active;
        let idle = cuts.is_empty().then_some(Idle::NothingEligible);
        Plan { cuts, idle, totals, bounds: self.bounds }
    }

    /// Trims, then clears; says why it stopped if it cut nothing.
    fn run(&mut self, char_window: f64) -> Option<Idle> {
        let ratio = |total: u64| total as f64 / char_window;
        if ratio(self.total) < self.policy.soft_ratio {
            return Some(Idle::BelowRatio { ratio: ratio(self.total), limit: self.policy.soft_ratio });
        }
        self.trim_long();
        if ratio(self.total) < self.policy.hard_ratio || !self.policy.hard_clear {
            return None;
        }
        let prunable = self.prunable();
        if prunable < self.policy.min_prunable {
            let minimum = i64::try_from(self.policy.min_prunable).unwrap_or(i64::MAX);
            return Some(Idle::BelowMinimum { candidates: prunable, minimum });
        }
        let mut trimmed = std::mem::take(&mut self.cuts).into_iter().peekable();
        for part in self.eligible() {
            let trim = trimmed.next_if(|cut| cut.part == part);
            if ratio(self.total) < self.policy.hard_ratio {
                self.cuts.extend(trim);
                continue;
            }
            let before = self.chars(part);
            let cut = self.clear(part, before, Reason::OverHardRatio);
            let now = trim.map_or(before, |cut| cut.after);
            self.total = self.total.saturating_sub(now).saturating_add(cut.after);
            self.cuts.push(cut);
        }
        None
    }

    fn trim_long(&mut self) {
        for part in self.eligible() {
            let trimmed_before = !self.memory.is_empty() && self.memory.cut(self.outline, part).is_some();
            let before = self.chars(part);
            if !trimmed_before && let Some(cut) = self.policy.trim_cut(self.outline, part, before) {
                self.total = self.total.saturating_sub(before).saturating_add(cut.after);
                self.cuts.push(cut);
            }
        }
    }

    /// Characters of the eligible results as they stand after the cuts so far.
    fn prunable(&self) -> u64 {
        let mut cuts = self.cuts.iter().peekable();
        self.eligible()
            .map(|part| {
                while cuts.next_if(|cut| cut.part < part).is_some() {}
                cuts.next_if(|cut| cut.part == part).map_or_else(|| self.chars(part), |cut| cut.after)
            })
            .fold(0, u64::saturating_add)
    }
}

impl Ratio {
    /// Why a part that the plan does not cut is kept.
    pub(crate) fn keep(&self, outline: &Outline, memory: &Memory, plan: &Plan, part: PartIx) -> Keep {
        if outline.kind(part) != Kind::Result {
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
