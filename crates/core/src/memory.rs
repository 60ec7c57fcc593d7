//! What a branch of a conversation has to remember between requests.
//!
//! A cut is decided once and then replayed byte-identical on every later request, so that the
//! provider's prompt cache stays warm: that needs a memory of what was cut and of how it was
//! rendered. Memory is small, serialisable data; it is never changed by planning, only by
//! [committing](Memory::commit) a plan, so that a caller may drop a plan whose request failed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::calibration::Calibration;
use crate::outline::{Outline, PartIx};
use crate::plan::{Action, Plan};

/// How a part was cut, in enough detail to do exactly the same again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedCut {
    /// What was done.
    pub action: Action,
    /// What was left, in the scale of the plan that cut it.
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
    /// Changes with every commit or undo, so that derived state knows when it is out of date.
    revision: u64,
    cuts: BTreeMap<PartIx, RememberedCut>,
    /// Parts whose cut was undone: no policy cuts them again.
    pinned: BTreeSet<PartIx>,
    placeholders: Vec<String>,
    /// What was learned about characters and tokens.
    pub calibration: Calibration,
}

impl Memory {
    /// A memory of no cuts that knows how many characters a token has.
    pub fn new(calibration: Calibration) -> Self {
        Self { calibration, ..Self::default() }
    }

    /// Takes in the cuts of a plan, with the placeholder that its renderer used.
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

    /// Takes in a cut that was made before, as a store kept it: what was done, and what was left in the scale of its
    /// plan.
    pub fn remember(&mut self, part: PartIx, cut: (Action, u64), source: Option<u64>, placeholder: &str) {
        self.revision = self.revision.wrapping_add(1);
        let placeholder = self.placeholder_index(placeholder);
        let (action, after) = cut;
        self.cuts.insert(part, RememberedCut { action, after, source, placeholder });
    }

    /// Takes back the cut of one part: from the next request on it is whole again, and no plan cuts it anew.
    /// That also keeps a part whole that was never cut.
    pub fn undo(&mut self, part: PartIx) -> Option<RememberedCut> {
        self.revision = self.revision.wrapping_add(1);
        self.pinned.insert(part);
        self.cuts.remove(&part)
    }

    /// Whether a part is to stay whole because its cut was undone.
    pub fn is_pinned(&self, part: PartIx) -> bool {
        self.pinned.contains(&part)
    }

    /// How `part` was cut, if it was and if its text is still what it was.
    pub fn cut(&self, outline: &Outline, part: PartIx) -> Option<&RememberedCut> {
        let remembered = self.cuts.get(&part)?;
        let changed =
            matches!((remembered.source, outline.source(part)), (Some(then), Some(now)) if then != now);
        (!changed).then_some(remembered)
    }

    /// Everything that was cut, oldest part first.
    pub fn cuts(&self) -> impl DoubleEndedIterator<Item = (PartIx, &RememberedCut)> + ExactSizeIterator {
        self.cuts.iter().map(|(&part, remembered)| (part, remembered))
    }

    /// Whether nothing was cut and nothing undone yet.
    pub fn is_empty(&self) -> bool {
        self.cuts.is_empty() && self.pinned.is_empty()
    }

    /// The placeholder that a remembered cut was rendered with.
    pub fn placeholder(&self, remembered: &RememberedCut) -> &str {
        self.placeholders.get(usize::from(remembered.placeholder)).map_or("", String::as_str)
    }

    /// A number that changes whenever the remembered cuts do.
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
