//! The context of a replay: what is left of each part, and what that weighs.

use secateur::{Action, Family, PartIx, Policy, Reason, excerpt};

use crate::trace::Trace;

/// What is left of a part that was cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CutPart {
    pub(super) action: Action,
    pub(super) tokens: f64,
    pub(super) reason: Reason,
    /// The call before which it was cut.
    pub(super) at: u32,
}

/// A result that was read again.
struct Reread {
    /// Parts before this one were there when it came.
    behind: u32,
    /// The first call that it is no longer sent with.
    until: u32,
    tokens: f64,
}

/// What the next request holds.
pub(super) struct ReplayContext<'a> {
    trace: &'a Trace,
    policy: &'a Policy,
    left: Vec<Option<CutPart>>,
    again: Vec<Reread>,
    /// For each part, the call until which it is there because it was read again.
    restored: Vec<u32>,
    /// Parts before this one were compacted away.
    pivot: u32,
    /// What that took off every later request.
    gone: f64,
}

impl<'a> ReplayContext<'a> {
    pub(super) fn new(trace: &'a Trace, policy: &'a Policy) -> Self {
        let parts = trace.outline.part_count();
        let (left, restored) = (vec![None; parts], vec![0; parts]);
        Self { trace, policy, left, again: Vec::new(), restored, pivot: 0, gone: 0.0 }
    }

    pub(super) fn left(&self, part: PartIx) -> Option<CutPart> {
        self.left.get(part.0 as usize).copied().flatten()
    }

    pub(super) fn is_cut(&self, part: u32) -> bool {
        self.left(PartIx(part)).is_some()
    }

    pub(super) fn pivot(&self) -> u32 {
        self.pivot
    }

    /// Tokens of a part as it is sent now.
    fn sent(&self, part: u32) -> f64 {
        let part = PartIx(part);
        self.left(part).map_or_else(|| self.trace.tokens(part), |left| left.tokens)
    }

    /// Tokens of the request of a call.
    pub(super) fn tokens(&self, number: usize) -> f64 {
        let call = self.trace.calls[number];
        let saved: f64 = (self.pivot..call.parts)
            .filter_map(|part| Some(self.trace.tokens(PartIx(part)) - self.left(PartIx(part))?.tokens))
            .sum();
        let again = self.again.iter().filter(|again| again.until as usize > number);
        let again: f64 = again.map(|again| again.tokens).sum();
        (call.context - saved - self.gone + again).max(1.0)
    }

    /// Tokens that lie between two parts as the request of a call held them, with what was read again there.
    pub(super) fn between(&self, first: u32, end: u32, number: usize) -> f64 {
        let again = self.again.iter().filter(|again| again.behind > first && again.until as usize > number);
        let again: f64 = again.map(|again| again.tokens).sum();
        (first.max(self.pivot)..end).map(|part| self.sent(part)).sum::<f64>() + again
    }

    /// Tokens that a cut leaves of a part.
    pub(super) fn after(&self, part: PartIx, action: Action) -> f64 {
        let per_token = self.trace.chars_per_token;
        let whole = self.trace.tokens(part);
        let left = match (action, &self.policy.family) {
            (Action::Clear, Family::Rent(rent)) => {
                rent.placeholder_tokens as f64 + self.trace.outline.excerpt(part) as f64 / per_token
            }
            (Action::Clear, _) => self.policy.placeholder.len() as f64 / per_token,
            // Of a text that was shortened stays the share that its characters are.
            (Action::Trim { head, tail, .. }, _) => {
                whole * (head + tail) as f64 / self.trace.outline.units(part).max(1) as f64
            }
            (Action::DropMedia, _) => whole,
            (Action::DropThinking, _) => 0.0,
        };
        left.min(whole)
    }

    /// Cuts parts for good.
    pub(super) fn cut(&mut self, cuts: &[(PartIx, CutPart)]) {
        for (part, left) in cuts {
            let slot = self.left.get_mut(part.0 as usize);
            if let Some(slot) = slot.filter(|slot| slot.is_none_or(|old| old.action != left.action)) {
                *slot = Some(*left);
            }
        }
    }

    /// The first part that will be sent differently if these cuts take the place of all earlier ones.
    pub(super) fn differs(&self, cuts: &[(PartIx, CutPart)]) -> Option<u32> {
        let mut wanted = vec![None; self.left.len()];
        for (part, left) in cuts {
            wanted[part.0 as usize] = Some(left.action);
        }
        let is_other = |&part: &usize| wanted[part] != self.left[part].map(|left| left.action);
        (0..wanted.len()).find(is_other).map(|part| part as u32)
    }

    /// Lets these cuts take the place of all earlier ones.
    pub(super) fn exchange(&mut self, cuts: &[(PartIx, CutPart)]) {
        let mut next = vec![None; self.left.len()];
        for (part, left) in cuts {
            let old = self.left(*part).filter(|old| old.action == left.action);
            next[part.0 as usize] = Some(old.unwrap_or(*left));
        }
        self.left = next;
    }

    /// Whether an action still finds a text in a result.
    pub(super) fn holds(&self, part: PartIx, text: &str, number: usize) -> bool {
        if self.restored[part.0 as usize] as usize > number {
            return true;
        }
        if part.0 < self.pivot {
            return false;
        }
        let Some(left) = self.left(part) else { return true };
        let whole = &self.trace.texts[part.0 as usize];
        match (left.action, &self.policy.family) {
            (Action::Clear, Family::Rent(_)) => excerpt(whole).contains(text),
            (Action::Clear, _) => false,
            (Action::DropMedia, _) => true,
            (Action::DropThinking, _) => false,
            (Action::Trim { head, tail, .. }, _) => {
                let (head, tail) = (head as usize, tail as usize);
                let head: String = whole.chars().take(head).collect();
                let skipped = whole.chars().count().saturating_sub(tail);
                head.contains(text) || whole.chars().skip(skipped).collect::<String>().contains(text)
            }
        }
    }

    /// Puts a result at the end of the context once more. It stays for as many calls as the policy let it stay the
    /// first time; what was only shortened comes back whole, for good.
    pub(super) fn restore(&mut self, part: PartIx, number: usize) {
        let stayed = match self.left(part) {
            Some(CutPart { action: Action::Clear, at, .. }) => {
                at.saturating_sub(self.trace.first_call_with(part) as u32).max(1)
            }
            _ => u32::MAX,
        };
        let until = (number as u32).saturating_add(1).saturating_add(stayed);
        self.restored[part.0 as usize] = until;
        let (behind, tokens) = (self.trace.calls[number].parts, self.trace.tokens(part));
        self.again.push(Reread { behind, until, tokens });
    }

    /// Puts a summary in the place of everything before a part.
    pub(super) fn compact(&mut self, start: u32, summary: f64) {
        let whole: f64 = (self.pivot..start).map(|part| self.trace.tokens(PartIx(part))).sum();
        self.gone += whole - summary;
        self.pivot = start;
        self.again.clear();
        self.restored.fill(0);
    }
}
