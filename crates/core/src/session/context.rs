//! What the model would be sent now: the living messages of a session, in the order in which it sees them.
//!
//! A window holds facts only, as an [`Outline`] for the policies, and beside it what the session alone knows: the
//! number of each message and which of them stay whatever happens. Adding a message costs what the message costs.
//! A pivot makes a new window out of the old one; that is the only step that looks at all of it.

use std::collections::{HashMap, HashSet};

use super::message::{Seq, SessionCut, SessionMessage};
use crate::calibration::Calibration;
use crate::measure::Measures;
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx, PartKind, Role};
use crate::placeholder::{placeholder_units, recall_note};
use crate::plan::{Action, Plan};
use crate::plan_index::PlanIndex;
use crate::policy::Policy;
use crate::ratio::trim_note;
use crate::situation::Situation;

/// Characters that an image is taken to cost. Providers bill images by their area, not by their bytes.
const IMAGE_CHARS: u64 = 4_800;

/// A living message.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveMessage {
    /// Its number in the session.
    pub seq: Seq,
    /// Its facts.
    pub facts: SessionMessage,
    /// What was cut in it.
    pub cuts: Vec<SessionCut>,
    /// The characters with which it counts.
    pub chars: u64,
}

/// The living messages of a session.
#[derive(Clone, Debug, Default)]
pub struct Context {
    rows: Vec<LiveMessage>,
    outline: Outline,
    memory: Memory,
    tally: PlanIndex,
    /// Where each call is, so that its result knows what it is about.
    calls: HashMap<Box<str>, PartIx>,
    /// Calls that have no result yet.
    open: HashMap<Box<str>, MessageIx>,
    chars: u64,
}

impl Context {
    /// An empty window whose outline keeps these measures.
    pub fn new(measures: Measures) -> Self {
        Self { outline: Outline::new(measures), ..Self::default() }
    }

    /// Adds a message at the end.
    pub fn push(&mut self, seq: Seq, entry: SessionMessage, cuts: Vec<SessionCut>) {
        let message = entry.push_to(&mut self.outline);
        let parts = self.outline.parts_of(message);
        for (part, facts) in parts.map(PartIx).zip(&entry.parts) {
            let Some(call) = facts.call.as_deref() else { continue };
            match facts.kind {
                PartKind::Call => {
                    self.calls.insert(call.into(), part);
                    self.open.insert(call.into(), message);
                }
                PartKind::Result => {
                    self.open.remove(call);
                    if let Some(&call) = self.calls.get(call) {
                        self.outline.follow(part, call);
                    }
                }
                _ => {}
            }
        }
        let first = self.outline.parts_of(message).start;
        let part = |cut: &SessionCut| PartIx(first.saturating_add(cut.part));
        for cut in cuts.iter().filter(|cut| cut.undone) {
            self.memory.undo(part(cut));
        }
        // Of several cuts of a part, what an undone one leaves is what an earlier one left.
        for cut in cuts.iter().filter(|cut| !cut.undone) {
            let (action, source) = ((cut.action, cut.after), self.outline.source(part(cut)));
            self.memory.remember(part(cut), action, source, "");
        }
        let mut living = LiveMessage { seq, facts: entry, cuts, chars: 0 };
        living.chars = self.weigh(message, &living);
        self.chars = self.chars.saturating_add(living.chars);
        self.rows.push(living);
    }

    /// Takes in the cuts of an operation.
    pub fn cut(&mut self, cuts: &[(Seq, SessionCut)]) {
        for (seq, made) in cuts {
            let Some(at) = self.position(*seq) else { continue };
            let message = MessageIx(at as u32);
            let part = PartIx(self.outline.parts_of(message).start.saturating_add(made.part));
            let (action, source) = ((made.action, made.after), self.outline.source(part));
            self.memory.remember(part, action, source, "");
            let Some(row) = self.rows.get_mut(at) else { continue };
            row.cuts.push(made.clone());
            let (before, row) = (row.chars, row.clone());
            let chars = self.weigh(message, &row);
            self.chars = self.chars.saturating_sub(before).saturating_add(chars);
            if let Some(row) = self.rows.get_mut(at) {
                row.chars = chars;
            }
        }
    }

    /// The characters with which a message counts, its cuts made.
    fn weigh(&self, message: MessageIx, row: &LiveMessage) -> u64 {
        let first = self.outline.parts_of(message).start;
        let parts = self.outline.parts_of(message).map(PartIx);
        parts.map(|part| self.sent(part, cut_of(row, part.0 - first))).fold(0, u64::saturating_add)
    }

