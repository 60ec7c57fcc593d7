//! The context: the messages that the model would be sent now, in the order in which it sees them.
//!
//! It holds facts only: an [`Outline`] for the policies and, beside it, what only the session knows, such as the number
//! of each message. Adding a message costs time in proportion to that message. Only a pivot builds the whole context anew.

use std::collections::{HashMap, HashSet};

use super::message::{MessageKind, Seq, SessionCut, SessionMessage};
use crate::calibration::Calibration;
use crate::measure::Measures;
use crate::memory::Memory;
use crate::outline::{MessageIx, Outline, PartIx, PartKind, Role};
use crate::placeholder::{HANDLE_LETTERS, placeholder_units, recall_note};
use crate::plan::{Action, Plan};
use crate::plan_index::PlanIndex;
use crate::policy::Policy;
use crate::ratio::trim_note;
use crate::situation::Situation;

/// Characters that an image counts for. Providers bill images by area, not by bytes.
const IMAGE_CHARS: u64 = 4_800;

/// A message in the context.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveMessage {
    /// Its number in the session.
    pub seq: Seq,
    /// Its facts.
    pub facts: SessionMessage,
    /// The cuts in it, oldest first.
    pub cuts: Vec<SessionCut>,
    /// The characters that are sent for it, cuts applied.
    pub chars: u64,
}

impl LiveMessage {
    /// A message without cuts. The context counts its characters.
    pub fn new(seq: Seq, facts: SessionMessage) -> Self {
        Self { seq, facts, cuts: Vec::new(), chars: 0 }
    }
}

/// The messages that the model would be sent now.
#[derive(Clone, Debug, Default)]
pub struct Context {
    rows: Vec<LiveMessage>,
    /// The highest number of a message.
    newest: Seq,
    outline: Outline,
    memory: Memory,
    index: PlanIndex,
    /// Where each tool call is, so that its result can take over what it is about.
    calls: HashMap<Box<str>, PartIx>,
    /// Tool calls without a result.
    open: HashMap<Box<str>, MessageIx>,
    chars: u64,
}

impl Context {
    /// An empty context whose outline keeps these measures.
    pub fn new(measures: Measures) -> Self {
        Self { outline: Outline::new(measures), ..Self::default() }
    }

