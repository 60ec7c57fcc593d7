//! What is remembered between the requests of a branch: its cuts.
//!
//! A cut is decided once and then repeated byte for byte in every later request, so that the provider's prompt cache
//! stays warm. So it is remembered what was cut and how it was rendered. Planning never changes the memory, only
//! [committing](Memory::commit) a plan does: a caller may drop a plan whose request failed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::outline::{Outline, PartIx};
use crate::plan::{Action, Plan};

/// How a part was cut, in enough detail to repeat it exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedCut {
    /// How it was cut.
    pub action: Action,
    /// What is left, in the scale of the plan that cut it.
    pub after: u64,
    /// The hash of the text that was cut, if it was taken.
    pub source: Option<u64>,
    placeholder: u16,
}

/// The memory of one branch of a conversation.
///
/// ```
/// use secateur::Memory;
///
/// let memory = Memory::default();
/// let json = serde_json::to_string(&memory)?;
/// assert_eq!(serde_json::from_str::<Memory>(&json)?, memory);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memory {
    /// Changes with every commit or undo, so that an index knows when it is out of date.
    revision: u64,
    cuts: BTreeMap<PartIx, RememberedCut>,
    /// Parts whose cut was undone: no policy cuts them again.
    #[serde(rename = "pinned")]
    undone: BTreeSet<PartIx>,
    placeholders: Vec<String>,
    /// What was learned about characters and tokens.
    pub calibration: Calibration,
}

impl Memory {
    /// A memory without cuts, with this calibration.
    pub fn new(calibration: Calibration) -> Self {
        Self { calibration, ..Self::default() }
    }

    /// Remembers the cuts of a plan, with the placeholder of its renderer.
    pub fn commit(&mut self, plan: &Plan, outline: &Outline, placeholder: &str) {
        if plan.cuts.is_empty() {
            return;
        }
        self.revision = self.revision.wrapping_add(1);
        let index = self.placeholder_index(placeholder);
        for cut in &plan.cuts {
            let source = outline.source(cut.part);
            let remembered =
                RememberedCut { action: cut.action, after: cut.after, source, placeholder: index };
            self.cuts.insert(cut.part, remembered);
        }
    }

    /// Remembers an earlier cut from a store: how it was cut, and what is left in the scale of its plan.
    pub fn remember(&mut self, part: PartIx, cut: (Action, u64), source: Option<u64>, placeholder: &str) {
        self.revision = self.revision.wrapping_add(1);
        let placeholder = self.placeholder_index(placeholder);
        let (action, after) = cut;
        self.cuts.insert(part, RememberedCut { action, after, source, placeholder });
    }

    /// Undoes the cut of a part: from the next request on it is whole, and no plan cuts it again. A part that was not
    /// cut stays whole, too.
    pub fn undo(&mut self, part: PartIx) -> Option<RememberedCut> {
        self.revision = self.revision.wrapping_add(1);
        self.undone.insert(part);
        self.cuts.remove(&part)
    }

    /// Whether the cut of a part was undone, so that it stays whole.
    pub fn is_undone(&self, part: PartIx) -> bool {
        self.undone.contains(&part)
    }

    /// How a part was cut; none if it was not, or if its text has changed since.
    pub fn cut(&self, outline: &Outline, part: PartIx) -> Option<&RememberedCut> {
        let remembered = self.cuts.get(&part)?;
        let changed =
            matches!((remembered.source, outline.source(part)), (Some(then), Some(now)) if then != now);
        (!changed).then_some(remembered)
    }

    /// All cuts, oldest part first.
    pub fn cuts(&self) -> impl DoubleEndedIterator<Item = (PartIx, &RememberedCut)> + ExactSizeIterator {
        self.cuts.iter().map(|(&part, remembered)| (part, remembered))
    }

    /// Whether nothing was cut or undone.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.undone.is_empty()
    }

    /// The placeholder of a cut.
    pub fn placeholder(&self, remembered: &RememberedCut) -> &str {
        self.placeholders.get(usize::from(remembered.placeholder)).map_or("", String::as_str)
    }

    /// A number that changes whenever the cuts do.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    fn placeholder_index(&mut self, placeholder: &str) -> u16 {
        let index = self.placeholders.iter().position(|known| known == placeholder).unwrap_or_else(|| {
            self.placeholders.push(placeholder.to_owned());
            self.placeholders.len() - 1
        });
        u16::try_from(index).unwrap_or(u16::MAX)
    }
}