    fn sent(&self, part: PartIx, cut: Option<&SessionCut>) -> u64 {
        let (units, images) = (self.outline.units(part), self.outline.images(part));
        let whole = match self.outline.kind(part) {
            PartKind::Text | PartKind::Reasoning | PartKind::Call | PartKind::Result => units,
            PartKind::Signature | PartKind::Compaction | PartKind::Other => self.outline.bytes(part),
            PartKind::Media => 0,
        };
        let images = images.max(u64::from(self.outline.kind(part) == PartKind::Media)) * IMAGE_CHARS;
        match cut {
            None => whole.saturating_add(images),
            Some(cut) => rendered(cut, &self.outline, part),
        }
    }

    /// The living messages, in order.
    pub fn rows(&self) -> &[LiveMessage] {
        &self.rows
    }

    /// Where a message stands.
    pub fn position(&self, seq: Seq) -> Option<usize> {
        // Most questions are about the newest messages, and those are at the end in order.
        self.rows.iter().rposition(|row| row.seq == seq)
    }

    /// The facts, as policies see them.
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// What was cut.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The characters of all living messages.
    pub fn chars(&self) -> u64 {
        self.chars
    }

    /// Where the model's calls that wait for their results begin; none if it waits for none. Calls that were left
    /// without a result before the model or the user went on are not waited for.
    pub fn waiting_from(&self) -> Option<usize> {
        let last = self.rows.iter().rposition(|row| row.facts.role == Role::Assistant)?;
        let spoke = self.rows.iter().skip(last + 1).any(|row| row.facts.is_said_by_user());
        let open = self.open.values().map(|message| message.0 as usize);
        // A step may be told in several messages, one a call; all of them lie behind the last answer.
        let step = self.rows.iter().take(last).rposition(|row| row.facts.role != Role::Assistant);
        let step = step.map_or(0, |before| before + 1);
        if spoke { None } else { open.filter(|&at| at >= step).min() }
    }

    /// Takes over what was learned about characters and tokens, for policies that ask.
    pub fn calibrate(&mut self, calibration: Calibration) {
        self.memory.calibration = calibration;
    }

    /// What the policy would cut now, as cuts of messages.
    pub fn plan(&mut self, policy: &Policy, situation: &Situation) -> Plan {
        self.tally.advance(&self.outline, policy, &self.memory);
        self.tally.plan(&self.outline, policy, situation, &self.memory)
    }

    /// What the policy's budget of bytes and media alone would cut now.
    pub fn plan_budget(&mut self, policy: &Policy, situation: &Situation) -> Plan {
        self.tally.advance(&self.outline, policy, &self.memory);
        self.tally.plan_budget(&self.outline, policy, situation, &self.memory)
    }

    /// The message and the place in it that a part is.
    pub fn locate(&self, part: PartIx) -> Option<(Seq, u32)> {
        let message = self.outline.owner(part);
        let row = self.rows.get(message.0 as usize)?;
        Some((row.seq, part.0.checked_sub(self.outline.parts_of(message).start)?))
    }

    /// The part at a place in a message.
    pub fn part(&self, seq: Seq, place: u32) -> Option<PartIx> {
        let message = MessageIx(u32::try_from(self.position(seq)?).ok()?);
        let parts = self.outline.parts_of(message);
        parts.start.checked_add(place).filter(|part| parts.contains(part)).map(PartIx)
    }

    /// A window of these living messages.
    pub fn of(measures: Measures, rows: impl IntoIterator<Item = LiveMessage>) -> Self {
        let mut window = Self::new(measures);
        for row in rows {
            window.push(row.seq, row.facts, row.cuts);
        }
        window
    }

    /// Whether every answer follows its call. A window that was made from such messages stays so.
    pub fn is_sound(&self) -> bool {
        let mut called = HashSet::new();
        self.rows.iter().flat_map(|row| &row.facts.parts).all(|part| {
            match (part.kind, part.call.as_deref()) {
                (PartKind::Call, Some(call)) => {
                    called.insert(call);
                    true
                }
                (PartKind::Result, Some(call)) => called.contains(call),
                _ => true,
            }
        })
    }
}

/// The cut of a part of a message that holds, if it is cut: the newest that is not undone.
fn cut_of(row: &LiveMessage, part: u32) -> Option<&SessionCut> {
    row.cuts.iter().rfind(|cut| cut.part == part && !cut.undone)
}

/// The characters that a cut leaves of a part.
pub(super) fn rendered(cut: &SessionCut, outline: &Outline, part: PartIx) -> u64 {
    let whole = outline.units(part);
    match cut.action {
        Action::Clear => placeholder_units(&cut.placeholder, outline.excerpt(part)),
        Action::Trim { head, tail, .. } => {
            let kept = head.saturating_add(tail);
            if kept >= whole {
                return whole;
            }
            let note = trim_note(head, tail, whole).len() + recall_note(&cut.placeholder).len();
            kept.saturating_add(note as u64 + 5)
        }
        Action::DropMedia => whole,
    }
}
