//! The tree of a log's entries.
//!
//! The context consists of the entries on the path from the root to the last entry, without what the last compaction on
//! that path removed. The path is known only at the end of the log.

use secateur::{MessageIx, Outline};

/// The parent of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) enum PiLink<'a> {
    /// Not given: the previous entry.
    Previous,
    /// None.
    Root,
    /// The entry with this id.
    To(&'a str),
}

#[derive(Default)]
pub(super) struct PiTree {
    entries: Vec<PiEntry>,
    /// The entries by the literals of their ids.
    ids: crate::tables::Map<Box<str>, usize>,
    compactions: Vec<PiCompaction>,
}

struct PiEntry {
    parent: Option<usize>,
    /// The first message of this entry or of a later one.
    next: MessageIx,
    message: Option<MessageIx>,
}

struct PiCompaction {
    entry: usize,
    /// The first entry of the history that is kept; `None` if nothing is kept.
    kept: Option<usize>,
}

impl PiTree {
    /// Adds an entry and returns its index; `next` is the next message that will be made.
    pub(super) fn push(&mut self, id: Option<&str>, link: PiLink<'_>, next: MessageIx) -> usize {
        let entry = self.entries.len();
        let previous = entry.checked_sub(1);
        let parent = match link {
            PiLink::Root => None,
            PiLink::Previous => previous,
            // An unknown parent was on a line that could not be read.
            PiLink::To(id) => self.find(id).or(previous),
        };
        self.entries.push(PiEntry { parent, next, message: None });
        if let Some(id) = id {
            self.ids.insert(id.into(), entry);
        }
        entry
    }

    pub(super) fn set_message(&mut self, entry: usize, message: Option<MessageIx>) {
        if let Some(entry) = self.entries.get_mut(entry) {
            entry.message = message;
        }
    }

    /// The entry with this id.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        self.ids.get(id).copied()
    }

    /// The first message of this entry or of a later one.
    pub(super) fn message_from(&self, entry: usize) -> Option<MessageIx> {
        self.entries.get(entry).map(|entry| entry.next)
    }

    /// Marks an entry as a compaction that keeps the entries from `kept` to itself.
    pub(super) fn compact(&mut self, entry: usize, kept: Option<usize>) {
        self.compactions.push(PiCompaction { entry, kept });
    }

    /// Retires abandoned branches, and what compactions did not keep.
    pub(super) fn retire(&self, outline: &mut Outline) {
        let active = self.active();
        let is_active = |entry: usize| active.get(entry).copied().unwrap_or_default();
        let Some(last) = outline.messages().next_back() else { return };
        let mut next = last;
        for (index, entry) in self.entries.iter().enumerate().rev() {
            match entry.message {
                Some(message) if is_active(index) => next = message,
                Some(message) => outline.retire(message, next),
                None => {}
            }
        }
        let mut done = 0;
        let mut summary = None;
        for compaction in self.compactions.iter().filter(|compaction| is_active(compaction.entry)) {
            let Some(at) = self.entries.get(compaction.entry).and_then(|entry| entry.message) else {
                continue;
            };
            // An earlier summary is removed even if it lies within what is kept: the new one covers it.
            if let Some(earlier) = summary.replace(at) {
                outline.retire(earlier, at);
            }
            let kept = compaction.kept.unwrap_or(compaction.entry).min(compaction.entry);
            for entry in self.entries.get(done..kept).unwrap_or_default() {
                if let Some(message) = entry.message {
                    outline.retire(message, at);
                }
            }
            done = done.max(kept);
        }
    }

    /// Which entries are on the path from the root to the last one. Parents precede their children, so the path ends.
    fn active(&self) -> Vec<bool> {
        let mut active = vec![false; self.entries.len()];
        let mut at = self.entries.len().checked_sub(1);
        while let Some(index) = at {
            if let Some(active) = active.get_mut(index) {
                *active = true;
            }
            at = self.entries.get(index).and_then(|entry| entry.parent);
        }
        active
    }
}
