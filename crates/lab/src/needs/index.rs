//! An index: which results showed the texts that actions use, and whether they were also said elsewhere.
//!
//! Only texts that some action uses are in the index. Those are few; everything else in a session is looked up and
//! skipped.

use foldhash::HashMap;
use secateur::PartIx;

/// What is known of one text up to a call.
#[derive(Clone, Debug)]
struct IndexedText {
    /// The results that showed it, oldest first.
    shown: Vec<PartIx>,
    /// A user or the model said it, or it is a common word.
    is_said: bool,
}

/// The texts that actions use.
#[derive(Clone, Debug, Default)]
pub(super) struct TextIndex<'a> {
    ids: HashMap<&'a str, u32>,
    entries: Vec<IndexedText>,
}

impl<'a> TextIndex<'a> {
    /// Adds a text. A common word needs no result.
    pub(super) fn ask(&mut self, text: &'a str, is_known: impl FnOnce(&str) -> bool) {
        let next = self.entries.len() as u32;
        if *self.ids.entry(text).or_insert(next) == next {
            self.entries.push(IndexedText { shown: Vec::new(), is_said: is_known(text) });
        }
    }

    /// A result showed it.
    pub(super) fn show(&mut self, text: &str, part: PartIx) {
        if let Some(entry) =
            self.entry(text).filter(|entry| !entry.is_said && entry.shown.last() != Some(&part))
        {
            entry.shown.push(part);
        }
    }

    /// A user or the model said it: from now on no action needs a result for it.
    pub(super) fn say(&mut self, text: &str) {
        if let Some(entry) = self.entry(text) {
            entry.is_said = true;
        }
    }

    /// The results that showed it, if nothing but results did.
    pub(super) fn sole(&self, text: &str) -> Option<&[PartIx]> {
        let entry = self.ids.get(text).and_then(|&id| self.entries.get(id as usize))?;
        (!entry.is_said && !entry.shown.is_empty()).then_some(&entry.shown)
    }

    fn entry(&mut self, text: &str) -> Option<&mut IndexedText> {
        self.ids.get(text).and_then(|&id| self.entries.get_mut(id as usize))
    }
}
