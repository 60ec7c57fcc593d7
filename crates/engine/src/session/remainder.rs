//! What is left of the notes about messages whose originals are forgotten.
//!
//! Facts keep what a session needs to load, to number its messages and to find calls: kinds, sizes, tools and ids. What
//! the messages were about goes: paths, commands, excerpts, the ledger, a model's words. What the context still shows
//! stays.

use std::collections::HashSet;

use secateur::session::{CutBy, Operation, Seq, SessionCut, SessionMessage};
use secateur_store::OperationRow;

use super::change_set::StoredOperation;
use super::json::{from_json, to_json};
use crate::error::EngineError;

/// The messages that are forgotten, and which of their cuts are still shown.
#[derive(Default)]
pub(super) struct ForgottenParts {
    first: Option<Seq>,
    messages: HashSet<Seq>,
    /// Message, part and operation of the cuts that are shown.
    shown: HashSet<(Seq, u32, u64)>,
}

impl ForgottenParts {
    /// Nothing is left of this message.
    pub(super) fn add_gone(&mut self, seq: Seq) {
        self.first = Some(self.first.map_or(seq, |first| first.min(seq)));
        self.messages.insert(seq);
    }

    /// What the cuts leave of this message stays.
    pub(super) fn add_cut(&mut self, seq: Seq, cuts: &[SessionCut]) {
        self.add_gone(seq);
        let shown = cuts.iter().filter(|cut| is_shown(cuts, cut));
        self.shown.extend(shown.map(|cut| (seq, cut.part, cut.operation)));
    }

    /// Whether an operation has words of forgotten messages. A compaction has those of all messages up to the last that
    /// it replaced, as its ledger continues the one before.
    fn is_source_of(&self, operation: &Operation) -> bool {
        let Operation::Compact(record) = operation else { return false };
        self.first.is_some_and(|first| record.replaced.last().is_some_and(|last| *last >= first))
    }

    /// Those of these hidden messages, each with the operation that made it, that are not needed any more: another
    /// compaction replaced them, or what they were made of is forgotten. Redoing the operation needs the others.
    pub(super) fn made_without_source(
        &self,
        operations: &[OperationRow],
        made: &[(Seq, u64)],
    ) -> Result<Vec<Seq>, EngineError> {
        let mut gone = Vec::new();
        for (seq, number) in made {
            let row = operations.iter().find(|row| row.number == *number);
            let is_needed = match row {
                Some(row) if row.undone => !self.is_source_of(&read(row)?.operation),
                _ => false,
            };
            if !is_needed {
                gone.push(*seq);
            }
        }
        Ok(gone)
    }

    /// The data of operations without the words of forgotten messages, by number; only those that change.
    pub(super) fn remaining_operations(
        &self,
        operations: &[OperationRow],
    ) -> Result<Vec<(u64, String)>, EngineError> {
        let mut changed = Vec::new();
        for row in operations {
            let mut stored = read(row)?;
            if let Operation::Prune { cuts, .. } = &mut stored.operation {
                for (seq, cut) in cuts {
                    let is_shown = self.shown.contains(&(*seq, cut.part, row.number));
                    if self.messages.contains(seq) && !is_shown {
                        cut.placeholder.clear();
                    }
                }
            }
            if self.is_source_of(&stored.operation) {
                (stored.ledger, stored.words) = (None, String::new());
            }
            let data = to_json(&stored)?;
            if data != row.data {
                changed.push((row.number, data));
            }
        }
        Ok(changed)
    }
}

fn read(row: &OperationRow) -> Result<StoredOperation, EngineError> {
    from_json(&row.data, || format!("operation {}", row.number))
}

/// Whether a cut is the one that is shown of its part.
fn is_shown(cuts: &[SessionCut], cut: &SessionCut) -> bool {
    cut.by == CutBy::Secateur && SessionCut::in_effect(cuts, cut.part) == Some(cut)
}

/// Cuts whose placeholders are left only where they are shown.
pub(super) fn remaining_cuts(cuts: &[SessionCut]) -> Vec<SessionCut> {
    let left = |cut: &SessionCut| match is_shown(cuts, cut) {
        true => cut.clone(),
        false => SessionCut { placeholder: String::new(), ..cut.clone() },
    };
    cuts.iter().map(left).collect()
}

/// Facts without what their parts are about, unless it stands in the text that is shown.
pub(super) fn remaining_facts(facts: &str, shown: &str) -> Result<String, EngineError> {
    let mut message: SessionMessage = from_json(facts, || "a message".to_owned())?;
    for part in &mut message.parts {
        let Some(subject) = &part.subject else { continue };
        let quoted = to_json(subject)?;
        let inner = quoted.get(1..quoted.len() - 1).unwrap_or_default();
        if subject.is_empty() || !shown.contains(inner) {
            (part.subject, part.lines) = (None, Default::default());
        }
    }
    to_json(&message)
}