    /// Adds a message at the end.
    pub fn push(&mut self, seq: Seq, facts: SessionMessage, cuts: Vec<SessionCut>) {
        let message = facts.push_to(&mut self.outline);
        let parts = self.outline.parts_of(message);
        for (part, own) in parts.map(PartIx).zip(&facts.parts) {
            let Some(call) = own.call.as_deref() else { continue };
            match own.kind {
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
        // If the newest cut of a part was undone, an earlier one may still hold.
        for cut in cuts.iter().filter(|cut| !cut.undone) {
            let (action, source) = ((cut.action, cut.after), self.outline.source(part(cut)));
            self.memory.remember(part(cut), action, source, "");
        }
        let mut row = LiveMessage { seq, facts, cuts, chars: 0 };
        row.chars = self.weigh(message, &row);
        self.chars = self.chars.saturating_add(row.chars);
        self.newest = self.newest.max(seq);
        self.rows.push(row);
    }

    /// Applies the cuts of an operation.
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

    /// The characters that are sent for a message, cuts applied.
    fn weigh(&self, message: MessageIx, row: &LiveMessage) -> u64 {
        let first = self.outline.parts_of(message).start;
        let parts = self.outline.parts_of(message).map(PartIx);
        let sent = |part: PartIx| {
            let (own, next) = (part.0 - first, part.0 - first + 1);
            // Thinking goes with its signature.
            let is_thinking = self.outline.kind(part) == PartKind::Reasoning;
            let next =
                SessionCut::in_effect(&row.cuts, next).filter(|cut| cut.action == Action::DropThinking);
            let cut = SessionCut::in_effect(&row.cuts, own).or(next.filter(|_| is_thinking));
            self.sent(part, cut)
        };
        parts.map(sent).fold(0, u64::saturating_add)
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

    /// The messages, in the order in which the model sees them.
    pub fn rows(&self) -> &[LiveMessage] {
        &self.rows
    }

    /// The index of a message among [`rows`](Self::rows).
    pub fn position(&self, seq: Seq) -> Option<usize> {
        // Callers mostly ask about the newest messages, which are at the end, or about one that is newer than all.
        if seq > self.newest {
            return None;
        }
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

    /// The characters of all messages.
    pub fn chars(&self) -> u64 {
        self.chars
    }

    /// The index of the first message with a tool call whose result is still awaited. A call without a result is not
    /// awaited any more once the model or the user went on.
    pub fn waiting_from(&self) -> Option<usize> {
        let last = self.rows.iter().rposition(|row| row.facts.role == Role::Assistant)?;
        let user_went_on = self.rows.iter().skip(last + 1).any(|row| row.facts.is_from_user());
        let open = self.open.values().map(|message| message.0 as usize);
        // One response may be several messages, one for each tool call, all of them after the last other message.
        let step = self.rows.iter().take(last).rposition(|row| row.facts.role != Role::Assistant);
        let step = step.map_or(0, |before| before + 1);
        if user_went_on { None } else { open.filter(|&at| at >= step).min() }
    }

    /// The messages after the model's last one which it is to answer: neither instructions nor made by a compaction, except
    /// for the message that resumes the work. Newest first.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = &LiveMessage> {
        let later = self.rows.iter().rev().take_while(|row| row.facts.role != Role::Assistant);
        later.filter(|row| {
            row.facts.role != Role::System
                && matches!(row.facts.kind, MessageKind::Plain | MessageKind::Resume)
        })
    }

    /// Whether the model has something to answer.
    pub fn has_question(&self) -> bool {
        self.unanswered().next().is_some()
    }

    /// Whether there are results that the model has not seen.
    pub(super) fn has_unseen_results(&self) -> bool {
        self.unanswered().any(|row| row.facts.has_tool_parts())
    }

    /// Sets the calibration that policies estimate tokens with.
    pub fn calibrate(&mut self, calibration: Calibration) {
        self.memory.calibration = calibration;
    }

    /// What the policy would cut now.
    pub fn plan(&mut self, policy: &Policy, situation: &Situation) -> Plan {
        self.index.advance(&self.outline, policy, &self.memory);
        self.index.plan(&self.outline, policy, situation, &self.memory)
    }

    /// What the policy's budget of bytes and media alone would cut now.
    pub fn plan_budget(&mut self, policy: &Policy, situation: &Situation) -> Plan {
        self.index.advance(&self.outline, policy, &self.memory);
        self.index.plan_budget(&self.outline, policy, situation, &self.memory)
    }

    /// The message that a part belongs to, and its index in that message.
    pub fn locate(&self, part: PartIx) -> Option<(Seq, u32)> {
        let message = self.outline.owner(part);
        let row = self.rows.get(message.0 as usize)?;
        Some((row.seq, part.0.checked_sub(self.outline.parts_of(message).start)?))
    }

    /// The part with this index in a message.
    pub fn part(&self, seq: Seq, index: u32) -> Option<PartIx> {
        let message = MessageIx(u32::try_from(self.position(seq)?).ok()?);
        let parts = self.outline.parts_of(message);
        parts.start.checked_add(index).filter(|part| parts.contains(part)).map(PartIx)
    }

    /// A context of these messages.
    pub fn of(measures: Measures, rows: impl IntoIterator<Item = LiveMessage>) -> Self {
        let mut context = Self::new(measures);
        for row in rows {
            context.push(row.seq, row.facts, row.cuts);
        }
        context
    }

    /// Whether every tool result follows its call.
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

/// The characters that are sent for a part with this cut.
pub(super) fn rendered(cut: &SessionCut, outline: &Outline, part: PartIx) -> u64 {
    let whole = outline.units(part);
    let letters = cut.handle.as_ref().map_or(HANDLE_LETTERS, String::len);
    match cut.action {
        Action::Clear => placeholder_units(&cut.placeholder, letters, outline.excerpt(part)),
        Action::Trim { head, tail, .. } => {
            let kept = head.saturating_add(tail);
            if kept >= whole {
                return whole;
            }
            let recall = placeholder_units(recall_note(&cut.placeholder), letters, 0);
            let note = trim_note(head, tail, whole).len() as u64;
            kept.saturating_add(note + recall + 5)
        }
        Action::DropMedia => whole,
        Action::DropThinking => 0,
    }
}
